package files_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
)

// The kit's words for a tree and its entries.
var (
	treeOf  = expect.Tree
	file    = expect.File
	program = expect.Program
	link    = expect.Link
	folder  = expect.Folder
)

func TestEachKindOfChangeIsNamed(t *testing.T) {
	was := treeOf(t, file("changed", "a\n"), file("deleted", "x\n"), file("made executable", "x\n"),
		program("both", "x\n"),
		link("led", "changed"), link("cut", "changed"), file("a file", "x\n"), folder("gone"), file("stays", "x"),
		folder("dir"), file("dir/x", "x\n"))
	is := treeOf(t, file("changed", "b\n"), file("added", "x\n"), program("new", "x\n"), program("made executable", "x\n"),
		file("both", "y\n"), link("led", "added"), link("a file", "added"), folder("fresh"), file("stays", "x"),
		file("dir", "was a folder\n"), file("deep/er/x", "x\n"))
	var got []string
	for _, c := range files.Difference(was, is) {
		got = append(got, fmt.Sprint(c.Path, " ", c.Kinds()))
	}
	want := []string{
		"a file [kind]", "dir [kind]", "cut [link]", "led [link]",
		"both [mode changed]", "made executable [mode]", "new [mode added]",
		"added [added]", "deep/er/x [added]",
		"changed [changed]", "deleted [deleted]", "dir/x [deleted]", "fresh [added_folder]", "gone [deleted_folder]",
	}
	expect.Is(t, strings.Join(got, "\n"), strings.Join(want, "\n"), "the difference")
	same := files.Difference(was, was)
	expect.That(t, same == nil, "a version differs from itself: %v", same)
}

func TestWhatNobodyCanReadIsSaid(t *testing.T) {
	many := make([]expect.Entry, files.MaxChanges+1)
	for i := range many {
		many[i] = file(fmt.Sprintf("f%02d", i), "x\n")
	}
	wide := strings.Repeat("x", files.MaxChangedLine)
	for says, to := range map[string][]expect.Entry{
		"":                             {file("a", wide+"\n"), file("b", strings.Repeat("x\n", files.MaxChangedLines-1))},
		"paths, the limit is 50":       many,
		"lines, the limit is 3000":     {file("a", strings.Repeat("x\n", files.MaxChangedLines+1))},
		"characters, or one beside it": {file("a", wide+"x\n")},
		"bytes, the limit is 131072":   {file("a", strings.Repeat(strings.Repeat("x", 99)+"\n", 1400))},
		"no UTF-8 text":                {file("a", "\xff")},
		"no UTF-8":                     {file("a", "a\x00b")},
		"too large":                    {file("a", strings.Repeat("x\n", 1<<20))},
	} {
		problems := strings.Join(files.Unstampable(files.Difference(&files.Tree{}, treeOf(t, to...))), "; ")
		expect.That(t, (problems == "") == (says == "") && strings.Contains(problems, says), "%q, want %q", problems, says)
	}
}

// oracle is a folder with the earlier files, in which git applies a difference.
func oracle(t testing.TB, was string) string {
	t.Helper()
	dir := t.TempDir()
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "f"), []byte(was), 0o644))
	return dir
}

// patch writes hunks as git reads them.
func patch(hunks []files.Hunk) string {
	var b strings.Builder
	b.WriteString("--- a/f\n+++ b/f\n")
	for _, h := range hunks {
		added, removed := h.Count()
		same := len(h.Lines) - added - removed
		from, to := h.From, h.To
		if same+removed == 0 {
			from--
		}
		if same+added == 0 {
			to--
		}
		fmt.Fprintf(&b, "@@ -%d,%d +%d,%d @@\n", from, same+removed, to, same+added)
		for _, line := range h.Lines {
			b.WriteString(line)
			if !strings.HasSuffix(line, "\n") {
				b.WriteString("\n\\ No newline at end of file\n")
			}
		}
	}
	return b.String()
}

