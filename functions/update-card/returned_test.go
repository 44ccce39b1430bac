package main

import (
	"encoding/json"
	"strings"
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
	p := &task.Prompt{ID: "01P", Version: 1, Content: "方針", Gate: aggregate.Gate{Status: aggregate.Rejected,
		Askers:  []circulation.Person{{User: "U1"}, {User: "U2"}},
		Acts:    []circulation.Act{{Kind: circulation.GiveBack}},
		Verdict: aggregate.Verdict{RejectedBy: "U9", RejectedAt: &now, RejectionReason: "宛先を直して"}}}
	a := &task.Aggregate{Task: &task.Task{Title: "勤怠"}, Prompts: []*task.Prompt{p},
		Request: &task.Request{ChannelType: "channel", User: "U1"}}
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
	n := *p
	n.Version, n.Status, n.Acts, n.EditedBy = 2, aggregate.Generating, nil, "U1"
	a.Add(&n)
	over, drawn := k.Copy(a, a.Copies[0], tenancy.DefaultSettings(), "", now)
	expect.That(t, drawn && over.Text != m.Text && k.Outcome(a, now) == nil, "%+v", over)

	a = &task.Aggregate{Task: a.Task, Prompts: []*task.Prompt{p}, Request: &task.Request{ChannelType: "im", User: "U1"}}
	expect.That(t, k.Outcome(a, now) == nil, "told beside their own card")
}

// Whoever wrote an edit that does not fit is told each time, with why; other askers aren't.
func TestWhoeverEditedIsToldThatItDoesNotFit(t *testing.T) {
	now := time.Date(2026, 4, 18, 9, 0, 0, 0, time.UTC)
	step := []task.Step{{StepID: "step-1", Order: 1, Tool: "list_attendance", Access: aggregate.Read,
		ToolInput: `{"employees":[],"month":13,"year":2026}`}}
	v1 := &task.Process{ID: "01P", Version: 1, Steps: step, Gate: aggregate.Gate{Status: aggregate.Rejected,
		Askers:  []circulation.Person{{User: "U1"}, {User: "U2"}},
		Acts:    []circulation.Act{{Kind: circulation.GiveBack}},
		Verdict: aggregate.Verdict{RejectedBy: "U9", RejectedAt: &now, RejectionReason: "月を直して"}}}
	v2 := &task.Process{ID: "01Q", Version: 2, Steps: step, EditedBy: "U2", Edits: 1,
		Misfits: []task.Misfit{{Order: 1, Field: 1, Why: task.MisfitMost, Limit: "12"}},
		Gate:    aggregate.Gate{Status: aggregate.Generating}}
	a := &task.Aggregate{Task: &task.Task{Title: "勤怠"}, Processes: []*task.Process{v1, v2},
		Prompts: []*task.Prompt{{ID: "01R", Version: 1, Gate: aggregate.Gate{Status: aggregate.Approved}}},
		Request: &task.Request{ChannelType: "im", User: "U1"}}
	k := taskCards{}
	for _, edits := range []int{1, 2} {
		v2.Edits = edits
		c := k.Outcome(a, now)
		expect.Must(t, c != nil && c.User == "U2", "%+v", c)
		a.Add(c)
		expect.That(t, k.Outcome(a, now) == nil, "told twice")
		m, drawn := k.Copy(a, c, tenancy.DefaultSettings(), "", now)
		of := &aggregate.Card{CardType: task.CardProcess, Subject: v2.Key(), MessageTS: "1.2"}
		expect.Is(t, k.Urgency(a, of), asks, "it waits for whoever asked")
		text := string(expect.Value(json.Marshal(m.Attachments))(t))
		expect.That(t, drawn && strings.Contains(text, "月: 12 以下の数値") && strings.Contains(text, "edit_process"), "%s", text)
	}
}
