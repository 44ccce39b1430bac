package conversation

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// forged changes the row of the current action in a way that no decision does.
func (tb *table) forged(change func(x *Action)) {
	tb.t.Helper()
	x := *tb.load().Current()
	change(&x)
	tb.rows[x.Key()] = &x
}

func TestAnApprovalCoversWhatWasStampedAlone(t *testing.T) {
	for name, change := range map[string]func(x *Action){
		"another payload": func(x *Action) { x.Payload = proposal(ShellCommand, start.Add(time.Hour), "").Payload },
		"nobody's stamp":  func(x *Action) { x.Gate.Acts = nil },
		"by nobody":       func(x *Action) { x.ApprovedBy = "" },
	} {
		tb, x := pending(t, ShellCommand)
		expect.NoError(t, tb.approve(x, suzuki))
		expect.NoError(t, tb.begin())
		tb.forged(change)
		expect.Fails(t, tb.claim("i1"), aggregate.ErrConflict, "%s is executed", name)
	}
	tb, x := pending(t, ShellCommand)
	err := errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i1"))
	expect.That(t, err == nil, "what was stamped is not executed: %v", err)
}

func TestARuleLetsTestsRunAndNothingElse(t *testing.T) {
	for _, typ := range []ActionType{TestRun, ShellCommand, CodeGenerate} {
		tb := opened(t)
		expect.NoError(t, tb.answer(proposal(TestRun, tb.now, `{"type":"test_run"}`)))
		tb.forged(func(x *Action) { x.ActionType = typ })
		err := tb.claim("i1")
		expect.That(t, (err == nil) == (typ == TestRun), "a %s that a rule approved: %v", typ, err)
	}
}

func TestAnActionExpiresAfterItsTimeAndNotBefore(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	expire := func() error { return tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.Expire(tb.now) }) }
	tb.now = x.Gate.Terms.DecideBy.Add(-time.Millisecond)
	if err := expire(); !errors.Is(err, aggregate.ErrNotDue) || tb.load().Current().Status != ActionPending {
		t.Errorf("before its time: %v", err)
	}
	tb.now = *x.Gate.Terms.DecideBy
	err := expire()
	expect.That(t, err == nil && tb.load().Action(x.ActionID).CancelReason == ReasonExpired, "after its time: %v", err)
	expect.That(t, tb.approve(x, suzuki) != nil, "one that has expired is approved")
}

func TestAConversationEndsAfterItsIdleDaysAndNotBefore(t *testing.T) {
	tb := opened(t)
	expect.NoError(t, tb.answer(nil))
	idle := tb.load().Conversation.LastActivityAt.Add(tenancy.IdleDays * 24 * time.Hour)
	closed := func() error {
		return tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.CloseIdle(tb.now) })
	}
	tb.now = idle.Add(-time.Millisecond)
	expect.Fails(t, closed(), aggregate.ErrNotDue, "before its days")
	tb.now = idle
	err := closed()
	expect.That(t, err == nil && tb.load().Conversation.Status == Closed &&
		tb.load().Conversation.CloseReason == ReasonIdle, "after its days: %v", err)
	tb, _ = pending(t, ShellCommand)
	tb.now = tb.now.Add(30 * 24 * time.Hour)
	expect.Fails(t, closed(), aggregate.ErrNotDue, "while an action waits")
}

func TestRulesApproveOnlySoMuchUntilAPersonIsAsked(t *testing.T) {
	tb := opened(t)
	for n := range mostUnasked + 1 {
		expect.NoError(t, tb.answer(proposal(TestRun, tb.now, `{"type":"test_run"}`)))
		x := tb.load().Current()
		asked := x.Status == ActionPending
		expect.Must(t, asked == (n == mostUnasked), "proposal %d is %s", n+1, x.Status)
		if x.Status == ActionPending {
			break
		}
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Cancel(x.ActionID, person(suzuki), aggregate.Policy{Team: "T1", Mode: aggregate.ApproversChannel,
				AllowSelf: true}, tb.now)
		})
	}
}

