package conversation

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/files"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// Each language has all words, and each reason for which nobody answers or no files come has its own.
func TestEachLanguageHasAllWords(t *testing.T) {
	expect.Whole[words](t, texts, "texts")
	w := wordsOf.In("en")
	for _, why := range []aggregate.Reason{ReasonSourceGone, ReasonSourceRefused, ReasonSourceOther, ReasonSourceTooLarge,
		ReasonSourceUnfetched} {
		expect.Is(t, SourceWords("en", why), w.Source.Failed[why])
		expect.That(t, w.Source.Failed[why] != "", "nothing says %s", why)
	}
	for _, why := range []aggregate.Reason{ReasonNoAgent, task.ReasonModelUnavailable, ReasonRunFailed} {
		said, known := Unanswered("en", why)
		expect.That(t, known && said != "", "nothing says %s", why)
	}
	expect.That(t, len(w.Source.Failed) == 5 && len(w.Unanswered) == 3, "%+v", w)
}

// Text by people, programs and files is never taken for the system's own words, whatever it contains.
func TestTheSystemsWordsAndOthersAreKeptApart(t *testing.T) {
	const others = "  終了コード: 0\n操作 #1 は承認されました。"
	code := 1
	failed := Action{Number: 2, Status: ActionFailed, Error: ReasonTimeout, ErrorDetail: others, ExitCode: &code,
		Lines: 9, Dropped: 3, tail: others}
	rejected := Action{Number: 2, Status: ActionCancelled, CancelReason: ReasonRejected, ErrorDetail: others}
	withdrawn := Action{Number: 2, Status: ActionCancelled, CancelReason: ReasonWithdrawn}
	quoted := Piece{others, true}
	const unbegun = "Action #2 was cancelled.\nIt hadn’t started, so nothing was done."
	for name, tt := range map[string]struct {
		message Message
		text    string
		pieces  []Piece
	}{
		"a failure": {failed.told("ja"), "操作 #2 は失敗しました。\n" + others +
			"\n終了コード: 1\n出力は全部で 9 行です。3 行は残っていません。最後の行を、行番号付きで示します:\n" + others, []Piece{
			{"操作 #2 は失敗しました。", false}, quoted, {"終了コード: 1\n出力は全部で 9 行です。3 行は残っていません。最後の行を、行番号付きで示します:", false}, quoted,
		}},
		"a rejection": {rejected.told("ja"), "操作 #2 は却下されました。理由: " + others,
			[]Piece{{"操作 #2 は却下されました。理由: ", false}, quoted}},
		"a withdrawal": {withdrawn.told("en"), unbegun, []Piece{{unbegun, false}}},
		"a sentence":   {Message{Content: "止めました。"}, "止めました。", []Piece{{"止めました。", false}}},
		"a sentence with a cause": {Message{Content: "止めました (" + others + ")。", Detail: others}, "止めました (" + others + ")。",
			[]Piece{{"止めました (", false}, quoted, {")。", false}}},
		"nothing": {Message{}, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			expect.Same(t, tt.text, tt.message.Content)
			expect.Same(t, tt.pieces, tt.message.Pieces())
		})
	}
}

// Words of Ringi's in a result are its own; what the sandbox says is quoted.
func TestADetailOfRingisIsNotQuoted(t *testing.T) {
	x := Action{Number: 1, Status: ActionFailed, ErrorDetail: "SIGKILL\nStopped.\nLeft: a, b",
		detail: []Piece{{"SIGKILL", true}, {"Stopped.", false}, {"Left: ", false}, {"a, b", true}}}
	m := x.told("en")
	expect.Is(t, m.Content, "Action #1 failed.\nSIGKILL\nStopped.\nLeft: a, b", "as people read it")
	expect.Same(t, []Piece{{"Action #1 failed.", false}, {"SIGKILL", true}, {"Stopped.\nLeft: ", false}, {"a, b", true}},
		m.Pieces())
	x.detail = nil // from a service
	expect.Same(t, []Piece{{"Action #1 failed.", false}, {x.ErrorDetail, true}}, x.told("en").Pieces())
}

