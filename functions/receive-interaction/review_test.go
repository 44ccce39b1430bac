package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/slacktest"
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
		return decide.Reject("長く")(a, p.ID, approver(), aggregate.Policy{Team: slacktest.Team}, w.Now())
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
	p := person("view_submission", user, slacktest.Team)
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
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{S3Key: "key", Preview: "{}", Bytes: len(arguments)},
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

// submitted are the teams' texts, by team id.
type submitted map[string]string

func (s submitted) Submission(_ context.Context, _, _, team, hash string) (contest.RoundResult, error) {
	if text, ok := s[team]; ok && aggregate.HashOf(text) == hash {
		return contest.RoundResult{SubmissionContent: text, EvaluationFeedback: "Coverage (0.79): exceptions are missing"},
			nil
	}
	return contest.RoundResult{}, aggregate.ErrNotFound
}

var drafts = submitted{"a": "慎重に確かめます", "b": "今日から始めます", "c": "一人で進めます"}

func TestOtherDrafts(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"read and taken":                  testTakeADraft,
		"read by nobody else":             testDraftsForNobodyElse,
		"who may not decide may read":     testDraftsForReading,
		"another text than what was read": testDraftThatWasNotRead,
	})
}

// contested brings the task to a policy of team a, with drafts of two other teams.
func (w *world) contested() *task.Prompt {
	w.T.Helper()
	w.Extracted()
	w.h.Contests = drafts
	s := &contest.Summary{Status: contest.SummaryCompleted}
	for i, team := range []string{"a", "b", "c"} {
		s.Places = append(s.Places, contest.Place{TeamID: team, TeamName: "チーム " + team, RoundNumber: 1,
			Score: 0.9 - float64(i)/10, Hash: aggregate.HashOf(drafts[team])})
	}
	steps := []func(a *task.Aggregate) (aggregate.Change, error){
		func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) },
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.AskContest(a.Head.Run, task.Contest{ExecutionID: "execution", Until: w.Now().Add(time.Minute)}, w.Now())
		},
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.ContestEnded(task.PromptKey(1), contest.Outcome{Execution: "execution", Summary: s}, w.Now())
		},
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.FinishContest(a.Head.Run, "a", drafts["a"], tenancy.DefaultSettings(), w.Now())
		},
	}
	for _, step := range steps {
		w.Decide(step)
	}
	return w.Load().Prompt()
}

// waits checks that only the version of team a waits.
func (w *world) waits(what string) {
	w.T.Helper()
	if a := w.Load(); len(a.Prompts) != 1 || a.Prompt().Status != aggregate.PendingApproval {
		w.T.Errorf("%s: %d versions, the newest is %s by %q", what, len(a.Prompts), a.Prompt().Status, a.Prompt().Author)
	}
}

func testTakeADraft(t *testing.T, w *world) {
	p := w.contested()
	w.quiet(w.post(w.click(webapi.Suzuki, card.OthersAction, p.ID)), webapi.Suzuki)
	shown := text(w.view(webapi.Suzuki))
	expect.Must(t, strings.Contains(shown, drafts["b"]) && strings.Contains(shown, "80.00 点") &&
		strings.Contains(shown, "網羅性 (79): exceptions are missing"), "%v", shown)
	v := w.view(webapi.Suzuki)
	expect.That(t, strings.Contains(text(v), "残りの 1 件") && strings.Contains(text(v), "/tasks/"+w.Load().Head.TaskID) &&
		!strings.Contains(text(v), drafts["c"]), "it says where the third draft is: %s", text(v))
	w.quiet(w.post(w.submission(webapi.Suzuki, v)), webapi.Suzuki)
	w.told(w.post(w.submission(webapi.Suzuki, v)), webapi.Suzuki, "に却下しました") // sent again
	a := w.Load()
	n := a.Prompt()
	expect.That(t, len(a.Prompts) == 2 && n.Content == drafts["b"] && n.Author == webapi.Suzuki &&
		a.Prompts[0].Status == aggregate.Rejected, "%d versions: %+v", len(a.Prompts), n)
}

func testDraftsForNobodyElse(t *testing.T, w *world) {
	p := w.contested()
	for who, from := range map[string]string{"a guest": webapi.Guest, "another workspace's person": webapi.Stranger} {
		w.post(w.click(from, card.OthersAction, p.ID))
		expect.That(t, len(w.slack.Views(from)) == 0, "%s reads drafts", who)
	}
	foreign := w.click(webapi.Suzuki, card.OthersAction, p.ID)
	foreign["team"].(map[string]any)["id"] = "T0OTHER"
	w.post(foreign)
	expect.That(t, len(w.slack.Views(webapi.Suzuki)) == 0, "another tenant reads drafts")
}

func testDraftsForReading(t *testing.T, w *world) {
	p := w.contested()
	w.changeSettings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Suzuki}}
	})
	w.quiet(w.post(w.click(webapi.Tanaka, card.OthersAction, p.ID)), webapi.Tanaka)
	v := w.view(webapi.Tanaka)
	expect.That(t, v.Submit == nil && strings.Contains(text(v), drafts["b"]), "it can be submitted: %v; %s",
		v.Submit != nil, text(v))
	w.told(w.post(w.submission(webapi.Tanaka, v)), webapi.Tanaka,
		card.Note("ja", aggregate.ErrNotAllowed{Rule: aggregate.RuleNotListed}))
	w.waits("taken by somebody who may not decide")
}

func testDraftThatWasNotRead(t *testing.T, w *world) {
	p := w.contested()
	w.quiet(w.post(w.click(webapi.Suzuki, card.OthersAction, p.ID)), webapi.Suzuki)
	v := w.view(webapi.Suzuki)
	for name, edit := range map[string]func(*card.OtherDraft){
		"another hash":          func(o *card.OtherDraft) { o.Hash = aggregate.HashOf("x") },
		"another team":          func(o *card.OtherDraft) { o.Team = "c" },
		"the one that is there": func(o *card.OtherDraft) { o.Team, o.Hash = "a", aggregate.HashOf(drafts["a"]) },
		"another version":       func(o *card.OtherDraft) { o.ID = aggregate.NewID() },
		"another task":          func(o *card.OtherDraft) { o.TaskID = aggregate.NewID() },
		"no task":               func(o *card.OtherDraft) { o.TaskID = "../x" },
	} {
		var o card.OtherDraft
		expect.NoError(t, json.Unmarshal([]byte(v.PrivateMetadata), &o))
		edit(&o)
		forged := v
		forged.PrivateMetadata = string(expect.Value(json.Marshal(o))(t))
		out := w.post(w.submission(webapi.Suzuki, forged))
		expect.That(t, out.StatusCode == 200, "%s: %d %s", name, out.StatusCode, out.Body)
		w.waits(name)
	}
	other := w.submission(webapi.Suzuki, v)
	other["team"] = map[string]any{"id": "T0OTHER", "domain": "x"}
	w.post(other)
	w.waits("by another workspace")
	w.post(w.submission(webapi.Guest, v))
	w.waits("by a guest")
}
