package conversation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
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

func TestALateResultsFilesStayTheActions(t *testing.T) {
	tb, x := executing(t, ShellCommand)
	tb.now = tb.now.Add(time.Hour)
	tb.must(tb.load().Crashed(tb.now))
	tb.must(tb.load().Finish(x.ActionID, "i1", Result{Status: ActionSucceeded, Version: "v1",
		Changed: &FilesChanged{Files: 1, Names: []string{"a"}}}, tb.now))
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
		tb.must(tb.load().Finish(x.ActionID, "i1", r, tb.now))
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
	tb.must(tb.load().Answered(tb.load().Head.Run, tb.load().Waiting(), Answer{Text: "ok", Lost: "v0"}, tb.now))
	expect.Is(t, tb.load().Conversation.WorkspaceVersion, "v1", "others were lost")
	tb.tell("more")
	expect.NoError(t, tb.begin())
	tb.must(tb.load().Answered(tb.load().Head.Run, tb.load().Waiting(), Answer{Text: "ok", Lost: "v1"}, tb.now))
	expect.Is(t, tb.load().Conversation.WorkspaceVersion, "", "the files")
}

func nothingLaid() *Laid { return &Laid{Tree: &files.Tree{}} }

func TestAttachmentsGetNamesOfTheirOwn(t *testing.T) {
	l := nothingLaid()
	for _, tt := range []struct{ name, want string }{
		{"売上.csv", "売上.csv"}, {"売上.csv", "売上 (2).csv"}, {"A.TXT", "A.TXT"}, {"ａ.txt", "ａ (2).txt"},
		{"../../etc/passwd", ".._.._etc_passwd"}, {`c:\x.doc`, "c__x.doc"}, {"", "file"}, {"..", "file (2)"},
		{"a\u202egpj.exe", "a_gpj.exe"}, {" b.csv ", "b.csv"}, {"\xff.csv", "_.csv"},
		{strings.Repeat("長", 100) + ".xlsx", strings.Repeat("長", 65) + ".xlsx"},
		{"x." + strings.Repeat("y", 90), "x." + strings.Repeat("y", 90)},
	} {
		x, why := l.Add(Attached{FileID: "F" + tt.name}, tt.name, []byte("x"))
		expect.Must(t, why == "", "%q: %s", tt.name, why)
		expect.Is(t, x.Path, tt.want, "%q", tt.name)
		expect.NoError(t, files.CheckPath(files.AttachedFolder+"/"+x.Path+".txt"))
	}
}

func TestAttachmentsAreBounded(t *testing.T) {
	big := make([]byte, isolated.MaxFile)
	l := nothingLaid()
	_, why := l.Add(Attached{}, "a", append(big, 0))
	expect.That(t, why == "it has 10485761 bytes, the limit is 10485760" && CauseOf(why) == TooLarge, "%s", why)
	for i, file := range [][]byte{big, big, big, big[:MaxAttachedBytes-3*len(big)]} {
		_, why = l.Add(Attached{}, "a", file)
		expect.Is(t, why, "", "file %d", i)
	}
	_, why = l.Add(Attached{}, "a", []byte("x"))
	expect.That(t, strings.Contains(why, "33554432 bytes together") && CauseOf(why) == Full, "%s", why)
	l.Read(&l.List[0], isolated.FileText{Text: "x", Form: isolated.Sheets})
	expect.That(t, l.List[0].Text == "" && CauseOf(l.List[0].Why) == Full, "%+v", l.List[0])
	l = nothingLaid()
	for i := range MaxAttached {
		_, why = l.Add(Attached{}, fmt.Sprint(i), nil)
		expect.Is(t, why, "", "file %d", i)
	}
	_, why = l.Add(Attached{}, "more", nil)
	expect.That(t, strings.Contains(why, "20 attachments") && CauseOf(why) == Full, "%s", why)
}

