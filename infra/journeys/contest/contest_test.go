// Package contest walks through a request whose policy teams compete to draft.
package contest

import (
	"encoding/json"
	"os"
	"testing"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/aggregate"
	"ringi/shared/contest"
	"ringi/shared/expect"
	"ringi/shared/task"
	"ringi/shared/tenancy"
)

// running is the one stack of this package's tests; each leaves it as it found it.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s }))
}

func start(t *testing.T) *stack.Stack {
	t.Helper()
	driver.Leave(t, running)
	return running
}

func TestTeamsCompeteToDraftAPolicyThatPeopleApprove(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.DraftContest.Enabled = true })
	d := driver.Ask(t, s, workspace.Sato, "今月の勤怠をまとめて")
	d.Card("CARD#prompt#0001", "approve_prompt")
	a := d.Load()
	p := a.Prompt()
	if p.Entry == nil || p.Contest == nil || p.Contest.As != string(contest.SummaryCompleted) || len(p.Contest.Entries) != 3 || p.Contest.Entries[0] != *p.Entry {
		t.Fatalf("drafted by %+v of %+v", p.Entry, p.Contest)
	}
	if aggregate.HashOf(p.Content) != p.Entry.Hash || p.Contest.ExecutionID != contest.IDFor(a.Ref(), p.Key()) {
		t.Errorf("the policy is not the submission of %+v", p.Entry)
	}
	d.Click(workspace.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "approve_process")
	for _, e := range d.AuditRows() {
		if e.Action != task.AuditPromptApproved {
			continue
		}
		var details struct {
			Team  string
			Score float64
		}
		expect.NoError(t, json.Unmarshal([]byte(e.Details), &details))
		if details.Team != p.Entry.TeamName || details.Score != p.Entry.Score || details.Score <= 0 {
			t.Errorf("approved as %s", e.Details)
		}
		return
	}
	t.Error("nobody recorded the approval")
}
