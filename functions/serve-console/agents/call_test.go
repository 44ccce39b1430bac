package agents_test

import (
	"net/http"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/calls"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

const (
	tool = "post_message"
	says = `{"recipient":"C0HR","text":"締めました"}`
)

func callAt(a *call.Aggregate) string { return "/console/calls/" + a.Call.CallID }

func TestPagesOfCalls(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"people read what it does, and why":     testWhatACallSays,
		"people decide on its page":             testDecisions,
		"each stamps in turn along a route":     testRoute,
		"it is said what became of it":          testOutcomes,
		"the register has what was decided":     testRegister,
		"lists have it for whoever may read it": testLists,
		"nothing that an agent writes runs":     testHostile,
	})
}

func testWhatACallSays(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool)
	a := o.Asks(tool, says, "月次が終わったため", nil)
	b := w.As(webapi.Suzuki)
	b.Get(callAt(a)).Says(t, 200, "経理エージェントの呼び出し", "責任者: 佐藤 花子", "承認待ち", "締めました",
		"エージェントの言葉です。承認の対象ではありません: 月次が終わったため",
		"あなたも承認できます", "この内容のまま、1 回だけ行われます。").
		Holds(t, `value="approve"`, `value="cancel_action"`)
	b.In("en").Get(callAt(a)).Says(t, 200, "Call by 経理エージェント", "The agent’s reason", "Not part of what is approved")
}

func testDecisions(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool)
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	act := func(b *consoletest.Browser, a *call.Aggregate, act aggregate.Act, reason string) consoletest.Answer {
		t.Helper()
		w.Later(time.Minute)
		return b.Post(callAt(a)+"/act", b.Get(callAt(a)).FormOf(t, act, reason))
	}
	a := o.Asks(tool, says, "", nil)
	late := suzuki.Get(callAt(a)).FormOf(t, aggregate.ActReject, "早すぎます")
	act(suzuki, a, aggregate.ActApprove, "").Leads(t, callAt(a)+"?done=act_approve")
	suzuki.Get(callAt(a)).Says(t, 200, "承認済み・開始待ち", "✅ 承認: 鈴木 一郎").Lacks(t, `value="approve"`)
	suzuki.Post(callAt(a)+"/act", late).Says(t, http.StatusConflict, "鈴木 一郎 が", "に承認しました。", "早すぎます")
	act(sato, a, conversation.ActCancel, "").Leads(t, callAt(a)+"?done=act_cancel_action")
	sato.Get(callAt(a)).Says(t, 200, "佐藤 花子 が取り消しました。")

	b := o.Asks(tool, `{"recipient":"C0HR","text":"二"}`, "", nil)
	act(suzuki, b, aggregate.ActReject, "宛先が違います").Leads(t, callAt(b)+"?done=act_reject")
	sato.Get(callAt(b)).Says(t, 200, "却下", "鈴木 一郎 が却下しました。", "宛先が違います")
	w.As(webapi.Alex).Get(callAt(b)).Says(t, http.StatusNotFound) // not in #人事
	suzuki.Get("/console/calls/call-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa").Says(t, http.StatusNotFound)
}

func testRoute(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool)
	a := o.AsksAlong(consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki),
		consoletest.Desk("部長", 1, webapi.Alex)), tool, says, "", nil)
	suzuki, alex := w.As(webapi.Suzuki), w.As(webapi.Alex)
	alex.Get(callAt(a)).Says(t, 200, "課長 いまここ", "部長 これから").Lacks(t, `value="approve"`)
	suzuki.Get(callAt(a)).Holds(t, `value="deny"`).Lacks(t, `value="reject"`) // a call has no next version
	suzuki.Post(callAt(a)+"/act", suzuki.Get(callAt(a)).FormOf(t, aggregate.ActApprove, "")).
		Leads(t, callAt(a)+"?done=act_approve")
	w.Later(time.Minute)
	alex.Get("/console").Says(t, 200, "締めました", "経理エージェント").Holds(t, callAt(a))
	alex.Post(callAt(a)+"/act", alex.Get(callAt(a)).FormOf(t, aggregate.ActApprove, "")).
		Leads(t, callAt(a)+"?done=act_approve")
	alex.Get(callAt(a)).Says(t, 200, "課長 承認済み", "部長 承認済み", "承認済み・開始待ち")
	expect.Is(t, len(expect.Value(o.Calls.Load(t.Context(), a.Ref()))(t).Call.Gate.Acts), 2)
}

func testOutcomes(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool, "Bash")
	b := w.As(webapi.Suzuki)
	elsewhere := func(x *call.Proposal) { x.Content.Elsewhere = true }
	approve := func(a *call.Aggregate) {
		t.Helper()
		b.Post(callAt(a)+"/act", b.Get(callAt(a)).FormOf(t, aggregate.ActApprove, "")).Leads(t, callAt(a)+"?done=act_approve")
	}
	a := o.Asks("Bash", `{"command":"rm -r old"}`, "", elsewhere)
	b.Get(callAt(a)).Says(t, 200, "エージェントの環境で実行", "rm -r old", "実行した結果は Ringi では確認できません。",
		"この内容のまま、1 回だけ実行できるようになります。").Lacks(t, "1 回だけ行われます。")
	approve(a)
	b.Get(callAt(a)).Says(t, 200, "承認済み・許可は未使用")
	o.Decide(a, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Take(o.Key, "toolu_1", task.Series{}, w.Now())
	})
	b.Get(callAt(a)).Says(t, 200, "許可を使用", "エージェントが許可を使いました。").Lacks(t, `value="cancel_action"`)

	lost := o.Asks(tool, says, "", nil)
	approve(lost)
	o.Decide(lost, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Claim(a.Head.Run, "i1", task.Series{}, w.Now().Add(time.Minute), w.Now())
	})
	b.Get(callAt(lost)).Says(t, 200, "実行中")
	o.Decide(lost, func(a *call.Aggregate) (aggregate.Change, error) { return a.Lost("i1", w.Now()) })
	b.Get(callAt(lost)).Says(t, 200, "結果不明", "届いたかどうかを確認できません。サービスの画面で確認してください。")
	o.Decide(lost, func(a *call.Aggregate) (aggregate.Change, error) {
		blob := consoletest.Inline(`{"value":{"url":"https://example.com/made"}}`)
		return a.Finish("i1", call.Result{Status: conversation.ActionSucceeded, Call: &blob}, w.Now())
	})
	b.Get(callAt(lost)).Says(t, 200, "完了", "https://example.com/made").Lacks(t, "届いたかどうかを確認できません。")
}

