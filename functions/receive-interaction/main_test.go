package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

func TestInteractions(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"approve a step":                    testApproveStep,
		"reject with a reason":              testReject,
		"reject twice, with other reasons":  testRejectTwice,
		"a reason that won't do":            testBadReason,
		"reject what is decided":            testRejectLate,
		"a second click of the same person": testTwice,
		"cancel an execution":               testCancelExecution,
		"retry an execution":                testRetryExecution,
		"retry a generation":                testRetryGeneration,
		"the shortcut on a card":            testShortcutOnCard,
		"the shortcut on the request":       testShortcutOnRequest,
		"the shortcut on anything else":     testShortcutElsewhere,
		"who may approve":                   testPolicy,
		"Slack can't say who it is":         testUnverified,
		"a direct message":                  testDirectMessage,
		"ids of others":                     testForeignIDs,
		"nothing could be saved":            testUnsaved,
		"a note that can't be shown":        testNoteFails,
		"not in time":                       testSlow,
		"not even in time for the note":     testLateNote,
	})
}

func testApproveStep(t *testing.T, w *world) {
	g := w.gated()
	w.quiet(w.post(w.click(webapi.Tanaka, "approve_step", g.ID)), webapi.Tanaka)
	expect.Same(t, webapi.Tanaka, w.Load().Gates[0].ApprovedBy)
}

func testReject(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(webapi.Suzuki, "reject_prompt", p.ID)), webapi.Suzuki)
	views := w.slack.Views(webapi.Suzuki)
	expect.Must(t, len(views) == 1 && w.Load().Prompt().Status == aggregate.PendingApproval, "%d forms, prompt %s",
		len(views), w.Load().Prompt().Status)
	var about card.Rejection
	expect.NoError(t, json.Unmarshal([]byte(views[0].PrivateMetadata), &about))
	expect.Same(t, card.Rejection{Type: task.CardPrompt, ID: p.ID, TaskID: w.Ref.ID,
		Hash: aggregate.HashOf(p.Content)}, about)
	w.quiet(w.post(w.form(webapi.Suzuki, "prompt", p.ID, " データの検証を追加して\n")), webapi.Suzuki)
	got := w.Load().Prompt()
	expect.That(t, got.Status == aggregate.Rejected && got.RejectedBy == webapi.Suzuki &&
		got.RejectionReason == "データの検証を追加して", "%+v", got)
}

// inForm checks that the form stays open with this text at the reason.
func inForm(t *testing.T, out inbound.Response, want string) {
	t.Helper()
	var got struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
	}
	err := json.Unmarshal([]byte(out.Body), &got)
	expect.Must(t, err == nil && out.StatusCode == 200, "%d %q: %v", out.StatusCode, out.Body, err)
	expect.That(t, got.Action == "errors" && len(got.Errors) == 1 && strings.Contains(got.Errors[card.ReasonBlock], want),
		"%+v, want %q", got, want)
}

func testBadReason(t *testing.T, w *world) {
	p := w.prompted()
	for _, reason := range []any{nil, "", " \n\t", "\ufe0f\u200d", strings.Repeat("あ", 1001)} {
		inForm(t, w.post(w.form(webapi.Suzuki, "prompt", p.ID, reason)), "1〜1000 文字")
	}
	missing := w.form(webapi.Suzuki, "prompt", p.ID, "x")
	missing["view"].(map[string]any)["state"] = map[string]any{"values": map[string]any{}}
	inForm(t, w.post(missing), "1〜1000 文字")
	got := w.Load().Prompt()
	expect.Must(t, got.Status == aggregate.PendingApproval, "%+v", got)
	w.quiet(w.post(w.form(webapi.Suzuki, "prompt", p.ID, strings.Repeat("あ", 1000))), webapi.Suzuki)
	expect.Same(t, aggregate.Rejected, w.Load().Prompt().Status)
}

func testRejectLate(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID)), webapi.Suzuki)
	w.shown()
	w.told(w.post(w.click(webapi.Tanaka, "reject_prompt", p.ID)), webapi.Tanaka, "<@"+webapi.Suzuki+"> が <!date^")
	w.healed()
	expect.Same(t, 0, len(w.slack.Views(webapi.Tanaka)))
}

// The first of two reasons is saved. The author of the second is told so, even if they wrote both. Sending the same
// reason again shows nothing.
func testRejectTwice(t *testing.T, w *world) {
	p := w.prompted()
	for range 2 {
		w.quiet(w.post(w.form(webapi.Suzuki, "prompt", p.ID, "部署ごとに")), webapi.Suzuki)
	}
	w.told(w.post(w.click(webapi.Suzuki, "reject_prompt", p.ID)), webapi.Suzuki, "<@"+webapi.Suzuki+">")
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka} {
		w.shown()
		w.told(w.post(w.form(user, "prompt", p.ID, "短く")), user, "却下しました。\n入力した却下理由は、反映されていません。")
		w.healed()
	}
	got := w.Load().Prompts[0]
	expect.That(t, got.RejectionReason == "部署ごとに" && got.RejectedBy == webapi.Suzuki, "%+v", got)
}

