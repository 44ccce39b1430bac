package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"ringi/infra/local/process"
	"ringi/shared/domain/aggregate"
	"ringi/shared/model/round"
	"ringi/shared/runtime/isolated"
)

// isolation runs each order in a process of functions/run-sandbox, without a deployment.
type isolation struct{ binary string }

var _ isolated.Runner = isolation{}

// Run implements isolated.Runner. The process inherits no environment variables, and ends with ctx.
func (s isolation) Run(ctx context.Context, o isolated.Order, onLine func(isolated.Line) error) (isolated.End, error) {
	order, err := json.Marshal(o)
	if err != nil {
		return isolated.End{}, fmt.Errorf("encode an order: %w: %w", err, isolated.ErrNotBegun)
	}
	answer, out := io.Pipe()
	cmd := exec.Command(s.binary)
	cmd.Dir, cmd.Env, cmd.Stdin, cmd.Stdout = filepath.Dir(s.binary), []string{}, bytes.NewReader(order), out
	p, err := process.Start(cmd)
	if err != nil {
		return isolated.End{}, fmt.Errorf("%w: %w", err, isolated.ErrNotBegun)
	}
	defer context.AfterFunc(ctx, p.Kill)()
	go func() {
		<-p.Done()
		out.Close()
	}()
	end, err := isolated.Read(answer, onLine)
	answer.Close() // further output fails
	<-p.Done()
	return end, err
}

// scriptsAtOnce bounds concurrent scripts: each may use up its sandbox's limits.
const scriptsAtOnce = 4

// turns limits how many scripts run concurrently.
type turns struct {
	round.Sandbox
	places chan struct{}
}

// About describes this machine's sandbox.
func (turns) About() string {
	return "sh, the usual small programs of Linux, and what else is installed on this machine for everybody. There " +
		"is no network: nothing can be downloaded or installed. A result says which tool is missing."
}

// Run waits for a free slot and runs a script.
func (t turns) Run(ctx context.Context, script string) (string, error) {
	select {
	case t.places <- struct{}{}:
		defer func() { <-t.places }()
	case <-ctx.Done():
		return "", errors.New("there was no place to run it in time")
	}
	return t.Sandbox.Run(ctx, script)
}

// sandbox tries out and returns a sandbox for members' scripts. Its error says what this machine lacks. release removes
// the compiled files.
func (p program) sandbox(ctx context.Context) (_ round.Sandbox, release func(), err error) {
	folder, err := os.MkdirTemp("", "contest-")
	if err != nil {
		return nil, func() {}, err
	}
	release = func() { os.RemoveAll(folder) }
	s := isolation{filepath.Join(folder, "run-sandbox")}
	if err := build(ctx, s.binary); err != nil {
		return nil, release, err
	}
	if err := s.try(ctx); err != nil {
		return nil, release, err
	}
	return turns{round.Isolated(s, isolated.Programs()), make(chan struct{}, scriptsAtOnce)}, release, nil
}

// build compiles functions/run-sandbox.
func build(ctx context.Context, binary string) error {
	root, err := process.ModuleRoot()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-buildvcs=false", "-o", binary, "./functions/run-sandbox")
	cmd.Dir, cmd.Env = root, append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("functions/run-sandbox can't be built: %w %s", err, said)
	}
	return nil
}

// try runs a script that does nothing.
func (s isolation) try(ctx context.Context) error {
	o := isolated.Order{Action: aggregate.NewID(), Type: isolated.ShellCommand, Script: ":", TimeoutSeconds: 10,
		Deadline: time.Now().Add(time.Minute)}
	end, err := s.Run(ctx, o, func(isolated.Line) error { return nil })
	switch {
	case errors.Is(err, isolated.ErrNotBegun):
		why, _, _ := strings.Cut(strings.TrimPrefix(err.Error(), "sandbox: "), ": "+isolated.ErrCannot.Error())
		return errors.New(why)
	case err != nil:
		return err
	case end.ExitCode != 0:
		return fmt.Errorf("a script that does nothing ended with %d %s %s", end.ExitCode, end.Signal, end.Missing)
	}
	return nil
}
