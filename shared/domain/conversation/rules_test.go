package conversation

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
)

// forged changes the row of the current action as no decision would.
func (tb *table) forged(change func(x *Action)) {
	tb.t.Helper()
	x := *tb.load().Current()
	change(&x)
	tb.rows[x.Key()] = &x
}

func TestAnApprovalCoversWhatWasStampedAlone(t *testing.T) {
	for name, change := range map[string]func(x *Action){
		"another payload": func(x *Action) { x.Payload = proposal(ShellCommand, start.Add(time.Hour), "").Payload },
		"nobody's stamp":  func(x *Action) { x.Gate.Stamps = nil },
		"by nobody":       func(x *Action) { x.ApprovedBy = "" },
	} {
		tb, x := pending(t, ShellCommand)
		if err := tb.approve(x, suzuki); err != nil {
			t.Fatal(err)
		}
		if err := tb.begin(); err != nil {
			t.Fatal(err)
		}
		tb.forged(change)
		if err := tb.claim("i1"); !errors.Is(err, aggregate.ErrConflict) {
			t.Errorf("%s is executed: %v", name, err)
		}
	}
	tb, x := pending(t, ShellCommand)
	if err := errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i1")); err != nil {
		t.Errorf("what was stamped is not executed: %v", err)
	}
}

func TestARuleLetsTestsRunAndNothingElse(t *testing.T) {
	for _, typ := range []ActionType{TestRun, ShellCommand, CodeGenerate} {
		tb := opened(t)
		if err := tb.answer(proposal(TestRun, tb.now, `{"type":"test_run"}`)); err != nil {
			t.Fatal(err)
		}
		tb.forged(func(x *Action) { x.ActionType = typ })
		if err := tb.claim("i1"); (err == nil) != (typ == TestRun) {
			t.Errorf("a %s that a rule approved: %v", typ, err)
		}
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
	if err := expire(); err != nil || tb.load().Action(x.ActionID).CancelReason != ReasonExpired {
		t.Errorf("after its time: %v", err)
	}
	if err := tb.approve(x, suzuki); err == nil {
		t.Error("one that has expired is approved")
	}
}

func TestAConversationEndsAfterItsIdleDaysAndNotBefore(t *testing.T) {
	tb := opened(t)
	if err := tb.answer(nil); err != nil {
		t.Fatal(err)
	}
	idle := tb.load().Session.LastActivityAt.Add(7 * 24 * time.Hour)
	closed := func() error {
		return tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.CloseIdle(tb.now) })
	}
	tb.now = idle.Add(-time.Millisecond)
	if err := closed(); !errors.Is(err, aggregate.ErrNotDue) {
		t.Errorf("before its days: %v", err)
	}
	tb.now = idle
	if err := closed(); err != nil || tb.load().Session.Status != Closed || tb.load().Session.CloseReason != ReasonIdle {
		t.Errorf("after its days: %v", err)
	}
	tb, _ = pending(t, ShellCommand)
	tb.now = tb.now.Add(30 * 24 * time.Hour)
	if err := closed(); !errors.Is(err, aggregate.ErrNotDue) {
		t.Errorf("while an action waits: %v", err)
	}
}

func TestRulesApproveOnlySoMuchUntilAPersonIsAsked(t *testing.T) {
	tb := opened(t)
	for n := range mostUnasked + 1 {
		if err := tb.answer(proposal(TestRun, tb.now, `{"type":"test_run"}`)); err != nil {
			t.Fatal(err)
		}
		x := tb.load().Current()
		if asked := x.Status == ActionPending; asked != (n == mostUnasked) {
			t.Fatalf("proposal %d is %s", n+1, x.Status)
		}
		if x.Status == ActionPending {
			break
		}
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Cancel(x.ActionID, person(suzuki), aggregate.Policy{Team: "T1", Mode: aggregate.ApproversChannel, AllowSelf: true}, tb.now)
		})
	}
}

