package main

import (
	"context"
	"errors"
	"testing"
	"time"

	sfntypes "github.com/aws/aws-sdk-go-v2/service/sfn/types"

	"ringi/infra/local/ringitest"
	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Runs that found no room come back five minutes later, spread over a quarter of that.
func TestRunsThatFoundNoRoomDontComeBackTogether(t *testing.T) {
	now := time.Now()
	least, most := time.Hour, time.Duration(0)
	for range 10_000 {
		d := effect.RoomAt(now).Sub(now)
		least, most = min(least, d), max(most, d)
	}
	expect.That(t, least >= 300*time.Second && least < 301*time.Second, "at least %s", least)
	expect.That(t, most <= 375*time.Second && most > 374*time.Second, "at most %s", most)
}

func TestEffects(t *testing.T) {
	ringitest.Each(t, map[string]func(*testing.T, *ringitest.World){
		"one name is one run, however often it is started":        testOneName,
		"a commit of the same run starts nothing by itself":       testNoStart,
		"a run that ended is superseded once":                     testRestartedOnce,
		"a run that found no room to run in begins anew later":    testNoRoom,
		"a run that ended over and over is given up":              testGivenUp,
		"a refused token starts the run that the rows call for":   testRefused,
		"no run starts beside one that a decision wakes":          testWakes,
		"every run that is not the head's is woken":               testOldRun,
		"a run that has left its gate is not woken again":         testLeft,
		"a run that may wait is woken until its token is refused": testWakesAgain,
		"a token that nothing proves answered is deleted":         testDeleted,
		"a token that can't be answered stays":                    testUnanswered,
		"a gate that waits is left alone":                         testWaiting,
		"tokens are refused in three ways":                        testRefusals,
	})
}

func run(t *testing.T, w *ringitest.World, start bool) int {
	t.Helper()
	return expect.Value(w.Effects().Run(t.Context(), w.Load(), w.Load().Effects(w.Now()), start))(t)
}

func testOneName(t *testing.T, w *ringitest.World) {
	expect.Is(t, run(t, w, true), 1, "runs were missing")
	w.Token()
	w.Later(time.Minute)
	expect.Is(t, run(t, w, true), 0, "repairs of a run that is open")
	expect.Is(t, w.Status(1), sfntypes.ExecutionStatusRunning, "the run")
	expect.Is(t, w.Load().Head.Run, 1, "the head's run")
}

func testNoStart(t *testing.T, w *ringitest.World) {
	run(t, w, false)
	expect.Is(t, w.Status(1), "", "the run")
}

func testRestartedOnce(t *testing.T, w *ringitest.World) {
	w.Open()
	w.Stop(1)
	stale := w.Load()
	for i, want := range []int{1, 0, 0} { // the first of several callers restarts the run
		n, err := w.Effects().Run(t.Context(), stale, stale.Effects(w.Now()), true)
		expect.That(t, err == nil && n == want, "time %d: %d repairs, %v, want %d", i+1, n, err, want)
	}
	h := w.Load().Head
	expect.That(t, h.Run == 2 && h.Restarts == 1, "run %d after %d restarts", h.Run, h.Restarts)
}

// A run whose functions could not be invoked has not failed: no card shows a failure, nobody has to click, and the next
// run begins some minutes later without counting as a restart.
func testNoRoom(t *testing.T, w *ringitest.World) {
	w.NoRoom(1, w.Open())
	stale := w.Load()
	for i, want := range []int{1, 0} {
		n, err := w.Effects().Run(t.Context(), stale, stale.Effects(w.Now()), true)
		expect.That(t, err == nil && n == want, "time %d: %d repairs, %v, want %d", i+1, n, err, want)
	}
	a := w.Load()
	h := a.Head
	expect.Must(t, h.Run == 2 && h.Restarts == 0 && h.Parked == nil && h.PausedUntil != nil &&
		h.PausedFor == task.ReasonNoRoom, "%+v", h)
	pause := a.Head.PausedUntil.Sub(w.Now())
	if e := a.Effects(w.Now()); e.Run != nil || pause < 4*time.Minute || pause > 7*time.Minute {
		t.Errorf("pauses for %s, a run is to be open: %+v", pause, e.Run)
	}
	if due := a.DueAt(w.Now()); due == nil || due.After(*a.Head.PausedUntil) {
		t.Errorf("the sweeper comes at %v, the pause ends at %v", due, a.Head.PausedUntil)
	}
	w.Later(pause)
	run(t, w, true)
	w.Becomes(2, sfntypes.ExecutionStatusRunning)
}

func testGivenUp(t *testing.T, w *ringitest.World) {
	for range task.MaxRestarts + 1 {
		w.Open()
		w.Stop(w.Load().Head.Run)
		run(t, w, true)
	}
	h := w.Load().Head
	expect.That(t, h.Parked != nil && h.Parked.Sentence == task.ReasonRunFailed && h.Run == task.MaxRestarts+1,
		"parked %+v at run %d", h.Parked, h.Run)
	expect.Is(t, run(t, w, true), 0, "repairs of a parked task")
}

func testWakes(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	w.Wait(w.Open())
	w.Approve()
	started := w.Transport.Count("StartExecution")
	expect.Is(t, run(t, w, true), 1, "woken") // the sweeper has every run started that has work
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	expect.Is(t, w.Transport.Count("StartExecution"), started, "runs started")
	expect.Is(t, w.Load().Head.Run, 1, "the head's run")
}

func testLeft(t *testing.T, w *ringitest.World) {
	w.Planned(tenancy.DefaultSettings(), ringitest.Step(1, "list_employees", aggregate.Read, "{}"))
	w.Wait(w.Open())
	w.Approve()
	expect.Is(t, run(t, w, false), 1, "woken")
	w.Later(time.Second)
	in := w.In()
	in.Entered = w.Now()
	w.Decide(in.Entering(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.StartExecution(a.Head.Run, task.Series{}, w.Now())
	}))
	expect.Is(t, len(w.Load().Waits), 0, "waits")
	expect.Is(t, run(t, w, false), 0, "woken again")
	expect.Is(t, w.Transport.Count("SendTaskSuccess"), 1, "answers")
	expect.Is(t, w.Transport.Count("DeleteItem"), 0, "deletions")
}

