// Package process starts child processes that are killed when this process ends. Each child has a process group of its
// own, so the terminal's Ctrl-C does not reach it.
package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"time"
)

type Process struct {
	pid  int
	done chan struct{}
	err  error
}

// Start runs cmd in its own process group. On Linux the kernel kills the child when this process dies for any reason.
//
// It returns an error if the program can't be started.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = attributes()
	if cmd.WaitDelay == 0 {
		// Without a delay, Wait would block while a grandchild keeps the pipes open.
		cmd.WaitDelay = 10 * time.Second
	}
	p := &Process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel sends the death signal when the forking thread ends, so the thread must live as long as the child.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		if err == nil {
			p.pid = cmd.Process.Pid
		}
		started <- err
		if err != nil {
			return
		}
		p.err = cmd.Wait()
		close(p.done)
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("start %s: %w", cmd.Path, err)
	}
	return p, nil
}

// PID is the id of the child and of its process group.
func (p *Process) PID() int { return p.pid }

func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns nil if the child exited with status 0. It is valid once Done is closed.
func (p *Process) Err() error { return p.err }

// Kill kills the child's process group at once and waits for the child.
func (p *Process) Kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// Stop asks the child to end, kills its group after the grace period, and waits.
func (p *Process) Stop(grace time.Duration) {
	p.signal(syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(context.Background(), grace)
	defer cancel()
	select {
	case <-p.done:
	case <-ctx.Done():
	}
	p.Kill()
}

// Pause stops the child and waits until all its threads have stopped: on a busy machine they may run on for a while
// after the signal. A paused child can only be killed.
func (p *Process) Pause() {
	p.signal(syscall.SIGSTOP)
	look := time.NewTicker(time.Millisecond)
	defer look.Stop()
	for !stopped(p.pid) {
		select {
		case <-p.done:
			return
		case <-look.C:
		}
	}
}

// stopped reports whether all threads of a process have stopped. It returns true on systems without /proc.
func stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is valid
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // the thread has ended
		}
		// In "12 (name) S …", the state is the field after the name.
		_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
		if !bytes.ContainsAny(state[:min(1, len(state))], "TtZX") {
			return false
		}
	}
	return true
}

// signal signals the whole group. It sends nothing once the child has been waited for, because its pid may have been
// reused.
func (p *Process) signal(s syscall.Signal) {
	select {
	case <-p.done:
		return
	default:
	}
	if err := syscall.Kill(-p.pid, s); err != nil && !errors.Is(err, syscall.ESRCH) {
		_ = syscall.Kill(p.pid, s)
	}
}
