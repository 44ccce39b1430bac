// Package process starts child processes that are killed when this process ends. The terminal's Ctrl-C does not reach
// them, since each has a process group of its own.
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

// Process is a started child.
type Process struct {
	pid  int
	done chan struct{}
	err  error
}

// Start runs cmd in its own process group. On Linux the kernel kills it when
// this process dies, however it dies.
//
// It returns an error if the program can't be started.
func Start(cmd *exec.Cmd) (*Process, error) {
	cmd.SysProcAttr = attributes()
	if cmd.WaitDelay == 0 {
		// A grandchild that keeps the pipes open must not keep Wait.
		cmd.WaitDelay = 10 * time.Second
	}
	p := &Process{done: make(chan struct{})}
	started := make(chan error)
	go func() {
		// The kernel ties the death signal to the thread that forked, so that
		// thread has to stay for as long as the child.
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

// PID is the child's process id and that of its group.
func (p *Process) PID() int { return p.pid }

// Done is closed when the child has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err says how the child ended: nil for exit status 0. It is valid after Done.
func (p *Process) Err() error { return p.err }

// Kill ends the child and whatever it started, at once, and waits for it.
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

// Pause stops the child where it is, and waits until it stands still: on a busy machine its threads may run on for a
// while after the signal. Only Kill goes on from there.
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

// stopped reports whether all threads of a process stand still. Where /proc does not tell, they are taken to.
func stopped(pid int) bool {
	threads, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/stat", pid)) // the pattern is well-formed
	for _, path := range threads {
		stat, err := os.ReadFile(path)
		if err != nil {
			continue // it has ended
		}
		// 12 (name) S …: the state is the field after the name.
		_, state, _ := bytes.Cut(stat[bytes.LastIndexByte(stat, ')')+1:], []byte(" "))
		if !bytes.ContainsAny(state[:min(1, len(state))], "TtZX") {
			return false
		}
	}
	return true
}

// signal reaches the whole group. Once the child has been waited for, its
// number may be another's, so nothing is sent then.
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
