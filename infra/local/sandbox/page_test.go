package sandbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// send calls the page's own API and decodes the answer.
func (w *world) send(t *testing.T, method, path, kind, body string) (int, map[string]any) {
	t.Helper()
	req := expect.Value(http.NewRequestWithContext(context.Background(), method, w.url+"/sandbox/"+path,
		strings.NewReader(body)))(t)
	req.Header.Set("Content-Type", kind)
	resp := expect.Value(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	text := expect.Value(io.ReadAll(resp.Body))(t)
	var out map[string]any
	// Some errors are plain text, of which only the status is compared.
	_ = json.Unmarshal(text, &out)
	return resp.StatusCode, out
}

func TestPageSays(t *testing.T) {
	w := newWorld(t)
	tests := []struct {
		name, kind, body string
		status           int
		text             string
	}{
		{"a mention by name", "application/json", `{"user":"` + webapi.Sato + `","channel":"` + webapi.HR +
			`","text":" @Ringi a<b & @鈴木 一郎 "}`, 200, "<@" + webapi.Bot + "> a&lt;b &amp; <@" + webapi.Suzuki + ">"},
		{"a form of another site", "text/plain", `{"user":"` + webapi.Sato + `","channel":"` + webapi.HR + `","text":"x"}`,
			415, ""},
		{"nothing", "application/json", `{"user":"` + webapi.Sato + `","channel":"` + webapi.HR + `","text":"  "}`, 422, ""},
		{"too much", "application/json", `{"user":"` + webapi.Sato + `","channel":"` + webapi.HR + `","text":"` +
			strings.Repeat("あ", 12001) + `"}`, 422, ""},
		{"outside of the channel", "application/json", `{"user":"` + webapi.Stranger + `","channel":"` + webapi.HR +
			`","text":"x"}`, 409, ""},
		{"nonsense", "application/json", `[`, 400, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(w.Messages(webapi.HR, ""))
			status, answer := w.send(t, http.MethodPost, "say", tt.kind, tt.body)
			expect.Must(t, status == tt.status, "status %d %v, want %d", status, answer, tt.status)
			all := w.Messages(webapi.HR, "")
			if tt.text == "" {
				expect.That(t, len(all) == before, "a message was posted")
				return
			}
			expect.Same(t, tt.text, all[len(all)-1].Text)
		})
	}
}

func TestPageShowsEachPersonTheirOwn(t *testing.T) {
	w := newWorld(t)
	w.post(t, webapi.Sato, slack.MsgOptionText("for you", false))
	expect.Value(w.slack.PostEphemeral(webapi.HR, webapi.Suzuki, slack.MsgOptionText("psst", false)))(t)
	for _, tt := range []struct {
		user               string
		channels, whispers int
	}{{webapi.Sato, 3, 0}, {webapi.Suzuki, 3, 1}, {webapi.Guest, 2, 0}, {webapi.Stranger, 1, 0}} {
		status, state := w.send(t, http.MethodGet, "state?user="+tt.user, "", "")
		channels, _ := state["channels"].([]any)
		whispers, _ := state["ephemerals"].([]any)
		expect.That(t, status == 200 && len(channels) == tt.channels && len(whispers) == tt.whispers,
			"%s: status %d, %d channels, %d whispers; want %d "+
				"and %d", tt.user, status, len(channels), len(whispers), tt.channels, tt.whispers)
		mine := at(state, "messages", webapi.DirectMessage(webapi.Sato), 0, "text")
		expect.That(t, (mine == "for you") == (tt.user == webapi.Sato), "%s sees 佐藤's direct messages: %v", tt.user, mine)
	}
	status, _ := w.send(t, http.MethodGet, "state?user=U404", "", "")
	expect.That(t, status == 409, "an unknown person: status %d", status)
}

func TestStreamKeepsSecrets(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req := expect.Value(http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/sandbox/stream?user="+webapi.Tanaka,
		nil))(t)
	resp := expect.Value(http.DefaultClient.Do(req))(t)
	defer resp.Body.Close()
	lines := bufio.NewScanner(resp.Body)
	next := func() string {
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return data
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return ""
	}
	next() // skips the hello event
	w.post(t, webapi.Sato, slack.MsgOptionText("for 佐藤 alone", false))
	expect.Value(w.slack.PostEphemeral(webapi.HR, webapi.Suzuki, slack.MsgOptionText("for 鈴木 alone", false)))(t)
	expect.Value(w.Say(webapi.Sato, webapi.HR, "for all"))(t)
	expect.Has(t, next(), "for all", "田中 hears … first")
}

