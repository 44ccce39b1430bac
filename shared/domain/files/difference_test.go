package files_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	same := files.Difference(was, was)
	expect.That(t, same == nil, "a version differs from itself: %v", same)
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