// The relay died after a commit, or its record came late: a commit that is no proof proves nothing.
func testWakesAgain(t *testing.T, w *ringitest.World) {
	w.Planned(tenancy.DefaultSettings(), ringitest.Step(1, "list_employees", aggregate.Read, "{}"))
	late := w.In()
	late.Entered = w.Now().Add(-time.Minute) // an invocation of the state before the gate
	w.Wait(w.Open())
	w.Approve()
	w.Decide(late.Entering(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.StartExecution(a.Head.Run, task.Series{}, w.Now())
	}))
	for i := range 3 {
		expect.Is(t, len(w.Load().Waits), max(0, 1-i/2), "waits")
		run(t, w, false)
	}
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	expect.Is(t, w.Transport.Count("SendTaskSuccess"), 2, "answers, of which the second is refused")
}

func testDeleted(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	w.Wait(w.Open())
	w.Cancel()
	run(t, w, false)
	expect.Is(t, len(w.Load().Waits), 0, "waits of a task that is over")
}

func testRefused(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	w.Wait(w.Open())
	w.Stop(1)
	w.Approve()
	run(t, w, false)
	a := w.Load()
	expect.Must(t, len(a.Waits) == 0 && a.Head.Run == 2, "waits %v, run %d, want the next", a.Waits, a.Head.Run)
	run(t, w, true)
	w.Becomes(2, sfntypes.ExecutionStatusRunning)
}

func testOldRun(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	w.Wait(w.Open())
	w.Approve()
	w.Restart()
	run(t, w, false)
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	expect.Is(t, len(w.Load().Waits), 0, "waits")
	expect.Is(t, w.Status(2), "", "an old run's token says of the new one")
}

func testUnanswered(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	w.Wait(w.Open())
	w.Approve()
	w.Transport.DropCalls("SendTaskSuccess", 99)
	_, err := w.Effects().Run(t.Context(), w.Load(), w.Load().Effects(w.Now()), false)
	expect.That(t, err != nil, "no error")
	expect.Must(t, len(w.Load().Waits) == 1, "the token is lost")
	w.Transport.ClearFaults()
	w.Transport.DropAnswers("SendTaskSuccess", 1)
	run(t, w, false)
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
}

func testWaiting(t *testing.T, w *ringitest.World) {
	w.Prompted(tenancy.DefaultSettings())
	w.Wait(w.Open())
	n := run(t, w, true)
	expect.That(t, n == 0 && len(w.Load().Waits) == 1, "%d repairs, %d waits", n, len(w.Load().Waits))
	w.Stop(1)
	n = run(t, w, true)
	expect.That(t, n == 0 && w.Load().Head.Run == 1, "%d repairs: the decision will start the next run", n)
}

