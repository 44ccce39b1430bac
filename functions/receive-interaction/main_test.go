package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
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
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

func TestInteractions(t *testing.T) {
	t.Parallel()
	inWorlds(t, map[string]func(*testing.T, *world){
		"reject with a reason":              testReject,
		"a reason that won't do":            testBadReason,
		"reject twice, with other reasons":  testRejectTwice,
		"the menu of a message cancels":     testCancelFromMenu,
		"nothing could be saved":            testUnsaved,
		"Slack can't say who it is":         testUnverified,
		"a note that can't be shown":        testNoteFails,
		"not in time":                       testSlow,
		"not even in time for the note":     testLateNote,
		"a button that names other content": testButtonOfOtherContent,
		"arguments that are kept elsewhere": testReviewOfLargeArguments,
		"longer than a dialog":              testReviewLong,
		"who may not approve may read":      testReadOnly,
	})
}

// Each button makes its decision, pressed twice it makes it once, and whoever comes second is told who decided, and
// when.
func TestEachButtonDecidesOnce(t *testing.T) {
	parts := map[string]func(*testing.T, *world){}
	for action, tt := range map[string]struct {
		id   func(w *world) string
		done func(a *task.Aggregate) string // who did it
	}{
		"approve_prompt": {func(w *world) string { return w.prompted().ID },
			func(a *task.Aggregate) string { return a.Prompt().ApprovedBy }},
		"approve_step": {func(w *world) string { return w.gated().ID },
			func(a *task.Aggregate) string { return a.Gates[0].ApprovedBy }},
		"cancel_execution": {func(w *world) string { return w.running().ID },
			func(a *task.Aggregate) string { return a.Execution().CancelledBy }},
		"retry_execution": {func(w *world) string {
			w.running()
			return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "", w.Now())
			}).Execution().ID
		}, func(a *task.Aggregate) string { return a.Execution().RetriedBy }},
		"retry_generation": {func(w *world) string {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Park(1, a.Generating(), task.ReasonModelDemo, "", w.Now())
			})
			return w.Ref.ID
		}, func(a *task.Aggregate) string { // whose name is nowhere but in what others are told
			return map[bool]string{true: webapi.Sato}[a.Head.Parked == nil && a.Head.Run == 2]
		}},
	} {
		parts[action] = func(t *testing.T, w *world) {
			id, those := tt.id(w), w.h.People
			if action != "cancel_execution" {
				w.h.People = &people.People{Slack: departed{w.slack.Client, webapi.Sato}, Now: w.Now}
				w.told(w.post(w.click(webapi.Suzuki, action, id)), webapi.Suzuki,
					card.Note("ja", aggregate.ErrNotAllowed{Rule: aggregate.RuleLeft}))
				w.h.People = those
			}
			w.quiet(w.post(w.click(webapi.Sato, action, id)), webapi.Sato)
			rev := w.Load().Head.Rev
			expect.Is(t, tt.done(w.Load()), webapi.Sato, "it was decided by")
			w.shown()
			again, who := w.post(w.click(webapi.Sato, action, id)), "<@"+webapi.Sato+"> が <!date^"
			if action == "cancel_execution" { // whose card may be far up in the thread
				w.told(again, webapi.Sato, who)
			} else {
				w.quiet(again, webapi.Sato)
			}
			w.healed()
			if action != "retry_execution" { // a new attempt tells nobody of the last one
				w.shown()
				w.told(w.post(w.click(webapi.Suzuki, action, id)), webapi.Suzuki, who)
				w.healed()
			}
			expect.Is(t, w.Load().Head.Rev, rev, "after three clicks, revision")
		}
	}
	inWorlds(t, parts)
}

func testReject(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(webapi.Suzuki, "reject_prompt", p.ID)), webapi.Suzuki)
	form := w.taken(webapi.Suzuki)
	expect.Is(t, w.Load().Prompt().Status, aggregate.PendingApproval)
	var about card.Rejection
	expect.NoError(t, json.Unmarshal([]byte(form.PrivateMetadata), &about))
	expect.Same(t, card.Rejection{Type: task.CardPrompt, ID: p.ID, TaskID: w.Ref.ID,
		Hash: aggregate.HashOf(p.Content)}, about)
	w.quiet(w.post(w.form(webapi.Suzuki, "prompt", p.ID, " データの検証を追加して\n")), webapi.Suzuki)
	got := w.Load().Prompt()
	expect.That(t, got.Status == aggregate.Rejected && got.RejectedBy == webapi.Suzuki &&
		got.RejectionReason == "データの検証を追加して", "%+v", got)
}

