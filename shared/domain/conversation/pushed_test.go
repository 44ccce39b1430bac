package conversation

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

var (
	shopCommit = strings.Repeat("c0", 20)
	madeCommit = strings.Repeat("d1", 20)
)

// withSource gives the conversation a source whose files are there.
func (tb *table) withSource(commit string) {
	s := *tb.load().Conversation
	s.Source = &Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit, State: SourceThere}
	tb.rows[s.Key()] = s.At(s.Rev)
}

func pullRequest() *Proposal {
	p := call(aggregate.Write, "")
	p.Tool, p.Push = "open_pull_request", &Push{Repository: "acme/shop", Commit: shopCommit, Into: "main"}
	return p
}

// pushing returns a conversation whose pull request executes under the claim of "i1".
func pushing(t testing.TB) (*table, *Action) {
	t.Helper()
	tb := opened(t)
	tb.withSource(shopCommit)
	expect.NoError(t, tb.answer(pullRequest()))
	x := tb.load().Current()
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claimCall("i1")))
	return tb, tb.load().Action(x.ActionID)
}

func (tb *table) step(x *Action, invocation string, to Pushed) error {
	return tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.Step(x.ActionID, invocation, to, tb.now) })
}

func (tb *table) crash() error {
	tb.now = tb.now.Add(time.Hour)
	return tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.Crashed(tb.now) })
}

// unsure returns a conversation of whose pull request nobody knows whether it is there.
func unsure(t testing.TB) (*table, *Action) {
	t.Helper()
	tb, x := pushing(t)
	expect.NoError(t, tb.step(x, "i1", Pushed{Commit: madeCommit}))
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Lost(x.ActionID, "i1", tb.now) })
	return tb, tb.load().Action(x.ActionID)
}

func (tb *table) check(x *Action, by string) error {
	return tb.do(func(a *Aggregate) (aggregate.Change, error) {
		return a.Check(x.ActionID, person(by), aggregate.Policy{Team: team, Mode: aggregate.ApproversList,
			Approvers: []string{suzuki}}, tb.now)
	})
}

func TestAPullRequestIsMadeOnTheConversationsCommit(t *testing.T) {
	tb := opened(t)
	expect.Fails(t, tb.answer(pullRequest()), ErrBase) // no source
	tb.withSource(strings.Repeat("e", 40))
	expect.Fails(t, tb.answer(pullRequest()), ErrBase)
	tb.withSource(shopCommit)
	expect.NoError(t, tb.answer(pullRequest()))
	x := tb.load().Current()
	expect.Is(t, x.Pushed.Branch, "ringi/"+x.SessionID+"/"+x.ActionID)
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin()))
	tb.withSource(strings.Repeat("e", 40))
	expect.Fails(t, tb.claimCall("i1"), ErrBase)
	tb.withSource(shopCommit)
	tb.moved("another")
	expect.Fails(t, tb.claimCall("i1"), ErrBase)
}

// Each step stands in the row, and no later one contradicts it.
func TestStepsStandInTheRow(t *testing.T) {
	tb, x := pushing(t)
	expect.Is(t, x.Pushed.URL(), "")
	expect.NoError(t, tb.step(x, "i1", Pushed{Commit: madeCommit}))
	expect.Fails(t, tb.step(x, "i2", Pushed{Commit: madeCommit}), aggregate.ErrMoved)
	expect.Fails(t, tb.step(x, "i1", Pushed{Commit: shopCommit}), aggregate.ErrConflict)
	expect.NoError(t, tb.step(x, "i1", Pushed{Commit: madeCommit, There: true}))
	is := tb.load().Action(x.ActionID)
	expect.Is(t, is.Pushed.URL(), "https://github.com/acme/shop/tree/"+is.Pushed.Branch)
	expect.NoError(t, tb.step(x, "i1", Pushed{Commit: madeCommit, There: true, Number: 3}))
	expect.Fails(t, tb.step(x, "i1", Pushed{Commit: madeCommit, There: true, Number: 4}), aggregate.ErrConflict)
	expect.Is(t, tb.load().Action(x.ActionID).Pushed.URL(), "https://github.com/acme/shop/pull/3")
	command, y := executing(t, ShellCommand)
	expect.Fails(t, command.step(y, "i1", Pushed{Commit: madeCommit}), aggregate.ErrConflict)
}

// A push that is cut off goes on from its row. Only after many times nobody knows what is there.
func TestACrashedPushGoesOn(t *testing.T) {
	tb, x := pushing(t)
	expect.NoError(t, tb.step(x, "i1", Pushed{Commit: madeCommit}))
	for n := 1; ; n++ {
		expect.NoError(t, tb.crash())
		is := tb.load().Action(x.ActionID)
		if is.Status != ActionExecuting {
			expect.That(t, n == mostNotBegun && is.Outcome == OutcomeUnknown && is.Pushed.Commit == madeCommit, "%d: %+v", n, is)
			return
		}
		expect.That(t, is.Claim == nil && is.Pushed.Commit == madeCommit, "%+v", is)
		expect.Is(t, tb.load().Next(tb.now).State, StateCall)
		expect.NoError(t, tb.claimCall("i1"))
	}
}

