package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/process"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/isolated"
	"ringi/shared/runtime/outbound"
	"ringi/shared/tool/mcp"
	"ringi/shared/words/language"
)

const (
	// usualServers is the default file of MCP servers.
	usualServers = "configs/servers.toml"
	// connectWithin bounds listing a server's tools.
	connectWithin = 20 * time.Second
	// outboundAllow is an environment variable, as of functions: comma-separated host:port addresses that need not be
	// public.
	outboundAllow = "OUTBOUND_ALLOW"
	ownTenant     = "this-machine"
)

// listed has a file's MCP servers and their tools at the start of the contest. For reading.Source they replace an
// administrator's decisions.
type listed struct {
	settings tenancy.Settings
	tokens   map[string]string // by server

	mu    sync.Mutex
	tools []tenancy.ToolPermission
}

// Settings returns the only workspace's settings.
func (l *listed) Settings(context.Context, string) (tenancy.Settings, error) { return l.settings, nil }

// ToolPermissions returns all listed tools.
func (l *listed) ToolPermissions(context.Context, string) ([]tenancy.ToolPermission, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.tools), nil
}

// ToolPermission returns one listed tool.
func (l *listed) ToolPermission(_ context.Context, _, name string) (tenancy.ToolPermission, bool, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if i := slices.IndexFunc(l.tools, func(p tenancy.ToolPermission) bool { return p.ToolName == name }); i >= 0 {
		return l.tools[i], true, nil
	}
	return tenancy.ToolPermission{}, false, nil
}

// NoteToolChanged switches a tool off until the contest ends.
func (l *listed) NoteToolChanged(_ context.Context, p tenancy.ToolPermission, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.tools {
		if l.tools[i].ToolName == p.ToolName {
			l.tools[i].ChangedAt = &now
		}
	}
	return nil
}

func (l *listed) ServerToken(_ context.Context, _ string, s tenancy.MCPServer) (string, error) {
	if token, ok := l.tokens[s.Name]; ok {
		return token, nil
	}
	return "", aggregate.ErrNotFound
}

func (l *listed) names() (names []string) {
	for _, p := range l.tools {
		names = append(names, p.ToolName)
	}
	return names
}

// having reports whether a contest has members of a type.
func having(c teamconfig.Contest, of contest.AgentType) bool {
	return slices.ContainsFunc(c.Teams, func(t teamconfig.Team) bool {
		return slices.ContainsFunc(t.Members, func(m teamconfig.Member) bool { return m.AgentType == string(of) })
	})
}

// servers reads the named file of MCP servers. If none is named and the contest has members that read, it reads the
// usual file, if that exists. It returns the file's name in the workspace.
func servers(w teamconfig.Workspace, file string,
	c teamconfig.Contest) (string, []teamconfig.Server, []teamconfig.Finding) {
	if file == "" {
		if _, err := fs.Stat(w.FS, usualServers); errors.Is(err, fs.ErrNotExist) || !having(c, contest.WebSearch) {
			return usualServers, nil, nil
		}
		file = usualServers
	}
	at, err := w.Locate(file)
	if err != nil {
		return file, nil, []teamconfig.Finding{{File: file, Message: err.Error()}}
	}
	all, found := w.Servers(at)
	return at, all, found
}

// caller returns a client that calls only addresses that functions may call, and tools only while their server declares
// them read-only.
func (p program) caller() mcp.Client {
	return mcp.Client{HTTP: outbound.Allowing(p.env(outboundAllow)).Client(), ReadOnly: true}
}

