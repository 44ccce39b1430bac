package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
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
		resp, _ := visit(t, address+"&user="+webapi.Suzuki)
		code := expect.Value(resp.Location())(t).Query().Get("code")
		made := expect.Value(slack.Installed(t.Context(), code, back))(t)
		expect.Fails(t, expect.Err(slack.Installed(t.Context(), code, back)), slackapi.ErrSignInRefused, "a code twice")
		return made
	}
	works := func(token string) string {
		_, err := slackapi.With(ringitest.Keys{Token: token, Address: s.url + "/api/"}, time.Minute).Team(t.Context())
		return slackapi.Code(err)
	}
	first := install()
	expect.That(t, first.Team == s.TeamID() && first.User == webapi.Suzuki && first.Token == botToken &&
		works(botToken) == "", "%+v, %q", first.Team, works(botToken))
	expect.NoError(t, slack.Revoke(t.Context(), botToken))
	expect.NoError(t, slack.Revoke(t.Context(), botToken))
	expect.Is(t, works(botToken), "token_revoked", "a revoked token")
	second := install()
	expect.That(t, second.Token != botToken && works(second.Token) == "" && works(botToken) != "" &&
		works("xoxb-forged") == "invalid_auth", "it was not installed anew")
	if resp, _ := visit(t, strings.Replace(expect.Value(slack.InstallAddress(t.Context(), back, "s"))(t), "/authorize?",
		"/authorize?user=&", 1)); !strings.Contains(resp.Header.Get("Location"), "error=access_denied") {
		t.Errorf("who says no is led to %s", resp.Header.Get("Location"))
	}
	_, page := visit(t, expect.Value(slack.InstallAddress(t.Context(), "https://evil.example/", "s"))(t))
	expect.That(t, strings.Contains(page, "redirect_uri"), "%v", page)
}

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
		expect.Must(t, resp.StatusCode == http.StatusOK && strings.Contains(page, "佐藤 花子") &&
			!strings.Contains(page, webapi.Bot), "%s\n%s", resp.Status, page)
		resp, _ = visit(t, address+"&user="+webapi.Suzuki)
		to := expect.Value(resp.Location())(t)
		expect.Must(t, to.Query().Get("state") == "st&ate" && strings.HasPrefix(to.String(), back),
			"the browser is sent to %s", to)
		return to.Query().Get("code")
	}

	used := code()
	p := expect.Value(slack(ours).Person(t.Context(), used, back, "nonce"))(t)
	expect.That(t, p == (slackapi.SignedIn{User: webapi.Suzuki, Team: s.TeamID(), TeamName: "Ringi Sandbox"}),
		"the person is %+v", p)
	for name, try := range map[string]func() (slackapi.SignedIn, error){
		"a code twice": func() (slackapi.SignedIn, error) { return slack(ours).Person(t.Context(), used, back, "nonce") },
		"another address": func() (slackapi.SignedIn, error) {
			return slack(ours).Person(t.Context(), code(), back+"?x", "nonce")
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
		for _, page := range []string{address, address + "&user=" + webapi.Suzuki} {
			if resp, _ := visit(t, page); resp.StatusCode != http.StatusBadRequest {
				t.Errorf("%s is led to %q: %s", expect.Value(url.Parse(page))(t).Path, elsewhere, resp.Status)
			}
		}
	}
}

// call makes one call with form arguments, as slack-go does, and returns the decoded answer.
func (w *world) call(t *testing.T, token, method, form string) map[string]any {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/api/"+method,
		strings.NewReader(form)))(t)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Authorization", "Bearer "+token)
	res := expect.Value(http.DefaultClient.Do(r))(t)
	defer res.Body.Close()
	var answer map[string]any
	err := json.NewDecoder(res.Body).Decode(&answer)
	expect.Must(t, err == nil, "%s: %v", method, err)
	return answer
}

