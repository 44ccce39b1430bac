package conversation_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

func own(kind, content, path, seconds, summary string) url.Values {
	return url.Values{"own_type": {kind}, "own_content": {content}, "own_path": {path}, "own_seconds": {seconds}, "own_summary": {summary}}
}

// A person proposes on the page what the agent may; what is wrong stands at its field, and what they typed stays.
func TestAPersonProposesAnActionOnThePage(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計の相談")
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.Answered(a.Head.Run, a.Waiting(), conversation.Answer{Text: "はい"}, w.Now())
	})
	b := w.As(webapi.Tanaka)
	b.Get(k.Page()).Holds(t, "自分で操作を提案する", "シェルコマンドの実行")
	a := b.Post(k.Page()+"/propose", own("shell_command", "make <all>", "", "0", ""))
	a.Says(t, http.StatusBadRequest, "目的: 入力してください。", "制限時間: 1 から 600 までの整数")
	a.Holds(t, "make &lt;all&gt;", `value="0"`)
	expect.That(t, k.Load().Current() == nil, "%+v", k.Load().Current())
	b.Post(k.Page()+"/propose", own("code_generate", "x", "../x", "", "書く")).Holds(t, "ファイルのパス: 作業フォルダー内のパス")
	b.Post(k.Page()+"/propose", own("nothing", "x", "", "", "書く")).Holds(t, "種類: 一覧から選んでください。")

	form := own("code_generate", "print(1)\r\n", "src/a.py", "", "計算する")
	for range 2 { // sent twice, it is proposed once
		b.Post(k.Page()+"/propose", form).Leads(t, k.Page()+"?done=act_propose_action")
	}
	x := k.Load().Current()
	expect.Must(t, x != nil && x.RequestedBy == conversation.RequestedByUser && x.Askers[0] == webapi.Tanaka &&
		x.Number == 1 &&
		string(x.Payload.JSON) == `{"base":"","changes":[{"path":"src/a.py",`+
			`"is":{"mode":"100644","sha256":"cc42155088fca5730758db72b2a5bca33112a941dfaa2d43098ec422ce4ea213"},`+
			`"hunks":[{"from":1,"to":1,"lines":["+print(1)\n"]}]}]}`, "%+v", x)
	page := b.Get(k.Page())
	page.Holds(t, "print(1)", "計算する", "人が提案しました").Lacks(t, "自分で操作を提案する")
	w.As(webapi.Suzuki).Post(k.Page()+"/propose", own("shell_command", "ls", "", "", "見る")).Holds(t, "ほかの操作が承認待ちか実行中です",
		"ls")

	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	act := url.Values{"act": {"approve"}, "id": {x.ActionID}, "hash": {x.Payload.Hash()}}
	b.Post(k.Page()+"/act", act)
	expect.Is(t, k.Load().Current().Status, conversation.ActionPending, "their own is approved")
	w.As(webapi.Suzuki).Post(k.Page()+"/act", act).Leads(t, k.Page()+"?done=act_approve")
	expect.Is(t, k.Load().Current().Status, conversation.ActionApproved)
}

func TestWhoMayNotSeeAConversationProposesNothing(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	k := w.Direct()
	if a := w.As(webapi.Tanaka).Post(k.Page()+"/propose", own("shell_command", "ls", "", "",
		"見る")); a.Status != http.StatusNotFound {
		t.Errorf("%v", a)
	}
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	a := w.As(webapi.Sato).Post(k.Page()+"/propose", own("shell_command", strings.Repeat("x", 20), "", "", "見る"))
	expect.That(t, a.To == "" && k.Load().Current() == nil, "nobody could approve it: %v", a)
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.End(w.By, aggregate.Policy{AllowSelf: true, Mode: aggregate.ApproversChannel, Team: w.By.Team}, w.Now())
	})
	w.As(webapi.Sato).Get(k.Page()).Lacks(t, "自分で操作を提案する")
}

// In a conversation that has files the proposal waits until a run can read them; the page says what became of it.
func TestAFileBesideOthersIsProposedByARun(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計の相談")
	k.Answers(conversation.Answer{Text: "はい"})
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		s, head := *a.Conversation, a.Head
		s.WorkspaceVersion = "v1"
		return aggregate.Change{Head: &head, Rows: []aggregate.Row{&s}}, nil
	})
	b := w.As(webapi.Tanaka)
	_, after, found := strings.Cut(b.Get(k.Page()).Body, `name="own_key" value="`)
	key, _, _ := strings.Cut(after, `"`)
	expect.That(t, found && aggregate.ValidID(key), "the form has no key: %q", key)
	form := own("code_generate", "print(<1>)\r\n", "src/a.py", "", "計算する")
	form.Set("own_key", key)
	for range 2 {
		b.Post(k.Page()+"/propose", form).Leads(t, k.Page()+"?done=act_propose_action")
	}
	a := k.Load()
	of := a.WaitingTyped()
	expect.Must(t, of != nil && len(a.Typed) == 1 && of.User == webapi.Tanaka && of.Own.Content == "print(<1>)\n", "%+v",
		a.Typed)
	k.Run()
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return a.RefuseTyped(a.Head.Run, of, []string{"読めません"}, "", w.Now())
	})
	b.Get(k.Page()).Holds(t, "→ 田中", "操作にできませんでした", "読めません", "入力した内容:", "src/a.py", "print(&lt;1&gt;)")
}
