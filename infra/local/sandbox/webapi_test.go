package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

func card(color, text string, elements ...slack.BlockElement) slack.MsgOption {
	blocks := []slack.Block{
		slack.NewHeaderBlock(slack.NewTextBlockObject("plain_text", text, true, false)),
		slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", "*"+text+"*", false, false), nil, nil),
	}
	if len(elements) > 0 {
		blocks = append(blocks, slack.NewActionBlock("01JTASK", elements...))
	}
	return slack.MsgOptionAttachments(slack.Attachment{Color: color, Blocks: slack.Blocks{BlockSet: blocks}})
}

func button(action, value string) *slack.ButtonBlockElement {
	return slack.NewButtonBlockElement(action, value, slack.NewTextBlockObject("plain_text", "✅ 承認", true, false))
}

func TestUpdateKeepsAndRemovesAsSlackDoes(t *testing.T) {
	blocks, text := slack.MsgOptionBlocks(slack.NewDividerBlock()), slack.MsgOptionText("new", false)
	for name, tt := range map[string]struct {
		options             []slack.MsgOption
		blocks, attachments int
		text                string
		edited              bool
	}{
		"text alone takes the blocks away": {[]slack.MsgOption{text}, 0, 1, "new", true},
		"attachments replace attachments":  {[]slack.MsgOption{text, card("#fff", "x")}, 0, 1, "new", false},
		"empty attachments remove them": {[]slack.MsgOption{text, blocks,
			slack.MsgOptionAttachments([]slack.Attachment{}...)}, 1, 0, "new", false},
		"blocks alone leave the text": {[]slack.MsgOption{blocks}, 1, 1, "old", false},
	} {
		w := newWorld(t)
		ts := w.post(t, webapi.HR, slack.MsgOptionText("old", false), blocks, card("#f2c744", "a"),
			slack.MsgOptionMetadata(slack.SlackMetadata{EventType: "e", EventPayload: map[string]any{"a": "b"}}))
		_, _, _, err := w.slack.UpdateMessage(webapi.HR, ts, tt.options...)
		expect.NoError(t, err)
		m := w.Messages(webapi.HR, "")[0]
		expect.That(t, len(m.Blocks) == tt.blocks && len(m.Attachments) == tt.attachments && m.Text == tt.text &&
			(m.Edited != nil) == tt.edited && m.Metadata != nil, "%s: %+v", name, m)
	}
}

func TestRefusalsHaveSlacksShape(t *testing.T) {
	w := newWorld(t)
	mine := w.post(t, webapi.HR, slack.MsgOptionText("x", false))
	theirs := expect.Value(w.Say(webapi.Sato, webapi.HR, "やあ"))(t)
	expect.NoError(t, w.Workspace.SetArchived(webapi.General, true))
	post := func(channel string, o ...slack.MsgOption) error {
		_, _, err := w.slack.PostMessage(channel, o...)
		return err
	}
	text := slack.MsgOptionText("x", false)
	for _, tt := range []struct {
		name     string
		err      error
		want     string
		messages []string
	}{
		{"unknown channel", post("C404", text), "channel_not_found", nil},
		{"archived channel", post(webapi.General, text), "is_archived", nil},
		{"nothing to show", post(webapi.HR), "no_text", nil},
		{"unknown thread", post(webapi.HR, text, slack.MsgOptionTS("1.000001")), "thread_not_found", nil},
		{"header too long in an attachment", post(webapi.HR, card("#fff", strings.Repeat("x", 151))),
			"invalid_attachments", []string{"[ERROR] must be less than 151 characters " +
				"[json-pointer:/attachments/0/blocks/0/text/text]"}},
		{"all blocks too long", post(webapi.HR, slack.MsgOptionBlocks(sections(5, strings.Repeat("a", 2999))...)),
			"msg_blocks_too_long", nil},
		{"update of a long text", second(w.slack.UpdateMessage(webapi.HR, mine,
			slack.MsgOptionText(strings.Repeat("a", 4001), false))), "msg_too_long", nil},
		{"update of a person's message", second(w.slack.UpdateMessage(webapi.HR, theirs, text)), "cant_update_message", nil},
		{"update of nothing", second(w.slack.UpdateMessage(webapi.HR, "1.000001", text)), "message_not_found", nil},
		{"whisper to somebody outside", expect.Err(w.slack.PostEphemeral(webapi.HR, webapi.Stranger, text)),
			"user_not_in_channel", nil},
		{"bad token", expect.Err(slack.New("xoxb-wrong", slack.OptionAPIURL(w.url+"/api/")).AuthTest()), "invalid_auth", nil},
	} {
		var r slack.SlackErrorResponse
		errors.As(tt.err, &r)
		expect.That(t, tt.err != nil && tt.err.Error() == tt.want && slices.Equal(tt.messages, r.ResponseMetadata.Messages),
			"%s: %v %q, want %s", tt.name, tt.err, r.ResponseMetadata.Messages, tt.want)
	}
}

