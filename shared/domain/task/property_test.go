package task

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Whatever people, runs, crashes and the clock do to a task, the design's invariants hold after every commit. Once
// these events stop, the task ends.
func TestNoOrderOfThingsBreaksAnInvariant(t *testing.T) {
	for i := range 6 {
		t.Run(fmt.Sprint("world ", i), func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(rt *rapid.T) {
				w := newWorld(rt)
				for range rapid.IntRange(60, 200).Draw(rt, "moves") {
					w.step()
				}
				w.comesToAnEnd()
			})
		})
	}
}

// step lets one random event happen. Small numbers are drawn more often and stand for progress, because otherwise no
// task would get far.
func (w *world) step() {
	w.elapse()
	switch move := rapid.IntRange(0, 24).Draw(w.rt, "move"); move {
	default:
		w.work(w.anyRun())
	case 1, 6, 9, 11, 12, 13:
		if len(w.out) > 0 {
			w.fly(rapid.IntRange(0, len(w.out)-1).Draw(w.rt, "call"), rapid.IntRange(0, 7).Draw(w.rt, "crash") == 7)
		}
	case 2, 7, 14:
		w.stamp()
	case 16, 17:
		w.sweep()
	case 18, 19:
		w.click()
	case 20: // a run died, and the relay or the sweeper finds out
		run := w.anyRun()
		noRoom := rapid.Bool().Draw(w.rt, "no room")
		w.decide("relay: restart", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			if noRoom {
				return a.PauseRun(run, now.Add(5*time.Minute), now)
			}
			return a.RestartRun(run, now)
		})
	case 21:
		run := w.anyRun()
		w.decideAs(run, "give up", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.GiveUp(run, ReasonRunFailed, now)
		})
	case 22:
		run := w.anyRun()
		g := w.anyGeneration()
		w.decideAs(run, "park", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Park(run, g, ReasonModelRefused, "", now)
		})
	case 23:
		run := w.anyRun()
		g := w.anyGeneration()
		w.decideAs(run, "pause", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.WaitUntil(run, g, now.Add(time.Minute), now)
		})
	case 15:
		w.contestEnds()
	case 24: // a late result
		w.echo()
	}
}

func (w *world) elapse() {
	d := rapid.SampledFrom([]time.Duration{
		time.Second, time.Millisecond, 0, 5 * time.Second, time.Second, 20 * time.Second, 80 * time.Second, 25 * time.Minute,
		100 * time.Hour,
	}).Draw(w.rt, "elapsed")
	w.now = w.now.Add(d)
}

// anyRun returns the head's run, or a superseded run that has not noticed.
func (w *world) anyRun() int {
	if rapid.IntRange(0, 4).Draw(w.rt, "old run") == 4 {
		return rapid.IntRange(1, w.head.Run).Draw(w.rt, "run")
	}
	return w.head.Run
}

// anyGeneration returns the current generation, or an earlier one for a late invocation.
func (w *world) anyGeneration() Generation {
	a := w.load()
	all := []Generation{a.Generating(), {L1, 0}}
	for _, p := range a.Prompts {
		all = append(all, Generation{L2, p.Version})
	}
	for _, p := range a.Processes {
		all = append(all, Generation{L3, p.Version})
	}
	w.failed = rapid.SampledFrom(all).Draw(w.rt, "failed")
	return w.failed
}

// echo records an outcome on any claim that ever existed.
func (w *world) echo() {
	a := w.load()
	if len(a.Steps) == 0 {
		return
	}
	s := rapid.SampledFrom(a.Steps).Draw(w.rt, "echoed")
	o := rapid.SampledFrom([]Outcome{done, failed}).Draw(w.rt, "late outcome")
	if s.Status != StepUnknown || w.calls[s.Key()] == 0 {
		return // only the invocation that made the call may correct it
	}
	w.decide("outcome", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.FinishStep(s.Key(), s.Claim.Invocation, o, now)
	})
}

// joined sometimes adds the next step's claim to what d changes.
func (w *world) joined(run int, d decision) decision {
	if rapid.Bool().Draw(w.rt, "alone") {
		return d
	}
	w.run = run
	invocation := fmt.Sprint("joined-", w.changes, "-", run)
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		c, err := d(a, now)
		if err != nil || c.Head == nil {
			return c, err
		}
		cl := call(a.Apply(c), now)
		cl.Claim.Invocation = invocation
		both, err := a.ClaimAfter(c, run, cl)
		if err != nil {
			w.expected("join", err)
			return c, nil
		}
		for _, r := range both.Rows {
			begun, is := r.(*StepResult)
			w.require(!is || begun.Status != StepRunning || begun.StartedAt.Equal(c.Now), "one commit has two times")
		}
		return both, nil
	}
}

