package conversation

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
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
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Finish(x.ActionID, invocation, r, tb.now) })
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
	expired := func(tb *table, x *Action) {
		tb.now = *x.Gate.Terms.DecideBy
		tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Expire(tb.now) })
	}
	for name, c := range map[string]struct {
		before func(tb *table, x *Action)
		do     act
		by     string
		want   aggregate.ErrDecided // none: nothing is changed
	}{
		"approved twice by one": {func(tb *table, x *Action) { tb.by(suzuki, approving, x) }, approving, suzuki,
			aggregate.ErrDecided{}},
		"approved by two": {func(tb *table, x *Action) { tb.by(suzuki, approving, x) }, approving, tanaka,
			aggregate.ErrDecided{Status: "approved", By: suzuki}},
		"approved, then rejected": {func(tb *table, x *Action) { tb.by(suzuki, approving, x) }, rejecting, suzuki,
			aggregate.ErrDecided{Status: "approved", By: suzuki}},
		"rejected twice by one": {func(tb *table, x *Action) { tb.by(suzuki, rejecting, x) }, rejecting, suzuki,
			aggregate.ErrDecided{}},
		"rejected by two": {func(tb *table, x *Action) { tb.by(suzuki, rejecting, x) }, rejecting, tanaka,
			aggregate.ErrDecided{Status: "rejected", By: suzuki}},
		"rejected, then approved": {func(tb *table, x *Action) { tb.by(suzuki, rejecting, x) }, approving, suzuki,
			aggregate.ErrDecided{Status: "rejected", By: suzuki}},
		"rejected, then cancelled": {func(tb *table, x *Action) { tb.by(suzuki, rejecting, x) }, cancelling, suzuki,
			aggregate.ErrDecided{Status: "rejected", By: suzuki}},
		"cancelled twice by one": {func(tb *table, x *Action) { tb.by(sato, cancelling, x) }, cancelling, sato,
			aggregate.ErrDecided{}},
		"cancelled by two": {func(tb *table, x *Action) { tb.by(sato, cancelling, x) }, cancelling, suzuki,
			aggregate.ErrDecided{Status: "cancelled", By: sato}},
		"cancelled, then approved": {func(tb *table, x *Action) { tb.by(sato, cancelling, x) }, approving, suzuki,
			aggregate.ErrDecided{Status: "cancelled", By: sato}},
		"cancelled after approval": {func(tb *table, x *Action) { tb.by(suzuki, approving, x); tb.by(sato, cancelling, x) },
			approving, tanaka, aggregate.ErrDecided{Status: "cancelled", By: sato}},
		"expired, then approved": {expired, approving, suzuki, aggregate.ErrDecided{Status: "cancelled"}},
		"expired, then rejected": {expired, rejecting, suzuki, aggregate.ErrDecided{Status: "cancelled"}},
		"ended twice": {func(tb *table, x *Action) { tb.by(sato, ending, x) }, ending, suzuki,
			aggregate.ErrDecided{}},
		"reopened while it is open": {func(*table, *Action) {}, reopening, tanaka, aggregate.ErrDecided{}},
	} {
		tb, x := pending(t, ShellCommand)
		c.before(tb, x)
		made, err := c.do(tb, x, person(c.by), policy)
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

func TestAnActionIsApprovedWithTheHashThatWasRead(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	other := x.Gate.Acting(circulation.Stamp, person(suzuki), "")
	other.Hash = "other"
	_, err := tb.load().Act(x.ActionID, other, person(suzuki), policy, tb.now)
	refused, _ := errors.AsType[*circulation.Refusal](err)
	expect.That(t, refused != nil && refused.Why == circulation.WhyHash, "approved with another hash: %v", err)
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

// An action that is cancelled after its approval keeps the verdict of the person who approved it.
func TestACancelledActionKeepsItsVerdict(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	tb.by(suzuki, approving, x)
	tb.by(sato, cancelling, x)
	x = tb.load().Action(x.ActionID)
	expect.That(t, x.Status == ActionCancelled && x.Gate.Status == aggregate.Approved && x.Gate.ApprovedBy == suzuki,
		"%s, its gate is %s by %q", x.Status, x.Gate.Status, x.Gate.ApprovedBy)
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