func testRefusals(t *testing.T, w *ringitest.World) {
	used := w.Open()
	refused, err := effect.Wake(t.Context(), w.Runs(), used)
	expect.That(t, !refused && err == nil, "the first answer: %v, %v", refused, err)
	w.Becomes(1, sfntypes.ExecutionStatusSucceeded)
	w.Restart()
	stopped := w.Open()
	w.Stop(2)
	for name, token := range map[string]string{"answered": used, "of a stopped run": stopped, "nobody's": "nobody's"} {
		refused, err := effect.Wake(t.Context(), w.Runs(), token)
		expect.That(t, refused && err == nil, "a token %s: refused %v, %v", name, refused, err)
	}
}

// table creates what it is told to, or fails.
type table struct {
	fails error
	holds bool // what was to be created
}

func (t *table) Create(context.Context, aggregate.Ref, aggregate.Change) error {
	t.holds = t.fails == nil || errors.Is(t.fails, aggregate.ErrExists)
	return t.fails
}

func (t *table) DropWait(context.Context, aggregate.Ref, aggregate.Wait) error { return nil }

func (t *table) Decide(_ context.Context, _ aggregate.Ref,
	decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	_, err := decide(nil)
	return nil, err
}

// asks is an aggregate that has an effect on another one and then records that it had.
type asks struct {
	aggregate.Aggregate
	effects aggregate.Effects
}

func (a asks) Ref() aggregate.Ref                  { return aggregate.Ref{Tenant: "T", Kind: "asks", ID: "1"} }
func (a asks) Effects(time.Time) aggregate.Effects { return a.effects }

func TestWhatIsToldIsNotedOnceItStands(t *testing.T) {
	down := errors.New("down")
	for name, tt := range map[string]struct {
		answer  error
		absent  bool
		noted   bool
		repairs int
		err     error
	}{
		"it is decided":              {nil, false, true, 1, nil},
		"it was decided before":      {aggregate.ErrNotDue, false, true, 0, nil},
		"the other is not there":     {aggregate.ErrNotFound, false, false, 0, aggregate.ErrNotFound},
		"it need not be there":       {aggregate.ErrNotFound, true, true, 0, nil},
		"the other can't be reached": {down, true, false, 0, down},
	} {
		noted := false
		other := aggregate.Ref{Tenant: "T", Kind: "other", ID: "2"}
		a := asks{effects: aggregate.Effects{Tell: []aggregate.Telling{{Ref: other, Absent: tt.absent,
			Decide: func(aggregate.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, tt.answer },
			Told:   func(aggregate.Aggregate) (aggregate.Change, error) { noted = true; return aggregate.Change{}, nil }}}}}
		n, err := effect.Runner{Store: &table{}, Now: time.Now}.Run(t.Context(), a, a.Effects(time.Now()), false)
		expect.That(t, noted == tt.noted && n == tt.repairs && errors.Is(err, tt.err), "%s: noted %v, %d repairs, %v", name,
			noted, n, err)
	}
}

func TestWhatIsMadeIsNotedOnceItStands(t *testing.T) {
	for name, tt := range map[string]struct {
		order aggregate.JSON
		fails error
		noted bool
	}{
		"it is made":                         {noted: true},
		"it was made before":                 {fails: aggregate.ErrExists, noted: true},
		"it can't be made":                   {fails: errors.New("down")},
		"it is ordered, but of no such kind": {order: "{}"},
	} {
		rows, noted := &table{fails: tt.fails}, false
		a := asks{effects: aggregate.Effects{Make: []aggregate.Making{{
			Ref: aggregate.Ref{Tenant: "T", Kind: "other", ID: "2"}, Order: tt.order,
			Made: func(aggregate.Aggregate) (aggregate.Change, error) {
				noted = true
				expect.That(t, rows.holds, "%s: it is noted before", name)
				return aggregate.Change{}, nil
			},
		}}}}
		_, err := (effect.Runner{Store: rows, Kinds: aggregate.Kinds{contest.Kind}, Now: time.Now}).Run(t.Context(), a,
			a.Effects(time.Now()), false)
		expect.That(t, noted == tt.noted && noted == (err == nil), "%s: noted %v, %v", name, noted, err)
	}
}