// A stamped action is kept as long as its hash is in the audit log, even if the conversation is forgotten.
func TestWhatWasStampedStaysAsLongAsTheAuditLog(t *testing.T) {
	tb := opened(t)
	answered := func() { // the open run, or the next one, answers and ends
		if tb.load().Head.Resting {
			tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.StartRun(tb.now) })
		}
		expect.NoError(t, tb.answer(nil))
	}
	answered()
	for n := range mostKept + 5 {
		tb.now = tb.now.Add(time.Minute)
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Propose(*proposal(ShellCommand, tb.now, ""), person(sato), policy, tb.now)
		})
		x := tb.load().Current()
		if n == 0 {
			c := &aggregate.Card{CardType: CardAction, Subject: x.Key(), User: suzuki}
			tb.rows[c.Key()] = c
		}
		if n%2 == 0 {
			tb.by(suzuki, rejecting, x)
			answered()
			continue
		}
		expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i1")))
		tb.finishes(x, "i1", Result{Status: ActionSucceeded})
		answered()
	}
	tb.by(sato, ending, nil)
	left := 0
	for _, rows := range []map[string]aggregate.Row{tb.rows, tb.lists} {
		for key, row := range rows {
			x, ok := row.(*Action)
			if !ok {
				continue
			}
			stays := x.DeleteAfter == 0 // of the others in the conversation the sweeper deletes all
			expect.Is(t, stays, x.ApprovedBy != "" || tb.rows[key] != nil, "%s, approved by %q, goes at %d", key, x.ApprovedBy,
				x.DeleteAfter)
			left++
		}
	}
	expect.That(t, left == mostKept+5 && left != len(tb.load().Actions),
		"%d actions, %d of them beside the conversation", left, left-len(tb.load().Actions))
	expect.Is(t, len(tb.load().Copies), 0, "copies of an action that left")
}

// The audit entry of a start names the stamped action and the version of the files, even if an earlier claim was
// released.
func TestAStartNamesWhatItBeginsWith(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin()))
	started := func(invocation string) string {
		var c aggregate.Change
		tb.must(func(a *Aggregate) (_ aggregate.Change, err error) {
			c, err = a.Claim(a.Head.Run, invocation, tb.now.Add(time.Minute), tb.now)
			return c, err
		})
		for _, e := range c.Audit {
			if e.Action == AuditStarted {
				return string(e.Details)
			}
		}
		return ""
	}
	if got := started("i1"); !strings.Contains(got, `"base_version":""`) || !strings.Contains(got, x.Payload.Hash()) {
		t.Errorf("the entry says %s", got)
	}
	release := func(a *Aggregate) (aggregate.Change, error) { return a.Release(x.ActionID, "i1", tb.now) }
	tb.must(release)
	expect.Is(t, started("i1"), "", "the same start is told twice")
	tb.must(release)
	tb.moved("v2")
	expect.Fails(t, tb.claim("i1"), ErrBase, "files that nobody saw are worked on")
}

// A run that found no capacity has not failed: nobody is notified, and the next run begins after the pause.
func TestARunThatFindsNoRoomBeginsAnewLater(t *testing.T) {
	tb := opened(t)
	until := tb.now.Add(5 * time.Minute)
	run := tb.load().Head.Run
	pause := func() error {
		return tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.PauseRun(run, until, tb.now) })
	}
	expect.NoError(t, pause())
	tb.tell("are you there?")
	a := tb.load()
	if h := a.Head; !h.Resting || h.Restarts != 0 || a.Conversation.Status != Open || len(a.Inbox) != 2 ||
		a.Effects(tb.now).Begin != nil || a.Effects(tb.now).Run != nil {
		t.Errorf("while it pauses: %+v, %d messages wait", h, len(a.Inbox))
	}
	due := a.DueAt(tb.now)
	expect.That(t, due != nil && !due.After(until), "the sweeper comes at %v, not by %v", due, until)
	begin := func() error {
		return tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.StartRun(tb.now) })
	}
	expect.Fails(t, begin(), aggregate.ErrNotDue, "a run in the pause")
	expect.Fails(t, pause(), aggregate.ErrSuperseded, "twice")
	tb.now = until
	expect.That(t, tb.load().Effects(tb.now).Begin != nil, "nothing begins the next run")
	expect.NoError(t, begin())
	h := tb.load().Head
	expect.That(t, !h.Resting && h.Run == run+1 && h.Restarts == 0 && h.PausedUntil == nil, "after the pause: %+v", h)
}
