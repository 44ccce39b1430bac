package conversation_test

import (
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

func filesOf(t testing.TB, path, content string) *conversation.Tree {
	t.Helper()
	return expect.Value((&conversation.Tree{}).Apply([]conversation.File{{Path: path, Content: content}}))(t)
}

// completed is the kept payload of an edit of a.txt.
func completed(t *testing.T, p conversation.Payload) string {
	t.Helper()
	kept, problems := p.Complete(conversation.CodeGenerate, conversation.On{}, filesOf(t, "a.txt", "一行目\r\n二行目"))
	expect.Must(t, problems == nil, "%v", problems)
	return kept.JSON()
}

// plus writes a text as a page does.
func plus(text string) string { return strings.ReplaceAll(text, "+", "&#43;") }

func showsDifferences(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	w.Console.Files = &consoletest.Files{Changes: conversation.Difference(filesOf(t, "a", "x\n"), filesOf(t, "<b>", "y\n")),
		By: map[string][]conversation.Maker{"a": {{Action: 1, Seen: true}, {Action: 2}}, "<b>": {{Action: 2}}}}
	x := k.Proposes(conversation.CodeGenerate, completed(t, conversation.Payload{
		Edits: []conversation.Edit{{Path: "a.txt", Old: "二行目", New: "<b>two</b>\u202e"}}}), "")
	page := sato.Get(k.Page())
	page.Holds(t, "a.txt", plus("変更 · +1 −1 行"), plus(" 一行目⟨U+000D⟩"), plus(`<span class="removed">-二行目</span>`), "(行末の改行なし)</span>",
		plus(`<span class="added">+&lt;b&gt;two&lt;/b&gt;⟨U+202E⟩</span>`), "✅ 承認</button>", k.Page()+"/actions/1/1", "元の文字のまま開く")
	expect.Same(t, k.Page()+"?done=act_approve", sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, "")).To)
	k.Begins()
	k.Ends(x, conversation.Result{Status: conversation.ActionSucceeded, Version: strings.Repeat("a", 64),
		Changed: &conversation.FilesChanged{Files: 1, Added: 1, Removed: 1, Names: []string{"a.txt"}}})
	sato.Get(k.Page()).Holds(t, plus("1 件のファイルが変わりました (+1 −1 行)"), "この変更は、実行前に人が内容を確認しています。")

	y := k.ProposesFor(strings.Repeat("a", 64), conversation.ShellCommand, consoletest.Script)
	sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, y, ""))
	k.Begins()
	k.Ends(y, conversation.Result{Status: conversation.ActionSucceeded, Version: strings.Repeat("b", 64),
		Changed: &conversation.FilesChanged{Files: 2, Added: 1, Removed: 1, Names: []string{"a", "<b>"}}})
	shown := sato.Get(k.Page())
	expect.Same(t, "--- /dev/null\n+++ b/<b>\n@@ -0,0 +1,1 @@\n+y\n", sato.Get(k.Page()+"/actions/2/became/1").Body)
	sato.Get(k.Page()+"/actions/2/became/3").Says(t, 404)
	w.As(webapi.Alex).Get(k.Page()+"/actions/2/became/1").Says(t, 404)
	expect.Has(t, sato.Get(k.Page()+"/actions/1/1").Body, "-二行目\n\\ No newline at end of file\n+<b>two</b>\u202e\n")
	shown.Holds(t, k.Page()+"/actions/2/became/1", "2 件のファイルが変わりました", "変わった内容", "&lt;b&gt;",
		plus("新しいファイル · +1 −0 行</span>"),
		plus("削除 · +0 −1 行 · 以前の変更: #1 (内容を人が確認)</span>"), "実行前に内容を確認した人はいません")
}

// What can't be read to its end has no button, and no click approves it.
func refusesDifferences(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	text := strings.Repeat("x", conversation.MaxChangedLine+1)
	long := conversation.Payload{Stamped: conversation.Stamped{Base: new(string), Changes: []conversation.FileChange{{
		Path: "a", Is: &conversation.Side{Mode: conversation.ModeFile, SHA256: aggregate.HashOf(text)},
		Hunks: []conversation.Hunk{{From: 1, To: 1, Lines: []string{"+" + text}}}}}}}
	x := k.Proposes(conversation.CodeGenerate, long.JSON(), "")
	page := sato.Get(k.Page())
	page.Holds(t, "一度に承認できる量を超えているため", `value="reject"`)
	page.Lacks(t, "✅ 承認</button>")
	sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, "")).Says(t, 400)
	expect.That(t, k.Load().Current().Status == conversation.ActionPending, "it is approved")
}