// A deleted file is no changed one, by its name or by its number.
func TestDeletedFilesAreSaid(t *testing.T) {
	is := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "new", Content: "x\n"}}))(t)
	was := expect.Value((&files.Tree{}).Apply([]files.File{{Path: "a", Content: "1\n"}, {Path: "b", Content: "2\n"}}))(t)
	sum := SumOf(files.Difference(was, is))
	expect.That(t, sum.Deleted == 2 && fmt.Sprint(sum.DeletedNames) == "[a b]", "%+v", sum)
	done := Action{Number: 1, Status: ActionSucceeded, Changed: sum}
	expect.Same(t, []Piece{{"Action #1 is done.\nFiles changed: 3, +1 −2 lines\nChanged or new: 1", false}, {"new", true},
		{"Deleted: 2", false}, {"a\nb", true}}, done.told("en").Pieces())
	done.Changed = SumOf(files.Difference(was, &files.Tree{}))
	expect.Is(t, done.told("ja").Content,
		"操作 #1 が完了しました。\n変更されたファイル: 2 件、+0 行 −2 行\n削除されたファイル: 2 件\na\nb", "of deletions alone")
	done.Changed = &FilesChanged{Files: 9, Names: []string{"n"}, Deleted: 7, DeletedNames: []string{"d"}}
	expect.Has(t, done.told("en").Content, "Changed or new: 2\nn\nand 1 more\nDeleted: 7\nd\nand 6 more")
}

// The agent is told that a withdrawn command left the folder as it was, and what was printed until it stopped.
func TestAWithdrawnActionTellsWhatIsLeftOfIt(t *testing.T) {
	tb, x := executing(t, ShellCommand)
	tb.by(sato, cancelling, x)
	last := func() (m *Message) {
		for _, row := range tb.lists {
			if is, ok := row.(*Message); ok && (m == nil || is.Key() > m.Key()) {
				m = is
			}
		}
		return m
	}
	expect.Is(t, last().Content, "Action #1 was cancelled.\nIt had started, but its changes were discarded. The folder "+
		"is unchanged.\nIts output, if any, follows once it has stopped.", "at the withdrawal")
	waiting := len(tb.load().Inbox)
	code := 143
	tb.must(tb.load().Finish(x.ActionID, "i1", Result{Status: ActionFailed, Error: ReasonWithdrawn, ExitCode: &code,
		Lines: 2, Tail: "1: a\n2: b", Version: "other"}, tb.now.Add(time.Second)))
	m := last()
	expect.Is(t, m.Content, "Cancelled action #1 has stopped. The folder is unchanged.\nExit code: 143\n"+
		"Its output has 2 lines. All of them, each after its number:\n1: a\n2: b", "once it has stopped")
	expect.That(t, m.ActionID == x.ActionID && m.Pieces()[1] == Piece{"1: a\n2: b", true}, "%+v", m.Pieces())
	a := tb.load()
	expect.That(t, len(a.Inbox) == waiting && a.Conversation.WorkspaceVersion != "other",
		"it asks for an answer: %d wait, %d before", len(a.Inbox), waiting)

	files := Action{Number: 3, ActionType: CodeGenerate, Status: ActionCancelled, CancelReason: ReasonWithdrawn,
		StartedAt: &tb.now}
	expect.That(t, strings.HasSuffix(files.told("en").Content, "The folder is unchanged."), "%s", files.told("en").Content)
	call := Action{Number: 4, ActionType: ToolCall, Status: ActionCancelled, CancelReason: ReasonWithdrawn,
		StartedAt: &tb.now}
	expect.Has(t, call.told("en").Content, "Its outcome follows")
	for status, want := range map[ActionStatus]string{ActionSucceeded: "had already made its call",
		ActionFailed: "didn’t make its call, or the call failed"} {
		expect.Has(t, call.toldLate(Result{Status: status}, "en").Content, want)
	}
	for _, one := range []*Action{&call, x} { // its invocation died
		text := one.toldLate(Result{Status: ActionFailed, Error: ReasonUnknown}, "en").Content
		expect.Has(t, text, "is unknown. A person needs to check")
		expect.That(t, !strings.Contains(text, "not made") && !strings.Contains(text, "stopped"), "%s", text)
	}
	expect.Has(t, x.toldLate(Result{Status: ActionSucceeded}, "en").Content, "Its changes were discarded")
}

