package task

import (
	"errors"
	"fmt"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
)

// people are all who may act, with and without permission.
var people = []aggregate.Actor{
	person(requester), person(suzuki), person(tanaka), person("U_OUTSIDER"),
	{Type: aggregate.ActorUser, ID: suzuki, Team: "T_OTHER", Member: true},
	{Type: aggregate.ActorUser, ID: tanaka, Team: team, Guest: true, Member: true},
}

var policies = []aggregate.Policy{
	{Team: team, Mode: aggregate.ApproversList, Approvers: []string{requester, suzuki, tanaka}, AllowSelf: true},
	{Team: team, Mode: aggregate.ApproversList, Approvers: []string{requester, suzuki}},
	{Team: team, Mode: aggregate.ApproversChannel, AllowSelf: true},
	{Team: team, Mode: aggregate.ApproversList, AllowSelf: true},
}

// click lets any person press any button that was ever shown.
func (w *world) click() {
	by := rapid.SampledFrom(people).Draw(w.rt, "person")
	p := rapid.SampledFrom(policies).Draw(w.rt, "policy")
	a := w.load()
	type button struct {
		name   string
		decide decision
	}
	buttons := []button{
		{"retry generation", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.RetryGeneration(by, p, now) }},
	}
	add := func(name string, d decision) { buttons = append(buttons, button{name, d}) }
	for _, r := range a.Prompts {
		add("reject prompt", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Reject(r.ID, "短く", by, p, now)
		})
		add("pick another draft", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.PickDraft(r.ID, rapid.SampledFrom([]string{"a", "b"}).Draw(w.rt, "team"), "方針", "別の案", by, p, now)
		})
		add("approve prompt", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Approve(r.ID, by, p, now) })
	}
	for _, r := range a.Processes {
		add("reject process", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Reject(r.ID, "短く", by, p, now)
		})
		add("approve process", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Approve(r.ID, by, p, now) })
	}
	for _, r := range a.Gates {
		add("reject step", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Reject(r.ID, "宛先", by, p, now)
		})
		add("approve step", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Approve(r.ID, by, p, now) })
	}
	for _, r := range a.Executions {
		add("retry execution", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.RetryExecution(r.ID, by, p, now) })
	}
	if rapid.IntRange(0, 4).Draw(w.rt, "withdraw") == 4 { // rarely, because it ends the story
		add("cancel", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.End(by, p, now) })
		for _, r := range a.Executions {
			add("cancel execution", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.CancelExecution(r.ID, by, p, now)
			})
		}
	}
	b := rapid.SampledFrom(buttons).Draw(w.rt, "button")
	_, err := w.decide("person: "+b.name, b.decide)
	w.answered(a, b.name, by, err)
}

// stamp lets a person with permission press the button that everybody waits for.
func (w *world) stamp() {
	by := rapid.SampledFrom([]aggregate.Actor{person(suzuki), person(tanaka)}).Draw(w.rt, "approver")
	a := w.load()
	if a.Head.Ended != nil && a.Execution() != nil {
		id := a.Execution().ID
		w.decide("person: retry execution", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RetryExecution(id, by, policies[0], now)
		})
		return
	}
	if a.Head.Parked != nil {
		w.decide("person: retry generation", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RetryGeneration(by, policies[0], now)
		})
		return
	}
	open, waits := a.OpenGate()
	if !waits {
		return
	}
	w.decide("person: approve", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Approve(open.ID, by, policies[0], now)
	})
}

// answered asserts that a late click gets the correct decider and time.
func (w *world) answered(a *Aggregate, name string, by aggregate.Actor, err error) {
	var d aggregate.ErrDecided
	if !errors.As(err, &d) {
		return
	}
	for _, r := range w.load().Rows() {
		v := aggregate.Verdict{}
		switch r := r.(type) {
		case *Prompt:
			v = r.Verdict
		case *Process:
			v = r.Verdict
		case *StepGate:
			v = r.Verdict
		}
		if v.ApprovedAt != nil && d.Status == string(aggregate.Approved) && v.ApprovedBy == d.By && v.ApprovedAt.Equal(d.At) {
			return
		}
		if v.RejectedAt != nil && (d.Status == string(aggregate.Rejected) || d.Status == StatusPicked) && v.RejectedBy == d.By && v.RejectedAt.Equal(d.At) {
			return
		}
	}
	for _, e := range w.load().Executions {
		if d.Status == "retried" && e.RetriedBy == d.By && e.CreatedAt.Equal(d.At) {
			return
		}
	}
	for _, im := range w.images { // a retry may have undone an end meanwhile
		if r := im.head.Retried; r != nil && d.Status == "retried" && r.By == d.By && r.At.Equal(d.At) {
			return
		}
		if e := im.head.Ended; e != nil && d.Status == string(e.As) && e.By == d.By && e.At.Equal(d.At) {
			return
		}
	}
	w.rt.Fatalf("%s by %s: told %v, which nobody did", name, by.ID, d)
}

// sweep makes the decisions that depend only on time.
func (w *world) sweep() {
	w.decide("sweeper: expire", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Expire(now) })
	w.decide("sweeper: settle", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.RecordCrashedCalls(now) })
	w.decide("sweeper: over limit", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		if !a.OverLimit(now) {
			return aggregate.Change{}, aggregate.ErrNotDue
		}
		return a.FailExecution(a.Head.Run, ReasonTimeout, fmt.Sprint(a.Execution().Terms.L4TimeoutSeconds), now)
	})
	w.decide("sweeper: lost", func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.loseContest(now) })
	w.decide("sweeper: stuck", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		if !a.Stuck(now) {
			return aggregate.Change{}, aggregate.ErrNotDue
		}
		return a.RestartRun(a.Head.Run, now)
	})
}
