package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

func TestParseInvoke(t *testing.T) {
	for _, args := range [][]string{{"ReceiveEventFunction", "-e", "x.json"}, {"-e", "x.json", "ReceiveEventFunction"}} {
		in, err := parseInvoke(args, streams{err: io.Discard})
		expect.That(t, err == nil && in.name == "ReceiveEventFunction" && in.eventFile == "x.json",
			"%q: %+v, %v", args, in, err)
	}
	for _, args := range [][]string{{}, {"a", "b"}} {
		_, err := parseInvoke(args, streams{err: io.Discard})
		expect.That(t, errors.Is(err, errUsage), "%q: %v", args, err)
	}
	for _, args := range [][]string{{"-h"}, {"receive-event", "-h"}} {
		_, err := parseInvoke(args, streams{err: io.Discard})
		expect.That(t, errors.Is(err, flag.ErrHelp), "%q: %v", args, err)
	}
}

// Without a stack at the given address, invoke must not start one.
func TestInvokeSaysThatNoStackAnswersThere(t *testing.T) {
	l := expect.Value(net.Listen("tcp", "127.0.0.1:0"))(t)
	dead := l.Addr().String()
	expect.NoError(t, l.Close())
	out := &bytes.Buffer{}
	err := invoke(t.Context(), []string{"receive-event", "-aws-addr", dead}, streams{out: out, err: io.Discard})
	expect.That(t, errors.Is(err, stack.ErrNoStack) && strings.Contains(err.Error(), dead) && out.Len() == 0,
		"%v, %s", err, out)
}

func TestEventsAndVariables(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		expect.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		return path
	}
	event := write("event.json", `{"a":1}`)
	for file, want := range map[string]string{"": "{}", "-": `{"b":2}`, event: `{"a":1}`} {
		got, err := readEvent(file, strings.NewReader(`{"b":2}`))
		expect.That(t, err == nil && string(got) == want, "%q: %s, %v", file, got, err)
	}
	for file, want := range map[string]string{filepath.Join(dir, "none"): "read the event (-e)",
		write("bad.json", "{"): "is no JSON"} {
		_, err := readEvent(file, nil)
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "%s: %v", file, err)
	}
	v, err := readVariables(write("env.json", `{"Parameters":{"MODEL":"x"}}`))
	expect.That(t, err == nil && v["Parameters"]["MODEL"] == "x", "%v, %v", v, err)
	if _, err := readVariables(write("bad.env", `{"Parameters":1}`)); err == nil {
		t.Error("bad variables were read")
	}
}
