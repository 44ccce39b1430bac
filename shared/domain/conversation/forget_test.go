package conversation

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// What people stamped lives as long as the audit log; what they didn't goes with the conversation.
func TestAStampMovesThePayloadToWhatStays(t *testing.T) {
	for name, tt := range map[string]struct {
		rule   string
		decide func(tb *table, x *Action) (aggregate.Change, error)
		stays  bool
	}{
		"a person's": {"", func(tb *table, x *Action) (aggregate.Change, error) {
			return tb.load().Approve(x.ActionID, person(suzuki), policy, tb.now)
		}, true},
		"a rejection": {"", func(tb *table, x *Action) (aggregate.Change, error) {
			return tb.load().Reject(x.ActionID, "no", person(suzuki), policy, tb.now)
		}, false},
		"a rule's": {"rule", nil, true},
	} {
		tb := opened(t)
		p := proposal(TestRun, tb.now, tt.rule)
		p.Payload = aggregate.Blob{S3Key: TalksPrefix + "t/s/" + p.Payload.Hash() + ".json", Bytes: 5000}
		c, err := tb.load().Answered(tb.head.Run, tb.load().Waiting(), Answer{Text: "ok", Proposal: p}, tb.now)
		expect.NoError(t, err)
		if tt.decide != nil {
			expect.Is(t, len(c.Copies), 0, "%s: copies before it", name)
			tb.apply(c, tb.head)
			c, err = tt.decide(tb, tb.load().Current())
			expect.NoError(t, err)
		}
		x := c.Written(ActionKey(1)).(*Action)
		to := strings.Replace(p.Payload.S3Key, TalksPrefix, StampedPrefix, 1)
		stays := len(c.Copies) == 1 && c.Copies[0] == aggregate.Copy{From: p.Payload.S3Key, To: to} && x.Payload.S3Key == to
		expect.That(t, stays == tt.stays && x.Payload.Hash() == p.Payload.Hash(), "%s: %+v names %s", name, c.Copies,
			x.Payload.S3Key)
	}
}

// The sweeper comes when the day is over, and again when nobody writes any more; then never.
func TestAConversationThatIsNotKeptIsForgottenInTwoCommits(t *testing.T) {
	tb, _ := pending(t, ShellCommand)
	tb.by(sato, ending, nil)
	tb.tell("still there?")
	expect.Fails(t, tb.do(tb.load().forgetNow(tb.now)),
		aggregate.ErrNotDue)
	at := *tb.head.ForgottenAt
	due := tb.load().DueAt(tb.now)
	expect.That(t, due != nil && !due.After(at), "due at %v, to be forgotten at %v", due, at)
	tb.now = at
	expect.Fails(t, expect.Err(tb.load().Reopen(person(sato), policy, tb.now)), aggregate.ErrNotFound, "begun anew")
	for key := range tb.rows { // they may have expired
		delete(tb.rows, key)
	}
	expect.That(t, tb.load().DueAt(tb.now).Equal(at) && tb.load().Effects(tb.now).Erased == nil,
		"due at %v", tb.load().DueAt(tb.now))
	tb.must(tb.load().forgetNow(tb.now))
	expect.Fails(t, tb.do(tb.load().forgetNow(tb.now)),
		aggregate.ErrNotDue, "twice")
	a := tb.load()
	late := a.Head.ForgettingAt.Add(lastWrite)
	expect.That(t, a.DueAt(tb.now).Equal(late) && a.Effects(late.Add(-time.Second)).Erased == nil,
		"due at %v", a.DueAt(tb.now))
	expect.Fails(t, tb.do(tb.load().erased(late.Add(-time.Second))),
		aggregate.ErrNotDue, "too early")
	c, err := a.Effects(late).Erased(a)
	expect.That(t, err == nil && len(c.Audit) == 1 && c.Audit[0].Action == AuditForgotten && len(c.Rows) == 0,
		"%+v, %v", c, err)
	expect.NoError(t, tb.commit(a.Head, c))
	a = tb.load()
	expect.That(t, a.Head.ErasedAt != nil && a.DueAt(late) == nil && a.Effects(late.Add(time.Hour)).Erased == nil,
		"%+v", a.Head)
}

