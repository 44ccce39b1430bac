package conversation

import (
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// late returns a conversation with an action whose result came after its outcome was taken for unknown.
func late(t *testing.T) (*table, *Action) {
	t.Helper()
	tb, x := executing(t, ShellCommand)
	tb.now = tb.now.Add(time.Hour)
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Crashed(tb.now) })
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded, Version: "late"}, tb.now)
	})
	return tb, x
}

func offered(a *Aggregate, act aggregate.Act) bool {
	return slices.ContainsFunc(a.Offers(), func(o aggregate.Offer) bool { return o.Act == act })
}

// A late result's files become the conversation's by a person's choice alone, and only while no action is open.
func TestLateFilesAreTakenByAPersonAlone(t *testing.T) {
	tb, x := late(t)
	take := func(a *Aggregate) (aggregate.Change, error) {
		return a.TakeFiles(x.ActionID, person(sato), policy, tb.now)
	}
	a := tb.load()
	expect.That(t, a.Conversation.WorkspaceVersion == "" && a.Actions[0].NotTaken && offered(a, ActTakeFiles) &&
		slices.Contains(a.Versions(), "late"), "%+v, %v", a.Actions[0], a.Offers())
	_, err := a.TakeFiles(x.ActionID, aggregate.Actor{Type: aggregate.ActorUser, ID: "U_GUEST", Team: "T2"}, policy,
		tb.now)
	expect.That(t, err != nil, "a stranger chooses")

	expect.NoError(t, tb.answer(proposal(ShellCommand, tb.now, "")))
	expect.That(t, !offered(tb.load(), ActTakeFiles), "it is offered while an action is open")
	expect.Fails(t, tb.do(take), aggregate.ErrInFlight)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Cancel(a.Current().ActionID, person(suzuki), policy, tb.now)
	})

	before := len(tb.load().Inbox)
	tb.must(take)
	a = tb.load()
	expect.That(t, a.Conversation.WorkspaceVersion == "late" && a.Conversation.FilesBy == x.Number &&
		!a.Actions[0].NotTaken &&
		!offered(a, ActTakeFiles) && len(a.Inbox) == before+1, "%+v", a.Conversation)
	c, err := a.TakeFiles(x.ActionID, person(sato), policy, tb.now)
	expect.That(t, c.Empty() && err == nil, "chosen twice: %+v, %v", c, err)
}

// What a person cancelled is not offered, and nothing is while files are lost.
func TestFilesThatNobodyCanTakeAreNotOffered(t *testing.T) {
	tb, x := executing(t, ShellCommand)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Cancel(x.ActionID, person(suzuki), policy, tb.now)
	})
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded, Version: "late"}, tb.now)
	})
	expect.That(t, tb.load().Untaken() == nil, "a cancelled action's files are offered")
	_, err := tb.load().TakeFiles(x.ActionID, person(sato), policy, tb.now)
	expect.Fails(t, err, aggregate.ErrMoved)

	tb, x = late(t)
	s := *tb.load().Conversation
	s.FilesLostAt = &tb.now
	tb.rows[s.Key()] = &s
	expect.That(t, !offered(tb.load(), ActTakeFiles), "they are offered while files are lost")
	_, err = tb.load().TakeFiles(x.ActionID, person(sato), policy, tb.now)
	expect.Fails(t, err, ErrFilesLost)
}

// Lost files of a source are fetched again, from the same commit, by a person's choice. Until they are there they are lost.
func TestLostFilesOfASourceAreFetchedAgain(t *testing.T) {
	tb := lost(t)
	_, err := tb.load().FetchAgain(person(sato), policy, tb.now)
	expect.Fails(t, err, aggregate.ErrMoved, "there is no source")
	s := *tb.load().Conversation
	s.Source = &Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", Commit: "c0ffee", State: SourceThere,
		Version: "v0", Tries: 2}
	tb.rows[s.Key()] = &s
	expect.That(t, slices.Contains(tb.load().Versions(), "v0"), "the source's version may expire")
	expect.That(t, offered(tb.load(), ActFetchAgain) && offered(tb.load(), ActBeginEmpty),
		"offered are %v", tb.load().Offers())
	_, err = tb.load().FetchAgain(aggregate.Actor{Type: aggregate.ActorUser, ID: "U_GUEST", Team: "T2"}, policy, tb.now)
	expect.That(t, err != nil, "a stranger chooses")
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.FetchAgain(person(sato), policy, tb.now) })
	a := tb.load()
	expect.That(t, a.FilesLost() && !offered(a, ActFetchAgain) && a.Conversation.Source.Commit == "c0ffee",
		"%+v", a.Conversation)
	c, err := a.FetchAgain(person(sato), policy, tb.now)
	expect.That(t, c.Empty() && err == nil, "chosen twice: %+v, %v", c, err)
	expect.Is(t, tb.load().Next(tb.now).State, StateFetch, "what follows")
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.TrySource(a.Head.Run, 0, tb.now) })

	failed := tb.load()
	fails, err := failed.FailSource(failed.Head.Run, ReasonSourceUnfetched, tb.now)
	expect.NoError(t, err)
	left := failed.After(fails).(*Aggregate)
	expect.That(t, left.FilesLost() && offered(left, ActFetchAgain), "after a failure: %+v", left.Conversation)

	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.TakeSource(a.Head.Run, Fetched{Commit: "c0ffee", Version: "v0"}, tb.now)
	})
	a = tb.load()
	expect.That(t, !a.FilesLost() && a.Conversation.WorkspaceVersion == "v0" && a.Conversation.FirstFiles(),
		"%+v", a.Conversation)
}
