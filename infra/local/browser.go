package main

import (
	"os"
	"os/exec"
	"runtime"
)

// openBrowser shows a page. It never fails: the address is on the terminal too.
func openBrowser(url string) {
	command := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		command = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return // a browser in the terminal would be in the way
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
