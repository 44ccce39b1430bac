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

// moved gives the conversation other files, as no decision does while an action is open.
func (tb *table) moved(version string) {
	tb.t.Helper()
	s := *tb.load().Conversation
	s.WorkspaceVersion = version
	tb.forgedRow(&s)
}

func (tb *table) forgedRow(r aggregate.Row) {
	rows := map[string]aggregate.Row{}
	for key, row := range tb.rows {
		rows[key] = row
	}
	rows[r.Key()] = r
	tb.rows = rows
}

func TestAnActionWorksOnTheFilesForWhichItWasProposed(t *testing.T) {
	tb := opened(t)
	p := proposal(ShellCommand, tb.now, "")
	p.Base = "v0"
	expect.Fails(t, tb.answer(p), ErrBase, "a proposal for other files")
	for _, base := range []string{"", "v1"} {
		tb, x := pending(t, ShellCommand)
		expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin()))
		tb.moved("v2")
		expect.Fails(t, tb.claim("i1"), ErrBase, "other files than those that people saw")
		tb.moved(base)
		if err := tb.claim("i1"); (err == nil) != (base == "") {
			t.Errorf("with the files %q: %v", base, err)
		}
	}
}

func TestALateResultsFilesStayTheActions(t *testing.T) {
	tb, x := executing(t, ShellCommand)
	tb.now = tb.now.Add(time.Hour)
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Crashed(tb.now) })
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded, Version: "v1",
			Changed: &FilesChanged{Files: 1, Names: []string{"a"}}}, tb.now)
	})
	a := tb.load()
	x = a.Action(x.ActionID)
	if x.Status != ActionSucceeded || x.Version != "v1" || !x.NotTaken || a.Conversation.WorkspaceVersion != "" {
		t.Errorf("%+v, the conversation's files are %q", x, a.Conversation.WorkspaceVersion)
	}
	told := x.told("en").Content
	expect.That(t, strings.Contains(told, "The conversation’s files are unchanged") &&
		strings.Contains(told, "Files changed: 1"), "%q", told)
}

// A late result keeps when its work ended, unless nobody said so, or it would be later than now.
func TestALateResultSaysWhenItsWorkEnded(t *testing.T) {
	for name, test := range map[string]struct{ ended, kept time.Duration }{
		"before it was recorded": {-time.Second, -time.Second}, "after": {time.Hour, 0}, "nobody said": {-1 << 62, 0},
	} {
		tb, x := executing(t, ShellCommand)
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Cancel(x.ActionID, person(sato), policy, tb.now)
		})
		tb.now = tb.now.Add(5 * time.Second)
		r := Result{Status: ActionSucceeded}
		if test.ended > -1<<62 {
			r.At = tb.now.Add(test.ended)
		}
		tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.Finish(x.ActionID, "i1", r, tb.now) })
		late := tb.load().Action(x.ActionID).Late
		expect.That(t, late.At.Equal(tb.now.Add(test.kept).Truncate(time.Millisecond)), "%s: %v at %v", name, late.At, tb.now)
	}
}

func TestAnEndMovesTheFilesFromTheActionsBaseAlone(t *testing.T) {
	for _, version := range []string{"v1", ""} {
		tb, x := executing(t, ShellCommand)
		tb.moved("other")
		tb.must(func(a *Aggregate) (aggregate.Change, error) {
			return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded, Version: version}, tb.now)
		})
		a := tb.load()
		expect.Is(t, a.Conversation.WorkspaceVersion, "other", "the files")
		expect.Is(t, a.Action(x.ActionID).NotTaken, version != "", "whether %q is said not to be taken", version)
	}
}

func TestAnAnswerThatFindsTheFilesLostSaysSo(t *testing.T) {
	tb := opened(t)
	tb.moved("v1")
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Lost: "v0"}, tb.now)
	})
	expect.That(t, !tb.load().FilesLost(), "others were lost")
	tb.tell("more")
	expect.NoError(t, tb.begin())
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Lost: "v1"}, tb.now)
	})
	a := tb.load()
	expect.That(t, a.FilesLost() && a.Conversation.WorkspaceVersion == "v1", "%+v", a.Conversation)
}
