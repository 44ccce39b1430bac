package conversation

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
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
			_, problems := ReadPayload(agent.CodeGenerate, fmt.Appendf(nil, payload, p))
			expect.That(t, len(problems) == 1 && strings.Contains(problems[0], "where attachments lie"), "%s: %q", p, problems)
		}
	}
	_, problems := ReadPayload(agent.CodeGenerate,
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
