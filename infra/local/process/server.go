package process

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Server is a child process that listens on a port of 127.0.0.1.
type Server struct {
	// URL is the server's endpoint, without a trailing slash.
	URL string

	process *Process
	stdin   io.Closer
}

// Serve starts a server and waits until it reports its port: the first line of its output must be {"port":…}. The
// server must end when its standard input is closed. Its error output goes to log. If the server does not start, the
// last lines of that output become part of the error.
func Serve(ctx context.Context, name string, cmd *exec.Cmd, within time.Duration, log *slog.Logger) (*Server, error) {
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	said, told, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	tail := &complaints{name: name, log: log}
	cmd.Stdout, cmd.Stderr = told, tail
	p, err := Start(cmd)
	told.Close()
	if err != nil {
		said.Close()
		return nil, fmt.Errorf("start %s: %w", name, err)
	}
	s := &Server{process: p, stdin: stdin}
	port, err := announcedPort(ctx, said, within)
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("start %s: %w: %s", name, err, tail)
	}
	s.URL = "http://127.0.0.1:" + strconv.Itoa(port)
	return s, nil
}

func (s *Server) Stop() {
	s.stdin.Close()
	s.process.Kill()
}

func (s *Server) PID() int { return s.process.PID() }

// Done is closed when the server has ended for any reason.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// announcedPort reads the port from the first line of a server's output. It closes r.
func announcedPort(ctx context.Context, r *os.File, within time.Duration) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
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

// complaints logs a server's error output and keeps the last lines.
type complaints struct {
	name  string
	log   *slog.Logger
	mu    sync.Mutex
	lines []string
}

func (c *complaints) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line == "" {
			continue
		}
		c.log.Debug(c.name, "line", line)
		c.lines = append(c.lines, line)
	}
	if extra := len(c.lines) - 20; extra > 0 {
		c.lines = c.lines[extra:]
	}
	return len(b), nil
}

func (c *complaints) String() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return strings.Join(c.lines, " | ")
}
