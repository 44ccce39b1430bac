package main

import (
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func decidesActions(t *testing.T, w *world) {
	k := w.direct()
	sato := w.as(workspace.Sato)
	x := k.proposes(conversation.TestRun, `{"argv":["go","test","./a b/...",""],"timeout_seconds":60}`, "")
	holds(t, sato.get(k.page()), `<code class="word">go</code>`, `<code class="word">./a b/...</code>`, "(空)")
	expect.Same(t, k.page()+"?done=act_reject", sato.post(k.page()+"/act", actOn(aggregate.ActReject, x, "先にファイルを見せて")).to)
	holds(t, sato.get(k.page()), "先にファイルを見せて", "却下", "action.rejected")
	if a := k.load(); a.Session.PendingActionID != "" || len(a.Inbox) != 1 {
		t.Errorf("the agent does not learn of the rejection: %+v", a.Inbox)
	}

	x = k.proposes(conversation.CodeGenerate, `{"files":[{"path":"a.txt","content":"一行目\n二行目"}]}`, "")
	holds(t, sato.get(k.page()), "a.txt", "一行目\n二行目")
	expect.Same(t, k.page()+"?done=act_cancel_action", sato.post(k.page()+"/act", actOn(conversation.ActCancel, x, "")).to)

	x = k.proposes(conversation.ShellCommand, script, "")
	sato.post(k.page()+"/act", actOn(aggregate.ActApprove, x, ""))
	k.begins()
	busy := sato.post(k.page()+"/act", actOn(conversation.ActClose, nil, ""))
	if busy.status == http.StatusSeeOther || !strings.Contains(busy.body, "先にその操作を取り消してください") {
		t.Errorf("a session is closed under a running action: %d %s", busy.status, busy.text())
	}
	expect.Same(t, k.page()+"?done=act_cancel_action", sato.post(k.page()+"/act", actOn(conversation.ActCancel, x, "")).to)
	one := 1
	k.ends(x, conversation.Result{Status: conversation.ActionFailed, ErrorDetail: "止められました", ExitCode: &one})
	holds(t, sato.get(k.page()), "取り消した後に分かったこと", "止められました")

	x = k.proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, "go test")
	holds(t, sato.get(k.page()), "規則による自動承認", "承認済み")
}