// calls are made in this order. refused is the expected error. Words in braces stand for the test's ids.
var calls = []struct{ method, form, refused string }{
	{"auth.test", "", ""},
	{"users.info", "user={sato}", ""},
	{"users.info", "user={sato}&include_locale=true", ""},
	{"users.info", "user=U0", "user_not_found"},
	{"users.lookupByEmail", "email=nobody@example.com", "users_not_found"},
	{"users.list", "", ""},
	{"users.conversations", "user={sato}&types=public_channel,private_channel,mpim,im&limit=1", ""},
	{"users.conversations", "types=x", "invalid_types"},
	{"users.conversations", "cursor=x", "invalid_cursor"},
	{"conversations.members", "channel=C0", "channel_not_found"},
	{"conversations.open", "users={sato}", ""},
	{"conversations.members", "channel={hr}&limit=1", ""},
	{"conversations.history", "channel={hr}&limit=1&include_all_metadata=true", ""},
	{"conversations.replies", "channel={hr}&ts={root}", ""},
	{"conversations.replies", "channel={hr}&ts=1.000000", "thread_not_found"},
	{"chat.postMessage", "channel={hr}&text=x&blocks=" + url.QueryEscape(`[{"type":"section"}]`), "invalid_blocks"},
	{"chat.postMessage", "text=x", "invalid_arguments"},
	{"chat.update", "channel={hr}&ts={ts}&text=y", ""},
	{"chat.postEphemeral", "channel={hr}&user={sato}&text=x", ""},
	{"chat.getPermalink", "channel={hr}&message_ts={ts}", ""},
	{"chat.delete", "channel={hr}&ts={ts}", ""},
	{"usergroups.list", "include_users=true", ""},
	{"usergroups.users.list", "usergroup=S0", "no_such_subteam"},
	{"views.update", "view_id={id}&view={view}", ""},
	{"views.update", "view_id=V0&view={view}", "not_found"},
	{"views.open", "trigger_id=x&view={view}", "invalid_trigger_id"},
	{"assistant.threads.setSuggestedPrompts", "channel_id={dm}&prompts=" +
		url.QueryEscape(`[{"title":"a","message":"b"}]`), ""},
	{"assistant.threads.setSuggestedPrompts", "prompts=[]", "invalid_arguments"},
}

// The sandbox's answers must have the names and types of Slack's.
func TestAnswersAreAsSlackPublishesThem(t *testing.T) {
	api := expect.Value(vendors.Published("slack"))(t)
	w := newWorld(t, func(o *sandbox.Options) { o.TimeScale = 1 })
	root := expect.Value(w.Say(webapi.Sato, webapi.HR, sandbox.Mention("今月の勤怠をまとめて")))(t)
	posted := w.call(t, botToken, "chat.postMessage", "channel="+webapi.HR+"&text=x&thread_ts="+root)
	ts, _ := posted["ts"].(string)
	view := url.QueryEscape(`{"type":"modal","title":{"type":"plain_text","text":"t"},"blocks":[]}`)
	dm := at(w.call(t, botToken, "conversations.open", "users="+webapi.Sato), "channel", "id").(string)
	opened := w.call(t, botToken, "views.open", "trigger_id="+trigger(t, w)+"&view="+view)
	id, _ := at(opened, "view", "id").(string)
	places := strings.NewReplacer("{hr}", webapi.HR, "{sato}", webapi.Sato, "{dm}", dm, "{root}", root, "{ts}", ts,
		"{id}", id, "{view}", view, "{trigger}", trigger(t, w))
	for _, tt := range calls {
		t.Run(tt.method+" "+tt.refused, func(t *testing.T) {
			answer := w.call(t, botToken, tt.method, places.Replace(tt.form))
			refused, _ := answer["error"].(string)
			expect.Must(t, refused == tt.refused && answer["ok"] == (tt.refused == ""), "%v", answer)
			schema := tt.method
			if tt.refused != "" {
				schema = "refusal"
			}
			for _, d := range api.Differences(schema, answer) {
				t.Error(d)
			}
		})
	}
	got := at(w.call(t, botToken, "users.info", "user="+webapi.Sato), "user", "locale")
	expect.That(t, got == nil, "a locale that nobody asked for: %v", got)
	w.Faults().Add(webapi.Fault{Method: "users.info", Kind: webapi.Refused, Code: "missing_scope"})
	answer := w.call(t, botToken, "users.info", "user="+webapi.Sato)
	for _, d := range api.Differences("missing_scope", answer) {
		t.Error(d, answer)
	}
}

// trigger returns a new trigger_id from a click on a card's button.
func trigger(t *testing.T, w *world) string {
	t.Helper()
	ts := w.post(t, webapi.HR, card("#fff", "x", button("a", "v")))
	expect.NoError(t, w.Click(webapi.Sato, webapi.HR, ts, "a"))
	actions := w.app.actions()
	id, _ := actions[len(actions)-1].body["trigger_id"].(string)
	return id
}
