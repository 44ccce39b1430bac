package sandbox_test

import (
	"bufio"
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
	req := expect.Value(http.NewRequestWithContext(context.Background(), method, w.url+"/sandbox/"+path, strings.NewReader(body)))(t)
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
			"%s: status %d, %d channels, %d whispers; want %d and %d", tt.user, status, len(channels), len(whispers), tt.channels, tt.whispers)
		mine := at(state, "messages", webapi.DirectMessage(webapi.Sato), 0, "text")
		expect.That(t, (mine == "for you") == (tt.user == webapi.Sato), "%s sees 佐藤's direct messages: %v", tt.user, mine)
	}
	if status, _ := w.send(t, http.MethodGet, "state?user=U404", "", ""); status != 409 {
		t.Errorf("an unknown person: status %d", status)
	}
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
	got := next()
	expect.That(t, strings.Contains(got, "for all"), "田中 hears %s first, want what is for all", got)
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
	if _, got := w.send(t, http.MethodGet, "run?task=01J", "", ""); got["asked"] != "01J" {
		t.Errorf("run = %v", got)
	}
	if status, _ := w.send(t, http.MethodGet, "run?task=gone", "", ""); status != 500 {
		t.Errorf("a hook that fails: %d", status)
	}
	if status, _ := w.send(t, http.MethodPut, "tools", "application/json", `{"tool":"list_employees","failing":true}`); status != 200 || !tools["list_employees"] {
		t.Errorf("tool: %d %v", status, tools)
	}
	if _, got := w.send(t, http.MethodGet, "state?user="+webapi.Sato, "", ""); got["admin"] != webapi.Suzuki {
		t.Errorf("the page learns of the administrator %v", got["admin"])
	}
	if status, _ := w.send(t, http.MethodPut, "toggles", "application/json", `{"late_seconds":-1}`); status != 422 {
		t.Errorf("toggles: %d", status)
	}
	if status, _ := newWorld(t).send(t, http.MethodGet, "run?task=01J", "", ""); status != 404 {
		t.Errorf("run without a hook: %d", status)
	}
}
