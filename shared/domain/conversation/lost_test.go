package conversation

import (
	"errors"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// lost returns a conversation whose files were found to be lost by its last action.
func lost(t *testing.T) *table {
	t.Helper()
	tb, x := executing(t, CodeGenerate)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded, Version: "v1"}, tb.now)
	})
	expect.NoError(t, tb.answer(onV1(tb)))
	x = tb.load().Current()
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i2")))
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i2", Result{Status: ActionFailed, Error: ReasonFilesLost, Gone: true}, tb.now)
	})
	return tb
}

// onV1 proposes a command for the files v1.
func onV1(tb *table) *Proposal {
	p := proposal(ShellCommand, tb.now, "")
	p.Base = "v1"
	return p
}

// Nothing works in an empty folder that nobody chose: the next action, like the one that found out, needs the files.
func TestLostFilesStopActionsUntilAPersonChooses(t *testing.T) {
	tb := lost(t)
	a := tb.load()
	expect.That(t, a.FilesLost() && a.Conversation.WorkspaceVersion == "v1", "%+v", a.Conversation)
	expect.Fails(t, tb.answer(onV1(tb)), ErrFilesLost, "the agent proposes")
	expect.Fails(t, tb.do(func(a *Aggregate) (aggregate.Change, error) {
		return a.Propose(*onV1(tb), person(sato), policy, tb.now)
	}), ErrFilesLost, "a person proposes")
	expect.That(t, slices.Equal(a.Offers(), []aggregate.Offer{{Act: ActBeginEmpty}, {Act: ActClose}}),
		"offered are %v", a.Offers())
	expect.NoError(t, tb.answer(nil))
	_, err := a.BeginEmpty(aggregate.Actor{Type: aggregate.ActorUser, ID: "U_GUEST", Team: "T2"}, policy, tb.now)
	expect.That(t, err != nil, "a stranger chooses")
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.BeginEmpty(person(sato), policy, tb.now) })
	a = tb.load()
	expect.That(t, !a.FilesLost() && a.Conversation.WorkspaceVersion == "" && len(a.Inbox) == 1,
		"%+v, and the agent has %d messages", a.Conversation, len(a.Inbox))
	c, err := a.BeginEmpty(person(sato), policy, tb.now)
	expect.That(t, c.Empty() && err == nil, "chosen twice: %+v, %v", c, err)
	expect.NoError(t, errors.Join(tb.begin(), tb.answer(proposal(ShellCommand, tb.now, ""))))
	x := tb.load().Current()
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i3")))
}

// A late result may find out while another action waits, which then must not run.
func TestAnActionThatWaitsWhileFilesAreLostDoesNotRun(t *testing.T) {
	tb, x := pending(t, ShellCommand)
	expect.NoError(t, tb.approve(x, suzuki))
	expect.NoError(t, tb.begin())
	s := *tb.load().Conversation
	s.FilesLostAt = &tb.now
	tb.rows[s.Key()] = &s
	expect.Fails(t, tb.claim("i1"), ErrFilesLost)
	_, err := tb.load().BeginEmpty(person(sato), policy, tb.now)
	expect.Fails(t, err, aggregate.ErrInFlight)
}

func TestOnlyTheVersionsThatAreNeededStay(t *testing.T) {
	tb, x := executing(t, CodeGenerate)
	expect.Is(t, len(tb.load().Versions()), 0, "versions of an empty folder")
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded, Version: "v1"}, tb.now)
	})
	expect.NoError(t, tb.answer(onV1(tb)))
	x = tb.load().Current()
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i2")))
	s := *tb.load().Conversation
	s.WorkspaceVersion = "v2" // moved under the action, as by a late result
	tb.rows[s.Key()] = &s
	expect.That(t, slices.Equal(tb.load().Versions(), []string{"v2", "v1"}), "needed are %v", tb.load().Versions())
	tb.now = tb.now.Add(time.Minute)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i2", Result{Status: ActionSucceeded}, tb.now)
	})
	expect.That(t, slices.Equal(tb.load().Versions(), []string{"v2"}), "needed are %v", tb.load().Versions())
}
