package sandbox_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox"
	"ringi/shared/runtime/expect"
)

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
	appServer := httptest.NewServer(a)
	t.Cleanup(appServer.Close)
	begun := time.Now() // the clock is stopped, so that no trigger expires on a busy machine
	opts := sandbox.Options{
		Now:           func() time.Time { return begun },
		SigningSecret: secret, BotToken: botToken, TimeScale: 0.0001, AnswerTime: time.Minute, // longer than any test needs
		Endpoints: sandbox.Endpoints{Events: appServer.URL + "/slack/events",
			Interactions: appServer.URL + "/slack/interactions"},
	}
	var err error
	opts.Shortcuts, opts.Globals, err = sandbox.ReadMenus(manifest)
	expect.NoError(t, err)
	for _, f := range adjust {
		f(&opts)
	}
	s := sandbox.New(opts)
	t.Cleanup(s.Close)
	server := httptest.NewServer(s.Handler())
	t.Cleanup(server.Close)
	s.Connect(sandbox.Endpoints{Self: server.URL})
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

// The values are the example in Slack's documentation.
func TestSignIsSlacks(t *testing.T) {
	body := "token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V" +
		"&channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner" +
		"&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com" +
		"%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN" +
		"&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c"
	h := sandbox.Sign("8f742231b10e8888abcd99yyyzzz85a5", time.Unix(1531420618, 0), []byte(body))
	got, want := h.Get("X-Slack-Signature"), "v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503"
	expect.That(t, got == want, "signature %s, want %s", got, want)
	expect.Is(t, h.Get("X-Slack-Request-Timestamp"), "1531420618", "timestamp")
}
