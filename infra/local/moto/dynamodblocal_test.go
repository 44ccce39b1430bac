package moto

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

func TestWithoutJavaTheErrorSaysWhatToInstall(t *testing.T) {
	bin := t.TempDir()
	t.Setenv("PATH", bin)
	for name, script := range map[string]string{
		"nothing":        "",
		"an old JDK":     "echo javac 11.0.2",
		"no compiler":    "exit 127",
		"another javac":  "echo something else",
		"no version yet": "echo javac",
	} {
		if script != "" {
			for _, program := range []string{"mvn", "java", "javac"} {
				expect.NoError(t, os.WriteFile(filepath.Join(bin, program), []byte("#!/bin/sh\n"+script+"\n"), 0o755))
			}
		}
		_, err := StartLocal(t.Context(), nil)
		expect.That(t, errors.Is(err, ErrJava) && strings.Contains(err.Error(), "and Maven"), "%s: %v", name, err)
	}
}

func TestAnUnreachableRepositoryIsSaid(t *testing.T) {
	bin := t.TempDir()
	expect.NoError(t, os.WriteFile(filepath.Join(bin, "mvn"), []byte("#!/bin/sh\necho Could not transfer artifact\nexit 1\n"), 0o755))
	t.Setenv("PATH", bin+":/usr/bin:/bin")
	_, err := install(t.Context(), t.TempDir(), slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "maven could not fetch DynamoDB Local") || !strings.Contains(err.Error(), "Could not transfer") {
		t.Errorf("got %v", err)
	}
}

// The server must answer only programs on this machine: not other machines, and not pages whose host name resolves to
// this machine.
func TestOnlyProgramsOfThisMachineAreAnswered(t *testing.T) {
	endpoint := LocalForTest(t)
	ask := func(dress func(*http.Request)) *http.Response {
		t.Helper()
		r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, endpoint+"/", strings.NewReader("{}")))(t)
		r.Header.Set("X-Amz-Target", "DynamoDB_20120810.ListTables")
		r.Header.Set("Authorization", "AWS4-HMAC-SHA256 Credential=local/20260101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=0")
		dress(r)
		resp := expect.Value(http.DefaultClient.Do(r))(t)
		t.Cleanup(func() { resp.Body.Close() })
		return resp
	}
	if resp := ask(func(*http.Request) {}); resp.StatusCode != http.StatusOK {
		t.Errorf("a program is answered %d: %s", resp.StatusCode, expect.Value(io.ReadAll(resp.Body))(t))
	}
	if resp := ask(func(r *http.Request) { r.Host = "evil.example" }); resp.StatusCode == http.StatusOK {
		t.Error("it answers under a foreign name")
	}
	page := ask(func(r *http.Request) { r.Method = http.MethodOptions; r.Header.Set("Origin", "http://evil.example") })
	if allowed := page.Header.Get("Access-Control-Allow-Origin"); allowed != "" {
		t.Errorf("pages of %s may read its answers", allowed)
	}
	port := expect.Value(url.Parse(endpoint))(t).Port()
	addresses := expect.Value(net.InterfaceAddrs())(t)
	for _, a := range addresses {
		of, ok := a.(*net.IPNet)
		if !ok || of.IP.IsLoopback() || of.IP.IsLinkLocalUnicast() {
			continue
		}
		if c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", net.JoinHostPort(of.IP.String(), port)); err == nil {
			c.Close()
			t.Errorf("it listens on %s", of.IP)
		}
	}
}
