package conversation_test

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
)

func treeWith(t *testing.T, these map[string]string) *files.Tree {
	t.Helper()
	var list []files.File
	for p, content := range these {
		list = append(list, files.File{Path: p, Content: content})
	}
	return expect.Value((&files.Tree{}).Apply(list))(t)
}

// becomes makes a version the conversation's current one, by an action that ended.
func becomes(k *consoletest.Conversation, version string) *conversation.Action {
	x := k.ProposesFor(k.Load().Conversation.WorkspaceVersion, conversation.ShellCommand, consoletest.Script)
	k.As(webapi.Sato).Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, ""))
	k.Begins()
	k.Ends(x, conversation.Result{Status: conversation.ActionSucceeded, Version: version,
		Changed: &conversation.FilesChanged{Files: 1, Added: 2, Names: []string{"a"}}})
	return x
}

func file(k *consoletest.Conversation, below, path string) string {
	return k.Page() + "/files/" + below + "?" + url.Values{"path": {path}}.Encode()
}

// filesLeave: the tree, a file, its bytes, archives and the patch.
func filesLeave(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	big := strings.Repeat("0123456789abcdef", 1<<16) + "x"
	keepFiles(t, k, treeWith(t, nil))
	sato.Get(k.Page()).Holds(t, k.Page()+"/files")
	sato.Get(k.Page()+"/files").Says(t, 200, "ファイルはまだありません", "変更はありません").Lacks(t, "archive", "/patch")

	version := keepFiles(t, k, treeWith(t, map[string]string{
		"読む 1.txt": "一\r\n二\u202e\n<b>", "src/a/main.py": "print(1)\n", "big.txt": big,
		"bin.dat": "\x00\xff", "a:b": "1", "empty": ""}))
	x := becomes(k, version)
	page := sato.Get(k.Page()+"/files").Says(t, 200, "読む 1.txt", "1 ファイル", "変わったファイル: 5", "パッチに含まれません", "#1", "名前が変わるもの",
		version[:12])
	page.Holds(t, fmt.Sprintf(`href="%s?log=1#action-1"`, k.Page()), "folder=src")
	sato.Get(k.Page()+"/files?folder=src%2Fa").Says(t, 200, "main.py").Lacks(t, "big.txt</code></a>")

	shown := sato.Get(file(k, "file", "読む 1.txt")).Says(t, 200, "元の文字のまま開く", "3 行")
	shown.Holds(t, plus(`data-line="1">一⟨U+000D⟩`), plus(`data-line="2">二⟨U+202E⟩`), "&lt;b&gt;")
	raw := sato.Get(file(k, "raw", "読む 1.txt"))
	expect.Same(t, "一\r\n二\u202e\n<b>", raw.Body)
	expect.Same(t, "text/plain; charset=utf-8", raw.Header.Get("Content-Type"))
	expect.Same(t, "nosniff", raw.Header.Get("X-Content-Type-Options"))
	saved := sato.Get(file(k, "raw", "読む 1.txt") + "&download=1")
	expect.Has(t, saved.Header.Get("Content-Disposition"), "attachment; filename*=utf-8''%E8%AA%AD")
	sato.Get(file(k, "file", "bin.dat")).Says(t, 200, "UTF-8 のテキストではない")
	expect.Has(t, sato.Get(file(k, "raw", "bin.dat")).Header.Get("Content-Disposition"), "attachment")
	sato.Get(file(k, "file", "empty")).Says(t, 200, "空のファイルです")
	sato.Get(file(k, "file", "big.txt")).Says(t, 200, "1 MiB を超える").Lacks(t, "0123456789abcdef")
	links := w.Console.Files.(*storedFiles).Links
	to := sato.Get(file(k, "raw", "big.txt"))
	expect.That(t, to.Status == http.StatusSeeOther && strings.HasPrefix(to.To, "https://bucket.example/") &&
		to.Header.Get("Referrer-Policy") == "no-referrer" && string(links["big.txt"]) == big, "%v", to)

	packed := sato.Get(k.Page() + "/files/archive?as=zip")
	expect.Has(t, packed.Header.Get("Content-Disposition"), ".zip")
	in := expect.Value(zip.NewReader(strings.NewReader(packed.Body), int64(len(packed.Body))))(t)
	for _, f := range in.File {
		expect.That(t, strings.HasPrefix(f.Name, "ringi-"+k.Talk.ID[:8]+"-"+version[:7]+"/"), "%s", f.Name)
	}
	expect.Is(t, len(in.File), 6, "files of the archive")
	expect.That(t, bytes.HasPrefix([]byte(sato.Get(k.Page()+"/files/archive?as=tar.gz").Body), []byte{0x1f, 0x8b}),
		"no gzip")
	patch := sato.Get(k.Page() + "/files/patch")
	expect.Has(t, patch.Body, "diff --git a/src/a/main.py b/src/a/main.py\nnew file mode 100644\n")
	expect.Has(t, patch.Body, "# big.txt: パッチに含まれません (1 MiB を超えるか、合計が大きすぎます) SHA-256 ")

	becomes(k, keepFiles(t, k, treeWith(t, map[string]string{"other": "1"})))
	old := sato.Get(k.Page()+"/files?version="+x.ActionID).Says(t, 404)
	expect.That(t, !strings.Contains(old.Body, "main.py"), "%v", old)
	sato.Get(k.Page()+"/files?version="+version).Says(t, 200, "現在のバージョンではありません", "読む 1.txt")
	sato.Get(k.Page()+"/files").Says(t, 200, "other", "この操作の後のファイル")
	loseFiles(k, version)
	sato.Get(k.Page()+"/files?version="+version).Says(t, 200, "保存期間を過ぎたため")
	sato.Get(file(k, "raw", "big.txt")+"&version="+version).Says(t, 404)
}