func TestATextStandsBesideItsFile(t *testing.T) {
	l := nothingLaid()
	_, _ = l.Add(Attached{FileID: "F1"}, "book.xlsx.txt", []byte("somebody's"))
	x, _ := l.Add(Attached{FileID: "F2"}, "book.xlsx", []byte("PK\x00"))
	l.Read(x, isolated.FileText{Text: "a\tb\n", Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasMacros}})
	expect.Is(t, l.ByID("F2").Text, "book (2).xlsx.txt", "its text")
	expect.Is(t, l.ByID("F1").Text, "book.xlsx.txt", "a text is its own")
	y, _ := l.Add(Attached{FileID: "F3"}, "x.pdf", []byte("%PDF\x00"))
	l.Read(y, isolated.FileText{Why: isolated.PDF})
	expect.That(t, l.ByID("F3").Text == "" && CauseOf(l.ByID("F3").Why) == Cause(isolated.PDF) && l.ByID("F4") == nil,
		"%+v", l.ByID("F3"))
	seen := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "src/a.txt", Content: "1"},
		{Path: ".ringi/own", Content: "2"},
		{Path: ".ringi/in/old", Content: "3"}}))(t).With(l.Tree)
	expect.Same(t, []string{".ringi/in/book (2).xlsx.txt", ".ringi/in/book.xlsx", ".ringi/in/book.xlsx.txt",
		".ringi/in/x.pdf",
		".ringi/own", "src/a.txt"}, seen.Paths())
}

func TestNobodyProposesToChangeAttachments(t *testing.T) {
	for _, p := range []string{".ringi/in", ".ringi/in/a.csv", ".ringi"} {
		for _, payload := range []string{`{"files":[{"path":%q,"content":"x"}]}`, `{"delete":[%q]}`,
			`{"edits":[{"path":%q,"old":"x","new":"y"}]}`} {
			_, problems := ReadPayload(tenancy.CodeGenerate, fmt.Appendf(nil, payload, p))
			expect.That(t, len(problems) == 1 && strings.Contains(problems[0], "where attachments lie"), "%s: %q", p, problems)
		}
	}
	_, problems := ReadPayload(tenancy.CodeGenerate,
		[]byte(`{"files":[{"path":".ringi/inside","content":"x"},{"path":"attachments/a","content":"x"}]}`))
	expect.That(t, problems == nil, "%q", problems)
}

// Of what is said about a source's files only their names are another's words.
func TestOnlyNamesOfASourcesFilesAreQuoted(t *testing.T) {
	tb := opened(t)
	s := *tb.load().Conversation
	s.Source = &Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", Commit: "c0ffee", State: SourceWanted}
	tb.rows[s.Key()] = &s
	f := Fetched{Commit: "c0ffee", Version: "v0"}
	for i := range shownLeft + 5 {
		f.Left = append(f.Left, fmt.Sprintf("left-%02d.bin", i))
	}
	a := tb.load()
	c, err := a.TakeSource(a.Head.Run, f, tb.now)
	expect.NoError(t, err)
	var own, quoted, whole string
	for _, r := range c.Beside {
		m, ok := r.Row.(*Message)
		if !ok {
			continue
		}
		whole += m.Content + "\n"
		for _, p := range m.Pieces() {
			if p.Quoted {
				quoted += p.Text + "\n"
			} else {
				own += p.Text + "\n"
			}
		}
	}
	for _, ringis := range []string{"(15)", "and 5 more"} {
		expect.That(t, strings.Contains(own, ringis) && !strings.Contains(quoted, ringis),
			"%q is quoted, or missing: %s", ringis, own)
	}
	expect.That(t, !strings.Contains(own, ".bin") && !strings.Contains(quoted, "…"), "names are Ringi's words: %s", own)
	expect.Has(t, whole, "\nleft-00.bin\nleft-01.bin\n")
}

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
	return tb.do(tb.load().Step(x.ActionID, invocation, to, tb.now))
}

func (tb *table) crash() error {
	tb.now = tb.now.Add(time.Hour)
	return tb.do(tb.load().Crashed(tb.now))
}