// inForm checks that the form stays open with this text at the reason.
func inForm(t *testing.T, out slackapi.Response, want string) {
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
	_, wrong := aggregate.CheckReason("")
	for _, text := range []any{nil, " \n\t", strings.Repeat("あ", 1001)} {
		inForm(t, w.post(w.form(webapi.Suzuki, "prompt", p.ID, text)), card.Note("ja", wrong))
	}
	missing := w.form(webapi.Suzuki, "prompt", p.ID, "x")
	missing["view"].(map[string]any)["state"] = map[string]any{"values": map[string]any{}}
	inForm(t, w.post(missing), card.Note("ja", wrong))
	expect.Is(t, w.Load().Prompt().Status, aggregate.PendingApproval)
}

// The first of two reasons is saved. The author of the second is told so, even if they wrote both. Sending the same
// reason again shows nothing.
func testRejectTwice(t *testing.T, w *world) {
	p := w.prompted()
	for range 2 {
		w.quiet(w.post(w.form(webapi.Suzuki, "prompt", p.ID, "部署ごとに")), webapi.Suzuki)
	}
	w.told(w.post(w.click(webapi.Suzuki, "reject_prompt", p.ID)), webapi.Suzuki, "<@"+webapi.Suzuki+">")
	expect.Is(t, len(w.slack.Views(webapi.Suzuki)), 0, "forms for what is decided")
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka} {
		w.shown()
		w.told(w.post(w.form(user, "prompt", p.ID, "短く")), user, "\n"+card.Surface("ja").ReasonNotTaken())
		w.healed()
	}
	got := w.Load().Prompts[0]
	expect.That(t, got.RejectionReason == "部署ごとに" && got.RejectedBy == webapi.Suzuki, "%+v", got)
}

// The menu of a card, of the request or of a reply in its thread finds the request, asks whether it shall be
// cancelled, and cancels it. That of any other message finds nothing.
func testCancelFromMenu(t *testing.T, w *world) {
	const asked = "call-4ioqqrve24zw4u3sjckysiw4hhownuf7"
	var ofCall payload
	expect.NoError(t, json.Unmarshal([]byte(`{"team":{"id":"T1"},"message":{"ts":"1.000001","attachments":[{"blocks":[`+
		`{"type":"actions","block_id":"`+asked+`/1"}]}]}}`), &ofCall))
	expect.Is(t, ofCall.tasks()[0], asked)
	w.prompted()
	card1 := map[string]any{"ts": "1776675600.000100", "thread_ts": w.root, "attachments": []any{
		map[string]any{"blocks": []any{map[string]any{"type": "header", "block_id": "Xy7"},
			map[string]any{"type": "actions", "block_id": w.Ref.ID + "/2"}}}}}
	about := func(kind string) map[string]any { // a card without buttons says in its metadata which task it shows
		return map[string]any{"ts": "1776675601.000100", "thread_ts": "1.000001", "metadata": map[string]any{
			"event_type": kind, "event_payload": map[string]any{"task": w.Ref.ID, "card": "CARD#task"}}}
	}
	w.told(w.post(w.shortcut(webapi.Guest, card1)), webapi.Guest,
		card.Note("ja", aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty}))
	hears := func(message map[string]any) string { return w.hears(webapi.Tanaka, w.shortcut(webapi.Tanaka, message)) }
	expect.Is(t, hears(about("other_app")), card.Note("ja", aggregate.ErrNotFound))
	for name, message := range map[string]map[string]any{"a card": card1, "a card without buttons": about("ringi_card"),
		"the request": {"ts": w.root}, "a reply": {"ts": "1776675600.000100", "thread_ts": w.root}} {
		w.quiet(w.post(w.shortcut(webapi.Sato, message)), webapi.Sato)
		expect.Is(t, w.taken(webapi.Sato).CallbackID, card.CancelCallback, name)
	}
	expect.Must(t, w.Load().Head.Ended == nil, "it was cancelled before anybody said yes")
	w.quiet(w.post(w.shortcut(webapi.Sato, card1)), webapi.Sato)
	w.told(w.send(webapi.Sato, map[string]any{}), webapi.Sato, card.Surface("ja").CancelAccepted())
	ended := w.Load().Head.Ended
	expect.Must(t, ended != nil && ended.As == task.TaskCancelled && ended.By == webapi.Sato, "%+v", ended)
	expect.Has(t, hears(card1), "<@"+webapi.Sato+">")
	expect.Has(t, hears(about("ringi_card")), "<@"+webapi.Sato+">")
	expect.Is(t, len(w.slack.Views(webapi.Tanaka)), 0, "dialogs of what has ended")
}

