// Command run is what `go run ./infra/local` compiles and becomes: it starts the stack, or runs one
// function on a running one.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/process"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/clock"
)

// errUsage means that a command was called with wrong arguments. The usage was already printed to standard error.
var errUsage = errors.New("wrong usage")

// usage is printed by -h before the list of flags.
const usage = `usage: go run ./infra/local [flags]            run the Slack sandbox and everything behind it
       go run ./infra/local invoke <function>  run one function, on the running stack
       go run ./infra/local invoke -h          lists its flags

flags:
`

// streams has the standard input and outputs of a command.
type streams struct {
	in       io.Reader
	out, err io.Writer
	terminal bool // out is a terminal
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	// A second Ctrl-C ends the program at once.
	context.AfterFunc(ctx, stop)
	ctx, forget := withGoRun(ctx)
	defer forget()
	s := streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, terminal: process.IsTerminal(os.Stdout)}
	args, run := os.Args[1:], serve
	if len(args) > 0 && args[0] == "invoke" {
		run, args = invoke, args[1:]
	}
	err := run(ctx, args, s)
	switch {
	case errors.Is(err, flag.ErrHelp): // -h printed the help
	case errors.Is(err, errUsage):
		os.Exit(2)
	case errors.Is(err, errFunction):
		os.Exit(1) // the function's error is on standard output
	case err != nil && ctx.Err() == nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve runs the system until ctx ends.
func serve(ctx context.Context, args []string, s streams) error {
	o, host, err := parse(args, s)
	if err != nil {
		return err
	}
	printed, err := functionLog()
	if err != nil {
		return err
	}
	defer printed.Close()
	o.FunctionLog = printed
	say, stop := process.Progress(s.out, s.terminal)
	o.Progress = func(n, of int, what string) { say(fmt.Sprintf("starting (%d/%d): %s", n, of, what)) }
	running, err := stack.Start(ctx, o)
	stop()
	if err != nil {
		return err
	}
	defer running.Close()
	fmt.Fprintf(s.out, "%s\nconsole %s/console\noutside agents, with a key: RINGI_URL=%s, MCP %s/mcp\nAWS services %s\n",
		ready(running.URL, o.Model, host), running.URL, running.URL, running.URL, *running.AWS.BaseEndpoint)
	if s.terminal {
		openBrowser(running.URL)
	}
	select {
	case <-ctx.Done():
		return nil
	case err := <-running.Failed():
		return err
	}
}

// ready returns the line that announces that the system answers. It names the model unless it is the demo model.
func ready(url, model, host string) string {
	if host == "" {
		return "ready " + url
	}
	return "ready " + url + " with " + model + " at " + host
}

// flags returns the flag set of a command, whose help begins with usage.
func flags(usage string, s streams) *flag.FlagSet {
	f := flag.NewFlagSet("local", flag.ContinueOnError)
	f.SetOutput(s.err)
	f.Usage = func() {
		fmt.Fprint(s.err, usage)
		f.PrintDefaults()
	}
	return f
}

// parse reads the flags. Keys come from the environment, because everyone on the machine can read another process's
// flags. host is the model's host, empty for the demo model.
func parse(args []string, s streams) (o stack.Options, host string, err error) {
	o = options()
	o.Logger = slog.New(slog.NewJSONHandler(s.err, nil))
	f := flags(usage, s)
	f.StringVar(&o.Addr, "addr", "127.0.0.1:3000", "the `address` of the sandbox and Slack's calls")
	f.StringVar(&o.AWSAddr, "aws-addr", "127.0.0.1:4566", "the `address` of AWS calls, for the AWS CLI")
	name := f.String("model", "demo",
		"the `model` to use: anthropic:…, openai:…, bedrock:…, gemini-…, compatible:<name>/…; its key comes from the "+
			"environment")
	if err := f.Parse(args); err != nil {
		return o, "", err
	}
	if f.NArg() > 0 {
		return o, "", fmt.Errorf("unknown flag or command %q; the command is invoke; -h lists the flags", f.Arg(0))
	}
	if host, err = useModel(&o, *name, os.Getenv); err != nil {
		return o, "", err
	}
	announce(&o, host)
	return o, host, nil
}

// options returns the options of the stack that a person starts.
func options() stack.Options {
	return stack.Options{PrepareTeam: driver.UsualSettings, Sandbox: sandbox.Options{Company: true,
		Banner:   "デモモデルで動作中です。外部のサービスには接続しません。",
		BannerEN: "Running on a demo model, with no connection to outside services.",
	}}
}

// functionLog opens the file for the functions' log lines and metrics, which are too many for a terminal. Each start
// truncates the file. Two stacks that run at the same time both append to it.
func functionLog() (*os.File, error) {
	dir, err := process.Folder()
	if err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "functions.log"), os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, fmt.Errorf("keep what functions print: %w", err)
	}
	return f, nil
}