// unsure returns a conversation of whose pull request nobody knows whether it is there.
func unsure(t testing.TB) (*table, *Action) {
	t.Helper()
	tb, x := pushing(t)
	expect.NoError(t, tb.step(x, "i1", Pushed{Commit: madeCommit, There: true}))
	tb.must(tb.load().Lost(x.ActionID, "i1", tb.now))
	return tb, tb.load().Action(x.ActionID)
}

func (tb *table) check(x *Action, by string) error {
	return tb.do(tb.load().Check(x.ActionID, person(by), aggregate.Policy{Team: team, Mode: aggregate.ApproversList,
		Approvers: []string{suzuki}}, tb.now))
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

// What one made that is withdrawn between two tries is looked for at once.
func TestAPushWithdrawnBetweenTwoTriesIsLookedAt(t *testing.T) {
	tb, x := pushing(t)
	expect.NoError(t, errors.Join(tb.step(x, "i1", Pushed{Commit: madeCommit}), tb.crash()))
	tb.by(sato, cancelling, x)
	expect.That(t, tb.load().Looking() != nil, "%+v", tb.load().Action(x.ActionID))
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
			tb.must(end(tb, tb.load(), x))
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
		run, why := tb.load().Head.Run, Result{Error: ReasonPushSource}
		expect.Fails(t, tb.do(tb.load().FailApproved(run-1, x.ActionID, why, tb.now)), aggregate.ErrSuperseded)
		tb.must(tb.load().FailApproved(run, x.ActionID, why, tb.now))
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
	tb.must(tb.load().NotFound(tb.load().Head.Run, x.ActionID, tb.now))
	is := tb.load().Action(x.ActionID)
	expect.That(t, is.Outcome == OutcomeUnknown && is.Pushed.Look == nil && is.Pushed.Unseen == ReasonPushUnseen,
		"%+v", is.Pushed)

	expect.NoError(t, tb.check(x, suzuki))
	other := tb.load().Head.Run + 1
	expect.Fails(t, tb.do(tb.load().Found(other, x.ActionID, Result{Status: ActionSucceeded}, tb.now)), aggregate.ErrMoved)
	tb.must(tb.load().Found(tb.load().Head.Run, x.ActionID, Result{Status: ActionSucceeded,
		Pushed: &Pushed{Commit: madeCommit, There: true, Number: 1}}, tb.now))
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
	tb.must(tb.load().GiveUp(tb.load().Head.Run, tb.now))
	is := tb.load().Action(x.ActionID)
	expect.That(t, is.Outcome == OutcomeUnknown && is.Pushed.Unseen == ReasonPushUnseen && is.Pushed.There, "%+v",
		is.Pushed)
	expect.Is(t, tb.load().Next(tb.now).State, aggregate.StateFinish)
	expect.NoError(t, errors.Join(tb.check(x, sato), tb.begin())) // and the branch is deleted
	tb.must(tb.load().Found(tb.load().Head.Run, x.ActionID, Result{Status: ActionFailed, Error: ReasonPushNotThere,
		Pushed: &Pushed{Commit: madeCommit}}, tb.now))
	expect.Is(t, tb.load().Action(x.ActionID).Pushed.URL(), "")
}

// Whoever asked hears why the last try failed; a reason that no sentence is about is told as a fault of Ringi's.
func TestWhyTriesFailedIsSaid(t *testing.T) {
	for why, told := range map[aggregate.Reason]aggregate.Reason{
		"model_unavailable": "model_unavailable", "odd": ReasonRunFailed, "": ReasonRunFailed,
	} {
		tb := opened(t)
		if why != "" {
			tb.must(tb.load().Tried(tb.head.Run, why, Answer{}, tb.now))
		}
		tb.must(tb.load().GiveUp(tb.head.Run, tb.now))
		want, _ := Unanswered("en", told)
		says := func(r aggregate.Row) bool { m, is := r.(*Message); return is && m.Content == want }
		expect.That(t, slices.ContainsFunc(slices.Collect(maps.Values(tb.lists)), says), "%s: %+v", why, tb.lists)
	}
}
