package main

import (
	"os"
	"os/exec"
	"runtime"
)

// openBrowser opens a page. It ignores failures, since the terminal also shows the address.
func openBrowser(url string) {
	command := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		command = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return // a browser that runs in the terminal would hide the output
	}
	cmd := exec.Command(command, url)
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}

func isTerminal(f *os.File) bool {
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
