package files_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

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
	if same := files.Difference(was, was); same != nil {
		t.Errorf("a version differs from itself: %v", same)
	}
}

func TestAChangeSaysBothSidesAndItsLines(t *testing.T) {
	c := files.Difference(treeOf(t, file("a", "1\n2\n3\n4\n5\n6\n7\n8\n9\n")),
		treeOf(t, file("a", "1\n2\n3\n4\nfive\r\n6\n7\n8\n9")))
	expect.Must(t, len(c) == 1 && len(c[0].Hunks) == 1, "%+v", c)
	h := c[0].Hunks[0]
	expect.Is(t, fmt.Sprintf("%d %d %q", h.From, h.To, h.Lines),
		`2 2 [" 2\n" " 3\n" " 4\n" "-5\n" "+five\r\n" " 6\n" " 7\n" " 8\n" "-9\n" "+9"]`, "the hunk")
	added, removed := c[0].Count()
	expect.That(t, added == 2 && removed == 2, "+%d -%d", added, removed)
	expect.That(t, c[0].Was.SHA256 != c[0].Is.SHA256 && c[0].Was.Mode == "100644", "%+v %+v", c[0].Was, c[0].Is)
}

func TestWhatNobodyCanReadIsSaid(t *testing.T) {
	many := make([]expect.Entry, files.MaxChanges+1)
	for i := range many {
		many[i] = file(fmt.Sprintf("f%02d", i), "x\n")
	}
	wide := strings.Repeat("x", files.MaxChangedLine)
	for says, to := range map[string][]expect.Entry{
		"": {file("a", wide+"\n"),
			file("b", strings.Repeat("x\n", files.MaxChangedLines-1))},
		"paths, the limit is 50":       many,
		"lines, the limit is 3000":     {file("a", strings.Repeat("x\n", files.MaxChangedLines+1))},
		"characters, or one beside it": {file("a", wide+"x\n")},
		"bytes, the limit is 131072":   {file("a", strings.Repeat(strings.Repeat("x", 99)+"\n", 1400))},
		"no UTF-8 text":                {file("a", "\xff")},
		"no UTF-8":                     {file("a", "a\x00b")},
		"too large":                    {file("a", strings.Repeat("x\n", 1<<20))},
	} {
		problems := strings.Join(files.Unstampable(files.Difference(&files.Tree{}, treeOf(t, to...))),
			"; ")
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

// Where lines differ, the difference is no longer than git's.
func TestADifferenceIsShort(t *testing.T) {
	var was, is strings.Builder
	for i := range 400 {
		line := fmt.Sprintf("func f%d() {\n\treturn %d\n}\n\n", i, i%7)
		was.WriteString(line)
		if i%90 == 3 {
			line = "func added() {\n\treturn 1\n}\n\n" + line
		}
		if i%90 != 5 {
			is.WriteString(line)
		}
	}
	c := files.Difference(treeOf(t, file("f", was.String())), treeOf(t, file("f", is.String())))
	added, removed := c[0].Count()
	dir := oracle(t, was.String())
	expect.NoError(t, os.WriteFile(filepath.Join(dir, "g"), []byte(is.String()), 0o644))
	git := exec.Command("git", "diff", "--no-index", "--numstat", "f", "g")
	git.Dir = dir
	out, _ := git.Output()
	expect.That(t, strings.HasPrefix(string(out), fmt.Sprintf("%d\t%d\t", added, removed)), "+%d -%d, git: %s", added,
		removed, out)
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
		file("b", strings.Repeat("x\n", files.MaxChangedLines)), file("c", "y\n"), file("d",
			strings.Repeat("x", 5000))))
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

// treeFrom makes files; a content that begins with → is a link, one that begins with ! is executable.
func treeFrom(t *testing.T, contents map[string]string) *files.Tree {
	t.Helper()
	var all []expect.Entry
	for p, content := range contents {
		if target, is := strings.CutPrefix(content, "→"); is {
			all = append(all, link(p, target))
		} else if text, is := strings.CutPrefix(content, "!"); is {
			all = append(all, program(p, text))
		} else {
			all = append(all, file(p, content))
		}
	}
	return treeOf(t, all...)
}

func contents(tr *files.Tree, paths []string) map[string][]byte {
	out := map[string][]byte{}
	for _, p := range paths {
		out[p], _ = tr.Content(p)
	}
	return out
}

func patched(was, is *files.Tree, prefix string, commit []files.Committed) (files.Patch, []byte) {
	p := files.PatchOf(was.Manifest(), is.Manifest(), commit)
	a, b := p.Paths()
	return p, p.Write(prefix, []string{"Base: acme/shop", "@@ -1 +1 @@"}, contents(was, a), contents(is, b))
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null",
		"GIT_AUTHOR_NAME=t", "GIT_AUTHOR_EMAIL=t@example.com", "GIT_COMMITTER_NAME=t", "GIT_COMMITTER_EMAIL=t@example.com")
	out, err := cmd.CombinedOutput()
	expect.Must(t, err == nil, "git %v: %v: %s", args, err, out)
	return string(out)
}