// Slack shows the cards without the button to begin anew before their rows are deleted.
func TestCardsAreDrawnOnceMoreBeforeTheyAreDeleted(t *testing.T) {
	tb, _ := pending(t, ShellCommand)
	tb.by(sato, ending, nil)
	tb.head.ShownRev = tb.load().Head.Rev
	tb.now = *tb.head.ForgottenAt
	expect.That(t, !tb.load().Effects(tb.now).Cards, "cards are drawn before anything happened")
	tb.must(tb.load().forgetNow(tb.now))
	a, at := tb.load(), *tb.head.ForgettingAt
	for after, tt := range map[time.Duration]struct{ drawn, erased bool }{
		0: {true, false}, lastWrite - time.Minute: {true, false}, lastWrite: {false, true},
	} {
		then := a.Effects(at.Add(after))
		expect.That(t, then.Cards == tt.drawn && (then.Erased != nil) == tt.erased, "after %s: %+v", after, then)
	}
	expect.Is(t, a.DueAt(at).Sub(at), 5*time.Minute, "the sweeper comes again after")
	expect.Is(t, a.DueAt(at.Add(14*time.Minute)).Sub(at), lastWrite, "in the end it comes after")
	a.Head.ShownRev = a.Head.Rev
	late := at.Add(lastWrite)
	then := a.Effects(late)
	expect.That(t, !then.Cards && then.Erased != nil && a.DueAt(at).Equal(late),
		"once they are shown: %+v, due %v", then, a.DueAt(at))
	a.Head.ErasedAt, a.Head.ShownRev = &late, 0
	then = a.Effects(late.Add(time.Minute))
	expect.That(t, !then.Cards && then.Erased == nil, "cards of which nothing is left: %+v", then)
}

// Nothing is decided on a conversation that is being forgotten, whatever was under way.
func TestNothingIsDecidedWhileAConversationIsForgotten(t *testing.T) {
	tb, x := executing(t, ShellCommand)
	tb.head.ForgettingAt = &tb.now
	for name, decide := range map[string]func(a *Aggregate) (aggregate.Change, error){
		"a result": func(a *Aggregate) (aggregate.Change, error) {
			return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now)
		},
		"a cost":      func(a *Aggregate) (aggregate.Change, error) { return a.Overtaken(tb.used(), tb.now) },
		"a new start": func(a *Aggregate) (aggregate.Change, error) { return a.Reopen(person(sato), policy, tb.now) },
		"an end":      func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) },
	} {
		expect.That(t, tb.do(decide(tb.load())) != nil, "%s is taken", name)
	}
	expect.That(t, tb.load().Effects(tb.now).Run == nil, "a run is opened")
}

// sweep makes the decisions of time, as the sweeper does.
func (tb *table) sweep() {
	for _, o := range tb.load().Overdue(tb.now) {
		err := tb.do(o.Decide(tb.load()))
		if err != nil && !errors.Is(err, aggregate.ErrNotDue) && !errors.Is(err, aggregate.ErrInFlight) {
			expect.NoError(tb.t, err)
		}
	}
}

// An invocation that executes a withdrawn action may die. Once its lease is over the sweeper has it looked what is
// there of a pull request, and records what is known of anything else.
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
		"a pull request before that": {func(tb *table) (*Action, error) { return tb.load().Current(), nil }, false,
			ReasonInterrupted},
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
		"a command": {proposal(ShellCommand, start, ""), ReasonUnknown}, "files": {proposal(CodeGenerate, start, ""),
			ReasonInterrupted},
		"a call": {listedRead(), ReasonReadCutOff},
	} {
		tb := opened(t)
		expect.NoError(t, tb.answer(tt.proposal))
		x := tb.load().Current()
		if tt.proposal.Type == ToolCall {
			expect.NoError(t, tb.claimCall("i1"))
		} else {
			expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i1")))
		}
		endsWithdrawn(t, name, tb, tb.load().Action(x.ActionID), false, tt.late)
	}
}

