package vault_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/secret/vault"
)

func testEnvelope(t *testing.T, w *world) {
	e := w.Envelope
	himitsu := vault.Credential{AccessToken: "himitsu"}
	sealed := expect.Value(e.SealCredential(t.Context(), "T1", "freee", himitsu))(t)
	expect.That(t, !strings.Contains(sealed, "himitsu") && strings.HasPrefix(sealed, "v1."), "sealed: %s", sealed)
	again, err := e.SealCredential(t.Context(), "T1", "freee", himitsu)
	expect.That(t, err == nil && again != sealed, "the same text twice, %v", err)

	t.Run("opens for its own tenant and provider only", func(t *testing.T) {
		for owner, text := range map[[2]string]string{
			{"T2", "freee"}: sealed, {"T1", "google"}: sealed, {"", ""}: sealed,
		} {
			if b, err := e.Open(t.Context(), owner[0], owner[1], text); !errors.Is(err, vault.ErrSealed) {
				t.Errorf("%v: %s, %v", owner, b, err)
			}
		}
		b, err := e.Open(t.Context(), "T1", "freee", sealed)
		expect.That(t, err == nil && string(b) == `{"access_token":"himitsu"}`, "%s, %v", b, err)
	})

	t.Run("refuses what is damaged", func(t *testing.T) {
		parts := strings.Split(sealed, ".")
		other := strings.Split(again, ".")
		for name, text := range map[string]string{
			"empty": "", "in clear": `{"access_token":"himitsu"}`, "one part": "v1", "another version": "v2." + parts[1] + "." + parts[2],
			"not base64": "v1.!." + parts[2], "no key": "v1.." + parts[2], "no text": "v1." + parts[1] + ".",
			"another's key": "v1." + other[1] + "." + parts[2], "a character changed": sealed[:len(sealed)-4] + flip(sealed[len(sealed)-4:]),
			"cut": sealed[:len(sealed)-8],
		} {
			if b, err := e.Open(t.Context(), "T1", "freee", text); !errors.Is(err, vault.ErrSealed) ||
				strings.Contains(fmt.Sprint(err), "himitsu") {
				t.Errorf("%s: %s, %v", name, b, err)
			}
		}
	})

	t.Run("a row copied to another tenant does not open", func(t *testing.T) {
		row := tenancy.Integration{TenantID: "TCOPY", Provider: "freee", Status: tenancy.Connected, Credentials: sealed}
		expect.Value(w.rows.SaveIntegration(t.Context(), row, aggregate.System(), w.now()))(t)
		if token, err := w.Token(t.Context(), "TCOPY", "freee"); !errors.Is(err, vault.ErrSealed) {
			t.Errorf("%q, %v", token, err)
		}
	})
}

// testServerSecret: a server's secret is only valid for one address.
func testServerSecret(t *testing.T, w *world) {
	here, there := tenancy.MCPServer{Name: "rooms", URL: "https://a.example.com/mcp"}, tenancy.MCPServer{Name: "rooms",
		URL: "https://b.example.com/mcp"}
	var field aggregate.ErrField
	if err := w.Connect(t.Context(), "T1", here.Provider(), vault.Credential{AccessToken: "himitsu"}, "{}",
		aggregate.System()); !errors.As(err, &field) {
		t.Errorf("without an address: %v", err)
	}
	expect.NoError(t, w.Connect(t.Context(), "T1", here.Provider(),
		vault.Credential{AccessToken: "himitsu", Address: here.URL}, "{}", aggregate.System()))
	expect.Is(t, expect.Value(w.ServerToken(t.Context(), "T1", here))(t), "himitsu", "here")
	elsewhere := func(token string, err error) {
		t.Helper()
		var ended tenancy.ErrNotConnected
		expect.That(t, token == "" && errors.As(err, &ended) && ended.Reason == tenancy.CredentialElsewhere,
			"%q, %v", token, err)
	}
	elsewhere(w.ServerToken(t.Context(), "T1", there))
	elsewhere(w.Token(t.Context(), "T1", here.Provider()))
	// A credential from before credentials had addresses is valid for no address.
	row, err := w.rows.Integration(t.Context(), "T1", here.Provider())
	expect.NoError(t, err)
	if row.Credentials, err = w.Envelope.SealCredential(t.Context(), "T1", here.Provider(),
		vault.Credential{AccessToken: "himitsu"}); err != nil {
		t.Fatal(err)
	}
	expect.Value(w.rows.SaveIntegration(t.Context(), row, aggregate.System(), w.now()))(t)
	elsewhere(w.ServerToken(t.Context(), "T1", here))
}

