// Package process starts child processes that are killed when this process ends. Each child has a process group of its
// own, so the terminal's Ctrl-C does not reach it.
//
// It also makes what such processes need: compiled programs, private Python environments with pinned packages, and
// packages of Node for tests; and it starts the one that stands in for AWS.
package process

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
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

// Done is closed when the child has ended for any reason.
func (p *Process) Done() <-chan struct{} { return p.done }

// Err returns nil if the child exited with status 0. It is valid once Done is closed.
func (p *Process) Err() error { return p.err }

// Kill kills the child's process group at once and waits for the child.
func (p *Process) Kill() {
	p.signal(syscall.SIGKILL)
	<-p.done
}

// Pause stops the child, soon. After that it can only be killed.
func (p *Process) Pause() { p.signal(syscall.SIGSTOP) }

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

// Server is a child process that listens on a port of 127.0.0.1.
type Server struct {
	// URL is the server's endpoint, without a trailing slash.
	URL string

	*Process
	stdin io.Closer
}

// serve starts a server and waits until it reports its port: the first line of its output must be {"port":…}. The
// server must end when its standard input is closed. If it does not start, the last lines of its error output become
// part of the error.
func serve(ctx context.Context, cmd *exec.Cmd) (*Server, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	said, told, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	tail := &complaints{}
	cmd.Stdout, cmd.Stderr = told, tail
	p, err := Start(cmd)
	told.Close()
	if err != nil {
		said.Close()
		return nil, err
	}
	s := &Server{Process: p, stdin: stdin}
	port, err := announcedPort(ctx, said)
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("start moto: %w: %s", err, tail)
	}
	s.URL = "http://127.0.0.1:" + strconv.Itoa(port)
	return s, nil
}

func (s *Server) Stop() {
	s.stdin.Close()
	s.Kill()
}

// announcedPort reads the port from the first line of a server's output. It closes r.
func announcedPort(ctx context.Context, r *os.File) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, readyWithin)
	defer cancel()
	stop := context.AfterFunc(ctx, func() { r.Close() })
	defer stop()
	defer r.Close()
	line, err := bufio.NewReader(r).ReadBytes('\n')
	if ctx.Err() != nil {
		return 0, fmt.Errorf("it did not answer: %w", ctx.Err())
	}
	if err != nil {
		return 0, fmt.Errorf("it ended at once: %w", err)
	}
	var said struct {
		Port int `json:"port"`
	}
	if err := json.Unmarshal(line, &said); err != nil || said.Port == 0 {
		return 0, fmt.Errorf("it said %q instead of its port", line)
	}
	return said.Port, nil
}

// complaints keeps the last lines of a server's error output.
type complaints struct {
	mu    sync.Mutex
	lines []string
}

func (c *complaints) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.lines = append(c.lines, strings.FieldsFunc(string(b), func(r rune) bool { return r == '\n' })...)
	c.lines = c.lines[max(0, len(c.lines)-20):]
	return len(b), nil
}

func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines, " | ")
}

// Lock takes an exclusive lock on the file at path, waiting for other processes, and returns a function that releases
// it. The kernel releases it if the process dies.
func Lock(path string) (unlock func(), err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, fmt.Errorf("open lock: %w", err)
	}
	for {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX)
		if !errors.Is(err, syscall.EINTR) {
			break
		}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", filepath.Base(path), err)
	}
	return func() { f.Close() }, nil
}