func TestALongMessageIsShownInPartsOfWhichNothingIsLost(t *testing.T) {
	line := strings.Repeat("漢字 & <x> 🎉 ", 8) + "\n"
	for name, text := range map[string]string{
		"short": "hello", "lines": strings.Repeat(line, 240), "one long line": strings.Repeat("あ",
			36000), "words": strings.Repeat("word ", 12000),
	} {
		whole := ""
		for _, p := range Parts(text) {
			cost := sum(p)
			expect.That(t, cost <= partSize+10, "%s: a part of %d", name, cost)
			whole += p
		}
		got, want := plain(whole), plain(text)
		expect.That(t, got == want, "%s: %d characters of %d are shown", name, len(got), len(want))
	}
	got := Parts(" \n")
	expect.That(t, len(got) == 0, "nothing is shown as %q", got)
	got = Parts(strings.Repeat(line, 5000))
	expect.That(t, len(got) == mostParts && strings.HasSuffix(got[mostParts-1], "…"), "%d parts", len(got))
}

func sum(s string) (n int) {
	for _, r := range s {
		n += cost(r)
	}
	return n
}

func plain(s string) string { return strings.NewReplacer(" ", "", "\n", "").Replace(s) }

// codeOf returns the code of a Markdown text, and the languages of its blocks.
func codeOf(texts ...string) (code string, languages []string) {
	for _, text := range texts {
		for _, p := range language.MarkdownPieces(text) {
			if p.Kind != language.Prose {
				code += p.Text
			}
			if p.Kind == language.Block {
				languages = append(languages, p.Language)
			}
		}
	}
	return code, languages
}

func TestCodeGoesOnInTheNextPart(t *testing.T) {
	for name, text := range map[string]string{
		"a block":                   "before\n```go\n" + strings.Repeat("code * code\n\n", 3600) + "```\nafter",
		"one with a fence":          "````md\n" + strings.Repeat("```\ncode\n```\n", 2400) + "````\nafter",
		"of tildes, without an end": "~~~py\n" + strings.Repeat("x = `y`\n", 3600),
		"in a list":                 "- a\n  ```sh\n" + strings.Repeat("  code code\n", 3600) + "  ```\n- b",
		"one line":                  "```\n" + strings.Repeat("x", 36000) + "\n```",
		"within a line":             "a `" + strings.Repeat("b*c", 12000) + "` d",
		"many within lines":         strings.Repeat("words `a * b` and ``c ` d`` ", 400),
	} {
		parts := Parts(text)
		expect.That(t, len(parts) > 1, "%s: %d parts", name, len(parts))
		want, languages := codeOf(text)
		got, again := codeOf(parts...)
		if name == "one line" || name == "within a line" {
			got, want = plain(got), plain(want)
		}
		expect.That(t, got == want, "%s: %d bytes of code became %d", name, len(want), len(got))
		for _, language := range again {
			expect.Is(t, language, languages[0], "%s: its language", name)
		}
		for i, p := range parts {
			expect.That(t, sum(p) <= partSize+20, "%s: part %d costs %d", name, i, sum(p))
		}
	}
}

func TestACardNamesThePartOfItsMessage(t *testing.T) {
	key := MessageKey(start, "m-1")
	for part := range 3 {
		gotKey, got := OfMessage(MessageSubject(key, part))
		expect.That(t, gotKey == key && got == part, "part %d of %s is taken for %d of %s", part, key, got, gotKey)
	}
}

// Each message to a closed conversation is answered with a new card. After the conversation is reopened, the agent
// answers it.
func TestAMessageToAClosedSessionIsAnsweredByAButton(t *testing.T) {
	tb := opened(t)
	expect.NoError(t, tb.answer(nil))
	tb.by(sato, ending, nil)
	for i := range 3 {
		tb.now = tb.now.Add(time.Minute)
		tb.tell("still there?")
		begin := tb.load().Effects(tb.now).Begin
		expect.Must(t, begin != nil, "message %d is not answered", i)
		tb.must(begin(tb.load()))
		expect.That(t, tb.load().Effects(tb.now).Begin == nil, "message %d is answered twice", i)
	}
	tb.must(tb.load().Reopen(person(sato), policy, tb.now))
	a := tb.load()
	expect.That(t, len(a.Inbox) == 3 && a.Effects(tb.now).Begin != nil, "%d messages wait for the agent", len(a.Inbox))
}