// begun notes the calls that c claims, and reports whether there are any.
func (w *world) begun(c aggregate.Change) (any bool) {
	for _, r := range c.Rows {
		if s, ok := r.(*StepResult); ok && s.Status == StepRunning {
			w.out, any = append(w.out, callInFlight{key: s.Key(), invocation: s.Claim.Invocation}), true
		}
	}
	return any
}

// comesToAnEnd lets everybody do their part in turn. After a few rounds the task must be over and nothing left to do.
func (w *world) comesToAnEnd() {
	w.calm = true
	w.out = nil // all callers have died
	for round := 0; ; round++ {
		w.now = w.now.Add(90 * time.Second)
		w.sweep()
		a := w.load()
		if a.Head.Ended != nil && a.LiveLease(w.now) == nil && a.OpenSession() == nil && w.contestsAreOver(a) {
			break
		}
		expect.Must(w.t, round <= 120, "stuck: head %+v, next %+v", a.Head, a.Next(w.now))
		if a.Head.Parked != nil || a.Head.Ended == nil {
			if _, waits := a.OpenGate(); waits || a.Head.Parked != nil || a.Returned() != nil {
				w.stamp()
			}
		}
		w.makeContests()
		w.contestEnds()
		w.work(w.head.Run)
		for len(w.out) > 0 {
			w.fly(0, false)
		}
	}
	w.now = w.now.Add(2 * time.Minute)
	w.sweep()
	a := w.load()
	a.Head.ShownRev = a.Head.Rev
	due := a.DueAt(w.now)
	expect.Must(w.t, due == nil, "over, and due at %v: %+v", due, a.Head)
}

func TestAProcessIsNotApprovedBesideAPromptThatIsNot(t *testing.T) {
	for name, change := range map[string]func(*Aggregate){
		"no prompt":         func(a *Aggregate) { a.Prompts = nil },
		"one that waits":    func(a *Aggregate) { p := *a.Prompt(); p.Status = aggregate.PendingApproval; a.Add(&p) },
		"no task":           func(a *Aggregate) { a.Task = nil },
		"a task that ended": func(a *Aggregate) { t := *a.Task; t.Status = TaskCancelled; a.Add(&t) },
	} {
		s := waitingProcess(t)
		s.refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			change(a)
			return approve(a, a.Process().ID, person(suzuki), s.policy, now)
		}, aggregate.ErrConflict)
		expect.Is(t, s.load().Process().Status, aggregate.PendingApproval, "%s: approved", name)
	}
	s := waitingProcess(t)
	saw := s.load()
	c := expect.Value(s.approveProcess(saw, s.now))(t)
	s.rows[PromptKey(1)] = s.rows[PromptKey(1)].At(99) // changed by another commit
	expect.Fails(t, s.commit(saw.Head, c), aggregate.ErrConflict, "committed over another prompt")
}

func TestAClaimReliesOnAllThatWasStamped(t *testing.T) {
	running(t).refused(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		a.Add(&Process{Version: a.Process().Version + 1})
		return a.ClaimStep(a.Head.Run, Call{Order: 1}, now)
	}, aggregate.ErrConflict)
	for _, key := range []string{PromptKey(1), ProcessKey(1), GateKey(1, 1, 2), ExecutionKey(1, 1)} {
		s := waitingStep(t)
		s.do(s.approveStep)
		saw := s.load()
		c := expect.Value(s.claim(saw, s.now))(t)
		expect.That(t, len(c.Owned) == 1 && c.Owned[0].Key == tenancy.ToolKey("write_rows_to_google_sheet"),
			"the tool's permission: %+v", c.Owned)
		s.rows[key] = s.rows[key].At(99) // changed by another commit
		expect.Fails(t, s.commit(saw.Head, c), aggregate.ErrConflict, "%s: committed over another one", key)
	}
}

// The id in a button, the team and the reason of a picked draft come from outside and may name nothing.
func TestWhatNamesNothingDecidesNothing(t *testing.T) {
	s := contested(t)
	a := s.load()
	_, err := a.PickDraft(a.Prompt().ID, "nobody", "経理の案", "別の案", person(suzuki), s.policy, s.now)
	expect.Fails(t, err, aggregate.ErrNotFound, "a team without a draft was picked")
	_, err = a.PickDraft(a.Prompt().ID, a.Prompt().Others()[0].TeamID, "経理の案", " ", person(suzuki), s.policy, s.now)
	_, refused := errors.AsType[aggregate.Problem](err)
	expect.That(t, refused, "a draft was picked without a reason: %v", err)
	s = waitingProcess(t)
	a = s.load()
	_, err = a.PickDraft(a.Process().ID, "b", "経理の案", "別の案", person(suzuki), s.policy, s.now)
	expect.Fails(t, err, aggregate.ErrNotFound, "a draft was picked in place of a process")
}

