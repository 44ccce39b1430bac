package main

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
)

// output is the command's output, which the test reads while the command runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

var link = regexp.MustCompile(`http\S+`)

// consent is a command that waits for consent: its output, and its result.
type consent struct {
	*output
	ended <-chan error
}

// asks runs the command until it prints the vendor v's address; tokens is the path of the vendor's token endpoint.
func asks(t *testing.T, w *workspace, v, provider, tokens string) consent {
	t.Helper()
	out, ended := &output{}, make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	t.Cleanup(cancel)
	args := append(append([]string{}, w.flags...), "-team", "T0CONSENT", "-listen", "127.0.0.1:0", "-auth-url", v+"/"+provider+"/authorize", "-token-url", v+"/"+provider+tokens, provider)
	go func() { ended <- run(ctx, w.Config, args, strings.NewReader(""), out) }()
	for link.FindString(out.String()) == "" {
		select {
		case err := <-ended:
			t.Fatalf("it ended before it asked: %v", err)
		case <-time.After(5 * time.Millisecond):
		}
	}
	return consent{out, ended}
}

// address returns the vendor's consent page and its parameters.
func (c consent) address(t *testing.T) (string, url.Values) {
	t.Helper()
	shown := expect.Value(url.Parse(link.FindString(c.String())))(t)
	return shown.String(), shown.Query()
}

func visit(t *testing.T, address string) (int, string) {
	t.Helper()
	res := expect.Value(http.Get(address))(t)
	defer res.Body.Close()
	b := expect.Value(io.ReadAll(res.Body))(t)
	return res.StatusCode, string(b)
}

// testConsent connects as a person does: it opens the printed address, and the browser is redirected back.
func testConsent(t *testing.T, w *workspace) {
	v := vendors.New()
	s := httptest.NewServer(v.Handler())
	t.Cleanup(s.Close)
	for _, provider := range []string{"freee", "google"} {
		prefix, c := strings.ToUpper(provider), v.Client(provider)
		t.Setenv(prefix+"_CLIENT_ID", c.ID)
		t.Setenv(prefix+"_CLIENT_SECRET", c.Secret)
	}
	for provider, metadata := range map[string]aggregate.JSON{"freee": `{"company_id":"1884310"}`, "google": "{}"} {
		t.Run(provider, func(t *testing.T) {
			c := asks(t, w, s.URL, provider, "/token")
			address, asked := c.address(t)
			status, _ := visit(t, asked.Get("redirect_uri")+"?code=x&state=forged")
			expect.Is(t, status, 400, "a forged return is answered")
			status, page := visit(t, address)
			expect.That(t, status == 200 && strings.Contains(page, "Connected"), "%d %s", status, page)
			expect.NoError(t, <-c.ended)
			connected(t, w, s.URL, provider, metadata)
			for _, secret := range v.Secrets() {
				expect.That(t, !strings.Contains(c.String(), secret), "it shows a secret: %s", c)
			}
		})
	}
	for _, tt := range []struct{ name, tokens, comes, want string }{
		{"denied", "/token", "?error=access_denied&state=", "access_denied"},
		{"the vendor's tokens are away", "/nowhere", "", "connect freee"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := asks(t, w, s.URL, "freee", tt.tokens)
			address, asked := c.address(t)
			if tt.comes != "" { // back at once
				address = asked.Get("redirect_uri") + tt.comes + asked.Get("state")
			}
			status, _ := visit(t, address)
			expect.Is(t, status, 400, "answered")
			err := <-c.ended
			expect.That(t, err != nil && strings.Contains(err.Error(), tt.want), "%v", err)
		})
	}
	t.Run("no app", func(t *testing.T) {
		t.Setenv("FREEE_CLIENT_SECRET", "")
		w.refused(t, "FREEE_CLIENT_SECRET", "freee")
	})
}

// connected checks a provider's tokens and the company's metadata.
func connected(t *testing.T, w *workspace, v, provider string, metadata aggregate.JSON) {
	t.Helper()
	tenant := aggregate.TenantID("T0CONSENT")
	vault := vault.New(w.rows, w.keys, vault.FreeeOAuth("", v+"/freee/token"), vault.GoogleOAuth("", v+"/google/token"))
	first := expect.Value(vault.Token(t.Context(), tenant, provider))(t)
	second, err := vault.Renew(t.Context(), tenant, provider, first)
	expect.That(t, err == nil && second != first, "it cannot be renewed: %v", err)
	row, err := w.rows.Integration(t.Context(), tenant, provider)
	expect.That(t, err == nil && row.Metadata == metadata, "%s, %v", row.Metadata, err)
}