// What was stamped can be shown as long as the audit log has its hash, whatever becomes of the conversation.
func TestWhatWasStampedStaysAsLongAsTheAuditLog(t *testing.T) {
	tb := opened(t)
	answered := func() { // the run that is open, or the next one, answers and ends
		if tb.load().Head.Resting {
			tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.StartRun(tb.now) })
		}
		if err := tb.answer(nil); err != nil {
			t.Fatal(err)
		}
	}
	answered()
	for n := range mostKept + 5 {
		tb.now = tb.now.Add(time.Minute)
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Propose(*proposal(ShellCommand, tb.now, ""), person(sato), policy, tb.now)
		})
		x := tb.load().Current()
		if n%2 == 0 {
			tb.must(func(a *Aggregate) (aggregate.Change, error) {
				return a.Reject(x.ActionID, "no", person(suzuki), policy, tb.now)
			})
			answered()
			continue
		}
		if err := errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i1")); err != nil {
			t.Fatal(err)
		}
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now)
		})
		answered()
	}
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, tb.now) })
	left := 0
	for _, rows := range []map[string]aggregate.Row{tb.rows, tb.lists} {
		for key, row := range rows {
			x, ok := row.(*Action)
			if !ok {
				continue
			}
			if stays := x.DeleteAfter == 0; stays != (x.ApprovedBy != "") {
				t.Errorf("%s, approved by %q, goes at %d", key, x.ApprovedBy, x.DeleteAfter)
			}
			left++
		}
	}
	if left != mostKept+5 || left == len(tb.load().Actions) {
		t.Errorf("%d actions, %d of them beside the conversation", left, left-len(tb.load().Actions))
	}
}

// The entry of a start names what was stamped and the files that it begins with, also where nothing had begun under an
// earlier claim.
func TestAStartNamesWhatItBeginsWith(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	if err := errors.Join(tb.approve(x, suzuki), tb.begin()); err != nil {
		t.Fatal(err)
	}
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
	if got := started("i1"); got != "" {
		t.Errorf("the same start is told twice: %s", got)
	}
	tb.must(release)
	tb.rows = maps.Clone(tb.rows)
	moved := *tb.load().Session
	moved.WorkspaceVersion = "v2" // what an earlier action left turned up meanwhile
	tb.rows[moved.Key()] = &moved
	if got := started("i1"); !strings.Contains(got, `"base_version":"v2"`) {
		t.Errorf("the entry says %q", got)
	}
}

// A run whose functions could not be invoked has not failed: nobody is told so, and the next one begins after the
// pause.
func TestARunThatFindsNoRoomBeginsAnewLater(t *testing.T) {
	tb := opened(t)
	until := tb.now.Add(5 * time.Minute)
	run := tb.load().Head.Run
	pause := func() error {
		return tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.PauseRun(run, until, tb.now) })
	}
	if err := pause(); err != nil {
		t.Fatal(err)
	}
	tb.tell("are you there?")
	a := tb.load()
	if h := a.Head; !h.Resting || h.Restarts != 0 || a.Session.Status != Open || len(a.Inbox) != 2 || a.Effects(tb.now).Begin != nil || a.Effects(tb.now).Run != nil {
		t.Errorf("while it pauses: %+v, %d messages wait", h, len(a.Inbox))
	}
	if due := a.DueAt(tb.now); due == nil || due.After(until) {
		t.Errorf("the sweeper comes at %v, not by %v", due, until)
	}
	begin := func() error {
		return tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.StartRun(tb.now) })
	}
	if err := begin(); !errors.Is(err, aggregate.ErrNotDue) {
		t.Errorf("a run in the pause: %v", err)
	}
	if err := pause(); !errors.Is(err, aggregate.ErrSuperseded) {
		t.Errorf("twice: %v", err)
	}
	tb.now = until
	if tb.load().Effects(tb.now).Begin == nil {
		t.Error("nothing begins the next run")
	}
	if err := begin(); err != nil {
		t.Fatal(err)
	}
	if h := tb.load().Head; h.Resting || h.Run != run+1 || h.Restarts != 0 || h.PausedUntil != nil {
		t.Errorf("after the pause: %+v", h)
	}
}
