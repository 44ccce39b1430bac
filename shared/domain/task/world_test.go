package task

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// world is one task with everybody who acts on it: people, runs that may live too long, a sweeper, and external tools
// that count their calls.
type world struct {
	*table
	rt       *rapid.T
	now      time.Time
	settings tenancy.Settings
	calls    map[string]int // external calls by key of the step
	out      []callInFlight
	told     map[int]bool // attempts that failed because a write's outcome is unknown
	stamped  map[string][]Step
	asked    int
	answers  int             // number of model answers
	headless bool            // the last change changed no head
	paid     map[string]bool // ids of recorded usages
	unbilled map[string]bool // those of sessions with unknown cost
	kind     string          // kind of the decision that is being committed
	run      int             // the run that commits, if kind says that one does
	failed   Generation
	contests bool // contests draft policies
	calm     bool // no torn reads, lost answers or delays from now on
}

// callInFlight is a call between its claim and the record of its outcome.
type callInFlight struct {
	key, invocation string
	made            bool
}

func newWorld(rt *rapid.T) *world {
	r := request()
	if rapid.IntRange(0, 3).Draw(rt, "by form") == 3 {
		r.Matter = &pens
	}
	c, _, err := Receive(aggregate.TenantID(team), r, dawn)
	expect.NoError(rt, err)
	s := tenancy.DefaultSettings()
	s.PromptApprovalRequired = rapid.IntRange(0, 4).Draw(rt, "prompt approval") > 0
	s.ProcessApprovalRequired = rapid.IntRange(0, 4).Draw(rt, "process approval") > 0
	s.AutoApproveTools = rapid.Bool().Draw(rt, "auto approve tools")
	s.MaxVersions = rapid.IntRange(1, 3).Draw(rt, "max versions")
	s.Executor = rapid.SampledFrom([]string{tenancy.ExecutorSteps, tenancy.ExecutorManaged}).Draw(rt, "executor")
	s.L4TimeoutSeconds = rapid.SampledFrom([]int{30, 360, 86400}).Draw(rt, "l4 timeout")
	w := &world{table: create(rt, c), rt: rt, now: dawn, settings: s, contests: rapid.Bool().Draw(rt, "contests"),
		calls: map[string]int{}, told: map[int]bool{}, stamped: map[string][]Step{}, paid: map[string]bool{},
		unbilled: map[string]bool{}}
	w.decide("accept", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Accept(a.Head.Run, person(requester), w.settings, now)
	})
	return w
}

// view returns what an actor loads: current rows, old rows, or a mixture.
func (w *world) view() *Aggregate {
	if w.calm {
		return w.load()
	}
	newest := w.head.Rev
	switch rapid.IntRange(0, 9).Draw(w.rt, "view") {
	case 7: // loaded before others committed
		return w.at(max(1, newest-rapid.IntRange(1, 3).Draw(w.rt, "behind")))
	case 8, 9: // torn
		old := w.images[max(1, newest-rapid.IntRange(1, 2).Draw(w.rt, "torn"))-1].rows
		bits := rapid.Uint64().Draw(w.rt, "rows")
		n := 0
		keys := make([]string, 0, len(w.rows))
		for key := range w.rows {
			keys = append(keys, key)
		}
		slices.Sort(keys)
		pick := map[string]bool{}
		for _, key := range keys {
			pick[key] = bits&(1<<(n%64)) != 0
			n++
		}
		return w.mixed(w.head, func(key string) map[string]aggregate.Row {
			if pick[key] {
				return old
			}
			return w.rows
		})
	}
	return w.load()
}

// decide works like the store's: it loads, decides, commits, and repeats after a conflict. Sometimes the commit's
// answer is lost; the caller can't know the result, and gives up or repeats.
func (w *world) decide(kind string, d decision) (aggregate.Change, error) {
	c, err := w.once(kind, d, w.view())
	for try := 0; try < 2 && errors.Is(err, aggregate.ErrConflict); try++ {
		c, err = w.once(kind, d, w.load())
	}
	started := w.load().Execution() == nil || w.load().Execution().Status != ExecutionPending
	if errors.Is(err, aggregate.ErrConflict) && started { // a caller may wrongly believe that it has started
		w.rt.Fatalf("%s: conflicts with nobody: %v", kind, err)
	}
	if err == nil && !c.Empty() && !w.calm && rapid.IntRange(0, 9).Draw(w.rt, "lost") == 9 {
		if rapid.Bool().Draw(w.rt, "again") {
			_, _ = w.once(kind, d, w.load())
		}
		return aggregate.Change{}, errLost
	}
	return c, err
}

var errLost = errors.New("the answer was lost")

