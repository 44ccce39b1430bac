package files_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
)

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