// git makes the later text of each difference.
func TestGitAppliesWhatDiffers(t *testing.T) {
	words := []string{"a\n", "b\n", "c\n", "\n", "}\n", "x\r\n", "end", "日本\n", "  \n", "d\n", "e\n"}
	text := rapid.Custom(func(rt *rapid.T) string {
		lines := rapid.SliceOfN(rapid.SampledFrom(words), 0, 40).Draw(rt, "lines")
		return strings.Join(lines, "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		was, is := text.Draw(rt, "was"), text.Draw(rt, "is")
		if rapid.Bool().Draw(rt, "alike") && len(was) > 4 {
			at := rapid.IntRange(0, len(was)-1).Draw(rt, "at")
			is = strings.ToValidUTF8(was[:at], "") + "new\n" + strings.ToValidUTF8(was[at:], "")
		}
		was = strings.ToValidUTF8(was, "")
		changes := files.Difference(treeOf(rt, file("f", was)), treeOf(rt, file("f", is)))
		if was == is {
			expect.Must(rt, changes == nil, "equal texts differ: %v", changes)
			return
		}
		dir := oracle(t, was)
		git := exec.Command("git", "apply", "--unidiff-zero", "--whitespace=nowarn", "-")
		git.Dir, git.Stdin = dir, strings.NewReader(patch(changes[0].Hunks))
		git.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir), "GIT_CONFIG_GLOBAL=/dev/null")
		if out, err := git.CombinedOutput(); err != nil {
			rt.Fatalf("git refuses it: %v: %s\n%s", err, out, patch(changes[0].Hunks))
		}
		got, err := os.ReadFile(filepath.Join(dir, "f"))
		if os.IsNotExist(err) && is == "" {
			err = nil
		}
		expect.Must(rt, err == nil && string(got) == is, "git makes %q, want %q: %v", got, is, err)
	})
}

// Comparing the largest files ends, whether their lines are all alike, all different or in another order.
func TestTheLargestFilesAreCompared(t *testing.T) {
	alike := strings.Repeat("x\n", 500_000)
	var other strings.Builder
	for i := 0; other.Len() < 900_000; i++ {
		fmt.Fprintf(&other, "%d\n", i*7919%65536)
	}
	for name, pair := range map[string][2]string{
		"alike": {alike, "y\n" + alike[:900_000] + "y\n"}, "different": {alike, other.String()}, "shuffled": {other.String(),
			other.String()[450_000:] + other.String()[:450_000]},
	} {
		c := files.Difference(treeOf(t, file("f", pair[0])), treeOf(t, file("f", pair[1])))
		expect.That(t, c[0].Unshown == "" && len(c[0].Hunks) > 0, "%s: %s", name, c[0].Unshown)
	}
}

// Only so many bytes are compared; what is beyond is named, and a large file that became executable has no lines to
// show.
func TestOnlySoMuchIsCompared(t *testing.T) {
	text := strings.Repeat("x\n", 400_000)
	var was, is []expect.Entry
	for i := range 12 {
		was, is = append(was, file(fmt.Sprintf("f%02d", i), text)), append(is, file(fmt.Sprintf("f%02d", i), text+"y\n"))
	}
	large := strings.Repeat("x\n", 1<<20)
	shown, unshown := 0, 0
	for _, c := range files.Difference(treeOf(t, append(was, file("run", large))...),
		treeOf(t, append(is, program("run", large))...)) {
		switch {
		case c.Path == "run":
			expect.That(t, c.Unshown == "" && c.Hunks == nil, "%s: %s", c.Path, c.Unshown)
		case c.Unshown == files.UnshownLarge:
			unshown++
		default:
			shown++
		}
	}
	expect.That(t, shown == 5 && unshown == 7, "%d are shown, %d are not", shown, unshown)
}

// What is stored of a large difference is bounded, but says of each path how many lines changed.
func TestALargeDifferenceIsStoredWithinBounds(t *testing.T) {
	all := files.Difference(&files.Tree{}, treeOf(t, file("a", "x\n"),
		file("b", strings.Repeat("x\n", files.MaxChangedLines)), file("c", "y\n"), file("d", strings.Repeat("x", 5000))))
	some := files.Bounded(all)
	total := 0
	for i, c := range some {
		added, removed := c.Count()
		total += added + removed
		expect.Is(t, c.Unshown == "", c.Path == "a" || c.Path == "c", "whether %s is shown", c.Path)
		expect.That(t, all[i].Hunks != nil, "what is bounded has lost its lines")
	}
	expect.That(t, total == 3003 && files.Unstampable(all) != nil, "%d lines", total)
}