// connect lists all servers' tools concurrently, and pins those in the file.
func (p program) connect(ctx context.Context, file string, all []teamconfig.Server) (*listed, []teamconfig.Finding) {
	l := &listed{tokens: map[string]string{}}
	ctx, cancel := context.WithTimeout(ctx, connectWithin)
	defer cancel()
	parts := make([]pinned, len(all))
	var asked sync.WaitGroup
	for i, s := range all {
		parts[i] = pinned{Server: s, file: file}
		own := mcp.Server{MCPServer: tenancy.MCPServer{Name: s.Name, URL: s.URL}}
		l.settings.MCPServers = append(l.settings.MCPServers, own.MCPServer)
		if s.TokenEnv != nil {
			if own.Secret = strings.TrimSpace(p.env(*s.TokenEnv)); own.Secret == "" {
				parts[i].wrong("token_env", *s.TokenEnv, "is not set in the environment")
				continue
			}
			l.tokens[s.Name] = own.Secret
		}
		asked.Go(func() {
			now, err := p.caller().List(ctx, own)
			parts[i].take(now, err)
		})
	}
	asked.Wait()
	var found []teamconfig.Finding
	size := 0
	for _, part := range parts {
		l.tools, found, size = append(l.tools, part.tools...), append(found, part.found...), size+part.size
	}
	if size > mcp.MaxAllowed {
		found = append(found, teamconfig.Finding{File: file, Field: "servers",
			Message: fmt.Sprintf("all listed tools may have %d bytes of descriptions and schemas, these have %d: list fewer",
				mcp.MaxAllowed, size)})
	}
	return l, found
}

// pinned is the result of asking one server.
type pinned struct {
	teamconfig.Server
	file  string
	found []teamconfig.Finding
	tools []tenancy.ToolPermission
	size  int // of the tools' descriptions and schemas
}

func (s *pinned) wrong(field, value, format string, a ...any) {
	s.found = append(s.found, s.Wrong(s.file, field, value, format, a...))
}

// take pins the file's tools that the server has, or says why it can't.
func (s *pinned) take(now []mcp.Tool, err error) {
	if err != nil {
		s.unreachable(err)
		return
	}
	var reading []string
	for _, t := range now {
		if t.ReadOnly {
			reading = append(reading, t.Name)
		}
	}
	has := "the server says of none that it only reads"
	if reading != nil {
		has = "those that only read are " + strings.Join(reading, ", ")
	}
	if len(s.Tools) == 0 {
		s.wrong("tools", "", "lists none: %s", has)
		s.found[len(s.found)-1].Warning = true
	}
	for i, name := range s.Tools {
		field := fmt.Sprintf("tools[%d]", i)
		same := slices.DeleteFunc(slices.Clone(now), func(t mcp.Tool) bool { return t.Name != name })
		switch {
		case len(same) == 0:
			s.wrong(field, name, "is none of the server's tools: %s", has)
		case len(same) > 1:
			s.wrong(field, name, "can't be called: its name is there twice")
		case same[0].Problem() != "":
			s.wrong(field, name, "can't be called: %s", same[0].Problem())
		case !same[0].ReadOnly:
			s.wrong(field, name, "can't be called: the server does not say that it only reads (readOnlyHint)")
		default:
			pin := same[0].Pin(s.URL, aggregate.Read)
			s.size += len(pin.Description) + len(pin.Input) + len(pin.Output)
			s.tools = append(s.tools, tenancy.ToolPermission{ToolName: s.Name + "." + name, Allowed: true, Contests: true,
				Pin: &pin})
		}
	}
}

// unreachable says why a server did not list its tools.
func (s *pinned) unreachable(err error) {
	var e *explain.CallError
	if !errors.As(err, &e) {
		s.wrong("url", s.URL, "can't be called")
		return
	}
	switch e.Problem {
	case explain.ProblemNotConnected:
		s.wrong("token_env", "", "is required: the server asks for a token (401)")
	case explain.ProblemUnauthorized:
		value := ""
		if s.TokenEnv != nil {
			value = *s.TokenEnv
		}
		s.wrong("token_env", value, "has no token, or no header as Name: value, that the server takes (401)")
	case explain.ProblemAddress:
		s.wrong("url", s.URL, "may not be called: only public addresses with https may, and what %s names in the "+
			"environment as host:port", outboundAllow)
	case explain.ProblemTimeout:
		s.wrong("url", s.URL, "does not answer within %d s", int(connectWithin.Seconds()))
	default:
		s.wrong("url", s.URL, "%s", strings.TrimSuffix(e.Say(language.English, time.Now()).Detail, "."))
	}
}

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