func (w *world) once(kind string, d decision, a *Aggregate) (aggregate.Change, error) {
	before := w.load()
	c, err := d(a, w.now)
	if err != nil {
		w.expected(kind, err)
		return c, err
	}
	if err := w.commit(a.Head, c); err != nil {
		return c, err
	}
	if !c.Empty() {
		w.kind = kind
		w.headless = c.Head == nil
		for _, r := range c.Rows {
			if u, ok := r.(*aggregate.Use); ok && !w.paid[u.ID] { // an existing row is not replaced
				e, session := c.Made.(*Execution)
				w.paid[u.ID], w.unbilled[u.ID] = true, session && e.SessionID == u.ID && u.Unpriced > 0
			}
		}
		w.check(before, w.load(), c)
		w.now = later(w.now.Add(time.Millisecond), c.Now)
	}
	return c, nil
}

// expected fails on errors for which there is no sentence.
func (w *world) expected(kind string, err error) {
	for _, known := range []error{aggregate.ErrNotFound, aggregate.ErrSuperseded, aggregate.ErrConflict,
		aggregate.ErrMoved, aggregate.ErrInFlight, aggregate.ErrNotDue, ErrNothingToRetry} {
		if errors.Is(err, known) {
			return
		}
	}
	switch err.(type) {
	case aggregate.ErrDecided, aggregate.ErrNotLatest, aggregate.ErrNotAllowed, aggregate.Problem, StopError,
		*circulation.Refusal:
		return
	}
	w.rt.Fatalf("%s: %v", kind, err)
}

// work lets a run, possibly an old one, make one move: the next state according to the rows.
func (w *world) work(run int) {
	a := w.view()
	switch n := a.Next(w.now); n.State {
	case StateExtractTask:
		w.pay(run, "extract", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Extracted(run, Extract{Title: "勤怠集計", Priority: Medium, TaskType: TypeStandard}, now)
		})
	case StateDraftPrompt:
		_, err := w.decideAs(run, "begin prompt", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.BeginPrompt(run, now)
		})
		if w.contests && a.Matter() == nil && w.leaveToContest(run) {
			return
		}
		if err == nil && (w.calm || rapid.Bool().Draw(w.rt, "drafted")) {
			w.pay(run, "finish prompt", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.FinishPrompt(run, Drafted{Content: "方針"}, w.settings, now)
			})
		}
	case StatePlanProcess:
		_, err := w.decideAs(run, "begin process", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.BeginProcess(run, now)
		})
		if err == nil && (w.calm || rapid.Bool().Draw(w.rt, "planned")) {
			w.pay(run, "finish process", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.FinishProcess(run, w.plan(), "", w.settings, now)
			})
		}
	case StateAwaitContest, StateAwaitPromptApproval, StateAwaitProcessApproval, StateAwaitStepApproval:
		w.await(run, n.Gate)
	case StateExecuteProcess:
		w.execute(run)
	case StateResumeTask:
		row, refused := a.LooksAgain(), (*aggregate.Refusal)(nil)
		if !w.calm && rapid.IntRange(0, 2).Draw(w.rt, "found") == 2 {
			refused = &aggregate.Refusal{Why: ReasonNobodyLeft}
		}
		w.decideAs(run, "looked", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Looked(run, row, nil, refused, w.settings, now)
		})
	}
}

// plan returns steps that differ between versions.
func (w *world) plan() []Step {
	steps := threeSteps()
	w.asked++
	steps[0].ToolInput = aggregate.JSON(fmt.Sprintf(`{"plan":%d}`, w.asked))
	steps[rapid.IntRange(0, 2).Draw(w.rt, "human check")].RequiresHumanCheck = rapid.Bool().Draw(w.rt, "checked")
	return steps
}

// decideAs commits for a run of the pipeline.
func (w *world) decideAs(run int, kind string, d decision) (aggregate.Change, error) {
	w.run = run
	return w.decide("run: "+kind, d)
}

// pay is decideAs for a model's answer.
func (w *world) pay(run int, kind string, d decision) {
	w.answers++
	id := fmt.Sprint("answer-", w.answers)
	w.decideAs(run, kind, func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return Charge(w.usage(id), now, func(a *Aggregate) (aggregate.Change, error) { return d(a, now) })(a)
	})
}

// usage returns the usage of one answer.
func (w *world) usage(id string) aggregate.Usage {
	return aggregate.Usage{ID: id, Calls: 1, Input: 10, Cost: aggregate.MicroUSD(len(id))}
}

// await stamps a gate that asks nobody, else stores the run's token.
func (w *world) await(run int, gate string) {
	a := w.load()
	open, waits := a.OpenGate()
	if !a.Awaits(gate) || a.Head.Run != run {
		return
	}
	if !waits || open.Terms.ApprovalRequired {
		w.waits[gate] = aggregate.Wait{Gate: gate, Token: fmt.Sprint("token-", run), Run: run, Entered: w.now}
		return
	}
	w.decideAs(run, "stamp", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		if a.Head.Run != run {
			return aggregate.Change{}, aggregate.ErrSuperseded
		}
		return a.ApproveUnasked(open.ID, now)
	})
}