func TestWhatCantSucceedIsNotTriedAgain(t *testing.T) {
	s := begin(t)
	s.do(s.extract, s.park)
	a := s.load()
	expect.Value(a.RetryGeneration(person(requester), s.policy, s.now))(t)
	parked := *a.Head.Parked
	parked.Sentence = ReasonPlanNever
	a.Head.Parked = &parked
	_, err := a.RetryGeneration(person(requester), s.policy, s.now)
	expect.Fails(t, err, ErrNothingToRetry, "a generation that can never succeed")
}

// A failed task whose newest execution did not fail comes from two commits.
func TestAnExecutionThatDidNotFailIsNotTriedAgain(t *testing.T) {
	s := running(t)
	s.do(s.claim, s.finish(failed), s.fail)
	a := s.load()
	e := *a.Execution()
	e.Status = ExecutionRunning
	a.Add(&e)
	_, err := a.RetryExecution(e.ID, person(requester), s.policy, s.now)
	expect.Fails(t, err, aggregate.ErrConflict, "an execution that runs")
}

func TestADraftIsPickedAsItWasSubmitted(t *testing.T) {
	s := contested(t)
	pick := func(change func(p *Prompt), team, content string) (aggregate.Change, error) {
		a := s.load()
		p := *a.Prompt()
		change(&p)
		a.Add(&p)
		return a.PickDraft(p.ID, team, content, "別の案", person(suzuki), s.policy, s.now)
	}
	other, none := s.load().Prompt().Others()[0].TeamID, func(*Prompt) {}
	expect.Value(pick(none, other, "経理の案"))(t)
	expect.Fails(t, expect.Err(pick(none, other, "他の案")), aggregate.ErrNotFound, "another text than the team's")
	_, err := pick(none, s.load().Prompt().Entry.TeamID, s.load().Prompt().Content)
	expect.Fails(t, err, aggregate.ErrNotFound, "the draft that waits")
	made, err := pick(func(p *Prompt) { p.Terms.ApprovalRequired = false }, other, "経理の案")
	expect.NoError(t, err)
	for _, r := range made.Rows {
		if p, is := r.(*Prompt); is && p.Author != "" {
			expect.That(t, p.Terms.ApprovalRequired, "a picked version asks nobody")
		}
	}
	a := s.load()
	first := a.Prompt()
	for v := first.Version + 1; v <= maxPicked; v++ {
		p := *first
		p.Version, p.ID = v, aggregate.NewID()
		a.Add(&p)
	}
	_, err = a.PickDraft(a.Prompt().ID, other, "経理の案", "別の案", person(suzuki), s.policy, s.now)
	_, refused := errors.AsType[aggregate.Problem](err)
	expect.That(t, refused, "picked as version %d: %v", len(a.Prompts)+1, err)
}

func TestNobodyIsAskedAboutWhatDoesNotWait(t *testing.T) {
	asks := func(change func(a *Aggregate, p *Prompt)) (open, waits bool) {
		a := waitingPrompt(t).load()
		p := *a.Prompt()
		change(a, &p)
		a.Add(&p)
		_, open = a.OpenGate()
		_, waits = a.Asks()
		return open, waits
	}
	for name, c := range map[string]struct {
		change      func(a *Aggregate, p *Prompt)
		open, waits bool
	}{
		"a version that waits": {func(*Aggregate, *Prompt) {}, true, true},
		"one that asks nobody": {func(_ *Aggregate, p *Prompt) { p.Terms.ApprovalRequired = false }, true, false},
		"one of a task that ended": {func(a *Aggregate, _ *Prompt) { a.Head.Ended = &Ended{As: TaskCancelled} }, false,
			false},
		"one that has a newer one": {func(a *Aggregate, p *Prompt) {
			n := *p
			n.Version, n.Status = 2,
				aggregate.Generating
			a.Add(&n)
		}, false, false},
		"one that is still drafted": {func(_ *Aggregate, p *Prompt) { p.Status = aggregate.Generating }, false, false},
	} {
		open, waits := asks(c.change)
		expect.That(t, open == c.open && waits == c.waits, "%s: open %v, asks %v", name, open, waits)
	}
	expect.Fails(t, (&Aggregate{}).Readable(dawn), aggregate.ErrConflict, "a task without its request")
}
