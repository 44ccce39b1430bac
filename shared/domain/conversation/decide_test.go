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

const tanaka = "U_TANAKA"

// act is a decision on the newest rows, which is not committed.
type act func(tb *table, x *Action, by aggregate.Actor, p aggregate.Policy) (aggregate.Change, error)

func approving(tb *table, x *Action, by aggregate.Actor, p aggregate.Policy) (aggregate.Change, error) {
	return tb.load().Approve(x.ActionID, by, p, tb.now)
}

func rejecting(tb *table, x *Action, by aggregate.Actor, p aggregate.Policy) (aggregate.Change, error) {
	return tb.load().Reject(x.ActionID, "no", by, p, tb.now)
}

func cancelling(tb *table, x *Action, by aggregate.Actor, p aggregate.Policy) (aggregate.Change, error) {
	return tb.load().Cancel(x.ActionID, by, p, tb.now)
}

func ending(tb *table, _ *Action, by aggregate.Actor, p aggregate.Policy) (aggregate.Change, error) {
	return tb.load().End(by, p, tb.now)
}

func stopping(tb *table, _ *Action, by aggregate.Actor, p aggregate.Policy) (aggregate.Change, error) {
	return tb.load().Stop(by, p, tb.now)
}

func reopening(tb *table, _ *Action, by aggregate.Actor, p aggregate.Policy) (aggregate.Change, error) {
	return tb.load().Reopen(by, p, tb.now)
}

// by commits an act of this person under the policy that allows everybody.
func (tb *table) by(who string, do act, x *Action) {
	tb.t.Helper()
	c, err := do(tb, x, person(who), policy)
	expect.NoError(tb.t, err)
	expect.NoError(tb.t, tb.commit(tb.load().Head, c))
}

// finishes commits the result of an action that an invocation executes.
func (tb *table) finishes(x *Action, invocation string, r Result) {
	tb.t.Helper()
	tb.must(tb.load().Finish(x.ActionID, invocation, r, tb.now))
}

// Sato opened the conversation, and Tanaka is one of the people who asked for the action.
func TestWhoMayDecideOnAnAction(t *testing.T) {
	strict := aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel}
	list := aggregate.Policy{Team: team, Mode: aggregate.ApproversList, Approvers: []string{suzuki}}
	guest, foreign := person(suzuki), person(tanaka)
	guest.Guest, foreign.Team = true, "T_OTHER"
	both, her := []string{sato, tanaka}, []string{tanaka}
	for name, c := range map[string]struct {
		do     act
		by     aggregate.Actor
		policy aggregate.Policy
		askers []string
		want   aggregate.Rule
	}{
		"approved by another":                          {approving, person(suzuki), strict, both, ""},
		"approved by the opener, who asked":            {approving, person(sato), strict, both, aggregate.RuleSelf},
		"approved by another who asked":                {approving, person(tanaka), strict, both, aggregate.RuleSelf},
		"approved by the opener, who did not ask":      {approving, person(sato), strict, her, ""},
		"approved by the opener, when nobody is named": {approving, person(sato), strict, nil, aggregate.RuleSelf},
		"approved by one who is not in the list":       {approving, person("U_ITO"), list, both, aggregate.RuleNotListed},
		"rejected by one of the list":                  {rejecting, person(suzuki), list, both, ""},
		"rejected by one who is not in the list":       {rejecting, person(tanaka), list, both, aggregate.RuleNotListed},
		"rejected by a guest":                          {rejecting, guest, strict, both, aggregate.RuleGuest},
		"cancelled by the opener":                      {cancelling, person(sato), list, her, ""},
		"cancelled by one who asked":                   {cancelling, person(tanaka), list, both, ""},
		"cancelled by an approver":                     {cancelling, person(suzuki), list, both, ""},
		"cancelled by anybody else":                    {cancelling, person("U_ITO"), list, both, aggregate.RuleNotParty},
		"cancelled from another workspace":             {cancelling, foreign, list, both, aggregate.RuleForeign},
		"ended by the opener":                          {ending, person(sato), list, both, ""},
		"ended by one who asked":                       {ending, person(tanaka), list, both, aggregate.RuleNotParty},
		"stopped by one who asked":                     {stopping, person(tanaka), list, both, aggregate.RuleNotParty},
	} {
		tb, _ := pending(t, ShellCommand)
		tb.forged(func(x *Action) {
			x.Askers = c.askers
			x.Gate.Askers = aggregate.BySettings(true, tb.load().AskersOf(x)...).Askers
		})
		_, err := c.do(tb, tb.load().Current(), c.by, c.policy)
		refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
		expect.That(t, refused.Rule == c.want && (c.want != "" || err == nil), "%s: %v, want the rule %q", name, err, c.want)
	}
	tb, x := pending(t, ShellCommand)
	tb.by(sato, ending, x)
	for name, c := range map[string]struct {
		by   aggregate.Actor
		want aggregate.Rule
	}{"a guest": {guest, aggregate.RuleGuest}, "another workspace": {foreign, aggregate.RuleForeign},
		"a member": {person(tanaka), ""}} {
		_, err := reopening(tb, x, c.by, list)
		refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
		expect.That(t, refused.Rule == c.want && (c.want != "" || err == nil), "reopened by %s: %v, want the rule %q", name,
			err, c.want)
	}
}

