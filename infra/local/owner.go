package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"ringi/shared/runtime/sleep"
)

// errOwner says that the `go run` that started this program has been killed.
var errOwner = errors.New("go run has ended")

// withGoRun ends the returned context when this program was started by `go
// run` and that has gone: it passes Ctrl-C on, but no other signal.
func withGoRun(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	owner := os.Getppid()
	if nameOf(owner) == "go" {
		go func() {
			for sleep.For(ctx, 200*time.Millisecond) == nil {
				if os.Getppid() != owner {
					cancel(errOwner)
					return
				}
			}
		}()
	}
	return ctx, func() { cancel(context.Canceled) }
}

// nameOf is a process's command name; "" if it can't be told.
func nameOf(pid int) string {
	if name, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "comm")); err == nil {
		return strings.TrimSpace(string(name))
	}
	name, err := exec.Command("ps", "-o", "comm=", "-p", strconv.Itoa(pid)).Output()
	if err != nil {
		return ""
	}
	return filepath.Base(strings.TrimSpace(string(name)))
}
