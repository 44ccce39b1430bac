package sandbox_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

func plain(s string) *slack.TextBlockObject {
	return slack.NewTextBlockObject("plain_text", s, false, false)
}

func modal() slack.ModalViewRequest {
	in := slack.NewPlainTextInputBlockElement(plain("例"), "rejection_reason_input")
	in.Multiline = true
	return slack.ModalViewRequest{
		Type: "modal", CallbackID: "rejection_reason_modal", Title: plain("却下理由"), Submit: plain("送信して再生成"),
		Close:           plain("キャンセル"),
		PrivateMetadata: `{"task_id":"01J"}`,
		Blocks: slack.Blocks{BlockSet: []slack.Block{
			slack.NewInputBlock("rejection_reason_block", plain("却下理由"), nil, in)}},
	}
}

func (w *world) card(t *testing.T) string {
	t.Helper()
	root := expect.Value(w.Say(webapi.Sato, webapi.HR, "x"))(t)
	ts := w.post(t, webapi.HR, slack.MsgOptionTS(root), slack.MsgOptionText("f", false),
		card("#2196f3", "📝 実行方針", button("approve_prompt", "01P"), button("reject_prompt", "01P")))
	return ts
}

func TestClickCarriesTheWholeMessage(t *testing.T) {
	w := newWorld(t)
	ts := w.card(t)
	expect.NoError(t, w.Click(webapi.Suzuki, webapi.HR, ts, "approve_prompt"))
	got := w.app.actions()[0].body
	want := map[string]any{"type": "message_attachment", "message_ts": ts, "attachment_id": 1.0, "channel_id": webapi.HR,
		"is_ephemeral": false, "is_app_unfurl": false, "thread_ts": at(got, "message", "thread_ts")}
	expect.Same(t, want, got["container"])
	for _, tt := range []struct {
		path []any
		want any
	}{
		{[]any{"type"}, "block_actions"}, {[]any{"user", "id"}, webapi.Suzuki}, {[]any{"user", "team_id"},
			"T0SANDRING"}, {[]any{"team", "id"}, "T0SANDRING"},
		{[]any{"channel", "id"}, webapi.HR}, {[]any{"actions", 0, "action_id"},
			"approve_prompt"}, {[]any{"actions", 0, "value"}, "01P"},
		{[]any{"actions", 0, "block_id"}, "01JTASK"}, {[]any{"actions", 0, "type"}, "button"}, {[]any{"message", "ts"}, ts},
		{[]any{"message", "attachments", 0, "blocks", 2, "block_id"}, "01JTASK"},
	} {
		expect.That(t, at(got, tt.path...) == tt.want, "%v = %v, want %v", tt.path, at(got, tt.path...), tt.want)
	}
	expect.That(t, w.Click(webapi.Suzuki, webapi.HR, ts, "no_such") != nil, "a button that isn't there was clicked")
	status, answer := w.send(t, http.MethodPost, "act", "application/json", `{"user":"`+webapi.Suzuki+`","channel":"`+
		webapi.HR+`","ts":"`+ts+`","action_id":"no_such"}`)
	expect.That(t, status == http.StatusConflict && answer["trouble"] == "noButton", "status %d: %v", status, answer)
	var cb slack.InteractionCallback
	err := cb.UnmarshalJSON(raw(t, got))
	expect.That(t, err == nil && cb.ActionCallback.BlockActions[0].Value == "01P" && cb.Container.ThreadTs != "",
		"slack-go reads %+v, %v", cb.ActionCallback, err)
}

