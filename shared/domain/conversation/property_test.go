package conversation

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// walk is a conversation to which random events happen in any order.
type walk struct {
	*table
	rt    *rapid.T
	calls map[string]int  // commands that a sandbox ran, by action
	out   []flight        // calls under way
	done  map[string]bool // actions with an approval in the audit log
	moved int             // how often the conversation's files moved
}

// flight is a call under a claim.
type flight struct {
	action, invocation string
	begun              bool
}

// The test walks through conversations at random, with rows from two commits, superseded runs and late results.
func TestNothingExecutesThatNobodyApproved(t *testing.T) {
	moved := 0
	expect.Walks(t, func(reached map[ActionStatus]int) {
		rapid.Check(t, func(rt *rapid.T) {
			w := &walk{table: opened(rt), rt: rt, calls: map[string]int{}, done: map[string]bool{}}
			for range rapid.IntRange(40, 150).Draw(rt, "moves") {
				w.step()
			}
			w.comesToRest()
			moved += w.moved
			for _, r := range w.rows {
				if x, ok := r.(*Action); ok {
					reached[x.Status]++
				}
			}
		})
	}, ActionSucceeded, ActionFailed, ActionCancelled)
	expect.That(t, testing.Short() || moved > 0, "nothing moved in any walk")
}

func (w *walk) step() {
	elapsed := rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, 20 * time.Second}).Draw(w.rt, "elapsed")
	if rapid.IntRange(0, 11).Draw(w.rt, "long") == 11 { // time limits pass, but rarely enough that commands can finish
		elapsed = rapid.SampledFrom([]time.Duration{3 * time.Minute, 25 * time.Minute, 30 * time.Hour}).Draw(w.rt, "how long")
	}
	w.now = w.now.Add(elapsed)
	run := w.head.Run
	if rapid.IntRange(0, 5).Draw(w.rt, "old run") == 5 {
		run = rapid.IntRange(1, run).Draw(w.rt, "run")
	}
	moves := []func(run int){
		w.relay, w.work, w.relay, w.work, w.land, w.people, w.people, w.land, w.land, func(int) { w.tell("more") },
		w.sweep, w.late, w.dies, w.gives, w.closes, w.forges,
	}
	moves[rapid.IntRange(0, len(moves)-1).Draw(w.rt, "move")](run)
}

// decide makes a decision on rows that may be from two commits, commits it, and checks the result.
func (w *walk) decide(what string, decide func(a *Aggregate) (aggregate.Change, error)) error {
	a := w.load()
	if n := len(w.images); n > 1 && rapid.IntRange(0, 4).Draw(w.rt, "torn") == 0 {
		before := w.images[n-2]
		a = w.mixed(before, w.rows)
		if rapid.Bool().Draw(w.rt, "which half") {
			a = w.mixed(w.rows, before)
		}
	}
	c, err := decide(a)
	if err != nil {
		return err
	}
	was := w.load()
	if err := w.commit(a.Head, c); err != nil {
		return err
	}
	w.check(what, was, w.load(), c)
	return nil
}

func (w *walk) require(ok bool, what, format string, args ...any) {
	w.rt.Helper()
	expect.Must(w.rt, ok, what+": "+format, args...)
}