func TestAHunkSaysWhereItIs(t *testing.T) {
	was, is := treeOf(t, file("a b", "1\r\n2")), treeOf(t, file("a b", "1\r\n3"))
	expect.Is(t, files.Difference(was, is)[0].Hunks[0].Heading(), "@@ -1,2 +1,2 @@")
	expect.Is(t, files.Difference(&files.Tree{}, is)[0].Hunks[0].Heading(), "@@ -0,0 +1,2 @@")
}

func edit(path, old, to string) files.Edit { return files.Edit{Path: path, Old: old, New: to} }

// after returns what a file's only change makes of it.
func after(was string, c files.Change) string {
	var b strings.Builder
	at, old := 0, strings.SplitAfter(was, "\n")
	for _, h := range c.Hunks {
		for ; at < h.From-1; at++ {
			b.WriteString(old[at])
		}
		for _, line := range h.Lines {
			if line[0] != '+' {
				at++
			}
			if line[0] != '-' {
				b.WriteString(line[1:])
			}
		}
	}
	return b.String() + strings.Join(old[min(at, len(old)):], "")
}

// A file that is written whole keeps its byte order mark and its line ends, so that only what is meant differs.
func TestAFileWrittenWholeKeepsItsEncoding(t *testing.T) {
	for was, want := range map[string]string{
		"\ufeffa,1\r\nb,2\r\n": "\ufeffa,1\r\nb,3\r\n", "a,1\r\nb,2\r\n": "a,1\r\nb,3\r\n",
		"\ufeffa,1\nb,2\n": "\ufeffa,1\nb,3\n",
		"a,1\nb,2\r\n":     "a,1\nb,3\n", "a,1\nb,2\n": "a,1\nb,3\n",
	} {
		for _, written := range []string{"a,1\nb,3\n", want} {
			changes, problems := treeOf(t, file("f",
				was)).Changes(files.Writing{Files: []files.File{{Path: "f", Content: written}}})
			expect.Must(t, problems == nil && len(changes) == 1, "%q: %+v %v", was, changes, problems)
			expect.Is(t, after(was, changes[0]), want, "%q written as %q", was, written)
			if added, removed := changes[0].Count(); strings.Count(was, "\r\n") != 1 {
				expect.That(t, added == 1 && removed == 1, "%q: +%d −%d lines", was, added, removed)
			}
		}
	}
}

func TestEditsReplaceWhatTheyName(t *testing.T) {
	for _, tt := range []struct {
		was, is string
		edits   []files.Edit
	}{
		{"a\nb\nc\n", "a\nB\nc\n", []files.Edit{edit("f", "b", "B")}},
		{"a\nb\nc\n", "A\nb\nC\n", []files.Edit{edit("f", "c", "C"), edit("f", "a", "A")}},
		{"ab", "AB", []files.Edit{edit("f", "a", "A"), edit("f", "b", "B")}}, // they touch
		{"a\r\nb\r\nc\r\n", "a\r\nB\r\nB2\r\nc\r\n", []files.Edit{edit("f", "b\n", "B\nB2\n")}},
		{"a\r\nb\r\n", "a\r\nB\r\n", []files.Edit{edit("f", "\r\nb\r\n", "\r\nB\r\n")}},
		{"a\nb\nc\n", "a\nx\ny\n", []files.Edit{edit("f", "b\nc\n", "x\ny\n")}},
		{"a\nb\nc\n", "a\nc\n", []files.Edit{edit("f", "b\n", "")}},
		{"a\nb", "a\nB", []files.Edit{edit("f", "b", "B")}},
		{"a\nb", "a\nB\n", []files.Edit{edit("f", "b", "B\n")}},
		{"a\r\nb\r\nc", "a\r\nB\r\nC", []files.Edit{edit("f", "b", "B"), edit("f", "c", "C")}},
		{"\ufeffa\nb\n", "\ufeffa\nB\n", []files.Edit{edit("f", "b", "B")}},
		{"\ufeffa\nb\n", "\ufeffA\nb\n", []files.Edit{edit("f", "\ufeffa\n", "A\n")}},
		{"a\n", "", []files.Edit{edit("f", "a\n", "")}},
	} {
		changes, problems := treeOf(t, program("f", tt.was)).Changes(files.Writing{Edits: tt.edits})
		if problems != nil || len(changes) != 1 || after(tt.was, changes[0]) != tt.is {
			t.Errorf("%q by %+v: %+v %v, want %q", tt.was, tt.edits, changes, problems, tt.is)
			continue
		}
		expect.That(t, changes[0].Is.Mode == files.ModeExecutable, "its mode became %s", changes[0].Is.Mode)
		expect.Is(t, changes[0].Is.SHA256, files.Sum([]byte(tt.is)), "the hash")
	}
}

