package conversation_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

func TestAnActionUnderARule(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"the page shows where it stands":                          testRouteOfAction,
		"people stamp, take back and reject it in turn":           testActsOnAction,
		"an action that is over keeps its route":                  testRouteOfPastAction,
		"while people are looked up it can be cancelled alone":    testUnroutedAction,
		"whoever is on its route reads the conversation":          testReadersOfAction,
		"whoever owes a stamp has the conversation in their list": testListOfOwed,
		"no name on a route runs":                                 testHostileRouteOfAction,
	})
}

// onRoute brings a conversation of Sato's in #人事 to a command under a rule.
func onRoute(w *consoletest.World, stages ...circulation.Stage) *consoletest.Conversation {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	k.ChangeAction(func(g *aggregate.Gate) { g.Terms.ApprovalHours = 72 }, w.Routed(stages...))
	return k
}

func testRouteOfAction(t *testing.T, w *consoletest.World) {
	k := onRoute(w, consoletest.ThreeStages()...)
	b := w.As(webapi.Suzuki)
	page := b.Get(k.Page())
	page.Says(t, 200, "回覧 ルール: 10万円以上 (第3版)", "課長 いまここ あと1人", "鈴木 一郎 承認待ち", "経理 これから 3人中2人",
		"あなたの番です — 課長(あと1人): 鈴木 一郎", "承認の対象のハッシュ 0123abcd")
	page.Lacks(t, "👥", "[↻]", "承認の期限")
	page.Holds(t, `value="cancel_action"`)
	k.ChangeAction(w.Acts(circulation.Stamp, 1, webapi.Tanaka, consoletest.For(webapi.Suzuki)))
	b.Locale = "en"
	b.Get(k.Page()).Says(t, 200, "Approved: 田中 恵 (for 鈴木 一郎)", "経理 Now 2 of 3 2 more needed", "Now: 経理 (2 more)")
	w.As(webapi.Alex).Get("/console/approvals?for=me").Says(t, 200, "経理(あと2人): 田中 恵・Alex Kim・U0TAKADA")
	k.ChangeAction(func(g *aggregate.Gate) { g.Route.Form++ })
	later := b.Get(k.Page())
	later.Says(t, 200, "so it can&#39;t show where it stands")
	later.Lacks(t, `value="approve"`, `value="reject"`, `value="deny"`, "経理")
}

// Alex isn't in #人事.
func testActsOnAction(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストして")
	k.ProposesAlong(consoletest.Desk("課長", 1, webapi.Suzuki), consoletest.Desk("部長", 1, webapi.Alex))
	suzuki, alex := w.As(webapi.Suzuki), w.As(webapi.Alex)
	acts := func(b *consoletest.Browser, act aggregate.Act, reason string) consoletest.Answer {
		t.Helper()
		w.Later(time.Minute)
		return b.Post(k.Page()+"/act", b.Get(k.Page()).FormOf(t, act, reason))
	}
	page := suzuki.Get(k.Page())
	page.Says(t, 200, "あなたの番です", "この操作を却下する理由を入力してください。理由はエージェントに伝わります。",
		"差し戻す この操作を却下します。エージェントは理由を読んで、改めて提案します。", "却下して終わる この操作を却下します。エージェントには伝えるだけで")
	page.Lacks(t, "上の内容が、そのまま実行されます。") // before the head has stamped
	alex.Get(k.Page()).Says(t, 200, "あなたの番(部長)になったらお知らせします。").Lacks(t, `value="approve"`, `value="deny"`)
	stamped := acts(suzuki, aggregate.ActApprove, "").Leads(t, k.Page()+"?done=act_stamp")
	suzuki.Get(stamped.To).Says(t, 200, "承認しました。 👉 いま: 部長(あと1人): Alex Kim", "引き戻す")
	acts(suzuki, aggregate.ActTakeBack, "").Leads(t, k.Page()+"?done=act_take_back")
	acts(suzuki, aggregate.ActApprove, "")
	late := suzuki.Get(k.Page()).FormOf(t, aggregate.ActTakeBack, "")
	alex.Get(k.Page()).Says(t, 200, "回覧中の 1 人の承認(鈴木 一郎)も、これで終わります。", "上の内容が、そのまま実行されます。")
	sent := acts(alex, aggregate.ActReject, "先にファイルを見せて").Leads(t, k.Page()+"?done=act_send_back")
	expect.Is(t, len(k.Load().Inbox), 1, "the agent has a turn for the reason")
	alex.Get(sent.To).Says(t, 200, "差し戻しました。", "先にファイルを見せて", "部長 差し戻し")
	suzuki.Post(k.Page()+"/act", late).Says(t, http.StatusConflict, "Alex Kim")
	k.ProposesAlong(consoletest.Desk("課長", 1, webapi.Suzuki))
	acts(suzuki, aggregate.ActDeny, "要りません").Leads(t, k.Page()+"?done=act_deny")
	expect.Is(t, k.Load().Actions[1].CancelReason, conversation.ReasonDenied)
	expect.Is(t, len(k.Load().Inbox), 0, "the agent has none")
	k.Says(webapi.Sato, "続けて")
	k.ProposesAlong(consoletest.Desk("課長", 1, webapi.Suzuki))
	acts(suzuki, aggregate.ActApprove, "").Leads(t, k.Page()+"?done=act_settle")
	expect.Is(t, k.Load().Current().Status, conversation.ActionApproved)
}

