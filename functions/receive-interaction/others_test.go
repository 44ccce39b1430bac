package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
)

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
		"who has left":                    testDraftOfOneWhoLeft,
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

func testDraftOfOneWhoLeft(t *testing.T, w *world) {
	p := w.contested()
	w.quiet(w.post(w.click(webapi.Suzuki, card.OthersAction, p.ID)), webapi.Suzuki)
	w.h.People = &people.People{Slack: departed{w.slack.Client, webapi.Suzuki}, Now: w.Now}
	w.post(w.submission(webapi.Suzuki, w.view(webapi.Suzuki)))
	w.waits("taken by somebody who had left")
	w.post(w.click(webapi.Suzuki, card.OthersAction, p.ID))
	expect.Same(t, 1, len(w.slack.Views(webapi.Suzuki)))
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