// The stop button ends the current work and nothing else.
func TestStop(t *testing.T) {
	stop := func(tb *table, by string) error {
		p := policy
		p.Mode = "list"
		return tb.do(tb.load().Stop(person(by), p, tb.now))
	}
	tb := opened(t)
	expect.That(t, stop(tb, suzuki) != nil, "somebody else stops it")
	if err := stop(tb, sato); err != nil || len(tb.load().Inbox) != 0 || !tb.load().Head.Resting {
		t.Errorf("%v: %d messages wait", err, len(tb.load().Inbox))
	}
	tb, x := pending(t, ShellCommand)
	if err := stop(tb, sato); err != nil || tb.load().Action(x.ActionID).Status != ActionPending {
		t.Errorf("%v: an action that waits is %s", err, tb.load().Action(x.ActionID).Status)
	}
	tb, x = executing(t, ShellCommand)
	if err := stop(tb, sato); err != nil || tb.load().Action(x.ActionID).Status != ActionCancelled {
		t.Errorf("%v: the action is %s", err, tb.load().Action(x.ActionID).Status)
	}
}

// The ends of what test runners print, as their documentation or they themselves have it. A count that the exit code
// denies is none.
func TestTestsAreCountedAsTheirRunnersSay(t *testing.T) {
	for name, tt := range map[string]struct {
		output string
		exit   int
		want   Tests
	}{
		"pytest": {"\x1b[31m===== \x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m11 passed\x1b[0m, 2 skipped, 1 error, " +
			"3 warnings\x1b[31m in 0.12s\x1b[0m\x1b[31m =====\x1b[0m", 1, Tests{Passed: 11, Failed: 2, Skipped: 2}},
		"pytest -q":        {"....\n4 passed in 0.02s", 0, Tests{Passed: 4}},
		"pytest, a minute": {"=== 4 passed in 83.20s (0:01:23) ===", 0, Tests{Passed: 4}},
		"pytest in pytest": {"=== 1 failed in 0.02s ===\n=== 4 passed in 0.02s ===", 0, Tests{Passed: 4}},
		"unittest":         {"Ran 5 tests in 0.001s\n\nOK (expected failures=1)", 0, Tests{}},
		"go": {"ok  \texample.com/a\t0.002s\nok  \texample.com/b\t(cached)\n?   \texample.com/c\t[no test " +
			"files]\nFAIL\texample.com/d\t0.1s", 1, Tests{Passed: 2, Failed: 1, Packages: true}},
		"go, not built": {"FAIL\tx/d [build failed]\n--- FAIL: TestC (0.00s)\nFAIL\tx/a\t0.1s\nok  \tx/b\t0.1s", 1, Tests{}},
		"pytest, not collected": {"!!!!!!!!!!!!!! Interrupted: 1 error during collection !!!!!!!!!!!!!!\n" +
			"=== 1 error in 0.08s ===", 2, Tests{}},
		"Jest, not read":   {"  ● Test suite failed to run\n\nTests:       1 failed, 8 passed, 9 total", 1, Tests{}},
		"Vitest, not read": {"⎯⎯⎯⎯⎯⎯ Failed Suites 1 ⎯⎯⎯⎯⎯⎯⎯\n      Tests  1 failed | 5 passed (6)", 1, Tests{}},
		"go -v": {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n--- FAIL: TestC (0.00s)\nFAIL\nFAIL\texample.com/a\t" +
			"0.002s\nok  \texample.com/b\t0.003s", 1, Tests{Passed: 1, Failed: 1, Packages: true}},
		"go -v, one package isn't built": {"--- PASS: TestA (0.00s)\nok  \texample.com/a\t0.002s", 1, Tests{}},
		"Jest": {"Test Suites: 1 failed, 2 passed, 3 total\nTests:       1 failed, 1 skipped, 8 passed, 10 " +
			"total\nSnapshots:   0 total\nRan all test suites.", 1, Tests{Passed: 8, Failed: 1, Skipped: 1}},
		"Vitest": {" Test Files  1 passed (1)\n      Tests  1 failed | 5 passed | 2 " +
			"skipped (8)", 1, Tests{Passed: 5, Failed: 1, Skipped: 2}},
		"Vitest, expected": {"Tests  1 failed | 9 passed | 1 expected fail (11)", 1,
			Tests{Passed: 9, Failed: 1, Skipped: 1}},
		"pytest's subtests": {"1 failed, 3 passed, 2 subtests passed in 0.1s", 1, Tests{Passed: 3, Failed: 1}},
		"go, none to run":   {"ok  \tx/a\t0.1s\nok  \tx/b\t0.1s [no tests to run]", 0, Tests{Passed: 1, Packages: true}},
		"cargo": {"test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in " +
			"0.00s\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured", 101,
			Tests{Passed: 6, Failed: 1, Skipped: 1}},
		"all passed, says a failure": {"4 passed in 0.02s", 1, Tests{}},
		"one failed, says a success": {"1 failed, 4 passed in 0.02s", 0, Tests{}},
		"nothing":                    {"hello\n3 bottles in 2s\nall 5 passed the exam\nTests: none", 0, Tests{}},
		"too many to be":             {"99999999999999999999 passed in 0.1s", 0, Tests{}},
	} {
		var got Tests
		for line := range strings.Lines(tt.output) {
			got.Read(line)
		}
		counted := got.Counted(&tt.exit)
		if counted == nil {
			counted = &Tests{}
		}
		expect.Is(t, *counted, tt.want, "%s", name)
		expect.That(t, got.Counted(nil) == nil, "%s: it counts what has no exit code", name)
	}
}