// check asserts the invariants after each commit.
func (w *walk) check(what string, was, is *Aggregate, c aggregate.Change) {
	if is.Conversation.Status != was.Conversation.Status {
		w.require(Moves.Allows(was.Conversation.Status, is.Conversation.Status), what, "the session went from %s to %s",
			was.Conversation.Status, is.Conversation.Status)
		w.require(is.Conversation.Status != Closed || len(c.Audit) > 0, what, "closed without a record")
	}
	waiting, open, executing := "", 0, ""
	for _, x := range is.Actions {
		before := was.Action(x.ActionID)
		from := ActionStatus("")
		if before != nil {
			from = before.Status
			w.require(before.Payload == x.Payload && before.ActionType == x.ActionType, what, "what %s does has changed",
				x.ActionID)
		}
		if from != x.Status {
			w.require(before == nil && (x.Status == ActionPending || x.Rule != "" && x.Status == ActionApproved) ||
				ActionMoves.Allows(from, x.Status), what, "an action went from %q to %s", from, x.Status)
			w.recorded1(what, x, c)
		}
		switch x.Status {
		case ActionPending:
			waiting = x.ActionID
		case ActionExecuting:
			executing = x.ActionID
			w.require(is.approved(x) && w.done[x.ActionID], what, "%s executes without an approval on record", x.ActionID)
		}
		if !x.Status.Over() {
			open++
		}
	}
	w.versions(what, was, is)
	w.require(open <= 1, what, "%d actions are not over", open)
	w.require(is.Conversation.PendingActionID == waiting, what, "pending is %q, waiting %q",
		is.Conversation.PendingActionID, waiting)
	w.require(is.Head.Acting == executing && (executing != "") == (is.Conversation.Status == Executing), what,
		"acting is %q, %q executes, the session is %s", is.Head.Acting, executing, is.Conversation.Status)
	for id, n := range w.calls {
		w.require(n <= 1, what, "the command of %s ran %d times", id, n)
	}
}

// versions checks that the conversation's files move by the result of the action that executes alone, and from the
// files for which it was approved.
func (w *walk) versions(what string, was, is *Aggregate) {
	from, to := was.Conversation.WorkspaceVersion, is.Conversation.WorkspaceVersion
	x := was.Current()
	if from == to {
		return
	}
	w.require(x != nil && x.Status == ActionExecuting && x.Base == from, what, "the files went from %q to %q", from, to)
	ended := is.Action(x.ActionID)
	w.require(ended.Status.Over() && ended.Version == to && !ended.NotTaken, what, "%s left %q, the files are %q",
		x.ActionID, ended.Version, to)
	w.moved++
}

// recorded1 checks that the audit log has an entry for the action's move, from the same commit.
func (w *walk) recorded1(what string, x *Action, c aggregate.Change) {
	found := false
	for _, e := range c.Audit {
		found = found || e.ResourceID == x.ActionID
		if e.Action == AuditApproved && e.ResourceID == x.ActionID && strings.Contains(string(e.Details), x.Payload.Hash()) {
			w.done[x.ActionID] = true
		}
	}
	w.require(found, what, "%s became %s without a record", x.ActionID, x.Status)
}

func (w *walk) relay(int) {
	_ = w.decide("relay", func(a *Aggregate) (aggregate.Change, error) {
		if e := a.Effects(w.now); e.Begin != nil {
			return e.Begin(a)
		}
		return aggregate.Change{}, aggregate.ErrNotDue
	})
}

// work does the work of a run's next state.
func (w *walk) work(run int) {
	switch a := w.load(); a.Next(w.now).State {
	case StateAnswer:
		w.answers(run)
	case StateAct, StateCall:
		invocation := fmt.Sprint("i", len(w.images))
		err := w.decide("claim", func(a *Aggregate) (aggregate.Change, error) {
			return a.claimOf()(run, invocation, w.now.Add(2*time.Minute), w.now)
		})
		if err == nil {
			w.out = append(w.out, flight{action: w.load().Current().ActionID, invocation: invocation})
		}
	default:
		_ = w.decide("rest", func(a *Aggregate) (aggregate.Change, error) { return a.Rest(run, w.now) })
	}
}

// claimOf is the claim of the function to which the current action goes.
func (a *Aggregate) claimOf() func(int, string, time.Time, time.Time) (aggregate.Change, error) {
	if x := a.Current(); x != nil && x.ActionType == ToolCall {
		return func(run int, invocation string, until, now time.Time) (aggregate.Change, error) {
			return a.ClaimCall(run, invocation, until, now)
		}
	}
	return a.Claim
}

// based proposes an action for the newest files, or, rarely, for others.
func (w *walk) based(a *Aggregate, p *Proposal) *Proposal {
	if a.Conversation != nil && rapid.IntRange(0, 9).Draw(w.rt, "other files") > 0 {
		p.Base = a.Conversation.WorkspaceVersion
	}
	return p
}

