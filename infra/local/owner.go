package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"ringi/shared/runtime/clock"
	"strconv"
	"strings"
	"time"
)

// errOwner means that the `go run` that started this program was killed.
var errOwner = errors.New("go run has ended")

// withGoRun returns a context that ends when the `go run` that started this program has ended. `go run` passes on
// Ctrl-C to the program, but no other signal.
func withGoRun(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	owner := os.Getppid()
	if nameOf(owner) == "go" {
		go func() {
			for clock.Sleep(ctx, 200*time.Millisecond) == nil {
				if os.Getppid() != owner {
					cancel(errOwner)
					return
				}
			}
		}()
	}
	return ctx, func() { cancel(context.Canceled) }
}

// nameOf returns a process's command name, or "" if it is unknown.
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
