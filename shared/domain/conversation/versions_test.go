package conversation

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// Lost files leave an empty folder: what finds out fails, and the next action works in that.
func TestLostFilesLeaveAnEmptyFolder(t *testing.T) {
	tb, x := executing(t, CodeGenerate)
	tb.finishes(x, "i1", Result{Status: ActionSucceeded, Version: "v1"})
	expect.NoError(t, tb.answer(onV1(tb)))
	x = tb.load().Current()
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i2")))
	tb.finishes(x, "i2", Result{Status: ActionFailed, Error: ReasonFilesLost, Gone: true})
	expect.Is(t, tb.load().Conversation.WorkspaceVersion, "", "the files")
	expect.Fails(t, tb.answer(onV1(tb)), ErrBase, "the agent proposes for what is lost")
	expect.NoError(t, errors.Join(tb.answer(proposal(ShellCommand, tb.now, ""))))
	x = tb.load().Current()
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i3")))
}

// onV1 proposes a command for the files v1.
func onV1(tb *table) *Proposal {
	p := proposal(ShellCommand, tb.now, "")
	p.Base = "v1"
	return p
}

func TestOnlyTheVersionsThatAreNeededStay(t *testing.T) {
	tb, x := executing(t, CodeGenerate)
	expect.Is(t, len(tb.load().Versions()), 0, "versions of an empty folder")
	tb.finishes(x, "i1", Result{Status: ActionSucceeded, Version: "v1"})
	expect.NoError(t, tb.answer(onV1(tb)))
	x = tb.load().Current()
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i2")))
	s := *tb.load().Conversation
	s.WorkspaceVersion = "v2" // moved under the action, as by a late result
	tb.rows[s.Key()] = &s
	expect.That(t, slices.Equal(tb.load().Versions(), []string{"v2", "v1"}), "needed are %v", tb.load().Versions())
	tb.now = tb.now.Add(time.Minute)
	tb.finishes(x, "i2", Result{Status: ActionSucceeded})
	expect.That(t, slices.Equal(tb.load().Versions(), []string{"v2"}), "needed are %v", tb.load().Versions())
}

// moved gives the conversation other files, as no decision does while an action is open.
func (tb *table) moved(version string) {
	tb.t.Helper()
	s := *tb.load().Conversation
	s.WorkspaceVersion = version
	tb.rows = maps.Clone(tb.rows)
	tb.rows[s.Key()] = &s
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
		err := tb.claim("i1")
		expect.That(t, (err == nil) == (base == ""), "with the files %q: %v", base, err)
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
	expect.That(t, x.Status == ActionSucceeded && x.Version == "v1" && x.NotTaken &&
		a.Conversation.WorkspaceVersion == "", "%+v, the conversation's files are %q", x, a.Conversation.WorkspaceVersion)
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
		tb.by(sato, cancelling, x)
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
		tb.finishes(x, "i1", Result{Status: ActionSucceeded, Version: version})
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
	expect.Is(t, tb.load().Conversation.WorkspaceVersion, "v1", "others were lost")
	tb.tell("more")
	expect.NoError(t, tb.begin())
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok", Lost: "v1"}, tb.now)
	})
	expect.Is(t, tb.load().Conversation.WorkspaceVersion, "", "the files")
}
