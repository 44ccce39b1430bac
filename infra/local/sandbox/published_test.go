package sandbox_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
)

// call makes one call with form arguments, as slack-go does, and returns the decoded answer.
func (w *world) call(t *testing.T, token, method, form string) map[string]any {
	t.Helper()
	r := expect.Value(http.NewRequestWithContext(t.Context(), http.MethodPost, w.url+"/api/"+method, strings.NewReader(form)))(t)
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
	{"team.info", "", ""},
	{"team.info", "team=T0", "team_not_found"},
	{"users.info", "user={sato}", ""},
	{"users.info", "user={sato}&include_locale=true", ""},
	{"users.info", "user=U0", "user_not_found"},
	{"users.lookupByEmail", "email=nobody@example.com", "users_not_found"},
	{"users.list", "", ""},
	{"users.conversations", "user={sato}&types=public_channel,private_channel,mpim,im&limit=1", ""},
	{"users.conversations", "types=x", "invalid_types"},
	{"users.conversations", "cursor=x", "invalid_cursor"},
	{"conversations.info", "channel={hr}&include_num_members=true", ""},
	{"conversations.info", "channel={dm}", ""},
	{"conversations.info", "channel=C0", "channel_not_found"},
	{"conversations.open", "users={sato}&return_im=true", ""},
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
	{"views.push", "trigger_id={trigger}&view={view}", ""},
	{"views.update", "view_id={id}&view={view}", ""},
	{"views.update", "view_id=V0&view={view}", "not_found"},
	{"views.open", "trigger_id=x&view={view}", "invalid_trigger_id"},
	{"assistant.threads.setSuggestedPrompts", "channel_id={dm}&prompts=" + url.QueryEscape(`[{"title":"a","message":"b"}]`), ""},
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
	w.Faults().Add(webapi.Fault{Method: "team.info", Kind: webapi.Refused, Code: "missing_scope"})
	answer := w.call(t, botToken, "team.info", "")
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
