package agents_test

import (
	"html"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func filesOf(t testing.TB, path, content string) *files.Tree {
	t.Helper()
	return expect.Value((&files.Tree{}).Apply([]files.File{{Path: path, Content: content}}))(t)
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
	w.Console.Files = &storedFiles{Changes: files.Difference(filesOf(t, "a", "x\n"), filesOf(t, "<b>", "y\n"))}
	x := k.Proposes(conversation.CodeGenerate, completed(t, conversation.Payload{
		Edits: []files.Edit{{Path: "a.txt", Old: "二行目", New: "<b>two</b>\u202e"}}}), "")
	page := sato.Get(k.Page())
	page.Holds(t, "a.txt", plus("変更 · +1 −1 行"), plus(" 一行目⟨U+000D⟩"), plus(`<span class="removed">-二行目</span>`),
		"(末尾に改行なし)</span>",
		plus(`<span class="added">+&lt;b&gt;two&lt;/b&gt;⟨U+202E⟩</span>`), "✅ 承認</button>")
	expect.Same(t, k.Page()+"?done=act_approve", sato.Post(k.Page()+"/act",
		consoletest.ActOn(aggregate.ActApprove, x, "")).To)
	k.Begins()
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionSucceeded, Version: strings.Repeat("a", 64),
		Changed: &conversation.FilesChanged{Files: 1, Added: 1, Removed: 1, Names: []string{"a.txt"}}})
	sato.Get(k.Page()).Holds(t, plus("1 件のファイルが変わりました (+1 −1 行)"), "この変更は、実行前に人が内容を確認しています。")

	y := k.ProposesFor(strings.Repeat("a", 64), conversation.ShellCommand, consoletest.Script)
	sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, y, ""))
	k.Begins()
	k.Finish(y.ActionID, conversation.Result{Status: conversation.ActionSucceeded, Version: strings.Repeat("b", 64),
		Changed: &conversation.FilesChanged{Files: 2, Added: 1, Removed: 1, Names: []string{"a", "<b>"}}})
	shown := sato.Get(k.Page())
	shown.Holds(t, "2 件のファイルが変わりました", "変わった内容", "&lt;b&gt;",
		plus("新しいファイル · +1 −0 行</span>"),
		plus("削除 · +0 −1 行</span>"), "実行前に内容を確認した人はいません")
}

// What can't be read to its end has no button, and no click approves it.
func refusesDifferences(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato)
	text := strings.Repeat("x", files.MaxChangedLine+1)
	long := conversation.Payload{Stamped: conversation.Stamped{Base: new(string), Changes: []files.Change{{
		Path: "a", Is: &files.Side{Mode: files.ModeFile, SHA256: aggregate.HashOf(text)},
		Hunks: []files.Hunk{{From: 1, To: 1, Lines: []string{"+" + text}}}}}}}
	x := k.Proposes(conversation.CodeGenerate, long.JSON(), "")
	page := sato.Get(k.Page())
	page.Holds(t, "一度に承認できる量を超えているため", `value="reject"`)
	page.Lacks(t, "✅ 承認</button>")
	sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, "")).Says(t, 400)
	expect.That(t, k.Load().Current().Status == conversation.ActionPending, "it is approved")
}

// A call is drawn as a step is, in words, and its arguments are there as they are stamped.
func TestACallIsDrawnAsAStepIs(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "知らせて")
	arguments := `{"department":"営業部\u202e","status":"all"}`
	p := conversation.Payload{Tool: "list_employees", Arguments: arguments}
	p.Base, p.Called = new(string), conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Read}
	k.Answers(conversation.Answer{Proposal: &conversation.Proposal{Type: conversation.ToolCall, Tool: p.Tool,
		Access: p.Access, Payload: consoletest.Inline(p.JSON()), Rule: "listed", Terms: aggregate.Terms{
			ApprovalRequired: true, ApprovalHours: 24,
			SettingsRev: expect.Value(w.Store.Settings(t.Context(), k.Ref.Tenant))(t).Rev}}})
	b := w.As(webapi.Suzuki)
	page := b.Get(k.Page())
	page.Says(t, 200, "その下の部署の従業員一覧を読みます", "承認の対象になる引数")
	body := html.UnescapeString(page.Body)
	expect.That(t, !strings.Contains(body, `{"department"`), "it is shown as JSON")
	expect.Has(t, body, `"department": "営業部\u202e"`)
}

// pulling is a conversation in which a pull request waits.
func pulling(w *consoletest.World, ci agent.CI) (*consoletest.Conversation, *conversation.Action) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "直して")
	commit, by := strings.Repeat("c0", 20), w.Now().Add(time.Hour)
	was, is := filesOf(w.T, "a.py", "1\n"), filesOf(w.T, "a.py", "2\n")
	k.Do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		s, head := *a.Conversation, a.Head
		s.Source = &conversation.Source{Name: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit,
			State: conversation.SourceThere}
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
	})
	p := conversation.Payload{Tool: "open_pull_request", Arguments: `{"title":"Mend it","body":"why"}`}
	p.Base, p.Changes = new(string), conversation.Commit{}.Changes(was, is)
	p.Push = &conversation.Push{Source: "shop", Repository: "acme/shop", RepositoryID: 7, Commit: commit, Into: "main",
		CI: ci}
	p.Called = conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Write}
	rev := expect.Value(w.Store.Settings(w.T.Context(), k.Ref.Tenant))(w.T).Rev
	return k, k.Answers(conversation.Answer{Proposal: &conversation.Proposal{Type: conversation.ToolCall,
		Payload: consoletest.Inline(p.JSON()), Summary: "直します", Tool: p.Tool, Access: p.Access, Push: p.Push,
		Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24, DecideBy: &by, SettingsRev: rev}}}).Current()
}

// Whoever is asked about a pull request on the page is told what the card tells: to which vendor the result goes, and
// who can read what.
func TestAPullRequestHasItsNotesOnThePage(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	k, x := pulling(w, agent.CIRun)
	b := w.As(webapi.Suzuki)
	b.Get("/console").Says(t, 200, "プルリクエストの下書き").Lacks(t, `{"title"`, "直します")
	page := b.Get(k.Page())
	page.Holds(t, "CI がシークレットを使って動きます", "Mend it", "提供元", "この会話をコンソールで読めるのは", "acme/shop を GitHub で読める人は、誰でも", plus("+2")).
		Lacks(t, `{&#34;title`)
	b.Locale = "en"
	b.Get(k.Page()).Holds(t, "Anyone who can read acme/shop on GitHub", "its vendor")
	b.Locale = "ja"

	b.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActReject, x, "いりません"))
	b.Get(k.Page()).Holds(t, "Mend it", "いりません").Lacks(t, "CI がシークレットを使って動きます", "誰も書いていない")
}