// testPrinting: printing a credential shows nothing.
func testPrinting(t *testing.T, _ *world) {
	c := vault.Credential{AccessToken: "himitsu", RefreshToken: "himitsu",
		Client: vault.OAuthClient{ID: "id", Secret: "himitsu"}}
	for _, v := range []any{c, &c, c.Client, vault.Token{Access: "himitsu", Refresh: "himitsu"},
		vault.Consent{State: "himitsu", Verifier: "himitsu"}} {
		b, err := json.Marshal(v)
		s := fmt.Sprintf("%v %+v %#v %s", v, v, v, v)
		expect.That(t, !strings.Contains(s, "himitsu"), "%T: %s", v, s)
		_, kept := v.(vault.Consent)
		expect.That(t, err == nil && (kept || !strings.Contains(string(b), "himitsu")), "%T as JSON: %s, %v", v, b, err)
	}
}

// flip replaces every character by another one of base64url.
func flip(s string) string {
	return strings.Map(func(r rune) rune {
		if r == 'A' {
			return 'B'
		}
		return 'A'
	}, s)
}

func testConnecting(t *testing.T, w *world) {
	for _, missing := range []string{"freee", "google", "slack", "mcp:rooms"} {
		if token, err := w.Token(t.Context(), "TNEW", missing); !errors.Is(err, aggregate.ErrNotFound) {
			t.Errorf("%s: %q, %v", missing, token, err)
		}
	}
	admin, rooms := aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}, tenancy.MCPServer{Name: "rooms",
		URL: "https://rooms.example.com/mcp"}
	for _, token := range []string{"first", "second"} {
		expect.NoError(t, w.Connect(t.Context(), "TNEW", "mcp:rooms",
			vault.Credential{AccessToken: token, Address: rooms.URL}, "{}", admin))
		if got, err := w.ServerToken(t.Context(), "TNEW", rooms); got != token || err != nil {
			t.Errorf("%q, %v", got, err)
		}
	}
	expect.NoError(t, w.Disconnect(t.Context(), "TNEW", "mcp:rooms", admin))
	ended := tenancy.ErrNotConnected{}
	if _, err := w.ServerToken(t.Context(), "TNEW", rooms); !errors.As(err, &ended) ||
		ended.Status != tenancy.Disconnected || ended.Reason != tenancy.ByPerson {
		t.Errorf("%v", err)
	}
	expect.Fails(t, w.Disconnect(t.Context(), "TNEW", "freee", admin), aggregate.ErrNotFound,
		"disconnected what never was")
}

func testSlack(t *testing.T, w *world) {
	own := func(_ context.Context, tenant string) (bool, error) { return tenant == "TSLACK", nil }
	token := func(want string, why tenancy.IntegrationReason) {
		t.Helper()
		got, err := w.SlackToken(t.Context(), "TSLACK", "xoxb-deployment", own)
		ended := tenancy.ErrNotConnected{}
		expect.That(t, got == want && (why != "") == errors.As(err, &ended) && ended.Reason == why,
			"%q, %v; want %q %s", got, err, want, why)
	}
	token("xoxb-deployment", "")
	for _, why := range []tenancy.IntegrationReason{tenancy.TokensRevoked, tenancy.AppUninstalled} {
		expect.Value(w.rows.EndIntegrations(t.Context(), "TSLACK", why, w.now(), w.now()))(t)
		token("", why)
		w.later(1)
		expect.NoError(t, w.Allow(t.Context(), "TSLACK", "slack", aggregate.System()))
		token("xoxb-deployment", "")
	}
	notConnected := tenancy.ErrNotConnected{}
	if got, err := w.SlackToken(t.Context(), "TELSE", "xoxb-deployment", own); got != "" ||
		!errors.As(err, &notConnected) {
		t.Errorf("another workspace is given %q, %v", got, err)
	}
	if err := w.Allow(t.Context(), "TELSE", "slack", aggregate.System()); err != nil { // without a token of its own
		t.Fatal(err)
	}
	if got, err := w.SlackToken(t.Context(), "TELSE", "xoxb-deployment", own); got != "" ||
		!errors.As(err, &notConnected) {
		t.Errorf("one that connected without a token is given %q, %v", got, err)
	}
	silent := errors.New("timeout")
	got, err := w.SlackToken(t.Context(), "TNOBODY", "xoxb-deployment",
		func(context.Context, string) (bool, error) { return false, silent })
	expect.That(t, got == "" && errors.Is(err, silent), "while nobody knows whose it is, %q, %v", got, err)
	expect.NoError(t, w.Connect(t.Context(), "TSLACK", "slack", vault.Credential{AccessToken: "xoxb-own"}, "{}",
		aggregate.System()))
	token("xoxb-own", "")
}
