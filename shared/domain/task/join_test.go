package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestAClaimJoinsTheChangeBeforeIt(t *testing.T) {
	s := waitingProcess(t)
	s.do(s.approveProcess)
	rev, entries := s.head.Rev, len(s.audit)
	s.do(s.claimAfter(s.start))
	a := s.load()
	e, first := a.Execution(), a.Steps[0]
	expect.That(t, a.Head.Rev == rev+1 && e.Status == ExecutionRunning && e.Rev == a.Head.Rev && first.Status == StepRunning &&
		first.StartedAt.Equal(*e.StartedAt), "revision %d, execution %+v, step %+v", a.Head.Rev, e, first)
	expect.That(t, len(s.audit) == entries+1 && s.audit[entries].Action == AuditExecutionStarted && s.audit[entries].Timestamp.Equal(*e.StartedAt),
		"recorded %+v", s.audit[entries:])

	s.do(s.claimAfter(s.finish(done)))
	a = s.load()
	first, next := a.Steps[0], a.Steps[1]
	expect.That(t, a.Head.Rev == rev+2 && first.Status == StepCompleted && next.Status == StepRunning &&
		next.StartedAt.Equal(*first.CompletedAt) && a.Execution().Rev == rev+1, "revision %d, steps %+v, %+v", a.Head.Rev, first, next)
	s.nothing(s.claim) // by the same invocation
	s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		c := call(a, now)
		c.Claim.Invocation = "another"
		return a.ClaimStep(s.head.Run, c, now)
	}, aggregate.ErrInFlight)
	s.do(s.claimAfter(s.finish(done)), s.finish(done), s.complete)
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
		"an end": {claimed, nil, func(a *Aggregate, _ *Call) { a.Head.Ended = &Ended{As: TaskCancelled} }, aggregate.ErrMoved},
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
			_, err := a.ClaimAfter(c, s.head.Run, cl)
			expect.Fails(t, err, tt.want, "the claim is made")
			_, err = a.ClaimAfter(c, s.head.Run+1, cl)
			expect.That(t, err != nil, "another run claims")
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
