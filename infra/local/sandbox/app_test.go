package sandbox_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

func TestDirectMessagesEchoTheBot(t *testing.T) {
	w := newWorld(t)
	im := webapi.DirectMessage(webapi.Sato)
	expect.Value(w.Say(webapi.Sato, im, "従業員一覧を取得して"))(t)
	ts := w.post(t, im, slack.MsgOptionText("受け付けました", false))
	_, _, _, err := w.slack.UpdateMessage(im, ts, slack.MsgOptionText("完了", false))
	expect.NoError(t, err)
	expect.NoError(t, w.Open(webapi.Sato, "messages"))
	expect.Eventually(t, "four events", func() bool { return len(w.app.events()) == 4 })
	kinds := map[string]int{}
	for _, e := range w.app.events() {
		kind, _ := at(e.body, "event", "type").(string)
		sub, _ := at(e.body, "event", "subtype").(string)
		if at(e.body, "event", "bot_id") == webapi.BotID {
			kind += " by bot"
		}
		kinds[kind+" "+sub]++
	}
	want := map[string]int{"message ": 1, "message by bot ": 1, "message message_changed": 1, "app_home_opened ": 1}
	expect.Same(t, want, kinds)
}

func TestEventsAreRetriedThreeTimes(t *testing.T) {
	fails := func(until int, header ...string) func(http.ResponseWriter, int, map[string]any) {
		return func(w http.ResponseWriter, n int, _ map[string]any) {
			for _, name := range header {
				w.Header().Set(name, "1")
			}
			if n < until {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}
	}
	for name, tt := range map[string]struct {
		answer  func(w http.ResponseWriter, n int, body map[string]any)
		toggle  sandbox.Toggles
		reasons []string
		marked  bool
	}{
		"an error, then fine": {fails(3), sandbox.Toggles{}, []string{"", "http_error", "http_error"}, false},
		"never well":          {fails(9), sandbox.Toggles{}, []string{"", "http_error", "http_error", "http_error"}, true},
		"please don't":        {fails(9, "X-Slack-No-Retry"), sandbox.Toggles{}, []string{""}, true},
		"answers dropped": {nil, sandbox.Toggles{DropAnswers: true},
			[]string{"", "http_timeout", "http_timeout", "http_timeout"}, true},
		"twice": {nil, sandbox.Toggles{Twice: true}, []string{"", ""}, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.app.onEvent = tt.answer
			w.SetToggles(tt.toggle)
			ts := expect.Value(w.Say(webapi.Sato, webapi.HR, sandbox.Mention("x")))(t)
			expect.Eventually(t, "the last attempt", func() bool {
				return len(w.app.events()) == len(tt.reasons) &&
					slices.ContainsFunc(w.Attempts(), func(a sandbox.Attempt) bool { return a.Final && a.Kind == "app_mention" })
			})
			var reasons []string
			ids := map[any]bool{}
			for i, e := range w.app.events() {
				reasons, ids[e.body["event_id"]] = append(reasons, e.header.Get("X-Slack-Retry-Reason")), true
				retry := e.header.Get("X-Slack-Retry-Num")
				expect.That(t, retry == "" && reasons[i] == "" || retry == fmt.Sprint(i), "try %d: %q", i, retry)
			}
			_, marked := w.Mark(webapi.HR, ts)
			expect.That(t, slices.Equal(reasons, tt.reasons) && len(ids) == 1 && marked == tt.marked, "%q, %d ids, marked %v",
				reasons, len(ids), marked)
		})
	}
}

func plain(s string) *slack.TextBlockObject {
	return slack.NewTextBlockObject("plain_text", s, false, false)
}

func modal() slack.ModalViewRequest {
	in := slack.NewPlainTextInputBlockElement(plain("例"), "rejection_reason_input")
	in.Multiline = true
	return slack.ModalViewRequest{Type: "modal", CallbackID: "rejection_reason_modal", Title: plain("却下理由"),
		Submit: plain("送信して再生成"), Close: plain("キャンセル"), PrivateMetadata: `{"task_id":"01J"}`,
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewInputBlock("rejection_reason_block", plain("却下理由"), nil, in)}}}
}

func (w *world) card(t *testing.T) string {
	t.Helper()
	root := expect.Value(w.Say(webapi.Sato, webapi.HR, "x"))(t)
	return w.post(t, webapi.HR, slack.MsgOptionTS(root), slack.MsgOptionText("f", false),
		card("#2196f3", "📝 実行方針", button("approve_prompt", "01P"), button("reject_prompt", "01P")))
}