// withGoRun returns a context that ends when the `go run` that started this program has ended. `go run` passes on
// Ctrl-C to the program, but no other signal.
func withGoRun(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	owner := os.Getppid()
	if nameOf(owner) == "go" {
		go func() {
			for clock.Sleep(ctx, 200*time.Millisecond) == nil {
				if os.Getppid() != owner {
					cancel()
					return
				}
			}
		}()
	}
	return ctx, cancel
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

// openBrowser opens a page. It ignores failures, since the terminal also shows the address.
func openBrowser(url string) {
	command := "xdg-open"
	switch {
	case runtime.GOOS == "darwin":
		command = "open"
	case os.Getenv("DISPLAY") == "" && os.Getenv("WAYLAND_DISPLAY") == "":
		return // a browser that runs in the terminal would hide the output
	}
	cmd := exec.Command(command, url)
	if cmd.Start() == nil {
		go cmd.Wait()
	}
}

// useModel configures the stack's model, whose key comes from the environment. It takes only the key of the named
// model: setting a key does not select a model. It returns the host that requests go to, empty for the demo model.
func useModel(o *stack.Options, name string, env func(string) string) (host string, err error) {
	n, a, err := models.ModelOf(name, env)
	if err != nil {
		return "", fmt.Errorf("-model %w", err)
	}
	o.Model = name
	switch {
	case n.Provider == aggregate.Demo:
	case a.Parameter != "":
		o.Parameters = map[string]string{a.Parameter: a.Address}
		o.ModelKeys = map[string]any{n.Provider: a.Key}
	default:
		o.ModelKeys = map[string]any{"compatible": map[string]any{n.Endpoint: map[string]string{"url": a.Address,
			"key": a.Key}}}
		o.Allow = append(o.Allow, a.Dial) // the model may run on this machine or in its network
	}
	return a.Host, nil
}

// announce names the model and its host on the sandbox's page.
func announce(o *stack.Options, host string) {
	if host == "" {
		return
	}
	o.Sandbox.Banner = fmt.Sprintf("%s を使っています。依頼文とツールの結果は %s に送られ、料金がかかることがあります。", o.Model, host)
	o.Sandbox.BannerEN = fmt.Sprintf("This runs on %s. Requests and the tools' results are sent to %s, which may "+
		"cost money.", o.Model, host)
}

var errFunction = errors.New("the function failed")

// invoke runs one function, with the tables and queues of a running stack. It prints the answer to standard output and
// logs to standard error.
func invoke(ctx context.Context, args []string, s streams) error {
	o, name := options(), ""
	o.Logger, o.FunctionLog = slog.New(slog.NewJSONHandler(s.err, &slog.HandlerOptions{Level: slog.LevelWarn})), s.err
	f := flags("usage: go run ./infra/local invoke <logical id or folder> [flags]\n", s)
	file := f.String("e", "", "`file` with the event, - for standard input; without it the event is {}")
	f.StringVar(&o.AWSAddr, "aws-addr", "127.0.0.1:4566", "`address` of a running stack's AWS endpoint")
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	if err := f.Parse(args); err != nil {
		return err
	}
	if name == "" || f.NArg() > 0 {
		f.Usage()
		return errUsage
	}
	event, err := readEvent(*file, s.in)
	if err != nil {
		return err
	}
	result, err := stack.InvokeOnce(ctx, o, name, event)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s\n", bytes.TrimRight(result.Payload, "\n"))
	if result.Failed {
		return errFunction
	}
	return nil
}

func readEvent(file string, stdin io.Reader) ([]byte, error) {
	var text []byte
	var err error
	switch file {
	case "":
		return []byte("{}"), nil
	case "-":
		text, err = io.ReadAll(stdin)
	default:
		text, err = os.ReadFile(file)
	}
	if err != nil {
		return nil, fmt.Errorf("read the event (-e): %w", err)
	}
	if !json.Valid(text) {
		return nil, fmt.Errorf("the event (-e %s) is no JSON", file)
	}
	return text, nil
}