func TestFilesEditsAndDeletionsAreOneChange(t *testing.T) {
	base := treeOf(t, file("edited", "a\n"), file("whole", "a\n"), file("dir/deleted", "a\n"), file("stays", "a\n"))
	changes, problems := base.Changes(files.Writing{
		Files: []files.File{{Path: "whole", Content: "b\n"}, {Path: "new/x", Content: ""},
			{Path: "stays", Content: "a\n"}},
		Edits: []files.Edit{edit("edited", "a", "b")}, Delete: []string{"dir/deleted"},
	})
	var got []string
	for _, c := range changes {
		got = append(got, fmt.Sprint(c.Path, c.Kinds()))
	}
	expect.That(t, problems == nil &&
		strings.Join(got, " ") == "new/x[added] edited[changed] whole[changed] dir/deleted[deleted]",
		"%v %v", got, problems)
}

func TestAnEditThatCantBeMadeIsRefusedByName(t *testing.T) {
	base := treeOf(t, file("aaa", "aaaa\n"), file("mixed", "a\r\nb\n"), file("cr", "a\rb\n"), file("binary", "\xff\n"),
		link("link", "aaa"), file("dir/x", "x\n"), file("Makefile", "x\n"), file("lines", "1\n2\n3\n"), file("Café/x", "x"))
	for says, p := range map[string]files.Writing{
		`edits[0] .old is in "aaa" 3 times`: {Edits: []files.Edit{edit("aaa", "aa", "b")}},
		`edits[0] .old is not in "aaa"`:     {Edits: []files.Edit{edit("aaa", "A", "b")}},
		`edits[0] changes nothing`:          {Edits: []files.Edit{edit("lines", "1", "1")}},
		`edits[1] .old is not in "lines"`: {Edits: []files.Edit{edit("lines", "2\n3", "x"),
			edit("lines", "1\n2", "x")}},
		`edits[0] .new has a CR without LF`:               {Edits: []files.Edit{edit("lines", "1", "a\rb")}},
		`"mixed" has line ends of several kinds`:          {Edits: []files.Edit{edit("mixed", "a", "x")}},
		`"cr" has line ends of several kinds`:             {Edits: []files.Edit{edit("cr", "a", "x")}},
		`edits: "binary" is no UTF-8 text`:                {Edits: []files.Edit{edit("binary", "\n", "x")}},
		`edits: "link" is a link`:                         {Edits: []files.Edit{edit("link", "a", "x")}},
		`edits: "dir" is a folder`:                        {Edits: []files.Edit{edit("dir", "a", "x")}},
		`edits: "none" is not there`:                      {Edits: []files.Edit{edit("none", "a", "x")}},
		`delete[0]: "none" is not there`:                  {Delete: []string{"none"}},
		`delete[0]: "link" is a link`:                     {Delete: []string{"link"}},
		`delete[0]: "dir" is a folder`:                    {Delete: []string{"dir"}},
		`delete[0]: "binary" is no UTF-8 text`:            {Delete: []string{"binary"}},
		`files: "binary" is no UTF-8 text`:                {Files: []files.File{{Path: "binary"}}},
		`"link" is a folder or a link`:                    {Files: []files.File{{Path: "link"}}},
		`"aaa" is no folder`:                              {Files: []files.File{{Path: "aaa/x"}}, Delete: []string{"aaa"}},
		`path "makefile" differs from "Makefile" only in`: {Files: []files.File{{Path: "makefile"}}},
		`path "dir/Ｘ" differs from "dir/x" only in`:       {Files: []files.File{{Path: "dir/Ｘ"}}},
		`path "DIR" differs from "dir" only in`:           {Files: []files.File{{Path: "DIR/y"}}},
		`path "Cafe` + "\u0301" + `" differs`:             {Files: []files.File{{Path: "Cafe\u0301/y"}}},
		`nothing changes`:                                 {Files: []files.File{{Path: "aaa", Content: "aaaa\n"}}},
		`people must be able to read it whole`: {Files: []files.File{{Path: "long",
			Content: strings.Repeat("x", 2001)}}},
	} {
		changes, problems := base.Changes(p)
		text := strings.Join(problems, "; ")
		expect.That(t, changes == nil && strings.Contains(text, says), "%q, want %q", text, says)
	}
	// Two names that are confused may be told apart again.
	both := treeOf(t, file("Makefile", "x\n"), file("makefile", "y\n"))
	_, problems := both.Changes(files.Writing{Delete: []string{"makefile"}})
	expect.That(t, problems == nil, "one of two is not deleted: %v", problems)
}

