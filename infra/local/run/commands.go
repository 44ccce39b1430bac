package main

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"ringi/infra/local/stack"
)

var errFunction = errors.New("the function failed")

// invocation has the arguments of the invoke command.
type invocation struct {
	name, eventFile string
	options         stack.Options
}

// invoke runs one function, with the tables and queues of a running stack. It prints the answer to standard output and
// logs to standard error.
func invoke(ctx context.Context, args []string, s streams) error {
	in, err := parseInvoke(args, s)
	if err != nil {
		return err
	}
	event, err := readEvent(in.eventFile, s.in)
	if err != nil {
		return err
	}
	result, err := stack.InvokeOnce(ctx, in.options, in.name, event)
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "%s\n", bytes.TrimRight(result.Payload, "\n"))
	if result.Failed {
		return errFunction
	}
	return nil
}

func parseInvoke(args []string, s streams) (invocation, error) {
	in := invocation{options: options()}
	in.options.Logger, in.options.FunctionLog = slog.New(slog.NewJSONHandler(s.err,
		&slog.HandlerOptions{Level: slog.LevelWarn})), s.err
	f := flags("usage: go run ./infra/local invoke <logical id or folder> [flags]\n", s)
	f.StringVar(&in.eventFile, "e", "", "`file` with the event, - for standard input; without it the event is {}")
	f.StringVar(&in.options.AWSAddr, "aws-addr", "127.0.0.1:4566", "`address` of a running stack's AWS endpoint")
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		in.name, args = args[0], args[1:]
	}
	if err := f.Parse(args); err != nil {
		return in, err
	}
	rest := f.Args()
	if in.name == "" && len(rest) > 0 {
		in.name, rest = rest[0], rest[1:]
	}
	if in.name == "" || len(rest) > 0 {
		f.Usage()
		return in, errUsage
	}
	return in, nil
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

// signedEvent prints a sample event with a fresh time and a signature, as Slack would send it to the running stack now.
// Both are valid for five minutes.
func signedEvent(ctx context.Context, args []string, s streams) error {
	f, addr := commandFlags("event <file>", s)
	if err := f.Parse(args); err != nil {
		return err
	}
	if f.NArg() != 1 {
		f.Usage()
		return errUsage
	}
	event, err := readEvent(f.Arg(0), s.in)
	if err != nil {
		return err
	}
	if event, err = stack.SignEvent(ctx, *addr, event); err != nil {
		return err
	}
	_, err = fmt.Fprintf(s.out, "%s\n", event)
	return err
}

// variables prints what `sam local invoke --env-vars` needs to run a function in a container.
func variables(ctx context.Context, args []string, s streams) error {
	f, addr := commandFlags("variables", s)
	host := f.String("container-host", "127.0.0.1", "the `name` containers use for this machine")
	if err := f.Parse(args); err != nil {
		return err
	}
	all, err := stack.Variables(ctx, *addr, *host)
	if err != nil {
		return err
	}
	text, _ := json.MarshalIndent(all, "", "  ") // maps of strings are no error
	_, err = fmt.Fprintf(s.out, "%s\n", text)
	return err
}

func commandFlags(usage string, s streams) (f *flag.FlagSet, addr *string) {
	f = flags("usage: go run ./infra/local "+usage+" [flags]\n", s)
	return f, f.String("aws-addr", "127.0.0.1:4566", "`address` of the running stack's AWS endpoint")
}
