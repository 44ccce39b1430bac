package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/kms"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const token = "rooms-himitsu"

func TestConnect(t *testing.T) {
	w := sealing(t, "T0RINGI")
	t.Run("a token is kept sealed, and found by the tools", func(t *testing.T) { testSealed(t, w) })
	t.Run("what is wrong is named, and keeps nothing", func(t *testing.T) { testRefused(t, w) })
	t.Run("what is given back is forgotten", func(t *testing.T) { testGivenBack(t, w) })
	t.Run("help is no failure", func(t *testing.T) {
		_, err := w.command(t, "-h")
		expect.Fails(t, err, flag.ErrHelp)
	})
	t.Run("a GitHub App is connected by its key", func(t *testing.T) { testApp(t, w) })
	t.Run("consent", func(t *testing.T) { testConsent(t, w) })
}

func testSealed(t *testing.T, w *workspace) {
	server := tenancy.MCPServer{Name: "rooms", URL: "https://rooms.example.com/mcp"}
	w.must(t, "mcp", "add", server.Name, server.URL)
	for _, sent := range []string{"an older one", token + "\n"} {
		said := expect.Value(w.given(t, sent, "mcp:rooms"))(t)
		expect.That(t, !strings.Contains(said, strings.TrimSpace(sent)) && strings.Contains(said, "mcp:rooms is connected"),
			"said %q", said)
	}
	row, err := w.rows.Integration(t.Context(), w.tenant, "mcp:rooms")
	expect.That(t, err == nil && row.Status == tenancy.Connected && !strings.Contains(row.Credentials, token),
		"%+v, %v", row, err)
	v := vault.New(w.rows, w.keys)
	got, err := v.ServerToken(t.Context(), w.tenant, server)
	expect.That(t, err == nil && got == token, "the tools find %q, %v", got, err)
	_, err = v.ServerToken(t.Context(), aggregate.TenantID("T0OTHER"), server)
	expect.Fails(t, err, aggregate.ErrNotFound, "another tenant")
	log, err := w.rows.Audit(t.Context(), w.tenant, store.AuditFilter{Action: tenancy.AuditIntegrationConnected}, "", 10)
	expect.That(t, err == nil && len(log.Items) == 2 && log.Items[0].ActorID == "U0ADMIN", "recorded %+v, %v", log, err)
}

func testRefused(t *testing.T, w *workspace) {
	before := expect.Value(w.rows.Integration(t.Context(), w.tenant, "mcp:rooms"))(t)
	for _, tt := range []struct {
		name, in, args string
		want           string // named in the error
	}{
		{"no table", token, "-table= mcp:rooms", "-table"},
		{"no key", token, "-key= mcp:rooms", "-key"},
		{"no team", token, "-team= mcp:rooms", "-team"},
		{"a team of another form", token, "-team C0RINGI mcp:rooms", "-team"},
		{"nobody who does it", token, "-by= mcp:rooms", "-by"},
		{"the system", token, "-by system mcp:rooms", "-by"},
		{"no provider", token, "", "freee, google, github, slack"},
		{"an unknown provider", token, "gitlab", "freee, google, github, slack"},
		{"two providers", token, "google freee", "freee, google, github, slack"},
		{"no token", " \n", "mcp:rooms", "1 to 16384 bytes"},
		{"a token that is none", strings.Repeat("x", maxToken+1), "mcp:rooms", "1 to 16384 bytes"},
		{"a key that is not there", token, "-key nobody's mcp:rooms", "mcp:rooms"},
		{"a table that is not there", token, "-table nobodys mcp:rooms", "read SETTINGS"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := w.given(t, tt.in, strings.Fields(tt.args)...)
			expect.That(t, err != nil && strings.Contains(err.Error(), tt.want) && !strings.Contains(err.Error(), token),
				"%v, want one that names %s", err, tt.want)
		})
	}
	row := expect.Value(w.rows.Integration(t.Context(), w.tenant, "mcp:rooms"))(t)
	expect.That(t, row.Credentials == before.Credentials, "something was kept: %+v", row)
}