// Whoever decides what they decided before changes nothing. Anybody else learns who was faster.
func TestAnActionIsDecidedOnce(t *testing.T) {
	expiring := func(tb *table, x *Action, _ aggregate.Actor, _ aggregate.Policy) (aggregate.Change, error) {
		tb.now = *x.Gate.Terms.DecideBy
		return tb.load().Expire(tb.now)
	}
	type click struct {
		who string
		do  act
	}
	none := aggregate.ErrDecided{} // nothing is changed
	by := func(status, who string) aggregate.ErrDecided { return aggregate.ErrDecided{Status: status, By: who} }
	for name, c := range map[string]struct {
		before []click
		then   click
		want   aggregate.ErrDecided
	}{
		"approved twice by one":    {[]click{{suzuki, approving}}, click{suzuki, approving}, none},
		"approved by two":          {[]click{{suzuki, approving}}, click{tanaka, approving}, by("approved", suzuki)},
		"approved, then rejected":  {[]click{{suzuki, approving}}, click{suzuki, rejecting}, by("approved", suzuki)},
		"rejected twice by one":    {[]click{{suzuki, rejecting}}, click{suzuki, rejecting}, none},
		"rejected by two":          {[]click{{suzuki, rejecting}}, click{tanaka, rejecting}, by("rejected", suzuki)},
		"rejected, then approved":  {[]click{{suzuki, rejecting}}, click{suzuki, approving}, by("rejected", suzuki)},
		"rejected, then cancelled": {[]click{{suzuki, rejecting}}, click{suzuki, cancelling}, by("rejected", suzuki)},
		"cancelled twice by one":   {[]click{{sato, cancelling}}, click{sato, cancelling}, none},
		"cancelled by two":         {[]click{{sato, cancelling}}, click{suzuki, cancelling}, by("cancelled", sato)},
		"cancelled, then approved": {[]click{{sato, cancelling}}, click{suzuki, approving}, by("cancelled", sato)},
		"cancelled after approval": {[]click{{suzuki, approving}, {sato, cancelling}}, click{tanaka, approving},
			by("cancelled", sato)},
		"expired, then approved":    {[]click{{sato, expiring}}, click{suzuki, approving}, by("cancelled", "")},
		"expired, then rejected":    {[]click{{sato, expiring}}, click{suzuki, rejecting}, by("cancelled", "")},
		"ended twice":               {[]click{{sato, ending}}, click{suzuki, ending}, none},
		"reopened while it is open": {nil, click{tanaka, reopening}, none},
	} {
		tb, x := pending(t, ShellCommand)
		for _, first := range c.before {
			tb.by(first.who, first.do, x)
		}
		made, err := c.then.do(tb, x, person(c.then.who), policy)
		was, _ := errors.AsType[aggregate.ErrDecided](err)
		expect.That(t, made.Empty() && was.Status == c.want.Status && was.By == c.want.By &&
			(err == nil) == (c.want.Status == ""), "%s: %v, want %+v", name, err, c.want)
	}
}