func TestClickCarriesTheWholeMessage(t *testing.T) {
	w := newWorld(t)
	ts := w.card(t)
	expect.NoError(t, w.Click(webapi.Suzuki, webapi.HR, ts, "approve_prompt"))
	got := w.app.actions()[0].body
	want := map[string]any{"type": "message_attachment", "message_ts": ts, "attachment_id": 1.0, "channel_id": webapi.HR,
		"is_ephemeral": false, "is_app_unfurl": false, "thread_ts": at(got, "message", "thread_ts")}
	expect.Same(t, want, got["container"])
	for path, want := range map[string]any{"type": "block_actions", "user id": webapi.Suzuki,
		"user team_id": "T0SANDRING", "team id": "T0SANDRING", "channel id": webapi.HR, "message ts": ts} {
		keys := []any{}
		for key := range strings.FieldsSeq(path) {
			keys = append(keys, key)
		}
		expect.That(t, at(got, keys...) == want, "%s = %v, want %v", path, at(got, keys...), want)
	}
	expect.That(t, at(got, "message", "attachments", 0, "blocks", 2, "block_id") == "01JTASK", "%v", got["message"])
	var cb slack.InteractionCallback
	expect.NoError(t, cb.UnmarshalJSON(raw(t, got)))
	a := cb.ActionCallback.BlockActions[0]
	expect.That(t, a.ActionID == "approve_prompt" && a.Value == "01P" && a.BlockID == "01JTASK" && a.Type == "button" &&
		cb.Container.ThreadTs != "", "slack-go reads %+v", a)
	expect.NoError(t, w.Shortcut(webapi.Sato, webapi.HR, ts, "cancel_task"))
	got = w.app.actions()[1].body
	expect.That(t, got["type"] == "message_action" && got["callback_id"] == "cancel_task" && got["message_ts"] == ts &&
		at(got, "message", "attachments", 0, "color") == "2196f3", "payload = %v", got)
	status, answer := w.send(t, http.MethodPost, "act", "application/json", `{"user":"`+webapi.Suzuki+`","channel":"`+
		webapi.HR+`","ts":"`+ts+`","action_id":"no_such"}`)
	expect.That(t, status == http.StatusConflict && answer["trouble"] == "noButton", "status %d: %v", status, answer)
}

func TestClickThatTheAppMissesIsMarked(t *testing.T) {
	for name, tt := range map[string]struct {
		reason string
		toggle sandbox.Toggles
		answer func(w http.ResponseWriter, released <-chan struct{})
	}{
		"an error": {"http_error", sandbox.Toggles{}, func(w http.ResponseWriter, _ <-chan struct{}) { w.WriteHeader(500) }},
		"an answer that is dropped": {"http_timeout", sandbox.Toggles{DropAnswers: true},
			func(http.ResponseWriter, <-chan struct{}) {}},
		"too slow": {"http_timeout", sandbox.Toggles{}, func(_ http.ResponseWriter, released <-chan struct{}) { <-released }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(o *sandbox.Options) {
				if name == "too slow" {
					o.AnswerTime = 300 * time.Millisecond
				}
			})
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			w.app.onAction = func(rw http.ResponseWriter, _ map[string]any) { tt.answer(rw, release) }
			ts := w.card(t)
			w.SetToggles(tt.toggle)
			var trouble sandbox.InteractionError
			err := w.Click(webapi.Suzuki, webapi.HR, ts, "approve_prompt")
			expect.Must(t, errors.As(err, &trouble) && trouble.Reason == tt.reason, "%v", err)
			m, ok := w.Mark(webapi.HR, ts)
			expect.That(t, ok && m.Reason == tt.reason && len(w.app.actions()) <= 1, "mark %+v, %v; retried", m, ok)
		})
	}
}

func TestTriggersOfModals(t *testing.T) {
	var skew atomic.Int64
	w := newWorld(t, func(o *sandbox.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
	})
	ts := w.card(t)
	for range 2 {
		expect.NoError(t, w.Click(webapi.Suzuki, webapi.HR, ts, "reject_prompt"))
	}
	expect.Value(w.slack.OpenView(w.app.actions()[0].body["trigger_id"].(string), modal()))(t)
	skew.Store(int64(3100 * time.Millisecond))
	_, err := w.slack.OpenView(w.app.actions()[1].body["trigger_id"].(string), modal())
	expect.That(t, err != nil && err.Error() == "expired_trigger_id", "views.open after 3.1 s = %v", err)
}

func TestAnswersToForms(t *testing.T) {
	for name, tt := range map[string]struct {
		answer  string
		open    int
		trouble bool
	}{
		"empty closes": {``, 0, false},
		"update changes it": {`{"response_action":"update","view":{"type":"modal","title":{"type":"plain_text","text":"次"},` +
			`"blocks":[]}}`, 1, false},
		"a view that Slack refuses":           {`{"response_action":"update","view":{"type":"modal"}}`, 1, true},
		"errors for a block that isn't there": {`{"response_action":"errors","errors":{"nope":"x"}}`, 1, true},
		"no JSON":                             {`OK`, 1, true},
	} {
		w := newWorld(t)
		w.app.onAction = func(rw http.ResponseWriter, body map[string]any) {
			if body["type"] == "view_submission" {
				fmt.Fprint(rw, tt.answer)
				return
			}
			_, err := w.slack.OpenView(body["trigger_id"].(string), modal())
			expect.That(t, err == nil, "%v", err)
		}
		expect.NoError(t, w.Click(webapi.Suzuki, webapi.HR, w.card(t), "reject_prompt"))
		_, err := w.Submit(webapi.Suzuki, w.Views(webapi.Suzuki)[0].ID, map[string]any{"rejection_reason_block": "x"})
		expect.That(t, errors.As(err, new(sandbox.InteractionError)) == tt.trouble && len(w.Views(webapi.Suzuki)) == tt.open,
			"%s: %v, %d open", name, err, len(w.Views(webapi.Suzuki)))
	}
}