func second(_, _, _ string, err error) error { return err }

func sections(n int, text string) []slack.Block {
	var out []slack.Block
	for range n {
		out = append(out, slack.NewSectionBlock(slack.NewTextBlockObject("mrkdwn", text, false, false), nil, nil))
	}
	return out
}

func TestFaults(t *testing.T) {
	w := newWorld(t)
	post := func(faults ...webapi.Fault) error {
		for _, f := range faults {
			w.Faults.Add(f)
		}
		return expect.Err(w.slack.PostEphemeral(webapi.HR, webapi.Sato, slack.MsgOptionText("x", false)))
	}
	var limited *slack.RateLimitedError
	err := post(webapi.Fault{Method: "chat.postEphemeral", Kind: webapi.RateLimited, RetryAfter: 7 * time.Second})
	expect.Must(t, errors.As(err, &limited) && limited.RetryAfter == 7*time.Second, "%v, want a rate limit of 7 s", err)
	expect.That(t, post(webapi.Fault{Kind: webapi.Lost}) != nil, "an answer that is lost arrives")
	_, state := w.send(t, http.MethodGet, "state?user="+webapi.Sato, "", "")
	expect.That(t, len(state["ephemerals"].([]any)) == 1, "the message whose answer was lost: %v", state["ephemerals"])
	err = post(webapi.Fault{Kind: webapi.Refused, Code: "fatal_error"})
	expect.That(t, err != nil && err.Error() == "fatal_error", "refused: %v", err)
	var status slack.StatusCodeError
	err = post(webapi.Fault{Kind: webapi.Unavailable})
	expect.That(t, errors.As(err, &status) && status.Code == 503, "unavailable: %v", err)
	expect.NoError(t, post())
	w.Faults.Limit(1)
	for range 5 {
		_, _, err = w.slack.PostMessage(webapi.HR, slack.MsgOptionText("x", false))
	}
	expect.That(t, errors.As(err, &limited), "five posts at once = %v, want a rate limit", err)
}