// A stamp of a rule has no person, so nobody without an id counts as the one who gave it.
func TestAStampOfARuleIsNobodys(t *testing.T) {
	tb := opened(t)
	expect.NoError(t, tb.answer(proposal(TestRun, tb.now, `{"type":"test_run"}`)))
	x := tb.load().Current()
	_, err := approving(tb, x, aggregate.Actor{Type: aggregate.ActorUser, Team: team, Member: true}, policy)
	_, decided := errors.AsType[aggregate.ErrDecided](err)
	expect.That(t, x.Status == ActionApproved && decided, "an action that is %s: %v", x.Status, err)
}

func TestNothingInFlightIsEnded(t *testing.T) {
	for _, begin := range []func(testing.TB, ActionType) (*table, *Action){
		executing,
		func(t testing.TB, typ ActionType) (*table, *Action) {
			tb, x := pending(t, typ)
			tb.by(suzuki, approving, x)
			return tb, x
		},
	} {
		tb, x := begin(t, ShellCommand)
		_, err := ending(tb, x, person(sato), policy)
		expect.Fails(t, err, aggregate.ErrInFlight, "ended while an action is %s", tb.load().Current().Status)
		tb.now = x.Gate.Terms.DecideBy.Add(time.Hour)
		_, err = tb.load().Expire(tb.now)
		expect.Fails(t, err, aggregate.ErrNotDue, "expired while an action is %s", tb.load().Current().Status)
	}
	tb := opened(t)
	tb.now = tb.now.Add(30 * 24 * time.Hour)
	expect.Fails(t, expect.Err(tb.load().CloseIdle(tb.now)), aggregate.ErrNotDue, "ended while a message waits")
}

// The test tries every pair of statuses. Moves that are not listed must be refused and write nothing.
func TestAMoveThatIsNotListedIsRefused(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	try := func(what string, from, to any, listed bool, c *change) {
		made, err := c.done()
		expect.That(t, listed && err == nil || !listed && errors.Is(err, aggregate.ErrConflict) && made.Empty(),
			"%s: %s to %s: %v", what, from, to, err)
	}
	for from := range Moves {
		for to := range Moves {
			c := tb.load().begin(tb.now)
			c.Conversation.Status = from
			c.to(to)
			try("conversation", from, to, from == to || Moves.Allows(from, to), c)
		}
	}
	for from := range ActionMoves {
		for to := range ActionMoves {
			c, n := tb.load().begin(tb.now), *x
			n.Status = from
			c.move(&n, to, func(*Action) {})
			try("action", from, to, ActionMoves.Allows(from, to), c)
		}
	}
}

// Sato asks and is answered in words; then somebody else only says thanks.
func TestNobodyStampsWhatTheyDictatedBeforeAnothersThanks(t *testing.T) {
	strict := aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel}
	tb := opened(t)
	expect.NoError(t, tb.answer(nil))
	tb.toldBy(suzuki, "thanks")
	expect.NoError(t, tb.begin())
	expect.NoError(t, tb.answer(proposal(ShellCommand, tb.now, "")))
	x := tb.load().Current()
	expect.Same(t, x.Askers, []string{suzuki, sato})
	for who, want := range map[string]aggregate.Rule{sato: aggregate.RuleSelf, suzuki: aggregate.RuleSelf, tanaka: ""} {
		_, err := approving(tb, x, person(who), strict)
		refused, _ := errors.AsType[aggregate.ErrNotAllowed](err)
		expect.That(t, refused.Rule == want, "%s: %v, want the rule %q", who, err, want)
	}
	tb.by(tanaka, rejecting, x)
	tb.toldBy(suzuki, "list the files")
	expect.NoError(t, tb.begin())
	expect.NoError(t, tb.answer(proposal(ShellCommand, tb.now, "")))
	expect.Same(t, tb.load().Current().Askers, []string{suzuki})
}