func testUnsaved(t *testing.T, w *world) {
	p, away := w.prompted(), card.Note("ja", explain.ErrUnavailable)
	w.h.Rows = failing{Rows: w.Store.KindStore.Store, err: errors.New("throttled")}
	w.told(w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID)), webapi.Suzuki, away)
	inForm(t, w.post(w.form(webapi.Suzuki, "prompt", p.ID, "x")), away)
	read := expect.JSON(card.Review{Type: task.CardPrompt, ID: p.ID, TaskID: w.Ref.ID, Hash: aggregate.HashOf(p.Content)})
	out := w.post(submits(webapi.Suzuki, card.ReviewCallback, read, nil))
	expect.Has(t, out.Body, `"response_action":"update"`)
	expect.Has(t, out.Body, away)
	w.h.Rows = failing{Rows: w.Store.KindStore.Store, err: errors.New("throttled"), unset: true}
	w.slack.Faults.Add(webapi.Fault{Method: "users.info", Kind: webapi.Refused, Code: "fatal_error", Times: 1})
	w.told(w.post(w.click(webapi.Guest, "approve_prompt", p.ID)), webapi.Guest,
		card.Note("", explain.ErrUnavailable)) // nobody knows the language
	w.h.Rows = w.Store.KindStore.Store
	for _, f := range []webapi.Fault{{Kind: webapi.Refused, Code: "expired_trigger_id"},
		{Kind: webapi.RateLimited, RetryAfter: time.Second}} {
		f.Method = "views.open"
		w.slack.Faults.Add(f)
		w.told(w.post(w.click(webapi.Tanaka, "reject_prompt", p.ID)), webapi.Tanaka, away)
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

func testUnverified(t *testing.T, w *world) {
	p := w.prompted()
	for _, f := range []webapi.Fault{{Method: "users.conversations", Kind: webapi.Unavailable},
		{Kind: webapi.Unavailable}, {Kind: webapi.RateLimited, RetryAfter: time.Second},
		{Kind: webapi.Refused, Code: "token_revoked"}} {
		f.Method = cmp.Or(f.Method, "users.info")
		w.slack.Calls()
		w.slack.Faults.Add(f)
		w.told(w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID)), webapi.Suzuki, card.Note("ja", explain.ErrUnverified))
		expect.Is(t, len(w.slack.Calls(f.Method)), 1, f.Kind)
	}
	w.slack.Faults.Add(webapi.Fault{Method: "users.info", Kind: webapi.Refused, Code: "missing_scope"})
	inForm(t, w.post(w.form(webapi.Suzuki, "prompt", p.ID, "x")), card.Note("ja", explain.ErrUnverified))
	expect.Same(t, aggregate.PendingApproval, w.Load().Prompt().Status)
}

// testNoteFails: the person isn't told, Slack is answered, and nothing is tried again.
func testNoteFails(t *testing.T, w *world) {
	p := w.prompted()
	w.quiet(w.post(w.click(webapi.Suzuki, "approve_prompt", p.ID)), webapi.Suzuki)
	before := w.Load().Head.Rev
	for _, f := range []webapi.Fault{{Kind: webapi.Lost}, {Kind: webapi.Refused, Code: "not_in_channel"}} {
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

// asked brings the task to a policy that no card can show completely.
func (w *world) asked() *task.Prompt {
	w.T.Helper()
	w.prompted()
	w.Reject("長く")
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: strings.Repeat("方針 ", 7000) + "最後の行"},
			tenancy.DefaultSettings(), w.Now())
	}).Prompt()
}