func testRouteOfPastAction(t *testing.T, w *consoletest.World) {
	k := onRoute(w, consoletest.Desk("課長", 1, webapi.Suzuki), consoletest.Desk("部長", 1, webapi.Alex))
	k.ChangeAction(w.Acts(circulation.Stamp, 1, webapi.Suzuki))
	w.As(webapi.Sato).Post(k.Page()+"/act", consoletest.ActOn(conversation.ActCancel, k.Load().Current(), ""))
	w.As(webapi.Sato).Get(k.Page()).Says(t, 200, "課長 承認済み", "承認: 鈴木 一郎", "部長 承認前に終了")
}

func testUnroutedAction(t *testing.T, w *consoletest.World) {
	k := onRoute(w, consoletest.Desk("課長", 1, webapi.Suzuki))
	k.ChangeAction(func(g *aggregate.Gate) { g.Status, g.Route, g.Asked = aggregate.Generating, nil, "" })
	b := w.As(webapi.Sato)
	page := b.Get(k.Page())
	page.Says(t, 200, "回覧先を確認中", "回覧先を確認しています。").Holds(t, `value="cancel_action"`, `value="close_session"`)
	page.Lacks(t, `value="approve"`, `value="reject"`, `value="deny"`, "👥")
	b.Locale = "en"
	b.Get(k.Page()).Says(t, 200, "Looking up who is asked")
	forged := consoletest.ActOn(aggregate.ActApprove, k.Load().Current(), "")
	w.As(webapi.Suzuki).Post(k.Page()+"/act", forged).Says(t, http.StatusConflict)
	k.Run()
	k.Decide(func(a *conversation.Aggregate) (aggregate.Change, error) {
		no := conversation.ErrByRules{Why: conversation.ReasonSilent, Rule: *a.Current().Gate.Terms.Rule}
		s := w.SettingsNow()
		return a.RefuseByRule(a.Head.Run, a.Current().ActionID, no, "x", s.Rev, w.Now())
	})
	b.Get(k.Page()).Says(t, 200, "Slack didn&#39;t say whom rule “10万円以上” asks")
}

func testReadersOfAction(t *testing.T, w *consoletest.World) {
	k := onRoute(w, consoletest.Desk("課長", 1, webapi.Suzuki))
	alex := w.As(webapi.Alex)
	alex.Get(k.Page()).Says(t, http.StatusNotFound)
	k.ChangeAction(func(g *aggregate.Gate) { g.Route.Readers = []circulation.Person{{User: webapi.Alex}} })
	alex.Get(k.Page()).Says(t, 200, "決定後に知らせる人: Alex Kim")
}

func testListOfOwed(t *testing.T, w *consoletest.World) {
	k := onRoute(w, consoletest.Desk("課長", 1, webapi.Suzuki), consoletest.Desk("部長", 1, webapi.Alex))
	k.Owe(1, webapi.Suzuki)
	k.Owe(2, webapi.Alex) // before its time, as a late entry
	mine := func(user, path string, has bool) {
		t.Helper()
		n := strings.Count(w.As(user).Get("/console/agents"+path).Body, `href="`+k.Page()+`"`)
		expect.That(t, n == 0 && !has || n == 1 && has, "%s%s: %d times", user, path, n)
	}
	mine(webapi.Suzuki, "", true)
	mine(webapi.Alex, "", false)
	k.ChangeAction(w.Acts(circulation.Stamp, 1, webapi.Suzuki))
	mine(webapi.Suzuki, "", true)
	mine(webapi.Alex, "", true)
	mine(webapi.Alex, "?status=open", true)
	mine(webapi.Alex, "?status=closed", false)
	mine(webapi.Alex, "?person="+webapi.Sato, true)
	mine(webapi.Alex, "?person="+webapi.Suzuki, false)
	k.ChangeAction(w.Acts(circulation.Deny, 2, webapi.Alex))
	mine(webapi.Alex, "", false)
}

func testHostileRouteOfAction(t *testing.T, w *consoletest.World) {
	for _, text := range consoletest.Payloads {
		s := consoletest.Desk(text, 1, webapi.Suzuki)
		s.People[0].Via = text
		k := onRoute(w, s)
		k.ChangeAction(func(g *aggregate.Gate) { g.Terms.Rule.Name = text }, w.Acts(circulation.Deny, 1, webapi.Suzuki,
			func(act *circulation.Act) { act.Text, act.Surface = text, text }))
		consoletest.Harmless(t, "a conversation", w.As(webapi.Suzuki).Get(k.Page()))
	}
}