// strangersGetNoFile: nobody but who may see the conversation, nothing but what the version's list has.
func strangersGetNoFile(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	mine := keepFiles(t, k, treeWith(t, map[string]string{"a/b.txt": "secret"}))
	becomes(k, mine)
	other := w.Talked(webapi.Alex, "D0ALEX", "im", "別の会話")
	theirs := keepFiles(t, other, treeWith(t, map[string]string{"c.txt": "theirs"}))
	below := []string{"", "/file?path=a%2Fb.txt", "/raw?path=a%2Fb.txt", "/archive?as=zip", "/archive?as=tar.gz", "/patch"}
	stranger := w.Of(w.Found("T0OTHER", "U0ELSE"), "U0ELSE")
	for _, path := range below {
		w.As(webapi.Sato).Get(k.Page()+"/files"+path).Says(t, 200)
		for name, b := range map[string]*consoletest.Browser{"another person": w.As(webapi.Alex),
			"another workspace": stranger} {
			got := b.Get(k.Page() + "/files" + path)
			expect.That(t, got.Status == 404 && !strings.Contains(got.Body, "secret"), "%s: %v", name, got)
		}
		got := w.Browser().Get(k.Page() + "/files" + path)
		expect.That(t, got.Status == 303 && strings.HasPrefix(got.To, "/console/signin"), "nobody: %v", got)
	}
	for _, path := range []string{"", "a", "a/", "/a/b.txt", "./a/b.txt", "a/../a/b.txt", "../b.txt", "a%2Fb.txt",
		"A/B.TXT", "c.txt"} {
		for _, page := range []string{"file", "raw"} {
			w.As(webapi.Sato).Get(file(k, page, path)).Says(t, 404)
		}
	}
	for _, version := range []string{theirs, "../" + mine, strings.Repeat("0", 64), mine + ".json"} {
		for _, path := range below {
			sign := "?"
			if strings.Contains(path, "?") {
				sign = "&"
			}
			got := w.As(webapi.Sato).Get(k.Page() + "/files" + path + sign + url.Values{"version": {version}}.Encode())
			expect.That(t, got.Status == 404 && !strings.Contains(got.Body, "theirs"), "version %s: %v", version, got)
		}
	}
	w.As(webapi.Sato).Get(k.Page()+"/files?folder=..").Says(t, 404)
	w.As(webapi.Sato).Get(k.Page()+"/files/archive?as=exe").Says(t, 404)
	expect.Is(t, len(w.Console.Files.(*storedFiles).Links), 0, "links for strangers")
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) { // forgotten
		head := a.Head
		at := k.Now()
		head.ForgottenAt = &at
		return aggregate.Change{Head: &head}, nil
	})
	for _, path := range below {
		w.As(webapi.Sato).Get(k.Page()+"/files"+path).Says(t, 404)
	}
}

