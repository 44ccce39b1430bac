package main

import (
	"context"
	"flag"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
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
	got, err := v.SlackToken(t.Context(), w.tenant, "xoxb", func(context.Context, string) (bool, error) { return true, nil })
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