func testTwice(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID)), webapi.Suzuki)
	before := w.Load().Head.Rev
	w.shown()
	w.quiet(w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID)), webapi.Suzuki)
	expect.Same(t, before, w.Load().Head.Rev)
	w.healed()
}

func testCancelExecution(t *testing.T, w *world) {
	e := w.running()
	w.quiet(w.post(w.click(webapi.Sato, "cancel_execution", e.ID)), webapi.Sato)
	if a := w.Load(); a.Execution().Status != task.ExecutionCancelled || a.Execution().CancelledBy != webapi.Sato {
		t.Errorf("%+v", a.Execution())
	}
	w.shown()
	w.told(w.post(w.click(webapi.Suzuki, "cancel_execution", e.ID)), webapi.Suzuki, "<@"+webapi.Sato+"> が <!date^")
	w.healed()
}

func testRetryExecution(t *testing.T, w *world) {
	e := w.running()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "", w.Now())
	})
	w.quiet(w.post(w.click(webapi.Sato, "retry_execution", e.ID)), webapi.Sato)
	a := w.Load()
	expect.Must(t, a.Execution().Attempt == 2 && a.Execution().RetriedBy == webapi.Sato && a.Head.Ended == nil, "%+v",
		a.Execution())
	w.quiet(w.post(w.click(webapi.Sato, "retry_execution", e.ID)), webapi.Sato)
	expect.Same(t, 2, len(w.Load().Executions))
}

func testRetryGeneration(t *testing.T, w *world) {
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Park(1, a.Generating(), task.ReasonModelDemo, "", w.Now())
	})
	w.told(w.post(w.click(webapi.Tanaka, "retry_generation", aggregate.NewID())), webapi.Tanaka, "見つかりません")
	w.quiet(w.post(w.click(webapi.Sato, "retry_generation", w.Ref.ID)), webapi.Sato)
	w.quiet(w.post(w.click(webapi.Sato, "retry_generation", w.Ref.ID)), webapi.Sato)
	w.told(w.post(w.click(webapi.Suzuki, "retry_generation", w.Ref.ID)), webapi.Suzuki, webapi.Sato)
	head := w.Load().Head
	expect.That(t, head.Parked == nil && head.Run == 2, "%+v", head)
}

func testShortcutOnCard(t *testing.T, w *world) {
	w.prompted()
	button := map[string]any{"ts": "1776675600.000100", "thread_ts": w.root, "attachments": []any{
		map[string]any{"blocks": []any{map[string]any{"type": "header", "block_id": "Xy7"},
			map[string]any{"type": "actions", "block_id": w.Ref.ID}}},
	}}
	w.told(w.post(w.shortcut(webapi.Guest, button)), webapi.Guest,
		card.Note("ja", aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty}))
	expect.Must(t, w.Load().Head.Ended == nil, "a guest cancelled it")
	w.quiet(w.post(w.shortcut(webapi.Sato, button)), webapi.Sato)
	expect.Must(t, w.Load().Head.Ended == nil, "it was cancelled before anybody said yes")
	w.told(w.confirm(webapi.Sato), webapi.Sato, "依頼をキャンセルしました")
	ended := w.Load().Head.Ended
	expect.That(t, ended != nil && ended.By == webapi.Sato, "%+v", ended)
	w.post(w.shortcut(webapi.Sato, button)) // again: the person is told so, without a dialog
	told := w.slack.Ephemerals(webapi.Sato)
	expect.That(t, len(told) == 2 && strings.Contains(told[1].Text, "にこのタスクをキャンセルしました") &&
		len(w.slack.Views(webapi.Sato)) == 0, "%+v", told)
	// A card without buttons says in its metadata which task it shows.
	metadata := map[string]any{"ts": "1776675601.000100", "thread_ts": "1.000001", "metadata": map[string]any{
		"event_type": "ringi_card", "event_payload": map[string]any{"task": w.Ref.ID, "card": "CARD#task"},
	}}
	out := w.post(w.shortcut(webapi.Suzuki, metadata))
	told = w.slack.Ephemerals(webapi.Suzuki)
	expect.That(t, out.StatusCode == 200 && len(told) == 1 && strings.Contains(told[0].Text, "<@"+webapi.Sato+">"),
		"%d %+v", out.StatusCode, told)
}

func testShortcutOnRequest(t *testing.T, w *world) {
	w.post(w.shortcut(webapi.Sato, map[string]any{"ts": w.root, "text": "今月の勤怠をまとめて"}))
	w.confirm(webapi.Sato)
	ended := w.Load().Head.Ended
	expect.That(t, ended != nil && ended.As == task.TaskCancelled, "%+v", ended)
}

