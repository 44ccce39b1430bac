package conversation

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// sweep makes the decisions of time, as the sweeper does.
func (tb *table) sweep() {
	for _, o := range tb.load().Overdue(tb.now, nil) {
		err := tb.do(func(a *Aggregate) (aggregate.Change, error) { return o.Decide(a) })
		if err != nil && !errors.Is(err, aggregate.ErrNotDue) && !errors.Is(err, aggregate.ErrInFlight) {
			expect.NoError(tb.t, err)
		}
	}
}

// An invocation that executes a withdrawn action may die. Once its lease is over the sweeper has it looked what is there
// of a pull request, and records what is known of anything else.
func TestAWithdrawnActionWhoseInvocationDiesEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		begun func(tb *table) (*Action, error)
		looks bool
		late  aggregate.Reason
	}{
		"a pull request whose commit is made": {func(tb *table) (*Action, error) {
			x := tb.load().Current()
			return x, tb.step(x, "i1", Pushed{Commit: madeCommit})
		}, true, ""},
		"a pull request before that": {func(tb *table) (*Action, error) { return tb.load().Current(), nil }, false, ReasonInterrupted},
	} {
		tb, _ := pushing(t)
		x, err := tt.begun(tb)
		expect.NoError(t, err)
		endsWithdrawn(t, name, tb, x, tt.looks, tt.late)
	}
	for name, tt := range map[string]struct {
		proposal *Proposal
		late     aggregate.Reason
	}{
		"a command": {proposal(ShellCommand, start, ""), ReasonUnknown}, "files": {proposal(CodeGenerate, start, ""), ReasonInterrupted},
		"a call that writes": {call(aggregate.Write, ""), ReasonUnknown}, "a call that reads": {call(aggregate.Read, ""), ReasonReadCutOff},
	} {
		tb := opened(t)
		expect.NoError(t, tb.answer(tt.proposal))
		x := tb.load().Current()
		expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin()))
		if tt.proposal.Type == ToolCall {
			expect.NoError(t, tb.claimCall("i1"))
		} else {
			expect.NoError(t, tb.claim("i1"))
		}
		endsWithdrawn(t, name, tb, tb.load().Action(x.ActionID), false, tt.late)
	}
}

func endsWithdrawn(t *testing.T, name string, tb *table, x *Action, looks bool, late aggregate.Reason) {
	t.Helper()
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Cancel(x.ActionID, person(sato), policy, tb.now)
	})
	tb.sweep()
	a := tb.load()
	is := a.Action(x.ActionID)
	expect.That(t, is.Late == nil && a.Looking() == nil, "%s: its invocation may still say so: %+v", name, is)
	due := a.DueAt(tb.now)
	expect.That(t, due != nil && !due.After(is.Claim.LeaseUntil), "%s: nobody comes back: %v", name, due)
	tb.now = is.Claim.LeaseUntil
	tb.sweep()
	a = tb.load()
	is = a.Action(x.ActionID)
	expect.Is(t, is.Status, ActionCancelled)
	if looks {
		expect.That(t, a.Looking() != nil && a.Next(tb.now).State == StateCall && is.Late == nil, "%s: nobody looks: %+v", name, is.Pushed)
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Found(a.Head.Run, x.ActionID, Result{Status: ActionFailed, Error: ReasonBranchAlone, Pushed: &Pushed{Commit: madeCommit, There: true}}, tb.now)
		})
		a = tb.load()
		is, late = a.Action(x.ActionID), ReasonBranchAlone
		expect.That(t, is.Pushed.There && is.Pushed.Look == nil, "%s: %+v", name, is.Pushed)
	}
	expect.Must(t, is.Late != nil && is.Late.Error == late && is.Late.Status == ActionFailed, "%s: %+v", name, is.Late)
	rev := tb.head.Rev
	tb.sweep()
	expect.Is(t, tb.head.Rev, rev, name+": it is recorded once")
	if late == ReasonUnknown { // and its invocation lived after all
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now.Add(time.Minute))
		})
		expect.Is(t, tb.load().Action(x.ActionID).Late.Status, ActionSucceeded)
	}
}

// Of a conversation that has ended meanwhile no run looks: what is known is that nobody knows.
func TestAWithdrawnPushOfAnEndedConversationIsUnknown(t *testing.T) {
	tb, x := pushing(t)
	expect.NoError(t, tb.step(x, "i1", Pushed{Commit: madeCommit}))
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Cancel(x.ActionID, person(sato), policy, tb.now)
	})
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) })
	tb.now = x.Claim.LeaseUntil
	tb.sweep()
	is := tb.load().Action(x.ActionID)
	expect.That(t, is.Late != nil && is.Late.Error == ReasonUnknown && is.Pushed.Look == nil, "%+v", is)
}

// runs begins a run, unless one goes on.
func (tb *table) runs() {
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		if a.Head.Resting {
			return a.StartRun(tb.now)
		}
		return aggregate.Change{}, nil
	})
}

// changed delivers that a message was edited or deleted, and has it answered by a sentence.
func (tb *table) changed(of Inbound, deleted bool) (noticed func()) {
	tb.t.Helper()
	tb.told++
	of.Changes, of.Deleted, of.TS = of.TS, deleted, fmt.Sprintf("%d.%06d", tb.now.Unix(), tb.told)
	c, err := Tell(of, Opening{IdleDays: 7}, tb.now)
	expect.NoError(tb.t, err)
	tb.apply(c, tb.head)
	return func() {
		tb.runs()
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Refused(a.Head.Run, a.Waiting(), Refusal{Reason: "message_deleted", Text: "deleted"}, tb.now)
		})
	}
}

// A deletion of a message from which a proposal came withdraws it while it waits; nobody can approve it meanwhile. An
// edit is noted on it. Neither concerns a proposal that came of other messages, or of a person.
func TestADeletedMessageTakesItsProposalBack(t *testing.T) {
	first := inbound("hello", "1775034000.000100")
	for name, tt := range map[string]struct {
		reach            func(tb *table)
		deleted          bool
		withdrawn, noted bool
	}{
		"the message that was answered": {func(*table) {}, true, true, false},
		"an edit":                       {func(*table) {}, false, false, true},
		"one answered in words before": {func(tb *table) {
			expect.NoError(tb.t, tb.answer(nil))
			tb.tell("now do it")
			tb.runs()
		}, true, true, false},
		"one of an earlier proposal": {func(tb *table) {
			expect.NoError(tb.t, tb.answer(proposal(ShellCommand, tb.now, "")))
			tb.by(suzuki, rejecting, tb.load().Current())
			tb.tell("another one")
			tb.runs()
		}, true, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			tb := opened(t)
			tt.reach(tb)
			expect.NoError(t, tb.answer(proposal(ShellCommand, tb.now, "")))
			x := tb.load().Current()
			noticed := tb.changed(first, tt.deleted)
			if tt.withdrawn {
				expect.Fails(t, tb.approve(x, suzuki), aggregate.ErrConflict)
			}
			noticed()
			is := tb.load().Action(x.ActionID)
			expect.That(t, (is.Status == ActionCancelled && is.CancelReason == ReasonDeleted && is.CancelledBy == "") ==
				tt.withdrawn && (is.EditedAt != nil) == tt.noted, "%+v", is)
			if !tt.withdrawn {
				expect.NoError(t, tb.approve(x, suzuki))
				tb.changed(first, true)()
				expect.Is(t, tb.load().Action(x.ActionID).Status, ActionApproved, "a deletion after the decision")
			}
		})
	}
}