// failing has the tools that were made to fail.
type failing map[string]bool

func (f failing) Set(tool string, on bool) { f[tool] = on }
func (f failing) List() (all []sandbox.ToolFault) {
	for tool, on := range f {
		all = append(all, sandbox.ToolFault{Tool: tool, Failing: on})
	}
	return all
}

func TestPageReachesItsHooks(t *testing.T) {
	tools := failing{"list_employees": false}
	w := newWorld(t, func(o *sandbox.Options) {
		o.Administrator, o.Tools = webapi.Suzuki, tools
		o.Run = func(_ context.Context, task string) (any, error) {
			if task == "gone" {
				return nil, errors.New("no such task")
			}
			return map[string]any{"asked": task}, nil
		}
	})
	_, got := w.send(t, http.MethodGet, "run?task=01J", "", "")
	expect.That(t, got["asked"] == "01J", "run = %v", got)
	status, _ := w.send(t, http.MethodGet, "run?task=gone", "", "")
	expect.That(t, status == 500, "a hook that fails: %d", status)
	status, _ = w.send(t, http.MethodPut, "tools", "application/json", `{"tool":"list_employees","failing":true}`)
	expect.That(t, status == 200 && tools["list_employees"], "tool: %d %v", status, tools)
	_, got = w.send(t, http.MethodGet, "state?user="+webapi.Sato, "", "")
	expect.That(t, got["admin"] == webapi.Suzuki, "the page learns of the administrator %v", got["admin"])
	status, _ = w.send(t, http.MethodPut, "toggles", "application/json", `{"late_seconds":-1}`)
	expect.That(t, status == 422, "toggles: %d", status)
	status, _ = newWorld(t).send(t, http.MethodGet, "run?task=01J", "", "")
	expect.That(t, status == 404, "run without a hook: %d", status)
}

// setting is the workspace's language of cards.
type setting struct {
	mu       sync.Mutex
	language string
	saved    int
	err      error
}

func (s *setting) Language(context.Context) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.language, nil
}

func (s *setting) SetLanguage(_ context.Context, language string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err != nil {
		return s.err
	}
	s.language, s.saved = language, s.saved+1
	return nil
}

func speaking(s *setting, firstPage bool) func(*sandbox.Options) {
	return func(o *sandbox.Options) { o.Cards, o.FirstPage = s, firstPage }
}

// speaks tells the sandbox a page's language, and returns the language of cards.
func (w *world) speaks(t *testing.T, user, language string) any {
	t.Helper()
	status, answer := w.send(t, http.MethodPut, "language", "application/json",
		`{"user":"`+user+`","language":"`+language+`"}`)
	expect.Must(t, status == 200, "%d %v", status, answer)
	return answer["cards"]
}

// Slack tells apps a person's locale (docs.slack.dev, reference/methods/users.info); here it is their page's language.
func TestAPersonSpeaksTheirPagesLanguage(t *testing.T) {
	w := newWorld(t)
	for language, locale := range map[string]string{"en": "en-US", "ja": "ja-JP"} {
		w.speaks(t, webapi.Sato, language)
		u := expect.Value(w.slack.GetUserInfo(webapi.Sato))(t)
		expect.Is(t, u.Locale, locale, "the locale of somebody whose page is in %s", language)
	}
	for body, want := range map[string]int{
		`{"user":"` + webapi.Sato + `","language":"fr"}`: 422, `{"user":"U0NOBODY","language":"en"}`: 409, `[`: 400,
	} {
		status, answer := w.send(t, http.MethodPut, "language", "application/json", body)
		fields, _ := answer["fields"].(map[string]any)
		expect.That(t, status == want && (want != 422 || fields["language"] == `one of en, ja, not "fr"`),
			"%s: %d %v", body, status, answer)
	}
}

func TestTheFirstPageDecidesTheLanguageOfCards(t *testing.T) {
	s := &setting{language: "ja", err: errors.New("throttled")}
	w := newWorld(t, speaking(s, true))
	status, _ := w.send(t, http.MethodPut, "language", "application/json", `{"user":"`+webapi.Sato+`","language":"en"}`)
	expect.That(t, status == 500 && s.saved == 0, "%d", status) // the page tries again
	s.err = nil
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() { w.speaks(t, webapi.Sato, "en") })
	}
	all.Wait()
	cards := w.speaks(t, webapi.Suzuki, "ja")
	expect.That(t, cards == "en" && s.saved == 1, "%v after %d times", cards, s.saved)
	other := &setting{language: "ja"}
	w = newWorld(t, speaking(other, false)) // it was decided at the start
	cards = w.speaks(t, webapi.Sato, "en")
	expect.That(t, cards == "ja" && other.saved == 0, "%v after %d times", cards, other.saved)
}