func testShortcutElsewhere(t *testing.T, w *world) {
	forged := map[string]any{"event_type": "other_app", "event_payload": map[string]any{"task": w.Ref.ID}}
	w.post(w.shortcut(webapi.Sato,
		map[string]any{"ts": "1776675600.000100", "thread_ts": "1776675500.000100", "metadata": forged}))
	told := w.slack.Ephemerals(webapi.Sato)
	expect.That(t, len(told) == 1 && told[0].Text == card.Note("ja", aggregate.ErrNotFound), "%+v", told)
	expect.That(t, w.Load().Head.Ended == nil, "it was cancelled")
	// A reply in the request's thread refers to the request.
	w.post(w.shortcut(webapi.Sato, map[string]any{"ts": "1776675600.000100", "thread_ts": w.root}))
	w.confirm(webapi.Sato)
	expect.That(t, w.Load().Head.Ended != nil, "it was not cancelled")
}

func testUnsaved(t *testing.T, w *world) {
	p := w.prompted()
	w.h.Rows = failing{Rows: w.Store.KindStore.Store, err: errors.New("throttled")}
	w.told(w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID)), webapi.Suzuki, card.Note("ja", explain.ErrUnavailable))
	inForm(t, w.post(w.form(webapi.Suzuki, "prompt", p.ID, "x")), card.Note("ja", explain.ErrUnavailable))
	w.h.Rows = failing{Rows: w.Store.KindStore.Store, err: errors.New("throttled"), unset: true}
	w.slack.Faults.Add(webapi.Fault{Method: "users.info", Kind: webapi.Refused, Code: "fatal_error", Times: 1})
	w.told(w.post(w.click(webapi.Guest, "approve_prompt", p.ID)), webapi.Guest,
		card.Note("", explain.ErrUnavailable)) // nobody knows the language
	inForm(t, w.post(w.form(webapi.Guest, "prompt", p.ID, "x")), card.Note("ja", explain.ErrUnavailable))
	w.h.Rows = w.Store.KindStore.Store
	for _, f := range []webapi.Fault{{Kind: webapi.Refused, Code: "expired_trigger_id"},
		{Kind: webapi.Refused, Code: "token_revoked"}, {Kind: webapi.RateLimited, RetryAfter: time.Second}} {
		f.Method = "views.open"
		w.slack.Faults.Add(f)
		w.told(w.post(w.click(webapi.Tanaka, "reject_prompt", p.ID)), webapi.Tanaka, card.Note("ja", explain.ErrUnavailable))
		expect.Same(t, 0, len(w.slack.Views(webapi.Tanaka)))
	}
	// Slack may have opened the form; only its answer was lost.
	for n, f := range []webapi.Fault{{Kind: webapi.Unavailable, Status: 500}, {Kind: webapi.Lost}} {
		f.Method = "views.open"
		w.slack.Faults.Add(f)
		w.quiet(w.post(w.click(webapi.Sato, "reject_prompt", p.ID)), webapi.Sato)
		expect.Same(t, n, len(w.slack.Views(webapi.Sato)))
	}
}

// testNoteFails: the person isn't told, Slack is answered, and nothing is tried again.
func testNoteFails(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID)), webapi.Suzuki)
	before := w.Load().Head.Rev
	for _, f := range []webapi.Fault{{Kind: webapi.RateLimited, RetryAfter: time.Second}, {Kind: webapi.Unavailable},
		{Kind: webapi.Lost}, {Kind: webapi.Refused, Code: "not_in_channel"},
		{Kind: webapi.Refused, Code: "token_revoked"}} {
		f.Method = "chat.postEphemeral"
		w.slack.Calls()
		w.slack.Faults.Add(f)
		out := w.post(w.click(webapi.Tanaka, "approve_prompt", p.ID))
		n := len(w.slack.Calls("chat.postEphemeral"))
		expect.That(t, out.StatusCode == 200 && out.Body == "" && n == 1 && w.Load().Head.Rev == before,
			"%+v: answered %d %s, %d notes were tried", f, out.StatusCode, out.Body, n)
	}
}

// oneIsTold checks that a person is told that nothing was saved. It tries more than one person, since a busy machine
// may be too slow for the first. do reports whether it was in time.
func (w *world) oneIsTold(do func(user string) bool) {
	w.T.Helper()
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka, webapi.Sato} {
		inTime, told := do(user), w.slack.Ephemerals(user)
		if inTime && len(told) == 1 && told[0].Text == card.Note("ja", explain.ErrUnavailable) {
			return
		}
		w.T.Logf("in time: %v; told %+v", inTime, told)
	}
	w.T.Error("nobody is told in time that nothing was saved")
}

func testSlow(t *testing.T, w *world) {
	p := w.prompted()
	w.h.Rows, w.h.Edge.Within = failing{Rows: w.h.Rows, hang: true}, 0
	w.oneIsTold(func(user string) bool {
		began := time.Now()
		return w.post(w.click(user, "approve_prompt", p.ID)).StatusCode == 200 && time.Since(began) < 3*time.Second
	})
}

// testLateNote: the process was suspended for longer than Slack waits.
func testLateNote(t *testing.T, w *world) {
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	w.oneIsTold(func(user string) bool {
		var c click
		c.Ref, c.User, c.channel, c.thread = w.Ref, user, webapi.HR, w.root
		w.h.tell(ctx, c, verdict{decide.Verdict{Settings: tenancy.DefaultSettings(), Err: explain.ErrUnavailable}})
		return true
	})
}
