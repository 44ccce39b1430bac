package task

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// A Query is not a snapshot: it may return some rows from before a commit and others from after it. A decision on such
// rows must either fail to commit or be the same as on the true rows.
func TestADecisionOverTornRowsDoesNothingThatTheTrueRowsWouldNot(t *testing.T) {
	for name, tell := range tales() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := tell(t)
			for to := 2; to <= s.head.Rev; to++ {
				truths := s.truths(t, to)
				for from := max(1, to-4); from < to; from++ {
					for _, old := range subsets(s.changed(from, to)) {
						s.tear(t, from, to, old, truths)
					}
				}
			}
		})
	}
}

// truth is the result of a decision on the true rows.
type truth struct {
	name string
	d    decision
	now  time.Time
	ruling
}

func (s *story) truths(t *testing.T, rev int) []truth {
	t.Helper()
	var out []truth
	a := s.at(rev)
	for name, d := range s.decisions(rev) {
		for _, later := range []time.Duration{time.Second, 2 * time.Minute, 10 * time.Minute, 200 * time.Hour} {
			now := a.Head.ChangedAt.Add(later)
			out = append(out, truth{name, d, now, s.decided(t, rev, d, a, now)})
		}
	}
	return out
}

// tear takes the rows old from the state at from, and the others and the head from the state at to.
func (s *story) tear(t *testing.T, from, to int, old map[string]bool, truths []truth) {
	t.Helper()
	torn := s.mixed(s.images[to-1].head, func(key string) map[string]aggregate.Row {
		if old[key] {
			return s.images[from-1].rows
		}
		return s.images[to-1].rows
	})
	for _, whole := range truths {
		where := func() string {
			return fmt.Sprintf("%s %v after rev %d, with %v of rev %d", whole.name, whole.now.Sub(torn.Head.ChangedAt), to, old,
				from)
		}
		c, err := whole.d(torn, whole.now)
		if err == nil && whole.err == nil && reflect.DeepEqual(c, whole.change) {
			continue // it is committed on the same rows, or lost as it was there
		}
		got := s.committed(t, to, torn, c, err)
		switch {
		case got.err != nil && whole.err == nil && !whole.change.Empty():
			s.tornError(t, where, torn, got.err, to, whole)
		case got.err != nil || got.change.Empty() || got.lost:
		case whole.err != nil || whole.lost:
			t.Fatalf("%s: committed, but the true rows say %v", where(), whole.err)
		case !reflect.DeepEqual(got.after, whole.after):
			t.Fatalf("%s: wrote something else (-true +torn):\n%s", where(), cmp.Diff(whole.after, got.after))
		case !reflect.DeepEqual(got.change.Audit, whole.change.Audit):
			t.Fatalf("%s: recorded something else (-true +torn):\n%s", where(), cmp.Diff(whole.change.Audit, got.change.Audit))
		}
	}
}

// ruling is the result of a decision.
type ruling struct {
	change aggregate.Change
	err    error
	lost   bool // refused at commit
	after  *Aggregate
}

// decided makes a decision on a and commits it on the rows of rev.
func (s *story) decided(t *testing.T, rev int, d decision, a *Aggregate, now time.Time) ruling {
	t.Helper()
	c, err := d(a, now)
	return s.committed(t, rev, a, c, err)
}

// committed commits a decision that was made on a on the rows of rev, unless the decision failed.
func (s *story) committed(t *testing.T, rev int, a *Aggregate, c aggregate.Change, err error) ruling {
	t.Helper()
	if err != nil {
		return ruling{err: err}
	}
	tb := &table{t: t, head: s.images[rev-1].head, rows: s.images[rev-1].rows}
	if tb.commit(a.Head, c) != nil {
		return ruling{change: c, lost: true}
	}
	return ruling{change: c, after: tb.load()}
}

// tornError allows errors that make the caller read again, but not errors that end something that goes on.
func (s *story) tornError(t *testing.T, where func() string, torn *Aggregate, err error, to int, whole truth) {
	t.Helper()
	for _, again := range []error{aggregate.ErrConflict, aggregate.ErrMoved, aggregate.ErrInFlight, aggregate.ErrNotDue} {
		if errors.Is(err, again) {
			return
		}
	}
	if errors.Is(err, aggregate.ErrNotFound) || whole.name == "restart" && errors.Is(err, aggregate.ErrSuperseded) {
		return // the button of an absent row was never shown; the sweeper looks again
	}
	if stop := (StopError{}); errors.As(err, &stop) {
		a := s.at(to)
		if e := a.Execution(); e != nil && e.Attempt > 1 && torn.Execution().ID != e.ID {
			return // a query is over long before a person sees the failure and retries
		}
		c, err := a.FailExecution(a.Head.Run, stop.Reason, stop.Detail, whole.now)
		expect.Must(t, err != nil || c.Empty(), "%s: would fail an execution that can go on: %v", where(), stop)
		return
	}
	t.Fatalf("%s: %v, but the true rows allow it", where(), err)
}

