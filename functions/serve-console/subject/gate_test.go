package subject_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

func decidesActions(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	x := k.Proposes(conversation.TestRun, `{"argv":["go","test","./a b/...",""],"timeout_seconds":60}`, "")
	sato.Get(k.Page()).Holds(t, `<code class="word">go</code>`, `<code class="word">./a b/...</code>`, "(空)")
	k.Acted(sato, aggregate.ActReject, x, "先にファイルを見せて")
	sato.Get(k.Page()).Holds(t, "先にファイルを見せて", "却下", "action.rejected")
	a := k.Load()
	expect.That(t, a.Conversation.PendingActionID == "" && len(a.Inbox) == 1, "the agent does not learn of it: %+v",
		a.Inbox)

	x = k.Proposes(conversation.CodeGenerate, completed(t, conversation.Payload{
		Files: []files.File{{Path: "b.txt", Content: "一行目\n二行目"}}}), "")
	sato.Get(k.Page()).Holds(t, "b.txt", plus("+一行目"), plus("+二行目"))
	k.Acted(sato, conversation.ActCancel, x, "")

	x = k.Proposes(conversation.ShellCommand, `{"script":"echo a  b\u200b\u202e <b>","timeout_seconds":60,"base":""}`, "")
	sato.Get(k.Page()).Holds(t, plus("<pre>echo a␣␣b⟨U+200B⟩⟨U+202E⟩ &lt;b&gt;</pre>")) // nothing hides in it
	k.Acted(sato, aggregate.ActApprove, x, "")
	k.Begins()
	busy := sato.Post(k.Page()+"/act", consoletest.ActOn(conversation.ActClose, nil, ""))
	expect.That(t, busy.Status != http.StatusSeeOther && strings.Contains(busy.Body, "先に操作を取り消してください"),
		"a session is closed under a running action: %v", busy)
	k.Acted(sato, conversation.ActCancel, x, "")
	one := 1
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionFailed, ErrorDetail: "止められました", ExitCode: &one})
	sato.Get(k.Page()).Holds(t, "取り消した後に分かったこと", "止められました")

	k.Proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, "go test")
	sato.Get(k.Page()).Holds(t, "ルールによる自動承認", "承認済み")
}

// refusesActions: who may not decide is told why, a click on a page that is out of date what was decided, and what was
// typed is not lost.
func refusesActions(t *testing.T, w *consoletest.World) {
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	form, no := consoletest.ActOn(aggregate.ActApprove, x, ""), consoletest.ActOn(aggregate.ActReject, x, "だめ")
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	sato.Get(k.Page()).Holds(t, "自分の依頼は自分で承認できません", `value="reject"`).Lacks(t, "✅ 承認</button>")
	for _, tt := range []struct {
		by     *consoletest.Browser
		form   url.Values
		status int
		says   string
	}{
		{sato, form, 403, "自分の依頼は自分で承認できません"},
		{suzuki, consoletest.With(form, "hash", strings.Repeat("0", 64)), 409, ""}, // content that was not shown
		{suzuki, consoletest.With(no, "id", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 404, "だめ"},
	} {
		tt.by.Post(k.Page()+"/act", tt.form).Says(t, tt.status).Holds(t, tt.says)
	}
	expect.That(t, k.Load().Current().Status == conversation.ActionPending, "something was decided")
	suzuki.In("en").Post(k.Page()+"/act", no)
	suzuki.Post(k.Page()+"/act", form).Says(t, http.StatusConflict, "鈴木 一郎 already rejected this").
		Lacks(t, "Now: Open")
}

// unreadPayload: what the page can't show to its end has no button, and no click approves it.
func unreadPayload(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	text := strings.Repeat("x", files.MaxChangedLine+1)
	long := conversation.Payload{Stamped: conversation.Stamped{Base: new(string), Changes: []files.Change{{
		Path: "a", Is: &files.Side{Mode: files.ModeFile, SHA256: aggregate.HashOf(text)},
		Hunks: []files.Hunk{{From: 1, To: 1, Lines: []string{"+" + text}}}}}}}
	refused := func(x *conversation.Action, why string) {
		t.Helper()
		sato.Get(k.Page()).Holds(t, why, `value="reject"`).Lacks(t, "✅ 承認</button>")
		sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, "")).Says(t, http.StatusBadRequest)
	}
	x := k.Proposes(conversation.CodeGenerate, long.JSON(), "")
	refused(x, "一度に承認できる量を超えているため")
	k.Acted(sato, aggregate.ActReject, x, "長すぎます")
	text = `{"script":"` + strings.Repeat("echo x\\n", 1500) + `echo end","timeout_seconds":60,"base":""}`
	key := "talks/" + k.Ref.Tenant + "/" + k.Ref.ID + "/" + aggregate.HashOf(text) + ".json"
	x = k.Proposed("", conversation.ShellCommand, aggregate.Blob{S3Key: key, Bytes: len(text)}, "")
	refused(x, "ここでは承認できません") // it is not kept any more
	w.Results[key] = aggregate.JSON(text)
	sato.Get(k.Page()).Holds(t, "echo end", "✅ 承認</button>")
	k.Acted(sato, aggregate.ActApprove, x, "")
	stamped := k.Load().Action(x.ActionID).Payload.S3Key
	expect.That(t, strings.HasPrefix(stamped, "arguments/") && w.Results[stamped] == aggregate.JSON(text),
		"what was stamped is at %s", stamped)
}