func (w *walk) answers(run int) {
	seen, kind := w.load().Waiting(), rapid.IntRange(0, 9).Draw(w.rt, "answer")
	if rapid.Bool().Draw(w.rt, "told meanwhile") {
		w.tell("and")
	}
	_ = w.decide("answer", func(a *Aggregate) (aggregate.Change, error) {
		x := Answer{Text: "ok", Usage: w.used()}
		switch kind {
		case 1, 2, 3:
			x.Proposal = w.based(a, proposal(ShellCommand, w.now, ""))
		case 4:
			x.Proposal = w.based(a, proposal(CodeGenerate, w.now, ""))
		case 5:
			x.Proposal = w.based(a, proposal(TestRun, w.now, "rule-1"))
		case 8:
			x.Proposal = w.based(a, listedRead())
		case 9: // which is refused
			x.Proposal = w.based(a, call(aggregate.Write, ""))
		case 6:
			x.Refused = "no"
		case 7:
			return a.Refused(run, seen, Refusal{Reason: "model_down", Text: "sorry", Failed: true}, w.now)
		}
		return a.Answered(run, seen, x, w.now)
	})
}

// land advances a call under way: its command begins, ends, or turns out not to begin.
func (w *walk) land(int) {
	if len(w.out) == 0 {
		return
	}
	i := rapid.IntRange(0, len(w.out)-1).Draw(w.rt, "call")
	f := &w.out[i]
	switch n := rapid.IntRange(0, 5).Draw(w.rt, "how"); {
	case !f.begun && n == 0:
		err := w.decide("release", func(a *Aggregate) (aggregate.Change, error) {
			return a.Release(f.action, f.invocation, w.now)
		})
		if err == nil {
			w.out = append(w.out[:i], w.out[i+1:]...)
		}
	case !f.begun:
		// A command can't begin after the lease has expired: the addresses that it needs have expired too.
		if x := w.load().Action(f.action); x != nil && x.leased(w.now) && x.Claim.Invocation == f.invocation {
			f.begun = true
			w.calls[f.action]++
		}
	default:
		_ = w.finish(*f)
		w.out = append(w.out[:i], w.out[i+1:]...)
	}
}

func (w *walk) finish(f flight) error {
	status := rapid.SampledFrom([]ActionStatus{ActionSucceeded, ActionFailed}).Draw(w.rt, "result")
	return w.decide("finish", func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(f.action, f.invocation, Result{Status: status, Version: fmt.Sprint("v", len(w.images)), Lines: 3},
			w.now)
	})
}

// late records a result a second time, or under another invocation's claim.
func (w *walk) late(int) {
	a := w.load()
	if len(a.Actions) > 0 {
		x := rapid.SampledFrom(a.Actions).Draw(w.rt, "echoed")
		if x.Claim != nil && w.calls[x.ActionID] > 0 {
			_ = w.finish(flight{action: x.ActionID, invocation: x.Claim.Invocation})
		}
		err := w.finish(flight{action: x.ActionID, invocation: "nobody"})
		expect.Must(w.rt, errors.Is(err, aggregate.ErrMoved) || errors.Is(err, aggregate.ErrNotFound), "nobody's result: %v",
			err)
	}
}

func (w *walk) people(int) {
	a := w.load()
	if len(a.Actions) == 0 {
		return
	}
	x := a.Actions[len(a.Actions)-1]
	by := person(rapid.SampledFrom([]string{sato, suzuki}).Draw(w.rt, "who"))
	switch rapid.IntRange(0, 6).Draw(w.rt, "click") {
	case 0:
		_ = w.decide("reject", func(a *Aggregate) (aggregate.Change, error) {
			return a.Reject(x.ActionID, "no", by, policy, w.now)
		})
	case 1:
		_ = w.decide("cancel", func(a *Aggregate) (aggregate.Change, error) {
			return a.Cancel(x.ActionID, by, policy, w.now)
		})
	case 2:
		_ = w.decide("propose", func(a *Aggregate) (aggregate.Change, error) {
			return a.Propose(*w.based(a, proposal(ShellCommand, w.now, "rule")), by, policy, w.now)
		})
	default:
		_ = w.decide("approve", func(a *Aggregate) (aggregate.Change, error) {
			return a.Approve(x.ActionID, by, policy, w.now)
		})
	}
}

