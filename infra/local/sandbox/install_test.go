package sandbox_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/signin"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

func TestTheAppIsInstalledAndItsTokenRevoked(t *testing.T) {
	s := sandbox.New(sandbox.Options{SigningSecret: secret, BotToken: botToken, ClientSecret: "c1ient"})
	t.Cleanup(s.Close)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	s.Connect(sandbox.Endpoints{Self: server.URL})
	back := server.URL + "/console/slack/installed"
	slack := &signin.Slack{App: client{sandbox.ClientID, "c1ient", server.URL + "/api/"}, HTTP: server.Client(), Now: time.Now}
	browser := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	get := func(address string) (string, string) {
		resp := expect.Value(browser.Get(address))(t)
		defer resp.Body.Close()
		return resp.Header.Get("Location"), string(expect.Value(io.ReadAll(resp.Body))(t))
	}
	install := func() signin.Installation {
		t.Helper()
		address := expect.Value(slack.InstallAddress(t.Context(), back, "st&ate"))(t)
		if _, page := get(address); !strings.Contains(page, "佐藤 花子") || !strings.Contains(page, "chat:write") {
			t.Fatal(page)
		}
		to, _ := get(strings.Replace(address, "/authorize?", "/allow?user="+workspace.Suzuki+"&", 1))
		_, code, _ := strings.Cut(to, "code=")
		code, _, _ = strings.Cut(code, "&")
		made := expect.Value(slack.Installed(t.Context(), code, back))(t)
		if _, err := slack.Installed(t.Context(), code, back); !errors.Is(err, signin.ErrRefused) {
			t.Errorf("a code twice: %v", err)
		}
		return made
	}
	works := func(token string) string {
		_, err := slackapi.With(slacktest.Keys{Token: token, Address: server.URL + "/api/"}, time.Minute).Team(t.Context())
		return slackapi.Code(err)
	}
	first := install()
	if first.Team != s.TeamID() || first.User != workspace.Suzuki || first.Token != botToken || works(botToken) != "" {
		t.Errorf("%+v, %q", first.Team, works(botToken))
	}
	expect.NoError(t, slack.Revoke(t.Context(), botToken))
	expect.NoError(t, slack.Revoke(t.Context(), botToken))
	if why := works(botToken); why != "token_revoked" {
		t.Errorf("a revoked token: %q", why)
	}
	if second := install(); second.Token == botToken || works(second.Token) != "" || works(botToken) == "" || works("xoxb-forged") != "invalid_auth" {
		t.Error("it was not installed anew")
	}
	if to, _ := get(strings.Replace(expect.Value(slack.InstallAddress(t.Context(), back, "s"))(t), "/authorize?", "/allow?", 1)); !strings.Contains(to, "error=access_denied") {
		t.Errorf("who says no is led to %s", to)
	}
	if _, page := get(expect.Value(slack.InstallAddress(t.Context(), "https://evil.example/", "s"))(t)); !strings.Contains(page, "redirect_uri") {
		t.Error(page)
	}
}