// manyFiles: the thousandth file, and lost files.
func manyFiles(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	all := map[string]string{}
	for i := range 1203 {
		all[fmt.Sprintf("f%04d.txt", i)] = "x\n"
	}
	all["long.txt"] = strings.Repeat("x\n", 5001)
	version := keepFiles(t, k, treeWith(t, all))
	becomes(k, version)
	page, seen := sato.Get(k.Page()+"/files"), 0
	for next := k.Page() + "/files"; next != ""; next = page.Link("next") {
		page = sato.Get(next)
		seen += strings.Count(page.Body, "/files/file?path=")
	}
	expect.Is(t, seen, 1204, "files on all pages")
	page.Says(t, 200, "f1202.txt")
	lines, shown := 0, sato.Get(file(k, "file", "long.txt"))
	for next := file(k, "file", "long.txt"); next != ""; next = shown.Link("next") {
		shown = sato.Get(next)
		lines += strings.Count(shown.Body, "data-line=")
	}
	expect.Is(t, lines, 5001, "lines on all pages")
	shown.Holds(t, `data-line="5001"`)

	loseFiles(k, version)
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		row, head, at := *a.Conversation, a.Head, k.Now()
		row.FilesLostAt = &at
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&row}}, nil
	})
	sato.Get(k.Page()+"/files").Says(t, 200, "ファイルが見つかりません").Lacks(t, "archive?", "まだありません")
	en := w.As(webapi.Sato)
	en.Locale = "en"
	en.Get(k.Page()+"/files").Says(t, 200, "The files can’t be found")
}

// patchesOfASource begin from the source's files and stand below its folder.
func patchesOfASource(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	first := keepFiles(t, k, treeWith(t, map[string]string{"tax.py": "rate = 10\n"}))
	keepCommit(k, first, conversation.Commit{Entries: []files.Committed{{Path: "tax.py"}, {Path: "model.bin"}}})
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		row, head := *a.Conversation, a.Head
		row.WorkspaceVersion = first
		row.Source = &conversation.Source{Name: "shop", Repository: "acme/shop", Path: "services/pay", Commit: "3f2c1ab9",
			State: conversation.SourceThere, Version: first}
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&row}}, nil
	})
	sato.Get(k.Page()+"/files").Says(t, 200, "変更はありません", "acme/shop@3f2c1ab").Lacks(t, "/patch")
	sato.Get(k.Page()+"/files/patch").Says(t, 404)
	becomes(k, keepFiles(t, k, treeWith(t, map[string]string{"tax.py": "rate = 8\n", "model.bin": "x"})))
	got := sato.Get(k.Page() + "/files/patch").Body
	expect.Has(t, got, "# 元のコミット: github.com/acme/shop@3f2c1ab9/services/pay\n# model.bin: ")
	expect.Has(t, got, "--- a/services/pay/tax.py\n+++ b/services/pay/tax.py\n@@ -1,1 +1,1 @@\n-rate = 10\n+rate = 8\n")
	expect.That(t, !strings.Contains(got, "b/services/pay/model.bin"), "%s", got)
	loseFiles(k, first)
	sato.Get(k.Page()+"/files").Says(t, 200, "最初のファイルが残っていないため").Lacks(t, "/patch")
	sato.Get(k.Page()+"/files/patch").Says(t, 404)
}