// completed is the kept payload of an edit of a.txt.
func completed(t *testing.T, p conversation.Payload) string {
	t.Helper()
	kept, problems := p.Complete(conversation.CodeGenerate, conversation.On{}, treeWith(t,
		map[string]string{"a.txt": "一行目\r\n二行目"}))
	expect.Must(t, problems == nil, "%v", problems)
	return kept.JSON()
}

// plus writes a text as a page does.
func plus(text string) string { return strings.ReplaceAll(text, "+", "&#43;") }

func showsDifferences(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	w.Console.Files = &storedFiles{Changes: files.Difference(treeWith(t, map[string]string{"a": "x\n"}), treeWith(t,
		map[string]string{"<b>": "y\n"}))}
	x := k.Proposes(conversation.CodeGenerate, completed(t, conversation.Payload{
		Edits: []files.Edit{{Path: "a.txt", Old: "二行目", New: "<b>two</b>\u202e"}}}), "")
	page := sato.Get(k.Page())
	page.Holds(t, "a.txt", plus("変更 · +1 −1 行"), plus(" 一行目⟨U+000D⟩"), plus(`<span class="removed">-二行目</span>`),
		"(末尾に改行なし)</span>",
		plus(`<span class="added">+&lt;b&gt;two&lt;/b&gt;⟨U+202E⟩</span>`), "✅ 承認</button>")
	k.Acted(sato, aggregate.ActApprove, x, "")
	k.Begins()
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded, Version: strings.Repeat("a", 64),
		Changed: &conversation.FilesChanged{Files: 1, Added: 1, Removed: 1, Names: []string{"a.txt"}}})
	sato.Get(k.Page()).Holds(t, plus("1 件のファイルが変わりました (+1 −1 行)"), "この変更は、実行前に人が内容を確認しています。")

	y := k.ProposesFor(strings.Repeat("a", 64), conversation.ShellCommand, consoletest.Script)
	k.Acted(sato, aggregate.ActApprove, y, "")
	k.Begins()
	k.Finish(y.ActionID, conversation.Result{Status: conversation.ActionSucceeded, Version: strings.Repeat("b", 64),
		Changed: &conversation.FilesChanged{Files: 2, Added: 1, Removed: 1, Names: []string{"a", "<b>"}}})
	shown := sato.Get(k.Page())
	shown.Holds(t, "2 件のファイルが変わりました", "変わった内容", "&lt;b&gt;",
		plus("新しいファイル · +1 −0 行</span>"),
		plus("削除 · +0 −1 行</span>"), "実行前に内容を確認した人はいません")
}

