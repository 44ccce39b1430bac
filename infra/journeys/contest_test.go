package journeys

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func TestTeamsCompeteToDraftAPolicyThatPeopleApprove(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.DraftContest.Enabled = true })
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Card("CARD#prompt#0001", "approve_prompt")
	a := d.Load()
	p := a.Prompt()
	if p.Entry == nil || p.Contest == nil || p.Contest.As != string(contest.SummaryCompleted) || len(p.Contest.Entries) != 3 || p.Contest.Entries[0] != *p.Entry {
		t.Fatalf("drafted by %+v of %+v", p.Entry, p.Contest)
	}
	if aggregate.HashOf(p.Content) != p.Entry.Hash || p.Contest.ExecutionID != contest.IDFor(a.Ref(), p.Key()) {
		t.Errorf("the policy is not the submission of %+v", p.Entry)
	}
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	named(t, d, task.AuditPromptApproved, *p.Entry)
}

func TestAnApproverPutsAnotherTeamsDraftInThePlaceOfTheBest(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.DraftContest.Enabled, x.MaxVersions = true, 1 })
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
	d.Card("CARD#prompt#0001", "ほかの案と比べる (2)")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "other_drafts")
	expect.Eventually(t, "a dialog shows the other drafts", func() bool { return shows(s, "この案に変更") })
	view := s.Sandbox.Views(webapi.Suzuki)[0]
	driver.UntilTaken(t, "the page is turned", func() { _ = s.Sandbox.ClickView(webapi.Suzuki, view.ID, "turn_on", "1") },
		func() bool {
			return shows(s, "2 / 2 件目")
		})
	driver.UntilTaken(t, "another draft is taken", func() { _, _ = s.Sandbox.Submit(webapi.Suzuki, view.ID, nil) },
		func() bool {
			return d.Shows("CARD#prompt#0001", "別の案に変更")
		})
	d.Click(webapi.Tanaka, "CARD#prompt#0002", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	n := d.Load().Prompt()
	if n.Version != 2 || n.Author != webapi.Suzuki || n.Entry == nil || *n.Entry != n.Contest.Entries[2] ||
		n.ApprovedBy != webapi.Tanaka {
		t.Fatalf("version %d by %q, %+v of %+v", n.Version, n.Author, n.Entry, n.Contest)
	}
	named(t, d, task.AuditPromptPicked, *n.Entry)
	named(t, d, task.AuditPromptApproved, *n.Entry)
}

// shows reports whether the open dialog has a text.
func shows(s *stack.Stack, text string) bool {
	all := s.Sandbox.Views(webapi.Suzuki)
	b, err := json.Marshal(all)
	return len(all) == 1 && err == nil && strings.Contains(string(b), text)
}

// named checks that the audit log has an entry of an action with a team and its score.
func named(t *testing.T, d *driver.Request, action aggregate.Action, want task.Entry) {
	t.Helper()
	for _, e := range d.AuditRows() {
		if e.Action != action {
			continue
		}
		var details struct {
			Team  string
			Score float64
		}
		expect.NoError(t, json.Unmarshal([]byte(e.Details), &details))
		expect.That(t, details.Team == want.TeamName && details.Score == want.Score && details.Score > 0,
			"%s with %s", action, e.Details)
		return
	}
	t.Errorf("nobody recorded %s", action)
}

// One team hangs, and people take what the others have.
func TestTheBestSoFarIsTakenWhileATeamHangs(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.DraftContest.Enabled, x.DraftContest.Seconds = true, 30 })
	d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて demo: hang solo")
	face := driver.Face(d.Card("CARD#prompt#0001", card.TakeBest))
	p := d.Load().Prompt()
	expect.Has(t, face, "/console/contests/"+p.Contest.ExecutionID)
	d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", card.TakeBest) // until something is scored
	expect.That(t, d.Load().Prompt().Contest.TakenBy == webapi.Suzuki, "%+v", d.Load().Prompt().Contest)
	face = driver.Face(d.Card("CARD#prompt#0001", "approve_prompt"))
	expect.Has(t, face, "ここまでの最良の案で終了しました")
	p = d.Load().Prompt()
	expect.That(t, p.Entry != nil && p.Entry.TeamID != "solo" && *p.Entry == p.Contest.Entries[0], "drafted by %+v of %+v", p.Entry, p.Contest)
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
}