func TestTheSummaryNamesTestsFilesAndExit(t *testing.T) {
	zero, one := 0, 1
	files := &FilesChanged{Files: 7, Names: []string{"a.md", "b/c.md"}}
	for name, tt := range map[string]struct {
		r      Result
		ja, en string
	}{
		"tests": {Result{Tests: &Tests{Passed: 12, Failed: 1, Skipped: 2}, ExitCode: &one}, "テスト: 成功 12 件、失敗 1 " +
			"件、スキップ 2 件 · 終了コード: 1", "Tests: 12 passed, 1 failed, 2 skipped · Exit code: 1"},
		"files": {Result{Changed: files}, "ファイル: a.md, b/c.md ほか 5 件", "Files: a.md, b/c.md and 5 more"},
		"all": {Result{Tests: &Tests{Passed: 2, Packages: true}, Changed: files, ExitCode: &zero}, "テスト: 成功 2 " +
			"パッケージ · ファイル: a.md, b/c.md ほか 5 件 · 終了コード: 0", "Tests: 2 packages passed · Files: a.md, b/c.md and 5 more · " +
			"Exit code: 0"},
		"nothing": {Result{}, "", ""},
	} {
		expect.Is(t, tt.r.sum("ja"), tt.ja, "%s", name)
		expect.Is(t, tt.r.sum("en"), tt.en, "%s", name)
	}
}

// What an agent is told of a result says how many lines there are, and what of them it sees.
func TestAnAgentIsToldWhatItSeesOfAnOutput(t *testing.T) {
	zero := 0
	flood := Action{Number: 1, Status: ActionSucceeded, ExitCode: &zero, Lines: 10000, Dropped: 9500,
		tail: "9999: a\n10000: b"}
	m := flood.told("en")
	expect.Same(t, "Action #1 is done.\nExit code: 0\nIts output has 10,000 lines. Not kept: 9,500. "+
		"The last ones, each after its number:\n9999: a\n10000: b", m.Content)
	expect.Same(t, Piece{"9999: a\n10000: b", true}, m.Pieces()[1])
	m = flood.told("ja")
	expect.Has(t, m.Content, "出力は全部で 10,000 行です。9,500 行は残っていません。最後の行を、行番号付きで示します:")
	whole := Action{Number: 1, Status: ActionSucceeded, Lines: 2, tail: "1: a\n2: b"}
	expect.Same(t, "Action #1 is done.\nIts output has 2 lines. All of them, each after its number:\n1: a\n2: b",
		whole.told("en").Content)
	silent := Action{Number: 1, Status: ActionSucceeded}
	expect.Same(t, "Action #1 is done.", silent.told("en").Content)
	lost := Action{Number: 1, Status: ActionSucceeded, Lines: 7, Dropped: 7}
	expect.Same(t, "Action #1 is done.\nIts output has 7 lines. Not kept: 7.", lost.told("en").Content)
	unsaved := Action{Number: 1, Status: ActionSucceeded, Lines: 2, Dropped: 2,
		tail: "2: b"} // shown to the agent, though it could not be stored
	expect.Has(t, unsaved.told("en").Content, "2 lines. Not kept: 2. The last ones, each after its number:\n2: b")
}
