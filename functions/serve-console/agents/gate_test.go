package agents_test

import (
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func decidesActions(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	sato := w.As(webapi.Sato)
	x := k.Proposes(conversation.TestRun, `{"argv":["go","test","./a b/...",""],"timeout_seconds":60}`, "")
	sato.Get(k.Page()).Holds(t, `<code class="word">go</code>`, `<code class="word">./a b/...</code>`, "(空)")
	expect.Same(t, k.Page()+"?done=act_reject", sato.Post(k.Page()+"/act",
		consoletest.ActOn(aggregate.ActReject, x, "先にファイルを見せて")).To)
	sato.Get(k.Page()).Holds(t, "先にファイルを見せて", "却下", "action.rejected")
	if a := k.Load(); a.Conversation.PendingActionID != "" || len(a.Inbox) != 1 {
		t.Errorf("the agent does not learn of the rejection: %+v", a.Inbox)
	}

	x = k.Proposes(conversation.CodeGenerate, completed(t, conversation.Payload{
		Files: []files.File{{Path: "b.txt", Content: "一行目\n二行目"}}}), "")
	sato.Get(k.Page()).Holds(t, "b.txt", plus("+一行目"), plus("+二行目"))
	expect.Same(t, k.Page()+"?done=act_cancel_action", sato.Post(k.Page()+"/act",
		consoletest.ActOn(conversation.ActCancel, x, "")).To)

	x = k.Proposes(conversation.ShellCommand, `{"script":"echo a  b\u200b\u202e <b>","timeout_seconds":60,"base":""}`, "")
	sato.Get(k.Page()).Holds(t, plus("<pre>echo a␣␣b⟨U+200B⟩⟨U+202E⟩ &lt;b&gt;</pre>")) // nothing hides in it
	sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, ""))
	k.Begins()
	busy := sato.Post(k.Page()+"/act", consoletest.ActOn(conversation.ActClose, nil, ""))
	expect.That(t, busy.Status != http.StatusSeeOther && strings.Contains(busy.Body, "先に操作を取り消してください"),
		"a session is closed under a running action: %v", busy)
	expect.Same(t, k.Page()+"?done=act_cancel_action", sato.Post(k.Page()+"/act",
		consoletest.ActOn(conversation.ActCancel, x, "")).To)
	one := 1
	k.Finish(x.ActionID, conversation.Result{Status: conversation.ActionFailed, ErrorDetail: "止められました", ExitCode: &one})
	sato.Get(k.Page()).Holds(t, "取り消した後に分かったこと", "止められました")

	k.Proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, "go test")
	sato.Get(k.Page()).Holds(t, "ルールによる自動承認", "承認済み")
}

// saysWhatWasDecided: a click on a page that is out of date is told what was decided, and not that the conversation is
// open.
func saysWhatWasDecided(t *testing.T, w *consoletest.World) {
	k, sato := w.Direct(), w.As(webapi.Sato).In("en")
	x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActReject, x, "no"))
	late := sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, ""))
	late.Says(t, http.StatusConflict, "佐藤 花子 already rejected this").Lacks(t, "Now: Open")
}

func refusesActions(t *testing.T, w *consoletest.World) {
	w.Ref.Tenant = w.Tenant.ID
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	form := consoletest.ActOn(aggregate.ActApprove, x, "")
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	page := sato.Get(k.Page())
	page.Holds(t, "自分の依頼は自分で承認できません", `value="reject"`)
	page.Lacks(t, "✅ 承認</button>")
	for name, tt := range map[string]struct {
		by     *consoletest.Browser
		form   url.Values
		status int
		says   string
	}{
		"one's own":                  {sato, form, 403, "自分の依頼は自分で承認できません"},
		"content that was not shown": {suzuki, consoletest.With(form, "hash", strings.Repeat("0", 64)), 409, ""},
		"another content's rejection": {suzuki, consoletest.With(consoletest.ActOn(aggregate.ActReject, x, "だめ"), "hash",
			"x"), 409, "だめ"},
		"a reason for what is gone": {suzuki, consoletest.With(consoletest.ActOn(aggregate.ActReject, x, "遅すぎた"), "id",
			"01ARZ3NDEKTSV4RRFFQ69G5FAV"), 404, "遅すぎた"},
		"a guest": {w.As(webapi.Guest), form, 403, ""},
	} {
		t.Run(name, func(t *testing.T) { tt.by.Post(k.Page()+"/act", tt.form).Says(t, tt.status).Holds(t, tt.says) })
	}
	expect.That(t, k.Load().Current().Status == conversation.ActionPending, "something was decided")
}

// largePayload: the page opens a payload in the bucket; once it is deleted nobody can approve.
func largePayload(t *testing.T, w *consoletest.World) {
	k := w.Direct()
	text := `{"script":"` + strings.Repeat("echo x\\n", 1500) + `echo end","timeout_seconds":60,"base":""}`
	hash := aggregate.HashOf(text)
	key := "talks/" + k.Ref.Tenant + "/" + k.Ref.ID + "/" + hash + ".json"
	x := k.Proposed(conversation.ShellCommand, aggregate.Blob{S3Key: key, Bytes: len(text)}, "")
	sato := w.As(webapi.Sato)
	page := sato.Get(k.Page())
	page.Holds(t, "ここでは承認できません", `value="reject"`)
	page.Lacks(t, "✅ 承認</button>")
	a := sato.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, ""))
	expect.That(t, a.Status == http.StatusBadRequest, "what nobody could read is approved: %d", a.Status)
	w.Results[key] = aggregate.JSON(text)
	sato.Get(k.Page()).Holds(t, "echo end", "✅ 承認</button>")
	expect.Same(t, k.Page()+"?done=act_approve", sato.Post(k.Page()+"/act",
		consoletest.ActOn(aggregate.ActApprove, x, "")).To)
	stamped := k.Load().Action(x.ActionID).Payload.S3Key
	expect.That(t, strings.HasPrefix(stamped, "arguments/") && w.Results[stamped] == aggregate.JSON(text),
		"what was stamped is at %s", stamped)
}

func waitsForActions(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	w.As(webapi.Suzuki).Get("/console").Holds(t, k.Page(), "コマンド", "テストして", "あなたの番").Lacks(t,
		"テストを走らせて確かめます") // the agent's own words
	w.As(webapi.Alex).Get("/console").Lacks(t, k.Page())
	w.As(webapi.Suzuki).Get("/console/audit").Holds(t, `<a href="`+k.Page()+`"><bdi>`, "エージェントの操作を提案した")
}

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