func TestClickThatTheAppMissesIsMarked(t *testing.T) {
	tests := []struct {
		name, reason string
		toggle       sandbox.Toggles
		answer       func(w http.ResponseWriter, released <-chan struct{})
	}{
		{"an error", "http_error", sandbox.Toggles{}, func(w http.ResponseWriter, _ <-chan struct{}) { w.WriteHeader(500) }},
		{"an answer that is dropped", "http_timeout", sandbox.Toggles{DropAnswers: true}, nil},
		{"too slow", "http_timeout", sandbox.Toggles{}, func(_ http.ResponseWriter, released <-chan struct{}) { <-released }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, func(o *sandbox.Options) {
				if tt.name == "too slow" {
					o.AnswerTime = 300 * time.Millisecond
				}
			})
			ts := w.card(t)
			release := make(chan struct{})
			t.Cleanup(func() { close(release) })
			if tt.answer != nil {
				w.app.onAction = func(rw http.ResponseWriter, _ map[string]any) { tt.answer(rw, release) }
			}
			w.SetToggles(tt.toggle)
			var trouble sandbox.InteractionError
			err := w.Click(webapi.Suzuki, webapi.HR, ts, "approve_prompt")
			expect.Must(t, errors.As(err, &trouble) && trouble.Reason == tt.reason, "click = %v, want trouble %s", err,
				tt.reason)
			m, ok := w.Mark(webapi.HR, ts)
			expect.That(t, ok && m.Reason == tt.reason, "mark = %+v, %v", m, ok)
			n := len(w.app.actions())
			expect.That(t, n <= 1, "%d deliveries: interactions are never retried", n)
		})
	}
}

func TestModalFromClickToSubmission(t *testing.T) {
	w := newWorld(t)
	ts := w.card(t)
	var opened error
	w.app.onAction = func(rw http.ResponseWriter, body map[string]any) {
		switch body["type"] {
		case "block_actions":
			_, opened = w.slack.OpenView(body["trigger_id"].(string), modal())
			if _, err := w.slack.OpenView(body["trigger_id"].(string), modal()); err == nil ||
				err.Error() != "exchanged_trigger_id" {
				t.Errorf("the second use of a trigger = %v", err)
			}
		case "view_submission":
			rw.Header().Set("Content-Type", "application/json")
			if at(body, "view", "state", "values", "rejection_reason_block", "rejection_reason_input", "value") == nil {
				fmt.Fprint(rw, `{"response_action":"errors","errors":{"rejection_reason_block":"理由を入力してください"}}`)
			}
		}
	}
	err := w.Click(webapi.Suzuki, webapi.HR, ts, "reject_prompt")
	expect.Must(t, err == nil && opened == nil, "click %v, views.open %v", err, opened)
	expect.Must(t, len(w.Views(webapi.Tanaka)) == 0 && len(w.Views(webapi.Suzuki)) == 1, "want the modal with 鈴木 alone")
	v := w.Views(webapi.Suzuki)[0]
	expect.That(t, v.PrivateMetadata == `{"task_id":"01J"}` && v.CallbackID == "rejection_reason_modal" &&
		v.Hash != "" && v.RootViewID == v.ID, "view = %+v", v)
	refused := expect.Value(w.Submit(webapi.Suzuki, v.ID, map[string]any{"rejection_reason_block": ""}))(t)
	diff := cmp.Diff(map[string]string{"rejection_reason_block": "理由を入力してください"}, refused)
	expect.Must(t, diff == "" && len(w.Views(webapi.Suzuki)) == 1, "empty reason (-want +got):\n%s", diff)
	refused = expect.Value(w.Submit(webapi.Suzuki, v.ID, map[string]any{"rejection_reason_block": "検証を追加して"}))(t)
	expect.Must(t, refused == nil, "refused: %v", refused)
	expect.That(t, len(w.Views(webapi.Suzuki)) == 0, "the modal stayed open")
	expect.Fails(t, expect.Err(w.Submit(webapi.Suzuki, v.ID, nil)), webapi.ViewNotFound, "submitting a closed modal")
}

func TestTriggerExpires(t *testing.T) {
	var skew atomic.Int64
	w := newWorld(t, func(o *sandbox.Options) {
		o.Now = func() time.Time { return time.Now().Add(time.Duration(skew.Load())) }
	})
	ts := w.card(t)
	expect.NoError(t, w.Click(webapi.Suzuki, webapi.HR, ts, "reject_prompt"))
	skew.Store(int64(3100 * time.Millisecond))
	_, err := w.slack.OpenView(w.app.actions()[0].body["trigger_id"].(string), modal())
	expect.That(t, err != nil && err.Error() == "expired_trigger_id", "views.open after 3.1 s = %v", err)
}

