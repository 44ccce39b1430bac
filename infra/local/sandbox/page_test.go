package sandbox_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

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

func TestPageReachesItsHooks(t *testing.T) {
	failing := false
	w := newWorld(t, func(o *sandbox.Options) {
		o.FailWrites = func(on bool) { failing = on }
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
	status, _ = w.send(t, http.MethodPut, "toggles", "application/json", `{"fail_writes":true}`)
	expect.That(t, status == 200 && failing, "tools: %d %v", status, failing)
	status, _ = newWorld(t).send(t, http.MethodGet, "run?task=01J", "", "")
	expect.That(t, status == 404, "run without a hook: %d", status)
}

// speaks tells the sandbox a page's language.
func (w *world) speaks(t *testing.T, user, language string) {
	t.Helper()
	status, answer := w.send(t, http.MethodPut, "language", "application/json",
		`{"user":"`+user+`","language":"`+language+`"}`)
	expect.Must(t, status == 200, "%d %v", status, answer)
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
		expect.That(t, status == want && (want != 422 || answer["error"] == `language: one of en, ja, not "fr"`),
			"%s: %d %v", body, status, answer)
	}
}