func TestAPushThatMadeNoCommitDidNothing(t *testing.T) {
	for name, end := range map[string]func(tb *table, a *Aggregate, x *Action) (aggregate.Change, error){
		"lost": func(tb *table, a *Aggregate, x *Action) (aggregate.Change, error) {
			return a.Lost(x.ActionID, "i1", tb.now)
		},
		"given up": func(tb *table, a *Aggregate, _ *Action) (aggregate.Change, error) {
			return a.GiveUp(a.Head.Run, tb.now)
		},
	} {
		for commit, want := range map[string]Outcome{"": "", madeCommit: OutcomeUnknown} {
			tb, x := pushing(t)
			if commit != "" {
				expect.NoError(t, tb.step(x, "i1", Pushed{Commit: commit}))
			}
			if name == "given up" {
				tb.now = tb.now.Add(time.Hour)
			}
			tb.must(func(a *Aggregate) (aggregate.Change, error) { return end(tb, a, x) })
			is := tb.load().Action(x.ActionID)
			expect.That(t, is.Status == ActionFailed && is.Outcome == want, "%s after %q: %+v", name, commit, is)
		}
	}
}

// The settings may forbid between two tries what the first one began. Its branch may be there, so nobody says that it
// is not, and people can have it looked at.
func TestAPushThatIsRefusedOnTheWayIsUnsure(t *testing.T) {
	for commit, want := range map[string]Outcome{"": "", madeCommit: OutcomeUnknown} {
		tb, x := pushing(t)
		if commit != "" {
			expect.NoError(t, tb.step(x, "i1", Pushed{Commit: commit}))
		}
		expect.NoError(t, tb.crash())
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.FailApproved(a.Head.Run, x.ActionID, Result{Error: ReasonPushSource}, tb.now)
		})
		is := tb.load().Action(x.ActionID)
		expect.That(t, is.Status == ActionFailed && is.Outcome == want, "after %q: %+v", commit, is)
		expect.That(t, offersCheck(tb.load()) == (want != ""), "after %q: whether it is offered", commit)
	}
}

// offersCheck reports whether people may have a pull request looked at, on any surface.
func offersCheck(a *Aggregate) bool {
	return slices.ContainsFunc(a.Offers(), func(o aggregate.Offer) bool { return o.Act == ActCheck && o.Hash != "" })
}

func TestAPersonHasItLookedAt(t *testing.T) {
	tb, x := unsure(t)
	expect.Is(t, tb.load().Next(tb.now).State, StateAnswer) // the agent hears of it first
	expect.NoError(t, tb.answer(nil))
	expect.That(t, offersCheck(tb.load()), "it is not offered")
	expect.Fails(t, tb.check(x, "U_OTHER"), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty})
	expect.NoError(t, tb.check(x, sato))
	expect.That(t, !offersCheck(tb.load()), "it is offered while a run is to look")
	rev := tb.head.Rev
	expect.NoError(t, tb.check(x, suzuki))
	expect.Is(t, tb.head.Rev, rev, "a second press changes nothing")
	expect.NoError(t, tb.begin())
	expect.Is(t, tb.load().Next(tb.now).State, StateCall)
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.NotFound(a.Head.Run, x.ActionID, tb.now) })
	is := tb.load().Action(x.ActionID)
	expect.That(t, is.Outcome == OutcomeUnknown && is.Pushed.Look == nil && is.Pushed.Unseen == ReasonPushUnseen,
		"%+v", is.Pushed)

	expect.NoError(t, tb.check(x, suzuki))
	expect.Fails(t, tb.do(func(a *Aggregate) (aggregate.Change, error) {
		return a.Found(a.Head.Run+1, x.ActionID, Result{Status: ActionSucceeded}, tb.now)
	}), aggregate.ErrMoved)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Found(a.Head.Run, x.ActionID, Result{Status: ActionSucceeded,
			Pushed: &Pushed{Commit: madeCommit, There: true, Number: 1}}, tb.now)
	})
	is = tb.load().Action(x.ActionID)
	expect.That(t, is.Status == ActionSucceeded && is.Outcome == "" && is.Pushed.Number == 1 && is.Pushed.Look == nil &&
		is.Pushed.Unseen == "",
		"%+v %+v", is, is.Pushed)
	expect.That(t, errors.As(tb.check(x, sato), new(aggregate.ErrDecided)), "a known result is looked at")
	expect.Is(t, tb.load().Next(tb.now).State, StateAnswer) // the agent hears what it was
}

// A run that can't look gives the look up, and says so.
func TestALookThatFailsIsGivenUp(t *testing.T) {
	tb, x := unsure(t)
	expect.NoError(t, errors.Join(tb.answer(nil), tb.check(x, sato), tb.begin()))
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.GiveUp(a.Head.Run, tb.now) })
	is := tb.load().Action(x.ActionID)
	expect.That(t, is.Outcome == OutcomeUnknown && is.Pushed.Unseen == ReasonPushUnseen, "%+v", is.Pushed)
	expect.Is(t, tb.load().Next(tb.now).State, aggregate.StateFinish)
}