func endsWithdrawn(t *testing.T, name string, tb *table, x *Action, looks bool, late aggregate.Reason) {
	t.Helper()
	tb.by(sato, cancelling, x)
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
		expect.That(t, a.Looking() != nil && a.Next(tb.now).State == StateCall && is.Late == nil, "%s: nobody looks: %+v",
			name, is.Pushed)
		tb.must(tb.load().Found(tb.load().Head.Run, x.ActionID, Result{Status: ActionFailed, Error: ReasonBranchAlone,
			Pushed: &Pushed{Commit: madeCommit, There: true}}, tb.now))
		a = tb.load()
		is, late = a.Action(x.ActionID), ReasonBranchAlone
		expect.That(t, is.Pushed.There && is.Pushed.Look == nil, "%s: %+v", name, is.Pushed)
	}
	expect.Must(t, is.Late != nil && is.Late.Error == late && is.Late.Status == ActionFailed, "%s: %+v", name, is.Late)
	rev := tb.head.Rev
	tb.sweep()
	expect.Is(t, tb.head.Rev, rev, name+": it is recorded once")
	if late == ReasonUnknown { // and its invocation lived after all
		tb.must(tb.load().Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now.Add(time.Minute)))
		expect.Is(t, tb.load().Action(x.ActionID).Late.Status, ActionSucceeded)
	}
}

// Of a conversation that has ended meanwhile no run looks: what is known is that nobody knows.
func TestAWithdrawnPushOfAnEndedConversationIsUnknown(t *testing.T) {
	tb, x := pushing(t)
	expect.NoError(t, tb.step(x, "i1", Pushed{Commit: madeCommit}))
	tb.by(sato, cancelling, x)
	tb.by(sato, ending, nil)
	tb.now = x.Claim.LeaseUntil
	tb.sweep()
	is := tb.load().Action(x.ActionID)
	expect.That(t, is.Late != nil && is.Late.Error == ReasonUnknown && is.Pushed.Look == nil, "%+v", is)
}

// runs begins a run, unless one goes on.
func (tb *table) runs() {
	if tb.load().Head.Resting {
		tb.must(tb.load().StartRun(tb.now))
	}
}

// changed delivers that a message was edited or deleted, and has it answered by a sentence.
func (tb *table) changed(of Inbound, deleted bool) (noticed func()) {
	tb.t.Helper()
	tb.told++
	of.Changes, of.Deleted, of.TS = of.TS, deleted, fmt.Sprintf("%d.%06d", tb.now.Unix(), tb.told)
	c, err := Tell(of, Opening{}, tb.now)
	expect.NoError(tb.t, err)
	tb.apply(c, tb.head)
	return func() {
		tb.runs()
		tb.must(tb.load().Refused(tb.load().Head.Run, tb.load().Waiting(), Refusal{Reason: "message_deleted",
			Text: "deleted"}, tb.now))
	}
}

// A deletion of a message from which a proposal came withdraws it while it waits; nobody can approve it meanwhile. It
// doesn't concern a proposal that came of other messages, or of a person.
func TestADeletedMessageTakesItsProposalBack(t *testing.T) {
	first := inbound("hello", "1775034000.000100")
	for name, tt := range map[string]struct {
		reach     func(tb *table)
		deleted   bool
		withdrawn bool
	}{
		"the message that was answered": {func(*table) {}, true, true},
		"an edit":                       {func(*table) {}, false, false},
		"one answered in words before": {func(tb *table) {
			expect.NoError(tb.t, tb.answer(nil))
			tb.tell("now do it")
			tb.runs()
		}, true, true},
		"one of an earlier proposal": {func(tb *table) {
			expect.NoError(tb.t, tb.answer(proposal(ShellCommand, tb.now, "")))
			tb.by(suzuki, rejecting, tb.load().Current())
			tb.tell("another one")
			tb.runs()
		}, true, false},
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
				tt.withdrawn, "%+v", is)
			if !tt.withdrawn {
				expect.NoError(t, tb.approve(x, suzuki))
				tb.changed(first, true)()
				expect.Is(t, tb.load().Action(x.ActionID).Status, ActionApproved, "a deletion after the decision")
			}
		})
	}
}
