package conversation

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// treeOf makes files; a content that begins with → is a link, one that begins with ! is executable.
func treeOf(t *testing.T, files map[string]string) *Tree {
	t.Helper()
	out := &Tree{}
	for p, content := range files {
		e := entry{content: []byte(content)}
		if link, is := strings.CutPrefix(content, "→"); is {
			e = entry{link: link}
		} else if rest, is := strings.CutPrefix(content, "!"); is {
			e = entry{content: []byte(rest), executable: true}
		}
		expect.NoError(t, out.add(p, e))
	}
	return out
}

func contents(tr *Tree, paths []string) map[string][]byte {
	out := map[string][]byte{}
	for _, p := range paths {
		out[p], _ = tr.Content(p)
	}
	return out
}

func patched(was, is *Tree, prefix string, commit []Committed) (Patch, []byte) {
	p := PatchOf(was.Manifest(), is.Manifest(), commit)
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
func checkout(t *testing.T, files *Tree, prefix string) string {
	t.Helper()
	dir := t.TempDir()
	git(t, dir, "init", "-q")
	below := filepath.Join(dir, prefix)
	expect.NoError(t, os.MkdirAll(below, 0o755))
	root := expect.Value(os.OpenRoot(below))(t)
	defer root.Close()
	expect.NoError(t, files.Unpack(root))
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
			a, b := treeOf(t, was), treeOf(t, is)
			dir := checkout(t, a, prefix)
			p, text := patched(a, b, prefix, nil)
			expect.That(t, len(p.Left) == 0, "left out: %v", p.Left)
			file := filepath.Join(t.TempDir(), "it.patch")
			expect.NoError(t, os.WriteFile(file, text, 0o600))
			git(t, dir, "apply", "--check", "--index", file)
			git(t, dir, "apply", "--whitespace=nowarn", "--index", file)
			want := checkout(t, b, prefix)
			expect.Same(t, git(t, want, "write-tree"), git(t, dir, "write-tree"))
			git(t, dir, "apply", "-R", "--index", "--whitespace=nowarn", file)
			expect.Same(t, "", git(t, dir, "status", "--porcelain"))
		})
	}
	none, text := patched(treeOf(t, was), treeOf(t, was), "", nil)
	expect.That(t, none.Files == nil && !strings.Contains(string(text), "diff"), "%v %s", none, text)
}

func TestAPatchNamesWhatItLeavesOut(t *testing.T) {
	big := strings.Repeat("x", MaxPatched+1)
	was := treeOf(t, map[string]string{"link": "→a", "a": "1\n", "was.bin": big})
	is := treeOf(t, map[string]string{"link": "→b", "new": "→a", "a": "2\n", "b": "", "is.bin": big, "model.bin": "1",
		".git/config": "[core]\n", "x/.GIT. /hooks/run": "!rm\n", "file": "→a"})
	p, text := patched(was, is, "", []Committed{{Path: "model.bin"}, {Path: "a"}})
	var left []string
	for _, x := range p.Left {
		left = append(left, fmt.Sprintf("%s %s %d", x.Path, x.Why, len(x.SHA256)))
	}
	expect.Same(t, []string{".git/config git 64", "file link 64", "is.bin size 64", "link link 64", "model.bin source 64",
		"new link 64", "was.bin size 0", "x/.GIT. /hooks/run git 64"}, left)
	expect.That(t, strings.HasPrefix(string(text), "# Base: acme/shop\n# @@ -1 +1 @@\ndiff --git a/a b/a\n"), "%s", text)

	full := map[string]string{}
	for i := range 20 {
		full[fmt.Sprintf("f%02d", i)] = big[:MaxPatched]
	}
	p, _ = patched(&Tree{}, treeOf(t, full), "", nil)
	expect.That(t, len(p.Files) == mostPatched/MaxPatched && len(p.Left) == 4 && p.Left[0].Why == UnpatchedSize,
		"%d, %d", len(p.Files), len(p.Left))
}

func TestAChangeAsItIs(t *testing.T) {
	was, is := treeOf(t, map[string]string{"a b": "1\r\n2"}), treeOf(t, map[string]string{"a b": "1\r\n\u202e3"})
	c := Difference(was, is)[0]
	expect.Same(t, "--- a/a b\t\n+++ b/a b\t\n@@ -1,2 +1,2 @@\n 1\r\n-2\n\\ No newline at end of file\n+\u202e3\n"+
		"\\ No newline at end of file\n", string(c.Unified()))
	added := Difference(&Tree{}, is)[0]
	lines := strings.Split(string(added.Unified()), "\n")
	expect.That(t, slices.Contains(lines, "@@ -0,0 +1,2 @@"), "%s", added.Unified())
}

