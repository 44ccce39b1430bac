package task

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// Who rejected something, or picked another draft, asks for nothing.
func TestWhoRejectsIsNoAsker(t *testing.T) {
	s := contested(t)
	s.do(s.pick(person(suzuki)), s.approvePrompt, s.finishProcess)
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Reject(idOf(a.Process()), "別の案にしてください", person(tanaka), s.policy, now)
	}, s.beginProcess, s.finishProcess)
	expect.Is(t, s.load().Process().Version, 2)
	expect.Same(t, s.load().Askers(), []string{requester})
}

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
		{"retry generation", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RetryGeneration(by, p, now)
		}},
	}
	add := func(name string, d decision) { buttons = append(buttons, button{name, d}) }
	for _, r := range a.Prompts {
		add("reject prompt", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Reject(r.ID, "短く", by, p, now)
		})
		add("pick another draft", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.PickDraft(r.ID, rapid.SampledFrom([]string{"a", "b"}).Draw(w.rt, "team"), "方針", "別の案", by, p, now)
		})
		add("give prompt back", w.givesBack(r.ID, by, p))
		add("approve prompt", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Approve(r.ID, by, p, now)
		})
	}
	for _, r := range a.Processes {
		add("reject process", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Reject(r.ID, "短く", by, p, now)
		})
		add("give process back", w.givesBack(r.ID, by, p))
		add("refill", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Refill(r.ID, w.refill(), by, p, now)
		})
		add("approve process", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Approve(r.ID, by, p, now)
		})
	}
	for _, r := range a.Gates {
		add("reject step", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Reject(r.ID, "宛先", by, p, now)
		})
		add("approve step", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Approve(r.ID, by, p, now)
		})
	}
	for _, r := range a.Executions {
		add("retry execution", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.RetryExecution(r.ID, by, p, now)
		})
		add("confirm execution", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Confirm(r.ID, by, p, now)
		})
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
	if row := a.Returned(); row != nil {
		e := w.refill()
		w.decide("person: refill", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Refill(row.ID, e, person(requester), policies[0], now)
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
		if v.RejectedAt != nil && d.Status == string(aggregate.Rejected) && v.RejectedBy == d.By && v.RejectedAt.Equal(d.At) {
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
	w.decide("sweeper: settle", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.RecordCrashedCalls(now)
	})
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

func TestWhatRefusesAClaimWithTheChangeBeforeIt(t *testing.T) {
	for name, tt := range map[string]struct {
		tell  func(testing.TB) *story
		first func(s *story) decision
		edit  func(a *Aggregate, c *Call)
		want  error
	}{
		"a failed step":            {claimed, func(s *story) decision { return s.finish(failed) }, nil, aggregate.ErrMoved},
		"an unknown step":          {claimed, func(s *story) decision { return s.finish(unknown) }, nil, aggregate.ErrMoved},
		"the last step":            {lastClaimed, func(s *story) decision { return s.finish(done) }, nil, aggregate.ErrMoved},
		"another step":             {claimed, nil, func(_ *Aggregate, c *Call) { c.Order++ }, aggregate.ErrMoved},
		"a gate that a step needs": {claimed, nil, func(_ *Aggregate, c *Call) { c.NeedsGate = true }, aggregate.ErrMoved},
		"a pause": {claimed, nil, func(a *Aggregate, _ *Call) {
			until := a.Head.ChangedAt.Add(time.Hour)
			a.Head.PausedUntil = &until
		}, aggregate.ErrMoved},
		"an end": {claimed, nil, func(a *Aggregate, _ *Call) { a.Head.Ended = &Ended{As: TaskCancelled} },
			aggregate.ErrMoved},
		"other steps than the approved ones": {claimed, nil, func(a *Aggregate, _ *Call) {
			p := *a.Process()
			p.ApprovedHash = "another"
			a.Processes = []*Process{&p}
		}, StopError{Reason: ReasonStepsChanged}},
		"the time limit": {claimed, nil, func(a *Aggregate, _ *Call) {
			e := *a.Execution()
			e.Terms.L4TimeoutSeconds = 0
			a.Executions = []*Execution{&e}
		}, StopError{ReasonTimeout, "0"}},
		"a managed session": {claimed, nil, func(a *Aggregate, _ *Call) {
			e := *a.Execution()
			e.Terms.Executor = "managed"
			a.Executions = []*Execution{&e}
		}, aggregate.ErrMoved},
		"a change that makes nothing": {claimed, func(*story) decision {
			return func(*Aggregate, time.Time) (aggregate.Change, error) { return aggregate.Change{}, nil }
		}, nil, aggregate.ErrMoved},
	} {
		t.Run(name, func(t *testing.T) {
			s := tt.tell(t)
			first := s.finish(done)
			if tt.first != nil {
				first = tt.first(s)
			}
			s.now = s.now.Add(time.Second)
			a := s.load()
			cl := call(a, s.now)
			cl.Order++
			if tt.edit != nil {
				tt.edit(a, &cl)
			}
			c := expect.Value(first(a, s.now))(t)
			expect.Fails(t, expect.Err(a.ClaimAfter(c, s.head.Run, cl)), tt.want, "the claim is made")
			expect.That(t, expect.Err(a.ClaimAfter(c, s.head.Run+1, cl)) != nil, "another run claims")
		})
	}
}

func claimed(t testing.TB) *story {
	s := running(t)
	return s.do(s.claim)
}

func lastClaimed(t testing.TB) *story {
	s := claimed(t)
	return s.do(s.claimAfter(s.finish(done)), s.claimAfter(s.finish(done)))
}
