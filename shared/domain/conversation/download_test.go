package conversation

import (
	"testing"

	"ringi/shared/runtime/expect"
)

func odd(t *testing.T) *Tree {
	return treeOf(t, map[string]string{
		"main.py": "print(1)\n", "run.sh": "!true\n", "日本/表 1.csv": "あ\n", "out": "→main.py",
		".git/config": "x", "a/.GIT/hooks/x": "!y",
		".gitignore": "x\n", "a:b.txt": "1", "a_b.txt": "2", "Makefile": "3", "makefile": "4", "con.txt": "5",
		"dir. /x": "6", "lpt1": "7",
		"COM12": "8", "x": "9", "X/y": "10", "q?\"<>|*": "11", "tail.": "12",
	})
}

func TestADownloadHasNamesThatAreSafe(t *testing.T) {
	d := DownloadOf(odd(t).Manifest(), "shop-3f2c")
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
	none := DownloadOf(Manifest{}, "x")
	expect.That(t, len(none.Names) == 0 && none.Left == nil, "%v", none)
}
