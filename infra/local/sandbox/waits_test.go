package sandbox_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/infra/local/sandbox"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// mayStamp maps each task to the person who may stamp it.
type mayStamp map[string]string

func (m mayStamp) May(_ context.Context, user, task string) (bool, error) {
	return m[task] == user, nil
}

var asked = sandbox.Asked{
	Writes: map[string]string{"ja": "メッセージ ×2", "en": "Message ×2"}, Until: new(time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC)),
}

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
	w := newWorld(t, func(o *sandbox.Options) {
		o.Approvals = mayStamp{first: webapi.Suzuki, second: webapi.Tanaka}
	})
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
	post(webapi.HR, root, second, "reject_prompt", "review_prompt") // must be read before it can be approved
	failed := post(webapi.HR, root, first, "cancel_execution", "retry_execution")
	post(webapi.DirectMessage(webapi.Suzuki), "", first, "approve_prompt") // a copy of the card
	for user, want := range map[string][]sandbox.Wait{
		webapi.Suzuki: {{Channel: webapi.HR, TS: policy, Root: root, Task: first, Action: "approve_prompt", Asked: asked}},
		webapi.Sato:   {{Channel: webapi.HR, TS: failed, Root: root, Task: first, Action: "retry_execution"}},
		webapi.Alex:   {}, // is not in the channel
		webapi.Guest:  {},
	} {
		expect.Same(t, want, w.waits(t, user))
	}
	got := w.waits(t, webapi.Tanaka)
	expect.That(t, len(got) == 1 && got[0].Action == "review_prompt", "%+v", got)
}

// A modal appears only in the window where the person clicked, and does not replace another window's modal.
func TestAModalBelongsToTheWindowThatOpenedIt(t *testing.T) {
	w := newWorld(t)
	cardApp(t, w)
	expect.Value(w.Say(webapi.Sato, webapi.HR, "<@"+webapi.Bot+"> お願い"))(t)
	expect.Eventually(t, "the card", func() bool { all, _ := w.Workspace().Everything(webapi.HR); return len(all) == 2 })
	all := expect.Value(w.Workspace().Everything(webapi.HR))(t)
	for _, window := range []string{"one", "two", ""} {
		status, answer := w.send(t, http.MethodPost, "act", "application/json",
			`{"user":"`+webapi.Suzuki+`","window":"`+window+`","channel":"`+webapi.HR+`","ts":"`+all[1].TS+`","action_id":"reject_prompt"}`)
		expect.Must(t, status == http.StatusOK, "%s: %d %v", window, status, answer)
	}
	_, state := w.send(t, http.MethodGet, "state?user="+webapi.Suzuki, "", "")
	var windows []any
	for i := range 3 {
		windows = append(windows, at(state, "views", i, "window"))
	}
	expect.Same(t, []any{"", "one", "two"}, windows)
	two, _ := at(state, "views", 2, "id").(string)
	expect.NoError(t, w.CloseView(webapi.Suzuki, two))
	if err := w.CloseView(webapi.Suzuki, two); err == nil {
		t.Error("closed twice")
	}
	left := w.Views(webapi.Suzuki)
	expect.That(t, len(left) == 2, "%d modals are left", len(left))
	if began, err := time.Parse(time.RFC3339, at(state, "started").(string)); err != nil || time.Since(began) > time.Minute {
		t.Errorf("started %v, %v", at(state, "started"), err)
	}
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
	if status, answer := w.send(t, http.MethodGet, fmt.Sprintf("attempts/%d", n), "", ""); status != 200 || at(answer, "payload", "event", "type") != "app_mention" {
		t.Errorf("%d %v", status, answer)
	}
	if status, _ := w.send(t, http.MethodGet, "attempts/3", "", ""); status != http.StatusNotFound {
		t.Errorf("one that was never made: %d", status)
	}
}