func testLists(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool, "mcp__bank__pay")
	o.Asks("mcp__bank__pay", `{"amount":98000,"to":"アカツキ商事","rows":[{"a":"x1"},{"a":"y2"}]}`, "", nil)
	for _, path := range []string{"/console/calls", "/console"} {
		w.As(webapi.Suzuki).Get(path).Says(t, 200, "amount 98000 · rows › 1", "x1", "y2", "to アカツキ商事").Lacks(t, "{")
	}
	a := o.Asks(tool, says, "月次が終わったため", nil)
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get("/console/calls").Says(t, 200, "締めました", "承認待ち", "経理エージェント", "佐藤 花子", "#人事").Holds(t, callAt(a))
	w.As(webapi.Alex).Get("/console/calls").Says(t, 200, "呼び出しはまだありません").Lacks(t, "締めました", "/console/keys")
	suzuki.Get("/console/calls?cursor=x").Says(t, http.StatusBadRequest)
	suzuki.Get("/console/agents").Holds(t, `href="/console/calls"`)
	suzuki.Get("/console").Says(t, 200, "締めました", "経理エージェント").Holds(t, callAt(a)).Lacks(t, "月次が終わったため")
	other := w.Found("T0OTHER", webapi.Alex)
	w.Of(other, webapi.Alex).Get(callAt(a)).Says(t, http.StatusNotFound)
	w.Of(other, webapi.Alex).Get("/console/calls").Lacks(t, "締めました")
}

func testHostile(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, "<script>x</script>")
	a := o.Asks("<script>x</script>", `{"<img src=x>":"<svg onload=x>\u202e"}`, "<script>alert(1)</script>",
		func(x *call.Proposal) { x.Content.Elsewhere = true })
	for _, path := range []string{callAt(a), "/console/calls", "/console", "/console/keys"} {
		consoletest.Harmless(t, path, w.As(webapi.Suzuki).Get(path))
	}
}

func testRegister(t *testing.T, w *consoletest.World) {
	o := w.KeyOf(webapi.Sato, tool, "Bash")
	by := consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki))
	by.Rule.Numbered = true
	a := o.AsksAlong(by, tool, says, "", nil)
	b := w.As(webapi.Suzuki)
	b.Post(callAt(a)+"/act", b.Get(callAt(a)).FormOf(t, aggregate.ActApprove, ""))
	a = o.Decide(a, func(a *call.Aggregate) (aggregate.Change, error) {
		settled, _ := a.Unnumbered()
		of := task.Series{Year: tenancy.DefaultSettings().FiscalYear(settled), Last: 122}
		return a.Claim(a.Head.Run, "i1", of, w.Now().Add(time.Minute), w.Now())
	})
	number := a.Call.DecisionNumber
	register := "/console/audit/register.csv?year=" + number[:4]
	b.Get(register).Holds(t, number, "締めました", "課長 鈴木 一郎", "決裁 (実行中)", "佐藤 花子", a.Call.CallID)
	o.Decide(a, func(a *call.Aggregate) (aggregate.Change, error) {
		return a.Finish("i1", call.Result{Status: conversation.ActionSucceeded}, w.Now())
	})
	b.Get(callAt(a)).Says(t, 200, "決裁番号: "+number)
	b.Get("/console/audit").Says(t, 200, "経理エージェント", "外部エージェントの呼び出し").Holds(t, callAt(a))

	ran := o.AsksAlong(by, "Bash", `{"command":"rm -r old"}`, "古い月の分です", func(x *call.Proposal) {
		x.Content.Elsewhere = true
		x.Was = &call.Was{Status: conversation.ActionCancelled, By: webapi.Tanaka, Why: "まだ使います"}
	})
	b.Post(callAt(ran)+"/act", b.Get(callAt(ran)).FormOf(t, aggregate.ActApprove, ""))
	as := calls.Calls{Store: o.Calls, Now: w.Now}
	ran = expect.Value(as.Take(t.Context(), o.Key, ran.Call.CallID, "one",
		calls.Request{Tool: "Bash", Arguments: []byte(`{"command":"rm -r old"}`)}))(t)
	number = ran.Call.DecisionNumber
	expect.That(t, number != "", "a grant without a number")
	b.Get(register).Holds(t, number, "決裁 (許可を使用)", "Bash を実行します", "経理エージェント (責任者: 佐藤 花子)", ran.Call.CallID)
	b.Get("/console/audit").Holds(t, callAt(ran))
	b.Get(callAt(ran)).Says(t, 200, "決裁番号: "+number)
}
