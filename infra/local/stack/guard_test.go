package stack_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ringi/infra/local/stack"
	"ringi/shared/runtime/expect"
)

// foreign is a host name that resolves to this machine.
const foreign = "evil.example"

// TestEveryListenerRefusesWhatAPageSends calls each port of the stack as a browser does for a page, and as a program
// does.
func TestEveryListenerRefusesWhatAPageSends(t *testing.T) {
	s := shared(t)
	expect.Value(s.Fire(t.Context(), "TickFunction"))(t)
	ports := listening(t, s)
	expect.Must(t, len(ports) >= 5,
		"only %v listen: not the sandbox, AWS, its stand-in, the vendors and a function's environment", ports)
	for _, port := range ports {
		for name, dress := range map[string]func(*http.Request){
			"a foreign host":         func(r *http.Request) { r.Host = fmt.Sprintf("%s:%d", foreign, port) },
			"another site's picture": gets("Sec-Fetch-Site", "cross-site"),
			"another site's socket":  gets("Origin", "http://"+foreign, "Connection", "Upgrade", "Upgrade", "websocket"),
			"another site's stream":  gets("Origin", "http://"+foreign, "Accept", "text/event-stream"),
			"a program":              nil,
		} {
			ctx, cancel := context.WithCancel(t.Context())
			r := expect.Value(http.NewRequestWithContext(ctx, http.MethodPost, fmt.Sprintf("http://127.0.0.1:%d/nowhere", port),
				strings.NewReader("x")))(t)
			if dress != nil {
				dress(r)
			}
			resp := expect.Value(http.DefaultClient.Do(r))(t)
			resp.Body.Close()
			cancel()
			refused, page := resp.StatusCode == http.StatusForbidden, dress != nil
			expect.That(t, refused == page || !page && port == environment(t, s, ports), "port %d answers %s with %d", port,
				name, resp.StatusCode)
			expect.Is(t, resp.Header.Get("Access-Control-Allow-Origin"), "", "port %d lets … read", port)
		}
	}
}

// gets makes a request a GET with these headers.
func gets(headers ...string) func(*http.Request) {
	return func(r *http.Request) {
		r.Method, r.Body, r.ContentLength = http.MethodGet, nil, 0
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
}

// environment returns the port of the function's environment, which only the function's process calls.
func environment(t *testing.T, s *stack.Stack, ports []int) int {
	t.Helper()
	known := s.URL + " " + s.AWSEndpoint + " " + s.VendorsURL
	for _, port := range ports {
		resp := expect.Value(http.Post(fmt.Sprintf("http://127.0.0.1:%d/2018-06-01/runtime/init/error", port), "",
			strings.NewReader("{}")))(t)
		resp.Body.Close()
		if !strings.Contains(known, fmt.Sprint(":", port)) && resp.StatusCode == http.StatusAccepted {
			return port
		}
	}
	return 0
}

var socket = regexp.MustCompile(`^socket:\[(\d+)\]$`)

// listening returns the TCP ports on which this process and the stack's other processes listen.
func listening(t *testing.T, s *stack.Stack) []int {
	t.Helper()
	mine := map[string]bool{}
	for _, pid := range append(s.PIDs(), os.Getpid()) {
		files := expect.Value(filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid)))(t)
		for _, file := range files {
			to, err := os.Readlink(file)
			if m := socket.FindStringSubmatch(to); err == nil && m != nil {
				mine[m[1]] = true
			}
		}
	}
	if len(mine) == 0 {
		expect.Must(t, os.Getenv("CI") == "", "/proc does not tell which ports a process listens on")
		t.Skip("this system does not tell which ports a process listens on")
	}
	var ports []int
	for _, file := range []string{"/proc/net/tcp", "/proc/net/tcp6"} {
		table, err := os.ReadFile(file)
		if err != nil {
			continue
		}
		for _, line := range strings.Split(string(table), "\n")[1:] {
			f := strings.Fields(line) // sl, local_address, rem_address, st, …, inode
			if len(f) < 10 || f[3] != "0A" || !mine[f[9]] {
				continue
			}
			_, hex, _ := strings.Cut(f[1], ":")
			port := expect.Value(strconv.ParseInt(hex, 16, 32))(t)
			ports = append(ports, int(port))
		}
	}
	return ports
}
