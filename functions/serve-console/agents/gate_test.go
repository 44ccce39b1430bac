package agents_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
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