// forges tries decisions that nobody may make.
func (w *walk) forges(run int) {
	a := w.load()
	for _, x := range a.Actions {
		for _, by := range []aggregate.Actor{aggregate.System(), {Type: aggregate.ActorAgent, ID: "codex"},
			{Type: aggregate.ActorUser, ID: sato, Team: "T2", Member: true}, {Type: aggregate.ActorUser, ID: sato, Team: team}} {
			c, err := a.Approve(x.ActionID, by, policy, w.now)
			expect.Must(w.rt, err != nil || c.Empty(), "%+v may approve", by)
		}
		other := x.Gate.Acting(circulation.Stamp, person(sato), "")
		other.Hash = "another"
		c, err := a.Act(x.ActionID, other, person(sato), policy, w.now)
		expect.Must(w.rt, err != nil || c.Empty(), "another content may be approved")
	}
	c, err := a.Answered(run, nil, Answer{Proposal: proposal(ShellCommand, w.now, "rule")}, w.now)
	expect.Must(w.rt, err != nil, "a rule approves what a shell reads: %+v", c)
}

func (w *walk) sweep(int) {
	a := w.load()
	for _, d := range a.Overdue(w.now) {
		_ = w.decide("sweep", func(a *Aggregate) (aggregate.Change, error) { return d.Decide(a) })
	}
}

func (w *walk) dies(run int) {
	_ = w.decide("restart", func(a *Aggregate) (aggregate.Change, error) { return a.RestartRun(run, w.now) })
}

func (w *walk) gives(run int) {
	if rapid.Bool().Draw(w.rt, "no room") {
		_ = w.decide("pause", func(a *Aggregate) (aggregate.Change, error) {
			return a.PauseRun(run, w.now.Add(5*time.Minute), w.now)
		})
		return
	}
	_ = w.decide("give up", func(a *Aggregate) (aggregate.Change, error) { return a.GiveUp(run, w.now) })
}

func (w *walk) closes(int) {
	if rapid.IntRange(0, 2).Draw(w.rt, "close") > 0 {
		_ = w.decide("reopen", func(a *Aggregate) (aggregate.Change, error) { return a.Reopen(person(sato), policy, w.now) })
		return
	}
	_ = w.decide("close", func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, w.now) })
}

// comesToRest lets everybody do their part. After a few rounds nothing may be left to do, except decisions by people.
func (w *walk) comesToRest() {
	w.out = nil // all callers have died
	for round := 0; ; round++ {
		w.now = w.now.Add(3 * time.Minute)
		a := w.load()
		for _, d := range a.Overdue(w.now) {
			_ = w.do(d.Decide(w.load()))
		}
		a = w.load()
		if a.Head.Resting && a.paused(w.now) { // the sweeper comes when the pause is over
			continue
		}
		if e := a.Effects(w.now); e.Begin != nil {
			w.must(e.Begin(w.load()))
			if w.load().Head.Resting { // people were told something; the run begins next
				continue
			}
		} else if e.Run == nil && (a.Head.Resting || a.Conversation.Status == Closed || !a.work(w.now)) {
			break
		}
		switch a = w.load(); a.Next(w.now).State {
		case StateAnswer:
			w.must(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Usage: w.used()}, w.now))
		case StateAct, StateCall:
			if a.Current().Claim == nil {
				w.must(a.claimOf()(a.Head.Run, "last", w.now.Add(time.Minute), w.now))
			}
		}
		expect.Must(w.rt, round <= 60, "stuck: %+v, next %+v", a.Head, a.Next(w.now))
	}
	if a := w.load(); a.Conversation.Status != Closed && len(a.Inbox) > 0 {
		w.rt.Fatalf("%d messages are not answered", len(a.Inbox))
	}
}
