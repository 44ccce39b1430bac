package main

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// Each asker is told once that a version was given back to them; where only they read, the card itself says so. What
// they were told is drawn anew once it waits no more.
func TestAskersAreToldWhatWasGivenBackToThem(t *testing.T) {
	now := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	form := &task.Prompt{ID: "01F", Version: 1, Matter: &task.Matter{}, Gate: aggregate.Gate{Status: aggregate.Approved}}
	p := &task.Process{ID: "01P", PromptID: "01F", Version: 1, Gate: aggregate.Gate{Status: aggregate.Rejected,
		Askers:  []circulation.Person{{User: "U1"}, {User: "U2"}},
		Acts:    []circulation.Act{{Kind: circulation.GiveBack}},
		Verdict: aggregate.Verdict{RejectedBy: "U9", RejectedAt: &now, RejectionReason: "宛先を直して"}}}
	a := &task.Aggregate{Task: &task.Task{Title: "勤怠"}, Prompts: []*task.Prompt{form},
		Processes: []*task.Process{p}, Request: &task.Request{ChannelType: "channel", User: "U1"}}
	k := taskCards{}
	var told []string
	for c := k.Outcome(a, now); c != nil; c = k.Outcome(a, now) {
		expect.Must(t, len(told) < 2 && c.Subject == card.ReturnedCopy+p.Key(), "%s is told again: %+v", c.User, c)
		told = append(told, c.User)
		a.Add(c)
	}
	expect.Same(t, []string{"U1", "U2"}, told)
	m, drawn := k.Copy(a, a.Copies[0], tenancy.DefaultSettings(), "", now)
	expect.That(t, drawn && len(m.Attachments) == 1 && m.Text == "↩️ 差し戻し: 「勤怠」の修正をお願いします", "%+v", m)
	n := *form
	n.ID, n.Version, n.EditedBy = "01G", 2, "U1"
	a.Add(&n)
	a.Add(&task.Process{ID: "01R", PromptID: "01G", Version: 2, Gate: aggregate.Gate{Status: aggregate.Generating}})
	over, drawn := k.Copy(a, a.Copies[0], tenancy.DefaultSettings(), "", now)
	expect.That(t, drawn && over.Text != m.Text && k.Outcome(a, now) == nil, "%+v", over)

	a = &task.Aggregate{Task: a.Task, Prompts: []*task.Prompt{form}, Processes: []*task.Process{p},
		Request: &task.Request{ChannelType: "im", User: "U1"}}
	expect.That(t, k.Outcome(a, now) == nil, "told beside their own card")
}