func TestTheMissingLinesOfAnOutputAreNamed(t *testing.T) {
	for _, tt := range []struct {
		kept  []int
		total int
		want  string
	}{
		{nil, 0, ""}, {nil, 3, "1–3"}, {[]int{0, 1, 2}, 3, ""}, {[]int{2}, 3, "1–2"}, {[]int{1}, 3, "1, 3"},
		{[]int{0, 9500, 9501}, 9502, "2–9,500"}, {[]int{0, 1}, 1234567, "3–1,234,567"}, {[]int{5}, 2, "1–5"},
	} {
		expect.Same(t, tt.want, NumbersOf(Missing(tt.kept, tt.total), false))
	}
	for want, x := range map[string]Action{
		"":             {Lines: 3},
		"1–9,500":      {Lines: 10000, Dropped: 9500, Missing: []Lines{{1, 9500}}},
		"1–10, 20, …":  {Lines: 1000, Dropped: 300, Missing: []Lines{{1, 10}, {20, 20}}},
		"51–9,550":     {Lines: 10000, Dropped: 9500, Missing: []Lines{{51, 9550}}},
		"1–100, 9,999": {Lines: 10000, Dropped: 101, Missing: []Lines{{1, 100}, {9999, 9999}}},
	} {
		expect.Same(t, want, x.NotKept())
	}
}

// What an agent is told of a result names the lines that it sees and those that it doesn't.
func TestAnAgentIsToldWhichLinesItDoesNotSee(t *testing.T) {
	zero := 0
	flood := Action{Number: 1, Status: ActionSucceeded, ExitCode: &zero, Lines: 10000, Dropped: 9500,
		Missing: []Lines{{1, 9500}}, tail: "9999: a\n10000: b", tailLines: []Lines{{9999, 10000}}}
	m := flood.told("en")
	expect.Same(t, "Action #1 is done.\nExit code: 0\nIts output has 10,000 lines. Lines 1–9,500 are not kept. You are "+
		"not shown "+
		"lines 9,501–9,998. Lines 9,999–10,000, each after its number:\n9999: a\n10000: b", m.Content)
	expect.Same(t, Piece{"9999: a\n10000: b", true}, m.Pieces()[1])
	m = flood.told("ja")
	expect.Has(t, m.Content, "出力は全部で 10,000 行です。1–9,500 行目は残っていません。9,501–9,998 行目は省略しました。"+
		"9,999–10,000 行目を、行番号付きで示します:")
	whole := Action{Number: 1, Status: ActionSucceeded, Lines: 2, tail: "1: a\n2: b", tailLines: []Lines{{1, 2}}}
	expect.Same(t, "Action #1 is done.\nIts output has 2 lines. All of them, each after its number:\n1: a\n2: b",
		whole.told("en").Content)
	silent := Action{Number: 1, Status: ActionSucceeded}
	expect.Same(t, "Action #1 is done.", silent.told("en").Content)
	lost := Action{Number: 1, Status: ActionSucceeded, Lines: 7, Dropped: 7, Missing: []Lines{{1, 7}}}
	expect.Same(t, "Action #1 is done.\nIts output has 7 lines. Lines 1–7 are not kept.", lost.told("en").Content)
	gaps := Action{Number: 1, Status: ActionSucceeded, Lines: 9, Dropped: 3, Missing: []Lines{{2, 2}, {5, 6}},
		tail: "4: d\n7: g\n8: h\n9: i", tailLines: []Lines{{4, 4}, {7, 9}}}
	expect.Has(t, gaps.told("en").Content,
		"Lines 2, 5–6 are not kept. You are not shown lines 1, 3. Lines 4, 7–9, each after")
	gaps.Dropped = 4 // and nobody knows which
	expect.Has(t, gaps.told("en").Content,
		"Lines 2, 5–6, … are not kept. You are not shown the others. Lines 4, 7–9, each after")
	unsaved := Action{Number: 1, Status: ActionSucceeded, Lines: 2, Dropped: 2, Missing: []Lines{{1, 2}},
		tail: "2: b", tailLines: []Lines{{2, 2}}} // shown to the agent, though it could not be stored
	expect.Has(t, unsaved.told("en").Content, "2 lines. Lines 1 are not kept. Lines 2, each after its number:\n2: b")
}