// The newest action is never archived, so rows without it come from two commits.
func TestNothingIsDecidedOnATornRead(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	delete(tb.rows, x.Key())
	_, err := ending(tb, x, person(sato), policy)
	expect.Fails(t, err, aggregate.ErrConflict, "ended without its newest action's row")
	delete(tb.rows, (&Conversation{}).Key())
	expect.Fails(t, tb.load().Readable(tb.now), aggregate.ErrConflict, "a conversation without its row")
}

// An action that no person is asked about is in no list of what waits, and a conversation that was forgotten is not
// found.
func TestPeopleAreAskedOnlyAboutWhatWaitsForThem(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	a := tb.load()
	q, waits := a.Asks()
	expect.That(t, waits && q.ID == x.ActionID && a.Asked(x.ActionID).Open && !a.Asked("other").Open, "it asks %v %q",
		waits, q.ID)
	tb.forged(func(x *Action) { x.Gate.Terms.ApprovalRequired = false })
	_, waits = tb.load().Asks()
	expect.That(t, !waits, "an action that needs no approval asks for it")
	tb.by(sato, ending, x)
	a = tb.load()
	gone := tb.now.Add(forgetAfter + time.Minute)
	expect.NoError(t, a.Readable(tb.now))
	expect.Fails(t, a.Readable(gone), aggregate.ErrNotFound, "a conversation that was forgotten")
}

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
		"another stamp":   func(x *Action) { x.Gate.Acts[0].Hash = "other" },
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
	expire := func() error { return tb.do(tb.load().Expire(tb.now)) }
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
	closed := func() error { return tb.do(tb.load().CloseIdle(tb.now)) }
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

// A stamped action is kept as long as its hash is in the audit log, even if the conversation is forgotten.
func TestWhatWasStampedStaysAsLongAsTheAuditLog(t *testing.T) {
	tb := opened(t)
	answered := func() { // the open run, or the next one, answers and ends
		if tb.load().Head.Resting {
			tb.must(tb.load().StartRun(tb.now))
		}
		expect.NoError(t, tb.answer(nil))
	}
	answered()
	for n := range mostKept + 5 {
		tb.now = tb.now.Add(time.Minute)
		tb.must(tb.load().Propose(*proposal(ShellCommand, tb.now, ""), person(sato), policy, tb.now))
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
		c, err := tb.load().Claim(tb.load().Head.Run, invocation, tb.now.Add(time.Minute), tb.now)
		tb.must(c, err)
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
	tb.must(tb.load().Release(x.ActionID, "i1", tb.now))
	expect.Is(t, started("i1"), "", "the same start is told twice")
	tb.must(tb.load().Release(x.ActionID, "i1", tb.now))
	tb.moved("v2")
	expect.Fails(t, tb.claim("i1"), ErrBase, "files that nobody saw are worked on")
}

// A run that found no capacity has not failed: nobody is notified, and the next run begins after the pause.
func TestARunThatFindsNoRoomBeginsAnewLater(t *testing.T) {
	tb := opened(t)
	until := tb.now.Add(5 * time.Minute)
	run := tb.load().Head.Run
	pause := func() error { return tb.do(tb.load().PauseRun(run, until, tb.now)) }
	expect.NoError(t, pause())
	tb.tell("are you there?")
	a := tb.load()
	if h := a.Head; !h.Resting || h.Restarts != 0 || a.Conversation.Status != Open || len(a.Inbox) != 2 ||
		a.Effects(tb.now).Begin != nil || a.Effects(tb.now).Run != nil {
		t.Errorf("while it pauses: %+v, %d messages wait", h, len(a.Inbox))
	}
	due := a.DueAt(tb.now)
	expect.That(t, due != nil && !due.After(until), "the sweeper comes at %v, not by %v", due, until)
	begin := func() error { return tb.do(tb.load().StartRun(tb.now)) }
	expect.Fails(t, begin(), aggregate.ErrNotDue, "a run in the pause")
	expect.Fails(t, pause(), aggregate.ErrSuperseded, "twice")
	tb.now = until
	expect.That(t, tb.load().Effects(tb.now).Begin != nil, "nothing begins the next run")
	expect.NoError(t, begin())
	h := tb.load().Head
	expect.That(t, !h.Resting && h.Run == run+1 && h.Restarts == 0 && h.PausedUntil == nil, "after the pause: %+v", h)
}
