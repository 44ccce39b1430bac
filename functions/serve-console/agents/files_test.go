package agents_test

import (
	"context"
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
	"ringi/shared/store/large"
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
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded, Version: version,
		Changed: &conversation.FilesChanged{Files: 1, Added: 2, Names: []string{"a"}}})
	return x
}

func file(k *consoletest.Conversation, path string) string {
	return k.Page() + "/files/raw?" + url.Values{"path": {path}}.Encode()
}

// filesLeave: the list, and a file's bytes.
func filesLeave(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	big := strings.Repeat("0123456789abcdef", 1<<16) + "x"
	keepFiles(t, k, treeWith(t, nil))
	sato.Get(k.Page()).Holds(t, k.Page()+"/files")
	sato.Get(k.Page()+"/files").Says(t, 200, "ファイルはまだありません")

	version := keepFiles(t, k, treeWith(t, map[string]string{
		"読む 1.txt": "一\r\n二\u202e\n<b>", "src/a/main.py": "print(1)\n", "big.txt": big,
		"bin.dat": "\x00\xff", "a:b": "1", "empty": ""}))
	becomes(k, version)
	sato.Get(k.Page()+"/files").Says(t, 200, "読む 1.txt", "src/a/main.py")

	raw := sato.Get(file(k, "読む 1.txt"))
	expect.Same(t, "一\r\n二\u202e\n<b>", raw.Body)
	expect.Same(t, "text/plain; charset=utf-8", raw.Header.Get("Content-Type"))
	expect.Same(t, "nosniff", raw.Header.Get("X-Content-Type-Options"))
	expect.Has(t, sato.Get(file(k, "bin.dat")).Header.Get("Content-Disposition"), "attachment; filename=bin.dat")
	links := w.Console.Files.(*storedFiles).Links
	to := sato.Get(file(k, "big.txt"))
	expect.That(t, to.Status == http.StatusSeeOther && strings.HasPrefix(to.To, "https://bucket.example/") &&
		to.Header.Get("Referrer-Policy") == "no-referrer" && string(links["big.txt"]) == big, "%v", to)

	loseFiles(k, version)
	sato.Get(k.Page()+"/files").Says(t, 200, "保存期間を過ぎたため削除しました").Lacks(t, "まだありません")
	sato.Get(file(k, "big.txt")).Says(t, 404)
	becomes(k, keepFiles(t, k, treeWith(t, map[string]string{"other": "1"})))
	sato.Get(k.Page()+"/files").Says(t, 200, "other")
}

// strangersGetNoFile: nothing but what the version's list has, and nothing of what is forgotten.
func strangersGetNoFile(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	mine := keepFiles(t, k, treeWith(t, map[string]string{"a/b.txt": "secret"}))
	becomes(k, mine)
	other := w.Talked(webapi.Alex, "D0ALEX", "im", "別の会話")
	keepFiles(t, other, treeWith(t, map[string]string{"c.txt": "theirs"}))
	below := []string{"", "/raw?path=a%2Fb.txt"}
	for _, path := range below {
		w.As(webapi.Sato).Get(k.Page()+"/files"+path).Says(t, 200)
	}
	for _, path := range []string{"", "a", "a/", "/a/b.txt", "./a/b.txt", "a/../a/b.txt", "../b.txt", "a%2Fb.txt",
		"A/B.TXT", "c.txt"} {
		w.As(webapi.Sato).Get(file(k, path)).Says(t, 404)
	}
	expect.Is(t, len(w.Console.Files.(*storedFiles).Links), 0, "links for strangers")
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { // forgotten
		head := a.Head
		at := k.Now()
		head.ForgottenAt = &at
		return aggregate.Change{Head: &head}, nil
	})
	for _, path := range below {
		w.As(webapi.Sato).Get(k.Page()+"/files"+path).Says(t, 404)
	}
}

// storedFiles stands in for the bucket with conversations' files.
type storedFiles struct {
	Changes []files.Change    // the difference of every action
	Links   map[string][]byte // what was offered by a link, by name
	trees   map[string]*files.Tree
}

func key(of aggregate.Ref, version string) string { return of.Tenant + "/" + of.ID + "/" + version }

// keepFiles stores a version of the conversation's files.
func keepFiles(t *testing.T, k *consoletest.Conversation, tree *files.Tree) (version string) {
	t.Helper()
	f, is := k.Console.Files.(*storedFiles)
	if !is {
		f = &storedFiles{Links: map[string][]byte{}, trees: map[string]*files.Tree{}}
		k.Console.Files = f
	}
	version = files.Sum(expect.Value(tree.Archive())(t))
	f.trees[key(k.Ref, version)] = tree
	return version
}

// loseFiles deletes a version.
func loseFiles(k *consoletest.Conversation, version string) {
	delete(k.Console.Files.(*storedFiles).trees, key(k.Ref, version))
}

func (f *storedFiles) Difference(context.Context, aggregate.Ref, string, string) ([]files.Change, error) {
	return f.Changes, nil
}

func (f *storedFiles) Get(_ context.Context, of aggregate.Ref, version string) (*files.Tree, error) {
	if version == "" {
		return &files.Tree{}, nil
	}
	if t := f.trees[key(of, version)]; t != nil {
		return t, nil
	}
	return nil, large.ErrGone
}

func (f *storedFiles) Link(_ context.Context, of aggregate.Ref, name string, body []byte) (string, error) {
	f.Links[name] = body
	return "https://bucket.example/" + key(of, name), nil
}