func refusesActions(t *testing.T, w *world) {
	w.Ref.Tenant = w.tenant.ID
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	x := k.proposes(conversation.ShellCommand, script, "")
	form := actOn(aggregate.ActApprove, x, "")
	sato, suzuki := w.as(workspace.Sato), w.as(workspace.Suzuki)
	page := sato.get(k.page())
	holds(t, page, "自分の依頼は自分で承認できません", `value="reject"`)
	lacks(t, page, "✅ 承認</button>")
	for name, tt := range map[string]struct {
		by     *browser
		form   url.Values
		status int
		says   string
	}{
		"one's own":                   {sato, form, 403, "自分の依頼は自分で承認できません"},
		"content that was not shown":  {suzuki, with(form, "hash", strings.Repeat("0", 64)), 409, ""},
		"another content's rejection": {suzuki, with(actOn(aggregate.ActReject, x, "だめ"), "hash", "x"), 409, "だめ"},
		"no reason":                   {suzuki, actOn(aggregate.ActReject, x, " "), 400, "却下理由は 1〜1000 文字"},
		"a reason too long":           {suzuki, actOn(aggregate.ActReject, x, strings.Repeat("長", 1001)), 400, strings.Repeat("長", 1001)},
		"an action that is not there": {suzuki, with(form, "id", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 404, ""},
		"a reason for what is gone":   {suzuki, with(actOn(aggregate.ActReject, x, "遅すぎた"), "id", "01ARZ3NDEKTSV4RRFFQ69G5FAV"), 404, "遅すぎた"},
		"an act that there is not":    {suzuki, with(form, "act", "execute"), 400, ""},
		"a guest":                     {w.as(workspace.Guest), form, 403, ""},
	} {
		if a := tt.by.post(k.page()+"/act", tt.form); a.status != tt.status || !strings.Contains(a.body, tt.says) {
			t.Errorf("%s: %d %s", name, a.status, a.text())
		}
	}
	if a := suzuki.send("POST", k.page()+"/act", form); a.status != 403 {
		t.Errorf("without the session's token: %d", a.status)
	}
	if k.load().Current().Status != conversation.ActionPending {
		t.Error("something was decided")
	}
}

// Whoever asked for an action may withdraw it, but not close somebody else's conversation.
func offersWhatAskersMay(t *testing.T, w *world) {
	w.Ref.Tenant = w.tenant.ID
	w.Settings(func(s *tenancy.Settings) {
		s.Approvers.Mode, s.Approvers.Users = aggregate.ApproversList, []string{workspace.Suzuki}
	})
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	k.proposes(conversation.TestRun, `{"argv":["go","test"],"timeout_seconds":60}`, "go test")
	k.begins()
	k.ends(k.load().Current(), conversation.Result{Status: conversation.ActionSucceeded})
	k.says(workspace.Tanaka, "もう一度")
	x := k.proposes(conversation.ShellCommand, script, "")
	tanaka := w.as(workspace.Tanaka)
	page := tanaka.get(k.page())
	holds(t, page, "⏹️ 操作を取り消す</button>")
	lacks(t, page, "会話を終える</button>")
	expect.Same(t, k.page()+"?done=act_cancel_action", tanaka.post(k.page()+"/act", actOn(conversation.ActCancel, x, "")).to)
}

func oneActionDecision(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	x := k.proposes(conversation.ShellCommand, script, "")
	by := map[string]*browser{string(aggregate.ActApprove): w.as(workspace.Suzuki), string(conversation.ActCancel): w.as(workspace.Sato), string(aggregate.ActReject): w.as(workspace.Tanaka)}
	var all sync.WaitGroup
	answers := sync.Map{}
	for act, b := range by {
		all.Go(func() { answers.Store(act, b.post(k.page()+"/act", actOn(aggregate.Act(act), x, "だめ"))) })
	}
	all.Wait()
	var done, told int
	answers.Range(func(_, v any) bool {
		switch a := v.(answer); {
		case a.status == http.StatusSeeOther:
			done++
		case strings.Contains(a.body, "先に決まっています"):
			told++
		}
		return true
	})
	// What was approved may still be cancelled; nothing else goes together.
	got := k.load().Action(x.ActionID)
	if done+told != 3 || done > 2 || done == 2 && (got.Status != conversation.ActionCancelled || got.ApprovedBy == "") {
		t.Errorf("%d decided, %d were told: %+v", done, told, got)
	}
}

// largePayload: what stands beside the table is opened; where it is gone nobody can approve.
func largePayload(t *testing.T, w *world) {
	k := w.direct()
	text := `{"script":"` + strings.Repeat("echo x\\n", 1500) + `echo end","timeout_seconds":60}`
	hash := aggregate.HashOf(text)
	key := "arguments/" + k.ref.Tenant + "/" + hash + ".json"
	x := k.proposed(conversation.ShellCommand, aggregate.Blob{S3Key: key, Bytes: len(text)}, "")
	sato := w.as(workspace.Sato)
	page := sato.get(k.page())
	holds(t, page, "ここでは承認できません", `value="reject"`)
	lacks(t, page, "✅ 承認</button>")
	if a := sato.post(k.page()+"/act", actOn(aggregate.ActApprove, x, "")); a.status != http.StatusBadRequest {
		t.Errorf("what nobody could read is approved: %d", a.status)
	}
	w.results[key] = aggregate.JSON(text)
	holds(t, sato.get(k.page()), "echo end", "✅ 承認</button>")
	expect.Same(t, k.page()+"?done=act_approve", sato.post(k.page()+"/act", actOn(aggregate.ActApprove, x, "")).to)
}

func waitsForActions(t *testing.T, w *world) {
	k := w.talked(workspace.Sato, workspace.HR, "channel", "テストして")
	k.proposes(conversation.ShellCommand, script, "")
	holds(t, w.as(workspace.Suzuki).get("/console/approvals?for=me"), k.page(), "エージェントの操作", "コマンドの実行: テストを走らせて確かめます", "あなたの判断待ち")
	lacks(t, w.as(workspace.Alex).get("/console/approvals"), k.page())
	holds(t, w.as(workspace.Suzuki).get("/console/audit"), `<a href="`+k.page()+`">会話を開く</a>`, "エージェントの操作を提案した")
}