// checkout makes a clean checkout of a repository with these files below prefix.
func checkout(t *testing.T, all *files.Tree, prefix string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	below := filepath.Join(dir, prefix)
	expect.NoError(t, os.MkdirAll(below, 0o755))
	root := expect.Value(os.OpenRoot(below))(t)
	defer root.Close()
	expect.NoError(t, all.Unpack(root))
	git(t, dir, "add", "-A")
	git(t, dir, "commit", "-q", "--allow-empty", "-m", "base")
	return dir
}

func TestGitTakesAPatch(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("git is not installed")
	}
	many := strings.Repeat("line\n", 40)
	was := map[string]string{
		"crlf.txt": "a\r\nb\r\nc\r\n", "open.txt": "a\nb", "closes.txt": "a", "run.sh": "true\n", "plain.sh": "!true\n",
		"gone.txt": "bye\n", "gone.bin": "\x00\x01", "empty.txt": "", "fills.txt": "",
		"folder/in.txt": "x\n", "same.txt": "s\n",
		"pic.png": "\x89PNG\x00" + strings.Repeat("\x07\x00\xff", 300), "a b/c d.txt": "1\n",
		"日本語/表 1.csv":  "あ\n",
		`say "hi".txt`: "1\n", "sjis.txt": "\x93\xfa\x96\x7b\n", "long.txt": "first\n" + many + "last\n",
		"becomes": "1\n", "tab.txt": "\t\n",
	}
	is := map[string]string{
		"crlf.txt": "a\r\nB\r\nc\r\nd\r\n", "open.txt": "a\nc", "closes.txt": "a\n", "run.sh": "!true\n",
		"plain.sh":  "false\n",
		"empty.txt": "now\n", "fills.txt": "", "folder": "a file now\n", "same.txt": "s\n",
		"new/deep/x.txt": "n\n", "new.bin": "\x00",
		"newempty": "", "newrun": "!#!/bin/sh\n", "pic.png": "\x89PNG\x00" + strings.Repeat("\x08\x00\xfe", 200),
		"a b/c d.txt": "2\n",
		"日本語/表 1.csv": "い\n", "日本語/新しい 表.csv": "う", `say "hi".txt`: "2\n", "sjis.txt": "\x96\x7b\n",
		"long.txt": "1st\n" + many + "end\n", "becomes/a/folder": "2\n", "tab.txt": "\t\t\n", "-- x": "- -\n++ y\n",
	}
	for _, prefix := range []string{"", "services/支払 1"} {
		t.Run(prefix, func(t *testing.T) {
			a, b := treeFrom(t, was), treeFrom(t, is)
			dir := checkout(t, a, prefix)
			p, text := patched(a, b, prefix, nil)
			expect.That(t, len(p.Left) == 0, "left out: %v", p.Left)
			at := filepath.Join(t.TempDir(), "it.patch")
			expect.NoError(t, os.WriteFile(at, text, 0o600))
			git(t, dir, "apply", "--check", "--index", at)
			git(t, dir, "apply", "--whitespace=nowarn", "--index", at)
			want := checkout(t, b, prefix)
			expect.Same(t, git(t, want, "write-tree"), git(t, dir, "write-tree"))
			git(t, dir, "apply", "-R", "--index", "--whitespace=nowarn", at)
			expect.Same(t, "", git(t, dir, "status", "--porcelain"))
		})
	}
	none, text := patched(treeFrom(t, was), treeFrom(t, was), "", nil)
	expect.That(t, none.Files == nil && !strings.Contains(string(text), "diff"), "%v %s", none, text)
}