func testGivenBack(t *testing.T, w *workspace) {
	expect.Value(w.rows.EndIntegrations(t.Context(), w.tenant, tenancy.AppUninstalled, time.Now(), time.Now()))(t)
	w.must(t, "slack") // is installed again
	v := vault.New(w.rows, w.keys)
	got, err := v.SlackToken(t.Context(), w.tenant, "xoxb",
		func(context.Context, string) (bool, error) { return true, nil })
	expect.That(t, got == "xoxb" && err == nil, "%q, %v", got, err)
	row := expect.Value(w.rows.Integration(t.Context(), w.tenant, "mcp:rooms"))(t)
	expect.That(t, row.Status != tenancy.Connected, "the server came back with it: %+v", row)
	expect.Value(w.given(t, token, "mcp:rooms"))(t)
	expect.Has(t, w.must(t, "-disconnect", "mcp:rooms"), "mcp:rooms is disconnected")
	row = expect.Value(w.rows.Integration(t.Context(), w.tenant, "mcp:rooms"))(t)
	expect.That(t, row.Status == tenancy.Disconnected && row.Credentials == "", "%+v", row)
}

func testApp(t *testing.T, w *workspace) {
	s := expect.Value(vendors.NewGitHub())(t)
	for _, tt := range []struct{ id, installation, key, want string }{
		{"", vendors.Installation, s.Key(), "app_id"}, {vendors.AppID, "x1", s.Key(), "installation_id"},
		{vendors.AppID, vendors.Installation, "himitsu", "private_key"},
		{vendors.AppID, vendors.Installation, strings.Repeat("x", 9<<10), "8192 bytes"},
	} {
		t.Setenv("GITHUB_APP_ID", tt.id)
		t.Setenv("GITHUB_INSTALLATION_ID", tt.installation)
		_, err := w.given(t, tt.key, "github")
		expect.That(t, err != nil && strings.Contains(err.Error(), tt.want) && !strings.Contains(err.Error(), tt.key),
			"%v, want %s",
			err, tt.want)
	}
	t.Setenv("GITHUB_INSTALLATION_ID", vendors.Installation)
	said := expect.Value(w.given(t, s.Key(), "github"))(t)
	expect.Same(t, "github is connected for T0RINGI\n", said)
	app := expect.Value(vault.New(w.rows, w.keys).App(t.Context(), w.tenant))(t)
	expect.That(t, app.ID == vendors.AppID && app.Installation == vendors.Installation, "%s %s", app.ID, app.Installation)
}

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
	args := append(append([]string{}, w.flags...), "-team", "T0CONSENT", "-listen", "127.0.0.1:0", "-auth-url",
		v+"/"+provider+"/authorize", "-token-url", v+"/"+provider+tokens, provider)
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

// workspace has its own table; an administrator runs the command in it.
type workspace struct {
	*storetest.Server
	rows          *store.TaskStore
	table, tenant string
	flags         []string       // of each run; a run may override them
	keys          vault.Envelope // none in a workspace that only makes decisions
}

func newWorkspace(t *testing.T, team string) *workspace {
	t.Helper()
	w := &workspace{Server: storetest.Start(t), tenant: aggregate.TenantID(team)}
	w.rows, w.table = w.Store(t)
	w.flags = []string{"-table", w.table, "-team", team, "-by", "U0ADMIN"}
	return w
}

// sealing returns a workspace whose deployment has a key for credentials.
func sealing(t *testing.T, team string) *workspace {
	t.Helper()
	w := newWorkspace(t, team)
	made := expect.Value(kms.NewFromConfig(w.Config).CreateKey(t.Context(), &kms.CreateKeyInput{}))(t)
	w.keys = vault.EnvelopeAt(w.Config, *made.KeyMetadata.Arn)
	w.flags = append(w.flags, "-key", w.keys.KeyID)
	return w
}

// deciding returns a workspace that has made a request; its commands need no key.
func deciding(t *testing.T) *workspace {
	t.Helper()
	w := newWorkspace(t, "T0RINGI")
	expect.Value(w.rows.Bootstrap(t.Context(), tenancy.Tenant{ID: w.tenant, Name: "T0RINGI", Slug: "default",
		TeamID: "T0RINGI", Admins: []string{}}, time.Now()))(t)
	return w
}

// given runs the command with this standard input.
func (w *workspace) given(t *testing.T, in string, args ...string) (string, error) {
	var out bytes.Buffer
	err := run(t.Context(), w.Config, append(append([]string{}, w.flags...), args...), strings.NewReader(in), &out)
	return out.String(), err
}

func (w *workspace) command(t *testing.T, args ...string) (string, error) {
	return w.given(t, "", args...)
}

func (w *workspace) must(t *testing.T, args ...string) string {
	t.Helper()
	out, err := w.command(t, args...)
	expect.Must(t, err == nil, "%v: %v", args, err)
	return out
}

func (w *workspace) refused(t *testing.T, want string, args ...string) {
	t.Helper()
	_, err := w.command(t, args...)
	expect.That(t, err != nil && strings.Contains(err.Error(), want), "%v: %v, want one that says %q", args, err, want)
}
