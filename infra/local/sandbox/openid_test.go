package sandbox_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

// client is the app's OAuth client, or an impostor's.
type client struct{ id, secret, api string }

func (c client) Client(context.Context) (id, secret, api string, err error) {
	return c.id, c.secret, c.api, nil
}

// visit opens an address and does not follow redirects.
func visit(t *testing.T, address string) (*http.Response, string) {
	t.Helper()
	request := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil))(t)
	resp := expect.Value(http.DefaultTransport.RoundTrip(request))(t)
	defer resp.Body.Close()
	return resp, string(expect.Value(io.ReadAll(resp.Body))(t))
}

func TestPeopleSignIn(t *testing.T) {
	s := newWorld(t, func(o *sandbox.Options) { o.ClientSecret = "c1ient" })
	back := s.url + "/console/signin/done"
	ours := client{sandbox.ClientID, "c1ient", s.url + "/api/"}
	slack := func(c client) *slackapi.SignIn {
		return &slackapi.SignIn{App: c, HTTP: http.DefaultClient, Now: time.Now}
	}
	code := func() string {
		address := expect.Value(slack(ours).Address(t.Context(), back, "st&ate", "nonce"))(t)
		resp, page := visit(t, address)
		if resp.StatusCode != http.StatusOK || !strings.Contains(page, "佐藤 花子") || strings.Contains(page, webapi.Bot) {
			t.Fatalf("%s\n%s", resp.Status, page)
		}
		resp, _ = visit(t, strings.Replace(address, "/authorize?", "/allow?user="+webapi.Suzuki+"&", 1))
		to := expect.Value(resp.Location())(t)
		expect.Must(t, to.Query().Get("state") == "st&ate" && strings.HasPrefix(to.String(), back),
			"the browser is sent to %s", to)
		return to.Query().Get("code")
	}

	used := code()
	p := expect.Value(slack(ours).Person(t.Context(), used, back, "nonce"))(t)
	if p != (slackapi.SignedIn{User: webapi.Suzuki, Team: s.TeamID(), TeamName: "Ringi Sandbox", Name: "鈴木 一郎"}) {
		t.Errorf("the person is %+v", p)
	}
	for name, try := range map[string]func() (slackapi.SignedIn, error){
		"a code twice": func() (slackapi.SignedIn, error) { return slack(ours).Person(t.Context(), used, back, "nonce") },
		"another address": func() (slackapi.SignedIn, error) {
			return slack(ours).Person(t.Context(), code(), back+"?x",
				"nonce")
		},
		"another sign-in": func() (slackapi.SignedIn, error) { return slack(ours).Person(t.Context(), code(), back, "m") },
		"a guessed secret": func() (slackapi.SignedIn, error) {
			return slack(client{ours.id, "x", ours.api}).Person(t.Context(), code(), back, "nonce")
		},
		"another app": func() (slackapi.SignedIn, error) {
			return slack(client{"1.2", "c1ient", ours.api}).Person(t.Context(), code(), back, "nonce")
		},
	} {
		p, err := try()
		expect.That(t, errors.Is(err, slackapi.ErrSignInRefused), "%s: %+v, %v", name, p, err)
	}
	for _, elsewhere := range []string{"https://evil.example/console/", s.url + "/elsewhere", ""} {
		address := expect.Value(slack(ours).Address(t.Context(), elsewhere, "s", "n"))(t)
		for _, page := range []string{address, strings.Replace(address, "/authorize?", "/allow?user="+webapi.Suzuki+"&", 1)} {
			if resp, _ := visit(t, page); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s is led to %q: %s", expect.Value(url.Parse(page))(t).Path, elsewhere, resp.Status)
			}
		}
	}
}
