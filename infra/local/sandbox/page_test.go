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

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/workspace"
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
	// Errors of the plain kind are text; the status says enough about those.
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
		{"a mention by name", "application/json", `{"user":"` + workspace.Sato + `","channel":"` + workspace.HR + `","text":" @Ringi a<b & @鈴木 一郎 "}`, 200, "<@" + workspace.Bot + "> a&lt;b &amp; <@" + workspace.Suzuki + ">"},
		{"a form of another site", "text/plain", `{"user":"` + workspace.Sato + `","channel":"` + workspace.HR + `","text":"x"}`, 415, ""},
		{"nothing", "application/json", `{"user":"` + workspace.Sato + `","channel":"` + workspace.HR + `","text":"  "}`, 422, ""},
		{"too much", "application/json", `{"user":"` + workspace.Sato + `","channel":"` + workspace.HR + `","text":"` + strings.Repeat("あ", 12001) + `"}`, 422, ""},
		{"outside of the channel", "application/json", `{"user":"` + workspace.Stranger + `","channel":"` + workspace.HR + `","text":"x"}`, 409, ""},
		{"nonsense", "application/json", `[`, 400, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			before := len(w.Messages(workspace.HR, ""))
			status, answer := w.send(t, http.MethodPost, "say", tt.kind, tt.body)
			if status != tt.status {
				t.Fatalf("status %d %v, want %d", status, answer, tt.status)
			}
			all := w.Messages(workspace.HR, "")
			if tt.text == "" {
				if len(all) != before {
					t.Error("a message was posted")
				}
				return
			}
			if diff := cmp.Diff(tt.text, all[len(all)-1].Text); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPageShowsEachPersonTheirOwn(t *testing.T) {
	w := newWorld(t)
	if _, _, err := w.slack.PostMessage(workspace.Sato, slack.MsgOptionText("for you", false)); err != nil {
		t.Fatal(err)
	}
	expect.Value(w.slack.PostEphemeral(workspace.HR, workspace.Suzuki, slack.MsgOptionText("psst", false)))(t)
	for _, tt := range []struct {
		user               string
		channels, whispers int
	}{{workspace.Sato, 3, 0}, {workspace.Suzuki, 3, 1}, {workspace.Guest, 2, 0}, {workspace.Stranger, 1, 0}} {
		status, state := w.send(t, http.MethodGet, "state?user="+tt.user, "", "")
		channels, _ := state["channels"].([]any)
		whispers, _ := state["ephemerals"].([]any)
		if status != 200 || len(channels) != tt.channels || len(whispers) != tt.whispers {
			t.Errorf("%s: status %d, %d channels, %d whispers; want %d and %d", tt.user, status, len(channels), len(whispers), tt.channels, tt.whispers)
		}
		mine := at(state, "messages", workspace.DirectMessage(workspace.Sato), 0, "text")
		if (mine == "for you") != (tt.user == workspace.Sato) {
			t.Errorf("%s sees 佐藤's direct messages: %v", tt.user, mine)
		}
	}
	if status, _ := w.send(t, http.MethodGet, "state?user=U404", "", ""); status != 409 {
		t.Errorf("an unknown person: status %d", status)
	}
}

func TestStreamKeepsSecrets(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req := expect.Value(http.NewRequestWithContext(ctx, http.MethodGet, w.url+"/sandbox/stream?user="+workspace.Tanaka, nil))(t)
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
	next() // hello
	if _, _, err := w.slack.PostMessage(workspace.Sato, slack.MsgOptionText("for 佐藤 alone", false)); err != nil {
		t.Fatal(err)
	}
	expect.Value(w.slack.PostEphemeral(workspace.HR, workspace.Suzuki, slack.MsgOptionText("for 鈴木 alone", false)))(t)
	must(w.Say(workspace.Sato, workspace.HR, "for all"))(t)
	if got := next(); !strings.Contains(got, "for all") {
		t.Errorf("田中 hears %s first, want what is for all", got)
	}
}

// panels stand in for the hooks that the local stack gives.
type panels struct {
	saved  json.RawMessage
	by     string
	refuse error
	tools  []sandbox.ToolFault
}

func (d *panels) Load(context.Context) (any, error) { return map[string]any{"locale": "ja"}, nil }
func (d *panels) Save(_ context.Context, by string, settings json.RawMessage) error {
	d.by, d.saved = by, settings
	return d.refuse
}

type bench struct{ *panels }

func (b bench) List(context.Context) ([]sandbox.ToolFault, error) { return b.tools, nil }
func (b bench) Set(_ context.Context, tool string, failing bool) error {
	if tool != "list_employees" {
		return errors.New("no such tool: " + tool)
	}
	b.panels.tools = []sandbox.ToolFault{{Tool: tool, Failing: failing}}
	return nil
}

type rules struct{ *panels }

func (r rules) List(context.Context) ([]sandbox.Permission, error) {
	return []sandbox.Permission{{Tool: "send_slack_dm", Constraints: r.saved}}, nil
}
func (r rules) Save(_ context.Context, by string, p sandbox.Permission) error {
	r.by, r.saved = by+" "+p.Tool, p.Constraints
	return r.refuse
}

func TestPageSavesRulesForTools(t *testing.T) {
	d := &panels{saved: json.RawMessage(`{}`)}
	w := newWorld(t, func(o *sandbox.Options) { o.Permissions = rules{d} })
	const body = `{"user":"U1","tool":"send_slack_dm","allowed":true,"constraints":{"recipients":["U2"]}}`
	if status, _ := w.send(t, http.MethodPut, "permissions", "application/json", body); status != 200 || d.by != "U1 send_slack_dm" || string(d.saved) != `{"recipients":["U2"]}` {
		t.Errorf("%d, saved %s by %s", status, d.saved, d.by)
	}
	d.refuse = sandbox.FieldErrors{"constraints.recipients": "must be a list"}
	if status, got := w.send(t, http.MethodPut, "permissions", "application/json", body); status != 422 || at(got, "fields", "constraints.recipients") != "must be a list" {
		t.Errorf("refused: %d %v", status, got)
	}
	if status, _ := newWorld(t).send(t, http.MethodGet, "permissions", "", ""); status != 404 {
		t.Errorf("without a hook: %d", status)
	}
}

func TestPageReachesItsHooks(t *testing.T) {
	d := &panels{}
	w := newWorld(t, func(o *sandbox.Options) {
		o.Settings, o.Tools = d, bench{d}
		o.Run = func(_ context.Context, task string) (any, error) { return map[string]any{"asked": task}, nil }
	})
	if _, got := w.send(t, http.MethodGet, "run?task=01J", "", ""); got["asked"] != "01J" {
		t.Errorf("run = %v", got)
	}
	if status, got := w.send(t, http.MethodPut, "settings", "application/json", `{"user":"U1","settings":{"locale":"en"}}`); status != 200 || got["locale"] != "ja" || d.by != "U1" || string(d.saved) != `{"locale":"en"}` {
		t.Errorf("settings: %d %v, saved %s by %s", status, got, d.saved, d.by)
	}
	d.refuse = sandbox.FieldErrors{"max_versions": "1 to 20"}
	if status, got := w.send(t, http.MethodPut, "settings", "application/json", `{"settings":{}}`); status != 422 || at(got, "fields", "max_versions") != "1 to 20" {
		t.Errorf("refused settings: %d %v", status, got)
	}
	if status, _ := w.send(t, http.MethodPut, "tools", "application/json", `{"tool":"list_employees","failing":true}`); status != 200 || !d.tools[0].Failing {
		t.Errorf("tool: %d %v", status, d.tools)
	}
	if status, _ := w.send(t, http.MethodPut, "tools", "application/json", `{"tool":"nope","failing":true}`); status != 500 {
		t.Errorf("unknown tool: %d", status)
	}
	if status, _ := w.send(t, http.MethodPut, "toggles", "application/json", `{"late_seconds":-1}`); status != 422 {
		t.Errorf("toggles: %d", status)
	}
	if status, _ := newWorld(t).send(t, http.MethodGet, "run?task=01J", "", ""); status != 404 {
		t.Errorf("run without a hook: %d", status)
	}
}