// https://docs.slack.dev/reference/methods/users.conversations documents that the method lists public channels of the
// person and direct messages that the bot shares, at most 999 at once and without is_member.
func TestThePersonsOwnChannels(t *testing.T) {
	w := newWorld(t)
	list := func(p slack.GetConversationsForUserParameters) []string {
		t.Helper()
		channels, _, err := w.slack.GetConversationsForUser(&p)
		expect.NoError(t, err)
		ids := []string{}
		for _, c := range channels {
			expect.That(t, !c.IsMember, "%s says is_member", c.ID)
			ids = append(ids, c.ID)
		}
		return ids
	}
	all := list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka, Limit: 999})
	expect.NoError(t, w.Workspace.SetMember(webapi.HR, webapi.Tanaka, false))
	left := list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka,
		Types: []string{"public_channel", "private_channel"}})
	expect.That(t, len(left) == len(all)-1, "%v, before %v", left, all)
	expect.NoError(t, w.Workspace.SetArchived(left[0], true))
	expect.Same(t, left[1:], list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka, ExcludeArchived: true}))
	expect.Same(t, []string{webapi.DirectMessage(webapi.Tanaka)},
		list(slack.GetConversationsForUserParameters{UserID: webapi.Tanaka, Types: []string{"im"}}))
	for name, p := range map[string]slack.GetConversationsForUserParameters{
		"invalid_limit": {Limit: 1000}, "invalid_types": {Types: []string{"channel"}}, "user_not_found": {UserID: "U0NOBODY"},
	} {
		_, _, err := w.slack.GetConversationsForUser(&p)
		expect.That(t, err != nil && err.Error() == name, "%v, want %s", err, name)
	}
}

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
	expect.Is(t, works(botToken), "token_revoked", "a revoked token")
	second := install()
	expect.That(t, second.Token != botToken && works(second.Token) == "" && works(botToken) != "" &&
		works("xoxb-forged") == "invalid_auth", "it was not installed anew")
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
	back, ours := s.url+"/console/signin/done", client{sandbox.ClientID, "c1ient", s.url + "/api/"}
	slack := func(c client) *slackapi.SignIn {
		return &slackapi.SignIn{App: c, HTTP: http.DefaultClient, Now: time.Now}
	}
	code := func() string {
		resp, _ := visit(t, expect.Value(slack(ours).Address(t.Context(), back, "st&ate", "nonce"))(t)+"&user="+webapi.Suzuki)
		to := expect.Value(resp.Location())(t)
		expect.Must(t, to.Query().Get("state") == "st&ate" && strings.HasPrefix(to.String(), back), "sent to %s", to)
		return to.Query().Get("code")
	}
	used := code()
	p := expect.Value(slack(ours).Person(t.Context(), used, back, "nonce"))(t)
	expect.Is(t, p, slackapi.SignedIn{User: webapi.Suzuki, Team: s.TeamID(), TeamName: "Ringi Sandbox"})
	for name, try := range map[string]struct {
		client            client
		code, back, nonce string
	}{
		"a code twice":     {ours, used, back, "nonce"},
		"another address":  {ours, code(), back + "?x", "nonce"},
		"another sign-in":  {ours, code(), back, "m"},
		"a guessed secret": {client{ours.id, "x", ours.api}, code(), back, "nonce"},
		"another app":      {client{"1.2", "c1ient", ours.api}, code(), back, "nonce"},
	} {
		err := expect.Err(slack(try.client).Person(t.Context(), try.code, try.back, try.nonce))
		expect.Fails(t, err, slackapi.ErrSignInRefused, name)
	}
	address := expect.Value(slack(ours).Address(t.Context(), "https://evil.example/console/", "s", "n"))(t)
	for _, page := range []string{address, address + "&user=" + webapi.Suzuki} {
		resp, _ := visit(t, page)
		expect.Is(t, resp.StatusCode, http.StatusBadRequest, "it leads elsewhere")
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
	{"views.open", "trigger_id={trigger}&view={view}", ""},
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
	places := strings.NewReplacer("{hr}", webapi.HR, "{sato}", webapi.Sato, "{dm}", dm, "{root}", root, "{ts}", ts,
		"{view}", view, "{trigger}", trigger(t, w))
	for _, tt := range calls {
		answer, schema := w.call(t, botToken, tt.method, places.Replace(tt.form)), tt.method
		refused, _ := answer["error"].(string)
		expect.That(t, refused == tt.refused && answer["ok"] == (tt.refused == ""), "%s: %v", tt.method, answer)
		if tt.refused != "" {
			schema = "refusal"
		}
		expect.Same(t, []string(nil), api.Differences(schema, answer))
	}
	got := at(w.call(t, botToken, "users.info", "user="+webapi.Sato), "user", "locale")
	expect.That(t, got == nil, "a locale that nobody asked for: %v", got)
	w.Faults.Add(webapi.Fault{Method: "users.info", Kind: webapi.Refused, Code: "missing_scope"})
	answer := w.call(t, botToken, "users.info", "user="+webapi.Sato)
	expect.Same(t, []string(nil), api.Differences("missing_scope", answer))
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