const (
	secret   = "8f742231b10e8888abcd99yyyzzz85a5"
	botToken = "xoxb-sandbox"
)

func TestMain(m *testing.M) { os.Exit(browser.Share(m.Run)) }

// request is one delivery that the app received with a valid signature.
type request struct {
	header http.Header
	body   map[string]any
}

// app is the product's side: it checks signatures with slack-go and answers as the test says.
type app struct {
	t  *testing.T
	mu sync.Mutex
	// seen has the deliveries by path.
	seen map[string][]request
	// onEvent and onAction answer requests; nil means 200 with an empty body.
	onEvent  func(w http.ResponseWriter, n int, body map[string]any)
	onAction func(w http.ResponseWriter, body map[string]any)
}

func (a *app) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	raw, err := io.ReadAll(r.Body)
	expect.That(a.t, err == nil, "app: read body: %v", err)
	v, err := slack.NewSecretsVerifier(r.Header, secret)
	if err == nil {
		_, err = v.Write(raw)
	}
	if err == nil {
		err = v.Ensure()
	}
	expect.That(a.t, err == nil, "app: signature of %s: %v", r.URL.Path, err)
	text := raw
	if r.URL.Path == "/slack/interactions" {
		form, err := url.ParseQuery(string(raw))
		expect.That(a.t, err == nil && len(form) == 1,
			"app: an interaction is a form with payload alone, got %v (%v)", form, err)
		text = []byte(form.Get("payload"))
	}
	var body map[string]any
	if err := json.Unmarshal(text, &body); err != nil {
		a.t.Errorf("app: body of %s: %v", r.URL.Path, err)
	}
	path := r.URL.Path
	if at(body, "event", "type") == "message" && at(body, "event", "channel_type") != "im" {
		path = inChannels
	}
	a.mu.Lock()
	a.seen[path] = append(a.seen[path], request{header: r.Header.Clone(), body: body})
	n := len(a.seen[path])
	onEvent, onAction := a.onEvent, a.onAction
	a.mu.Unlock()
	switch {
	case path == "/slack/events" && onEvent != nil:
		onEvent(w, n, body)
	case path == "/slack/interactions" && onAction != nil:
		onAction(w, body)
	}
}

func (a *app) requests(path string) []request {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]request(nil), a.seen[path]...)
}

// inChannels is where deliveries of a channel's messages are seen, which mostly come beside an app_mention.
const inChannels = "/slack/events in channels"

func (a *app) events() []request  { return a.requests("/slack/events") }
func (a *app) actions() []request { return a.requests("/slack/interactions") }

// manifest is the app manifest that is pasted at Slack.
const manifest = "../../slack-manifest.yaml"

// world is a sandbox with an app, and a Web API client as the app would use it.
type world struct {
	*sandbox.Sandbox
	app   *app
	slack *slack.Client
	url   string
}

func newWorld(t *testing.T, adjust ...func(*sandbox.Options)) *world {
	t.Helper()
	a := &app{t: t, seen: map[string][]request{}}
	appServer := expect.Server(t, a)
	var s *sandbox.Sandbox
	server := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Handler.ServeHTTP(w, r)
	}))
	begun := time.Now() // the clock is stopped, so that no trigger expires on a busy machine
	opts := sandbox.Options{
		Now:           func() time.Time { return begun },
		SigningSecret: secret, BotToken: botToken, TimeScale: 0.0001, AnswerTime: time.Minute, // longer than any test needs
		Self: server.URL, Events: appServer.URL + "/slack/events", Interactions: appServer.URL + "/slack/interactions",
	}
	var err error
	opts.Shortcuts, opts.Globals, err = sandbox.ReadMenus(manifest)
	expect.NoError(t, err)
	for _, f := range adjust {
		f(&opts)
	}
	s = sandbox.New(opts)
	t.Cleanup(s.Close)
	return &world{Sandbox: s, app: a, url: server.URL, slack: slack.New(botToken, slack.OptionAPIURL(server.URL+"/api/"))}
}

// post posts a message as the app and returns its ts.
func (w *world) post(t *testing.T, channel string, options ...slack.MsgOption) string {
	t.Helper()
	_, ts, err := w.slack.PostMessage(channel, options...)
	expect.NoError(t, err)
	return ts
}

// at returns a value inside decoded JSON by keys of objects and indexes of arrays.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

func raw(t *testing.T, v any) []byte {
	t.Helper()
	return expect.Value(json.Marshal(v))(t)
}
