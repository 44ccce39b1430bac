// Package moto runs the stand-ins for DynamoDB, SQS, Step Functions, KMS, S3
// and Secrets Manager: a moto server of pinned versions, with the patches that
// races and waiting runs need, in a private Python environment.
package moto

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

	"ringi/infra/local/process"
)

// readyWithin bounds the start of the server once its environment exists; it
// takes about a second on an idle machine.
const readyWithin = 3 * time.Minute

// Options say how a server is started.
type Options struct {
	// TaskPort is where the state machine interpreter calls its tasks'
	// services; 0 means the server itself.
	TaskPort int
	// Hosts are names, beside this machine's own, under which it is asked.
	Hosts []string
	// Logger gets what the server complains about; nil discards it.
	Logger *slog.Logger
}

// Server is a running moto.
type Server struct {
	// URL is its endpoint, without a slash at the end.
	URL string

	process *process.Process
	stdin   io.Closer
}

// Start makes the Python environment if it must, starts a server on a free
// port and waits until it answers. The server ends with this process or by Stop.
//
// It returns ErrPython if there is no suitable Python, and a sentence from pip
// if the packages can't be installed.
func Start(ctx context.Context, o Options) (*Server, error) {
	log := o.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	folder, err := process.Folder()
	if err != nil {
		return nil, err
	}
	python, err := environment(ctx, folder, func(m string) { log.Info(m) })
	if err != nil {
		return nil, err
	}
	main, err := unpack(folder)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command(python, main)
	cmd.Env = variables(o)
	stdin, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("start moto: %w", err)
	}
	said, told, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("start moto: %w", err)
	}
	tail := &complaints{log: log}
	cmd.Stdout, cmd.Stderr = told, tail
	p, err := process.Start(cmd)
	told.Close()
	if err != nil {
		said.Close()
		return nil, fmt.Errorf("start moto: %w", err)
	}
	s := &Server{process: p, stdin: stdin}
	port, err := announcedPort(ctx, said)
	if err != nil {
		s.Stop()
		return nil, fmt.Errorf("start moto: %w: %s", err, tail)
	}
	s.URL = "http://127.0.0.1:" + strconv.Itoa(port)
	return s, nil
}

// Stop ends the server and waits for it.
func (s *Server) Stop() {
	s.stdin.Close()
	s.process.Kill()
}

// PID is the server's process id.
func (s *Server) PID() int { return s.process.PID() }

// Done is closed when the server has ended, by Stop or by itself.
func (s *Server) Done() <-chan struct{} { return s.process.Done() }

// variables is the server's whole environment: nothing of the person's
// credentials, profiles or proxies reaches it.
func variables(o Options) []string {
	env := []string{
		"PATH=" + os.Getenv("PATH"),
		"HOME=" + os.TempDir(),
		"AWS_ACCESS_KEY_ID=local", "AWS_SECRET_ACCESS_KEY=local", "AWS_DEFAULT_REGION=us-east-1",
		"AWS_EC2_METADATA_DISABLED=true",
		"NO_PROXY=*", "PYTHONUNBUFFERED=1",
		"MOTO_DISABLE_GLOBAL_CORS=true", // or every page may read what is in it
		"STACK_HOSTS=" + strings.Join(o.Hosts, " "),
	}
	if o.TaskPort != 0 {
		env = append(env, "MOTO_PORT="+strconv.Itoa(o.TaskPort))
	}
	return env
}

// announcedPort reads the first line of the server's output. It closes r.
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

// complaints logs the server's standard error and keeps its last lines.
type complaints struct {
	mu    sync.Mutex
	log   *slog.Logger
	lines []string
}

func (c *complaints) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for line := range strings.Lines(string(b)) {
		if line = strings.TrimRight(line, "\n"); line == "" {
			continue
		}
		c.log.Debug("moto", "line", line)
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
