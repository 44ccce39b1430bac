package task

import (
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
		if rapid.Bool().Draw(w.rt, "nobody may approve it") {
			w.decideAs(run, "park what nobody may approve", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.ParkUndecidable(run, tenancy.DefaultSettings(), now)
			})
			return
		}
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
		time.Second, time.Millisecond, 0, 5 * time.Second, time.Second, 20 * time.Second, 80 * time.Second, 25 * time.Minute, 100 * time.Hour,
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
			if _, waits := a.OpenGate(); waits || a.Head.Parked != nil {
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
