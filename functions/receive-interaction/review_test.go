package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// long is a policy that no card can show completely.
var long = strings.Repeat("方針 ", 7000) + "最後の行"

func TestReviews(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"read to the end and approved":           testReadAndApprove,
		"a button that names other content":      testButtonOfOtherContent,
		"arguments that are kept elsewhere":      testReviewOfLargeArguments,
		"who may not approve may read":           testReadOnly,
		"what was read is not what is asked now": testReadSomethingElse,
		"not saved":                              testReviewUnsaved,
		"longer than a dialog":                   testReviewLong,
	})
}

// asked brings the task to a policy that no card can show completely.
func (w *world) asked() *task.Prompt {
	w.T.Helper()
	p := w.prompted()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("長く")(a, p.ID, approver(), aggregate.Policy{Team: ringitest.Team}, w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	return w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: long}, tenancy.DefaultSettings(), w.Now())
	}).Prompt()
}

func (w *world) view(user string) webapi.View {
	w.T.Helper()
	open := w.slack.Views(user)
	expect.Must(w.T, len(open) == 1, "%d dialogs are open; told %+v", len(open), w.slack.Ephemerals(user))
	return open[0]
}

// departed is a Slack whose people include one who has left.
type departed struct {
	people.Directory
	who string
}

func (d departed) User(ctx context.Context, id string) (slackapi.User, error) {
	u, err := d.Directory.User(ctx, id)
	u.Gone = u.Gone || id == d.who
	return u, err
}

func (w *world) submission(user string, v webapi.View) map[string]any {
	p := person("view_submission", user, ringitest.Team)
	p["view"] = v
	return p
}

func testReadAndApprove(t *testing.T, w *world) {
	p := w.asked()
	w.quiet(w.post(w.click(webapi.Suzuki, "review_prompt", p.ID)), webapi.Suzuki)
	v := w.view(webapi.Suzuki)
	expect.Must(t, v.Submit != nil && strings.Contains(text(v), "最後の行"), "it can't be submitted: %s", text(v))
	w.quiet(w.post(w.submission(webapi.Suzuki, v)), webapi.Suzuki)
	got := w.Load().Prompt()
	expect.That(t, got.Status == aggregate.Approved && got.ApprovedBy == webapi.Suzuki, "%+v", got)
}

// What is longer than a dialog is approved on its page in the console, to which the dialog leads.
func testReviewLong(t *testing.T, w *world) {
	w.running()
	arguments := aggregate.JSON(`{"recipient":"U0SUZUKI","text":"` + strings.Repeat("長", 30000) + `末尾"}`)
	g := w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: arguments, Bytes: len(arguments)},
			aggregate.HashOf(string(arguments)), nil, w.Now())
	}).Gates[0]
	w.quiet(w.post(w.click(webapi.Suzuki, "review_step", g.ID)), webapi.Suzuki)
	v := w.view(webapi.Suzuki)
	expect.That(t, v.Submit == nil && !strings.Contains(text(v), "末尾"), "it can be submitted: %s", text(v))
	expect.Has(t, text(v), "https://ringi.example/console/tasks/"+w.Ref.ID)
}

func text(v webapi.View) string {
	b, _ := json.Marshal(v.Blocks)
	return string(b)
}

func testButtonOfOtherContent(t *testing.T, w *world) {
	p := w.asked()
	for _, shown := range []string{"", "/0/", "/0/" + aggregate.HashOf("x")} {
		for _, action := range []string{"approve_prompt", "reject_prompt"} {
			click := w.click(webapi.Suzuki, action, p.ID)
			click["actions"].([]any)[0].(map[string]any)["block_id"] = w.Ref.ID + shown
			w.told(w.post(click), webapi.Suzuki, "状態が変わりました")
		}
	}
	expect.Same(t, aggregate.PendingApproval, w.Load().Prompt().Status)
	expect.Is(t, len(w.slack.Views(webapi.Suzuki)), 0, "dialogs")
}

func testReviewOfLargeArguments(t *testing.T, w *world) {
	w.running()
	arguments := aggregate.JSON(`{"recipient":"U0SUZUKI","text":"` + strings.Repeat("長", 20000) + `末尾"}`)
	w.results["key"] = arguments
	g := w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{S3Key: "key", Bytes: len(arguments)},
			aggregate.HashOf(string(arguments)), nil, w.Now())
	}).Gates[0]
	w.quiet(w.post(w.click(webapi.Suzuki, "review_step", g.ID)), webapi.Suzuki)
	expect.Has(t, text(w.view(webapi.Suzuki)), "末尾", "it shows")
	w.quiet(w.post(w.submission(webapi.Suzuki, w.view(webapi.Suzuki))), webapi.Suzuki)
	got := w.Load().Gates[0]
	expect.That(t, got.Status == aggregate.Approved && got.Arguments.JSON == "",
		"%s, and the row holds %d bytes of them", got.Status, len(got.Arguments.JSON))
}

func testReadOnly(t *testing.T, w *world) {
	p := w.asked()
	w.changeSettings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.quiet(w.post(w.click(webapi.Sato, "review_prompt", p.ID)), webapi.Sato)
	v := w.view(webapi.Sato)
	expect.That(t, v.Submit == nil && strings.Contains(text(v), "最後の行"), "it can be submitted: %v", v.Submit)
	w.told(w.post(w.submission(webapi.Sato, v)), webapi.Sato, "自分の依頼")
	w.told(w.post(w.click(webapi.Guest, "review_prompt", p.ID)), webapi.Guest, "ゲスト")
	expect.That(t, len(w.slack.Views(webapi.Guest)) == 0 && w.Load().Prompt().Status == aggregate.PendingApproval,
		"a guest reads, or somebody approved")
}

func testReadSomethingElse(t *testing.T, w *world) {
	p := w.asked()
	about := expect.Value(json.Marshal(card.Review{Type: task.CardPrompt, ID: p.ID, TaskID: w.Ref.ID,
		Hash: aggregate.HashOf("another policy")}))(t)
	forged := webapi.View{CallbackID: card.ReviewCallback, PrivateMetadata: string(about)}
	out := w.post(w.submission(webapi.Suzuki, forged))
	expect.That(t, strings.Contains(out.Body, "状態が変わりました"), "%d %s", out.StatusCode, out.Body)
	expect.Same(t, aggregate.PendingApproval, w.Load().Prompt().Status)
}

func testReviewUnsaved(t *testing.T, w *world) {
	p := w.asked()
	about, _ := json.Marshal(card.Review{Type: task.CardPrompt, ID: p.ID, TaskID: w.Ref.ID, Hash: aggregate.HashOf(long)})
	w.h.Rows = failing{Rows: w.h.Rows, err: aggregate.ErrConflict}
	out := w.post(w.submission(webapi.Suzuki,
		webapi.View{CallbackID: card.ReviewCallback, PrivateMetadata: string(about)}))
	expect.That(t, out.StatusCode == 200 && strings.Contains(out.Body, `"response_action":"update"`) &&
		strings.Contains(out.Body, "状態が変わりました"), "%d %s", out.StatusCode, out.Body)
}