// Whatever a model writes, the change is refused, or it is exactly what applying it to the files makes.
func TestChangesAreWhatIsMadeOfThem(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "a", "a\n", "b\n", "a\r\nb\r\n", "a\nb\nc\n", "aa", "日本\n", "\ufeff", "\r",
		"\u202e", "a\nb"})
	paths := rapid.SampledFrom([]string{"a", "b", "A", "d/a", "d", "l", "x", "..", "ａ"})
	rapid.Check(t, func(rt *rapid.T) {
		base := treeOf(rt, file("a", texts.Draw(rt, "a")+"a\n"), file("d/a", "x\ny\n"), link("l", "a"),
			program("x", texts.Draw(rt, "x")+"\xff"))
		var p files.Writing
		for range rapid.IntRange(0, 2).Draw(rt, "files") {
			p.Files = append(p.Files, files.File{Path: paths.Draw(rt, "path"), Content: texts.Draw(rt, "content")})
		}
		for range rapid.IntRange(0, 3).Draw(rt, "edits") {
			p.Edits = append(p.Edits, files.Edit{Path: paths.Draw(rt, "path"), Old: texts.Draw(rt, "old"),
				New: texts.Draw(rt, "new")})
		}
		p.Delete = rapid.SliceOfN(paths, 0, 2).Draw(rt, "delete")
		if p.Check() != nil {
			return
		}
		before := expect.Value(base.Archive())(rt)
		changes, problems := base.Changes(p)
		expect.Must(rt, bytes.Equal(before, expect.Value(base.Archive())(rt)), "the base has changed")
		if problems != nil {
			return
		}
		next, err := base.Make(changes)
		expect.Must(rt, err == nil, "%v", err)
		diff := cmp.Diff(changes, files.Difference(base, next))
		expect.Must(rt, diff == "", "what is made of it differs otherwise: %s", diff)
	})
}

func TestChangesAreMadeOnWhatTheyNameOnly(t *testing.T) {
	base := treeOf(t, file("f", "a\nb\n"), program("run", "x\n"), link("l", "f"))
	made := func(change func(c *files.Change)) error {
		changes, problems := base.Changes(files.Writing{Edits: []files.Edit{edit("f", "b", "B")}})
		expect.Must(t, problems == nil, "%v", problems)
		change(&changes[0])
		_, err := base.Make(changes)
		return err
	}
	expect.NoError(t, made(func(*files.Change) {}))
	for name, change := range map[string]func(c *files.Change){
		"another path":          func(c *files.Change) { c.Path = "run" },
		"a path that leads out": func(c *files.Change) { c.Path = "../f" },
		"a link":                func(c *files.Change) { c.Path = "l" },
		"a path that is new":    func(c *files.Change) { c.Was = nil },
		"another content":       func(c *files.Change) { c.Was.SHA256 = c.Is.SHA256 },
		"another mode":          func(c *files.Change) { c.Is.Mode = files.ModeExecutable },
		"a link to be":          func(c *files.Change) { c.Is.Mode, c.Is.Target = files.ModeLink, "f" },
		"another result":        func(c *files.Change) { c.Is.SHA256 = c.Was.SHA256 },
		"another line":          func(c *files.Change) { c.Hunks[0].Lines[2] = "+C\n" },
		"a line it hasn't":      func(c *files.Change) { c.Hunks[0].Lines[0] = " A\n" },
		"no sign":               func(c *files.Change) { c.Hunks[0].Lines[0] = "" },
		"another sign":          func(c *files.Change) { c.Hunks[0].Lines[0] = "?a\n" },
		"beyond its end":        func(c *files.Change) { c.Hunks[0].From = 9 },
		"before its beginning":  func(c *files.Change) { c.Hunks[0].From = 0 },
		"no lines":              func(c *files.Change) { c.Hunks = nil },
		"a deletion":            func(c *files.Change) { c.Is = nil },
	} {
		expect.Fails(t, made(change), files.ErrRefused, "%s", name)
	}
}