func TestAnswersToForms(t *testing.T) {
	next := `{"type":"modal","title":{"type":"plain_text","text":"次"},"blocks":[]}`
	tests := []struct {
		name, answer string
		open         int
		trouble      bool
	}{
		{"empty closes", ``, 0, false},
		{"update changes it", `{"response_action":"update","view":` + next + `}`, 1, false},
		{"a view that Slack refuses", `{"response_action":"update","view":{"type":"modal"}}`, 1, true},
		{"errors for a block that isn't there", `{"response_action":"errors","errors":{"nope":"x"}}`, 1, true},
		{"no JSON", `OK`, 1, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			ts := w.card(t)
			w.app.onAction = func(rw http.ResponseWriter, body map[string]any) {
				if body["type"] == "view_submission" {
					fmt.Fprint(rw, tt.answer)
					return
				}
				_, err := w.slack.OpenView(body["trigger_id"].(string), modal())
				expect.That(t, err == nil, "%v", err)
			}
			expect.NoError(t, w.Click(webapi.Suzuki, webapi.HR, ts, "reject_prompt"))
			_, err := w.Submit(webapi.Suzuki, w.Views(webapi.Suzuki)[0].ID, map[string]any{"rejection_reason_block": "x"})
			var trouble sandbox.InteractionError
			expect.That(t, errors.As(err, &trouble) == tt.trouble && len(w.Views(webapi.Suzuki)) == tt.open,
				"trouble %v, open %d; want %v, %d", err, len(w.Views(webapi.Suzuki)), tt.trouble, tt.open)
		})
	}
}

func TestAModalIsUpdatedByItsHash(t *testing.T) {
	w := newWorld(t)
	ts := w.card(t)
	expect.NoError(t, w.Click(webapi.Suzuki, webapi.HR, ts, "reject_prompt"))
	v := expect.Value(w.slack.OpenView(w.app.actions()[0].body["trigger_id"].(string), modal()))(t)
	_, err := w.slack.UpdateView(modal(), "", "stale", v.View.ID)
	expect.That(t, err != nil && err.Error() == "hash_conflict", "views.update with another hash = %v", err)
	expect.NoError(t, w.CloseView(webapi.Suzuki, v.View.ID))
	expect.Is(t, len(w.Views(webapi.Suzuki)), 0)
}

func TestAShortcutCarriesTheMessage(t *testing.T) {
	w := newWorld(t)
	ts := w.card(t)
	expect.NoError(t, w.Shortcut(webapi.Sato, webapi.HR, ts, "cancel_task"))
	got := w.app.actions()[0].body
	expect.That(t, got["type"] == "message_action" && got["callback_id"] == "cancel_task" && got["message_ts"] == ts &&
		at(got, "message", "attachments", 0, "color") == "2196f3", "payload = %v", got)
}

// manifest is the app manifest that is pasted at Slack.
const manifest = "../../slack-manifest.yaml"

func TestTheMenusAreThoseOfTheManifest(t *testing.T) {
	messages, globals, err := sandbox.ReadMenus(manifest)
	expect.NoError(t, err)
	expect.Same(t, []sandbox.Shortcut{
		{CallbackID: "cancel_task", Name: "キャンセル・終了", NameEN: "Cancel or end"},
		{CallbackID: "ringi_from_message", Name: "この依頼を稟議に", NameEN: "Ask Ringi"},
		{CallbackID: "propose_action", Name: "操作を提案", NameEN: "Propose action"},
	}, messages)
	expect.Same(t, []sandbox.Shortcut{{CallbackID: "ringi_new", Name: "稟議を依頼", NameEN: "New request"},
		{CallbackID: "ringi_matter", Name: "決裁を求める", NameEN: "Decision"}}, globals)
}