// mayStamp maps each task to the person who may stamp it. Alex and Guest stand in for Tanaka.
type mayStamp map[string]string

func (m mayStamp) May(_ context.Context, user, task string) (may bool, instead string, err error) {
	if user == webapi.Alex || user == webapi.Guest {
		return m[task] == webapi.Tanaka, webapi.Tanaka, nil
	}
	return m[task] == user, "", nil
}

var asked = sandbox.Asked{Writes: map[string]string{"ja": "メッセージ ×2", "en": "Message ×2"},
	Until: new(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC))}

func (m mayStamp) Asked(context.Context, string) (sandbox.Asked, error) { return asked, nil }

func (w *world) waits(t *testing.T, user string) (found []sandbox.Wait) {
	t.Helper()
	resp := expect.Value(http.Get(w.url + "/sandbox/waits?user=" + user))(t)
	defer resp.Body.Close()
	expect.NoError(t, json.Unmarshal(expect.Value(io.ReadAll(resp.Body))(t), &found))
	return found
}

func TestWhatWaitsForAPerson(t *testing.T) {
	const first, second = "01JSGX7Q3M5V8ZK2R9T4W6Y1AB", "01JSGX7Q3M5V8ZK2R9T4W6Y1AC"
	w := newWorld(t, func(o *sandbox.Options) { o.Approvals = mayStamp{first: webapi.Suzuki, second: webapi.Tanaka} })
	post := func(channel, root, task string, actions ...string) string {
		t.Helper()
		var buttons []slack.BlockElement
		for _, id := range actions {
			buttons = append(buttons, button(id, task))
		}
		_, ts, err := w.slack.PostMessage(channel, slack.MsgOptionTS(root), slack.MsgOptionAttachments(slack.Attachment{
			Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewActionBlock(task, buttons...)}},
		}))
		expect.NoError(t, err)
		return ts
	}
	root := expect.Value(w.Say(webapi.Sato, webapi.HR, "お願い"))(t)
	policy := post(webapi.HR, root, first, "approve_prompt", "reject_prompt")
	long := post(webapi.HR, root, second, "reject_prompt", "review_prompt") // must be read before it can be approved
	failed := post(webapi.HR, root, first, "cancel_execution", "retry_execution")
	post(webapi.DirectMessage(webapi.Suzuki), "", first, "approve_prompt") // a copy of the card
	for user, want := range map[string][]sandbox.Wait{
		webapi.Suzuki: {{Channel: webapi.HR, TS: policy, Root: root, Task: first, Action: "approve_prompt", Asked: asked}},
		webapi.Sato:   {{Channel: webapi.HR, TS: failed, Root: root, Task: first, Action: "retry_execution"}},
		webapi.Kato:   {},
		webapi.Guest: {{Channel: webapi.HR, TS: long, Root: root, Task: second, Action: "review_prompt",
			Instead: webapi.Tanaka, Asked: asked}},
		webapi.Alex: {{TS: long, Task: second, Action: "review_prompt", Instead: webapi.Tanaka, Asked: asked}},
	} {
		expect.Same(t, want, w.waits(t, user))
	}
	got := w.waits(t, webapi.Tanaka)
	expect.That(t, len(got) == 1 && got[0].Action == "review_prompt", "%+v", got)
}

func TestADeliverysPayloadIsShown(t *testing.T) {
	w := newWorld(t)
	expect.Value(w.Say(webapi.Sato, webapi.HR, "<@"+webapi.Bot+"> お願い"))(t)
	var n int
	expect.Eventually(t, "the deliveries", func() bool {
		for _, a := range w.Attempts() {
			if a.Kind == "app_mention" {
				n = a.N
			}
		}
		return len(w.Attempts()) == 2 && n > 0
	})
	status, answer := w.send(t, http.MethodGet, fmt.Sprintf("attempts/%d", n), "", "")
	expect.That(t, status == 200 && at(answer, "payload", "event", "type") == "app_mention", "%d %v", status, answer)
	status, _ = w.send(t, http.MethodGet, "attempts/3", "", "")
	expect.That(t, status == http.StatusNotFound, "one that was never made: %d", status)
}