// decisions returns all decisions, as made by the run of rev or by a person who saw its rows.
func (s *story) decisions(rev int) map[string]decision {
	v := *s
	v.table = &table{t: s.t, head: s.images[rev-1].head, rows: s.images[rev-1].rows}
	run := v.head.Run
	return map[string]decision{
		"extract": v.extract, "begin prompt": v.beginPrompt, "finish prompt": v.finishPrompt,
		"approve prompt": v.approvePrompt, "reject prompt": v.rejectPrompt,
		"begin process": v.beginProcess, "finish process": v.finishProcess,
		"approve process": v.approveProcess, "reject process": v.rejectProcess,
		"start": v.start, "claim": v.claim, "open gate": v.openGate, "open": v.opensSame, "approve step": v.approveStep,
		"reject step":     v.rejectStep,
		"start and claim": v.claimAfter(v.start), "finish and claim": v.claimAfter(v.finishRunning),
		"complete": v.complete, "fail": v.fail, "retry": v.retry, "cancel": v.cancel, "cancel execution": v.cancelExecution,
		"expire": v.expire, "settle": v.settle, "give up": v.giveUp, "restart": v.restart, "park": v.park,
		"retry generation": v.retryGeneration, "pause": v.pause,
		"aged": v.failAs(ReasonApprovalAged, "14"),
		"time is up": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			if !a.OverLimit(now) {
				return aggregate.Change{}, aggregate.ErrNotDue
			}
			return a.FailExecution(run, ReasonTimeout, "", now)
		},
		"late truth": func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			for _, row := range a.Steps {
				if row.Status == StepRunning || row.Status == StepUnknown {
					return a.FinishStep(row.Key(), row.Claim.Invocation, done, now)
				}
			}
			return aggregate.Change{}, aggregate.ErrMoved
		},
	}
}

// tales returns stories that together visit every state of a task.
func tales() map[string]func(testing.TB) *story {
	return map[string]func(testing.TB) *story{
		"the happy path": func(t testing.TB) *story {
			s := running(t)
			return s.do(s.claim, s.finish(done), s.claim, s.finish(done), s.claim, s.finish(done), s.complete)
		},
		"claims with the commits before them": func(t testing.TB) *story {
			s := waitingProcess(t)
			s.do(s.approveProcess, s.claimAfter(s.start), s.claimAfter(s.finish(done)), s.finish(failed), s.fail)
			return s.do(s.retry, s.claimAfter(s.start), s.claimAfter(s.finish(done)), s.finish(done), s.complete)
		},
		"a step along a route": func(t testing.TB) *story {
			s := checkedOnRoute(t, []circulation.Stage{desk(1, suzuki), desk(1, tanaka, ito)}, byTanaka)
			return s.do(s.openGate, s.opensSame, s.does(circulation.Stamp, tanaka), s.claim, s.finish(done))
		},
		"rejections": func(t testing.TB) *story {
			s := waitingPrompt(t)
			s.do(s.rejectPrompt, s.beginPrompt, s.finishPrompt, s.approvePrompt, s.finishProcess)
			return s.do(s.rejectProcess, s.beginProcess, s.finishProcess, s.approveProcess, s.start, s.cancelExecution)
		},
		"a retry that runs to its end": func(t testing.TB) *story {
			s := running(t)
			s.do(s.claim, s.finish(done), s.claim, s.finish(unknown), s.fail, s.finish(done), s.retry, s.start)
			return s.do(s.claim, s.finish(failed), s.fail, s.retry, s.start, s.claim, s.finish(done), s.complete)
		},
		"step gates": func(t testing.TB) *story {
			s := waitingStep(t)
			s.do(s.approveStep, s.claim, s.finish(failed), s.fail, s.retry, s.start, s.openGate, s.approveStep, s.claim,
				s.finish(done))
			return s.do(s.openGate, s.rejectStep)
		},
		"cancelled over a call": func(t testing.TB) *story {
			s := running(t)
			s.do(s.claim, s.finish(done), s.claim, s.cancel)
			s.now = s.now.Add(time.Hour)
			return s.do(s.settle, s.finish(done))
		},
		"a crashed read, and a crashed write": func(t testing.TB) *story {
			s := running(t)
			s.do(s.claim)
			s.now = s.now.Add(2 * time.Minute)
			s.do(s.restart, s.claim, s.finish(done), s.claim)
			s.now = s.now.Add(2 * time.Minute)
			return s.do(s.giveUp, s.retry, s.start)
		},
		"a read that crashes each time, and then does not": func(t testing.TB) *story {
			s := running(t)
			for range MaxCrashes {
				s.do(s.claim)
				s.now = s.now.Add(2 * time.Minute)
			}
			return s.do(s.finish(done), s.claim, s.finish(done))
		},
		"parked and expired": func(t testing.TB) *story {
			s := begin(t)
			s.do(s.park, s.retryGeneration, s.extract, s.pause, s.park, s.retryGeneration, s.finishPrompt)
			s.now = s.now.Add(169 * time.Hour)
			return s.do(s.expire)
		},
		"an expired step": func(t testing.TB) *story {
			s := waitingStep(t)
			s.now = s.now.Add(169 * time.Hour)
			return s.do(s.expire)
		},
		"cancelled before anything": func(t testing.TB) *story {
			s := begin(t)
			return s.do(s.cancel)
		},
	}
}

// subsets returns all non-empty subsets of a few keys, or some subsets of many.
func subsets(keys []string) []map[string]bool {
	var out []map[string]bool
	take := func(bits uint64) {
		set := map[string]bool{}
		for i, k := range keys {
			if bits&(1<<i) != 0 {
				set[k] = true
			}
		}
		out = append(out, set)
	}
	if len(keys) <= 5 {
		for bits := uint64(1); bits < 1<<len(keys); bits++ {
			take(bits)
		}
		return out
	}
	r := rand.New(rand.NewPCG(1, uint64(len(keys))))
	for i := range keys {
		take(1 << i)
		take(^uint64(0) &^ (1 << i))
	}
	for range 16 {
		take(r.Uint64() | 1<<r.IntN(len(keys)))
	}
	return out
}
