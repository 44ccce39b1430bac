// Command local runs the whole system on this machine:
//
//	go run ./infra/local            the Slack sandbox and everything behind it
//	go run ./infra/local invoke …   one function, as `sam local invoke` does
//
// It needs Go and Python 3, and talks to nobody but itself, unless -model names a vendor's model. All that is the
// program infra/local/run, which takes minutes to compile the first time: this command is small so that it can say so
// at once.
package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	"ringi/infra/local/process"
)

func main() {
	// Neither inlined nor with what a debugger reads: a third of a first start. Whoever has flags of their own keeps them.
	if flags, err := exec.Command("go", "env", "GOFLAGS").Output(); err == nil && strings.TrimSpace(string(flags)) == "" {
		os.Setenv("GOFLAGS", "'-gcflags=all=-l -dwarf=false'")
		os.Setenv("CGO_ENABLED", "0")
	}
	say, stop := process.Progress(os.Stderr, process.IsTerminal(os.Stderr))
	program, err := compile(func(packages int) {
		say(fmt.Sprintf("compiling what starts the stack: %d packages so far (minutes the first time)", packages))
	})
	stop()
	if err == nil {
		err = syscall.Exec(program, append([]string{"local"}, os.Args[1:]...), os.Environ())
	}
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// compile returns the compiled program. It is kept, so that only what changed is compiled and linked again.
func compile(told func(packages int)) (program string, err error) {
	owner := os.Getppid()
	folder, err := process.Folder()
	if err != nil {
		return "", err
	}
	program = filepath.Join(folder, "local")
	unlock, err := process.Lock(program + ".lock")
	if err != nil {
		return "", err
	}
	defer unlock()
	err = process.Compile(exec.Command("go", "build", "-buildvcs=false", "-ldflags=-s -w", "-o", program,
		"ringi/infra/local/run"), told)
	if err == nil && os.Getppid() != owner {
		err = errors.New("who asked for it has ended") // go run, which passes on Ctrl-C alone
	}
	return program, err
}