func text(v webapi.View) string { return expect.JSON(v.Blocks) }

// writing brings the task to a step whose arguments have so many characters, in its row or kept elsewhere.
func (w *world) writing(n int, key string) *task.StepGate {
	w.T.Helper()
	w.running()
	arguments := aggregate.JSON(fmt.Sprintf(`{"recipient":"U0SUZUKI","text":"%s末尾"}`, strings.Repeat("長", n)))
	kept := aggregate.Blob{JSON: arguments, S3Key: key, Bytes: len(arguments)}
	if key != "" {
		w.results[key], kept.JSON = arguments, ""
	}
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, kept, aggregate.HashOf(string(arguments)), nil, w.Now())
	}).Gates[0]
}

// What is longer than a dialog is approved on its page in the console, to which the dialog leads.
func testReviewLong(t *testing.T, w *world) {
	g := w.writing(30000, "")
	w.quiet(w.post(w.click(webapi.Suzuki, "review_step", g.ID)), webapi.Suzuki)
	v := w.view(webapi.Suzuki)
	expect.That(t, v.Submit == nil && !strings.Contains(text(v), "末尾"), "it can be submitted: %s", text(v))
	expect.Has(t, text(v), "https://ringi.example/console/tasks/"+w.Ref.ID)
}

func testButtonOfOtherContent(t *testing.T, w *world) {
	p := w.asked()
	for _, shown := range []string{"", "/0/", "/0/" + aggregate.HashOf("x")} {
		for _, action := range []string{"approve_prompt", "reject_prompt"} {
			click := w.click(webapi.Suzuki, action, p.ID)
			click["actions"].([]any)[0].(map[string]any)["block_id"] = w.Ref.ID + shown
			w.told(w.post(click), webapi.Suzuki, card.Note("ja", aggregate.ErrMoved))
		}
	}
	expect.Is(t, len(w.slack.Views(webapi.Suzuki)), 0, "dialogs")
	read := expect.JSON(card.Review{Type: task.CardPrompt, ID: p.ID, TaskID: w.Ref.ID, Hash: aggregate.HashOf("x")})
	out := w.post(submits(webapi.Suzuki, card.ReviewCallback, read, nil))
	expect.Has(t, out.Body, card.Note("ja", aggregate.ErrMoved), "what was read is not what is asked now")
	expect.Same(t, aggregate.PendingApproval, w.Load().Prompt().Status)
}

func testReviewOfLargeArguments(t *testing.T, w *world) {
	g := w.writing(20000, "key")
	w.quiet(w.post(w.click(webapi.Suzuki, "review_step", g.ID)), webapi.Suzuki)
	v := w.view(webapi.Suzuki)
	expect.That(t, v.Submit != nil && strings.Contains(text(v), "末尾"), "it can't be submitted: %s", text(v))
	w.quiet(w.send(webapi.Suzuki, nil), webapi.Suzuki)
	got := w.Load().Gates[0]
	expect.That(t, got.ApprovedBy == webapi.Suzuki && got.Arguments.JSON == "",
		"%s, and the row holds %d bytes of them", got.Status, len(got.Arguments.JSON))
}

func testReadOnly(t *testing.T, w *world) {
	p := w.asked()
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.quiet(w.post(w.click(webapi.Sato, "review_prompt", p.ID)), webapi.Sato)
	v := w.taken(webapi.Sato)
	expect.That(t, v.Submit == nil && strings.Contains(text(v), "最後の行"), "it can be submitted: %v", v.Submit)
	w.told(w.sendView(webapi.Sato, v, nil), webapi.Sato,
		card.Note("ja", aggregate.ErrNotAllowed{Rule: aggregate.RuleSelf}))
	w.told(w.post(w.click(webapi.Guest, "review_prompt", p.ID)), webapi.Guest,
		card.Note("ja", aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest}))
	expect.That(t, len(w.slack.Views(webapi.Guest)) == 0 && w.Load().Prompt().Status == aggregate.PendingApproval,
		"a guest reads, or somebody approved")
}
