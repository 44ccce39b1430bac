package sandbox_test

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
)

func TestTheAppIsInstalledAndItsTokenRevoked(t *testing.T) {
	s := newWorld(t, func(o *sandbox.Options) { o.ClientSecret = "c1ient" })
	back := s.url + "/console/slack/installed"
	slack := &slackapi.SignIn{App: client{sandbox.ClientID, "c1ient", s.url + "/api/"}, HTTP: http.DefaultClient,
		Now: time.Now}
	install := func() slackapi.Installation {
		t.Helper()
		address := expect.Value(slack.InstallAddress(t.Context(), back, "st&ate"))(t)
		_, page := visit(t, address)
		expect.Must(t, strings.Contains(page, "佐藤 花子") && strings.Contains(page, "chat:write"), "%v", page)
		resp, _ := visit(t, strings.Replace(address, "/authorize?", "/allow?user="+webapi.Suzuki+"&", 1))
		code := expect.Value(resp.Location())(t).Query().Get("code")
		made := expect.Value(slack.Installed(t.Context(), code, back))(t)
		_, err := slack.Installed(t.Context(), code, back)
		expect.That(t, errors.Is(err, slackapi.ErrSignInRefused), "a code twice: %v", err)
		return made
	}
	works := func(token string) string {
		_, err := slackapi.With(slacktest.Keys{Token: token, Address: s.url + "/api/"}, time.Minute).Team(t.Context())
		return slackapi.Code(err)
	}
	first := install()
	if first.Team != s.TeamID() || first.User != webapi.Suzuki || first.Token != botToken || works(botToken) != "" {
		t.Errorf("%+v, %q", first.Team, works(botToken))
	}
	expect.NoError(t, slack.Revoke(t.Context(), botToken))
	expect.NoError(t, slack.Revoke(t.Context(), botToken))
	expect.Is(t, works(botToken), "token_revoked", "a revoked token")
	if second := install(); second.Token == botToken || works(second.Token) != "" || works(botToken) == "" || works("xoxb-forged") != "invalid_auth" {
		t.Error("it was not installed anew")
	}
	if resp, _ := visit(t, strings.Replace(expect.Value(slack.InstallAddress(t.Context(), back, "s"))(t), "/authorize?", "/allow?", 1)); !strings.Contains(resp.Header.Get("Location"), "error=access_denied") {
		t.Errorf("who says no is led to %s", resp.Header.Get("Location"))
	}
	if _, page := visit(t, expect.Value(slack.InstallAddress(t.Context(), "https://evil.example/", "s"))(t)); !strings.Contains(page, "redirect_uri") {
		t.Error(page)
	}
}