// execute moves the newest execution one step forward.
func (w *world) execute(run int) {
	if e := w.view().OpenSession(); e != nil {
		if !w.calm && rapid.IntRange(0, 3).Draw(w.rt, "closes in vain") == 0 {
			w.lease("defer close", "closer", func(a *Aggregate, now time.Time) (*aggregate.Lease, error) {
				return a.DeferClose(run, "closer", now.Add(5*time.Minute), now)
			})
			return
		}
		w.decide("session: close", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return Charge(w.usage(e.SessionID), now, func(a *Aggregate) (aggregate.Change, error) {
				return a.CloseSession(run, now)
			})(a)
		})
		return
	}
	c, err := w.decideAs(run, "start", w.joined(run, func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.StartExecution(run, Series{}, now)
	}))
	if err != nil || w.begun(c) {
		return
	}
	a := w.view()
	e := a.Execution()
	if e == nil || e.Managed() && w.poll(run) {
		return
	}
	if a.NextStep(e) == nil {
		w.pay(run, "complete", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.CompleteExecution(run, "完了", now)
		})
		return
	}
	cl := call(a, w.now)
	cl.Claim = aggregate.Claim{Invocation: fmt.Sprint("invocation-", w.changes, "-", run),
		LeaseUntil: w.now.Add(75 * time.Second)}
	cl.NeedsGate = NeedsGate(*a.NextStep(e), e.Terms, false)
	asks := cl.NeedsGate && a.GateOf(e, cl.Order) == nil
	c, err = w.decideAs(run, "claim or open gate", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		if asks {
			return a.OpenStepGate(run, cl.Order, cl.Arguments, cl.ArgumentsHash, nil, now)
		}
		return a.ClaimStep(run, cl, now)
	})
	if stop := (StopError{}); errors.As(err, &stop) {
		w.decideAs(run, "fail", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.FailExecution(run, stop.Reason, stop.Detail, now)
		})
		return
	}
	if err != nil || asks {
		return // the claim's answer was lost, as in a crash before the call
	}
	w.begun(c)
}

// poll does an invocation's work at a session apart from its calls. It reports whether no call follows.
func (w *world) poll(run int) bool {
	invocation := fmt.Sprint("poller-", rapid.IntRange(1, 2).Draw(w.rt, "poller"))
	held := w.lease("hold session", invocation, func(a *Aggregate, now time.Time) (*aggregate.Lease, error) {
		return a.HoldSession(run, invocation, now.Add(30*time.Second), now)
	})
	if !held {
		return true
	}
	w.answers++
	id := fmt.Sprint("session-", w.answers)
	w.decideAs(run, "bind session", func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.BindSession(run, id, 0, now)
	})
	if w.calm || rapid.IntRange(0, 2).Draw(w.rt, "polls in vain") < 2 {
		return false
	}
	w.lease("pause session", invocation, func(a *Aggregate, now time.Time) (*aggregate.Lease, error) {
		return a.ReleaseSession(run, invocation, now.Add(3*time.Second), time.Time{})
	})
	return true
}

// lease stores the lease that d returns, like the store's PutLease. It reports whether the lease was stored and the
// answer arrived.
func (w *world) lease(kind, invocation string, d leasing) bool {
	a := w.view()
	l, err := d(a, w.now)
	if err != nil {
		w.expected(kind, err)
	}
	if err != nil || l == nil {
		return false
	}
	before := w.load()
	if w.putLease(a, l) != nil {
		return false
	}
	w.kind = kind
	was := before.liveSessionLease(aggregate.Find(before.Executions, l.Of))
	w.require(was.Invocation == invocation || !w.now.Before(was.LeaseUntil), "%s takes %+v", invocation, was)
	after := w.load()
	w.require(after.Head.Rev == before.Head.Rev && after.Effects(w.now).Cards == before.Effects(w.now).Cards,
		"a lease makes a revision")
	w.nobodyWaitsInVain(after)
	w.oneSession(before, after)
	return w.calm || rapid.IntRange(0, 9).Draw(w.rt, "lease lost") < 9
}

// fly advances a call under way: it is made, its outcome is recorded, or its function dies before that.
func (w *world) fly(i int, crash bool) {
	f := &w.out[i]
	if crash {
		w.out = slices.Delete(w.out, i, i+1)
		return
	}
	if !f.made {
		f.made = true
		w.calls[f.key]++
		return
	}
	key, invocation := f.key, f.invocation
	o := done
	if !w.calm {
		o = rapid.SampledFrom([]Outcome{done, done, done, failed, unknown}).Draw(w.rt, "outcome")
	}
	if s := w.rows[key].(*StepResult); s.Access == aggregate.Read && o.Status == StepUnknown {
		o = failed
	}
	w.out = slices.Delete(w.out, i, i+1)
	c, err := w.decide("outcome", w.joined(w.anyRun(), func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.FinishStep(key, invocation, o, now)
	}))
	if err == nil {
		w.begun(c)
	}
}

func later(x, y time.Time) time.Time {
	if x.Before(y) {
		return y
	}
	return x
}