func TestAPatchNamesWhatItLeavesOut(t *testing.T) {
	big := strings.Repeat("x", files.MaxPatched+1)
	was := treeFrom(t, map[string]string{"link": "→a", "a": "1\n", "was.bin": big})
	is := treeFrom(t, map[string]string{"link": "→b", "new": "→a", "a": "2\n", "b": "", "is.bin": big, "model.bin": "1",
		".git/config": "[core]\n", "x/.GIT. /hooks/run": "!rm\n", "file": "→a"})
	p, text := patched(was, is, "", []files.Committed{{Path: "model.bin"}, {Path: "a"}})
	var left []string
	for _, x := range p.Left {
		left = append(left, fmt.Sprintf("%s %s %d", x.Path, x.Why, len(x.SHA256)))
	}
	expect.Same(t, []string{".git/config git 64", "file link 64", "is.bin size 64", "link link 64", "model.bin source 64",
		"new link 64", "was.bin size 0", "x/.GIT. /hooks/run git 64"}, left)
	expect.That(t, strings.HasPrefix(string(text), "# Base: acme/shop\n# @@ -1 +1 @@\ndiff --git a/a b/a\n"), "%s", text)

	full := map[string]string{}
	for i := range 20 {
		full[fmt.Sprintf("f%02d", i)] = big[:files.MaxPatched]
	}
	p, _ = patched(&files.Tree{}, treeFrom(t, full), "", nil)
	expect.That(t, len(p.Files) == 16 && len(p.Left) == 4 && p.Left[0].Why == files.UnpatchedSize,
		"%d, %d", len(p.Files), len(p.Left))
}

func TestAChangeAsItIs(t *testing.T) {
	was, is := treeFrom(t, map[string]string{"a b": "1\r\n2"}), treeFrom(t, map[string]string{"a b": "1\r\n\u202e3"})
	c := files.Difference(was, is)[0]
	expect.Same(t, "--- a/a b\t\n+++ b/a b\t\n@@ -1,2 +1,2 @@\n 1\r\n-2\n\\ No newline at end of file\n+\u202e3\n"+
		"\\ No newline at end of file\n", string(c.Unified()))
	added := files.Difference(&files.Tree{}, is)[0]
	lines := strings.Split(string(added.Unified()), "\n")
	expect.That(t, slices.Contains(lines, "@@ -0,0 +1,2 @@"), "%s", added.Unified())
}

func odd(t *testing.T) *files.Tree {
	return treeFrom(t, map[string]string{
		"main.py": "print(1)\n", "run.sh": "!true\n", "日本/表 1.csv": "あ\n", "out": "→main.py",
		".git/config": "x", "a/.GIT/hooks/x": "!y",
		".gitignore": "x\n", "a:b.txt": "1", "a_b.txt": "2", "Makefile": "3", "makefile": "4", "con.txt": "5",
		"dir. /x": "6", "lpt1": "7",
		"COM12": "8", "x": "9", "X/y": "10", "q?\"<>|*": "11", "tail.": "12",
	})
}

func TestADownloadHasNamesThatAreSafe(t *testing.T) {
	d := files.DownloadOf(odd(t).Manifest(), "shop-3f2c")
	expect.Same(t, []string{".git/config", "a/.GIT/hooks/x", "out"}, d.Left)
	expect.Same(t, map[string]string{
		"main.py": "main.py", "run.sh": "run.sh", "日本/表 1.csv": "日本/表 1.csv", ".gitignore": ".gitignore",
		"a:b.txt": "a_b.txt", "a_b.txt": "a_b~2.txt",
		"Makefile": "Makefile", "makefile": "makefile~2", "con.txt": "_con.txt", "dir. /x": "dir__/x",
		"lpt1": "_lpt1", "COM12": "COM12",
		"x": "x~2", "X/y": "X/y", "q?\"<>|*": "q______", "tail.": "tail_",
	}, d.Names)
	renamed := []string{"a:b.txt", "a_b.txt", "con.txt", "dir. /x", "lpt1", "makefile", "q?\"<>|*", "tail.", "x"}
	expect.Same(t, renamed, d.Renamed)
	none := files.DownloadOf(files.Manifest{}, "x")
	expect.That(t, len(none.Names) == 0 && none.Left == nil, "%v", none)
}