// showsPullRequest: whoever is asked about a pull request is told what the card tells: to which vendor the result goes,
// and who can read what. A call is drawn as a step is, in words.
func showsPullRequest(t *testing.T, w *consoletest.World) {
	k, suzuki := w.Talked(webapi.Sato, webapi.HR, "channel", "直して"), w.As(webapi.Suzuki)
	commit, by := strings.Repeat("c0", 20), w.Now().Add(time.Hour)
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		s, head := *a.Conversation, a.Head
		s.Source = &conversation.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit,
			State: conversation.SourceThere, Left: []string{"<i>model.bin"}, More: 3}
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
	})
	p := conversation.Payload{Tool: "open_pull_request", Arguments: `{"title":"Mend it","body":"why"}`}
	p.Base, p.Changes = new(string), conversation.Commit{}.Changes(treeWith(t, map[string]string{"a.py": "1\n"}),
		treeWith(t, map[string]string{"a.py": "2\n"}))
	p.Push = &conversation.Push{Source: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit, Into: "main",
		CI: tenancy.CIRun}
	p.Called = conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Write}
	x := k.Answers(conversation.Answer{Proposal: &conversation.Proposal{Type: conversation.ToolCall,
		Payload: consoletest.Inline(p.JSON()), Summary: "直します", Tool: p.Tool, Access: p.Access, Push: p.Push,
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, DecideBy: &by, SettingsRev: w.SettingsNow().Rev}},
	}).Current()
	suzuki.Get("/console").Says(t, 200, "プルリクエストの下書き", "あなたの番").Holds(t, k.Page()).
		Lacks(t, `{"title"`, "直します") // the agent's own words
	suzuki.Get(k.Page()).Holds(t, "CI がシークレットを使って動きます", "Mend it",
		"acme/shop を GitHub で読める人は、誰でも", plus("+2"), "&lt;i&gt;model.bin",
		`href="https://github.com/acme/shop/tree/`+commit+`"`).Lacks(t, `{&#34;title`)
	suzuki.Get("/console/audit").Holds(t, `<a href="`+k.Page()+`"><bdi>`, "エージェントの操作を提案した")
	k.Acted(suzuki, aggregate.ActReject, x, "いりません")
	suzuki.Get(k.Page()).Holds(t, "Mend it", "いりません").Lacks(t, "CI がシークレットを使って動きます", "誰も書いていない")
	for state, says := range map[conversation.SourceState]string{
		conversation.SourceWanted: web.TextsOf("conversation", "ja").Say("source_wanted"),
		conversation.SourceFailed: conversation.SourceWords("ja", conversation.ReasonSourceTooLarge),
	} {
		k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
			s, head, source := *a.Conversation, a.Head, *a.Conversation.Source
			source.State, source.Error = state, conversation.ReasonSourceTooLarge
			s.Source = &source
			return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
		})
		suzuki.Get(k.Page()).Says(t, 200, says)
	}
}

func treeWith(t testing.TB, these map[string]string) *files.Tree {
	t.Helper()
	var list []files.File
	for p, content := range these {
		list = append(list, files.File{Path: p, Content: content})
	}
	return expect.Value((&files.Tree{}).Apply(list))(t)
}

// becomes makes a version the conversation's current one, by an action that ended.
func becomes(k *consoletest.Conversation, version string) {
	x := k.ProposesFor(k.Load().Conversation.WorkspaceVersion, conversation.ShellCommand, consoletest.Script)
	k.As(webapi.Sato).Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, ""))
	k.Begins()
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded, Version: version,
		Changed: &conversation.FilesChanged{Files: 1, Added: 2, Names: []string{"a"}}})
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

	delete(k.Console.Files.(*storedFiles).trees, key(k.Ref, version))
	sato.Get(k.Page()+"/files").Says(t, 200, "保存期間を過ぎたため削除しました").Lacks(t, "まだありません")
	sato.Get(file(k, "big.txt")).Says(t, 404)
	becomes(k, keepFiles(t, k, treeWith(t, map[string]string{"other": "1"})))
	sato.Get(k.Page()+"/files").Says(t, 200, "other")
}

// onlyListedFiles: nothing but what the version's list has, and nothing of what is forgotten.
func onlyListedFiles(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	becomes(k, keepFiles(t, k, treeWith(t, map[string]string{"a/b.txt": "secret"})))
	other := w.Talked(webapi.Alex, "D0ALEX", "im", "別の会話")
	keepFiles(t, other, treeWith(t, map[string]string{"c.txt": "theirs"}))
	kept := []string{k.Page() + "/files", file(k, "a/b.txt")}
	for _, path := range kept {
		sato.Get(path).Says(t, 200)
	}
	for _, path := range []string{"", "a", "a/", "/a/b.txt", "./a/b.txt", "a/../a/b.txt", "../b.txt", "a%2Fb.txt",
		"A/B.TXT", "c.txt"} {
		sato.Get(file(k, path)).Says(t, 404)
	}
	expect.Is(t, len(w.Console.Files.(*storedFiles).Links), 0, "links for strangers")
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) { // forgotten
		head, at := a.Head, k.Now()
		head.ForgottenAt = &at
		return aggregate.Change{Head: &head}, nil
	})
	for _, path := range kept {
		sato.Get(path).Says(t, 404)
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
