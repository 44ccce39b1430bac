package conversation_test

import (
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

func TestAnActionUnderARule(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"the page shows where it stands, and has no form for it":  testRouteOfAction,
		"an action that is over keeps its route":                  testRouteOfPastAction,
		"whoever is on its route reads the conversation":          testReadersOfAction,
		"whoever owes a stamp has the conversation in their list": testListOfOwed,
		"no name on a route runs":                                 testHostileRouteOfAction,
	})
}

// onRoute brings a conversation of Sato's in #人事 to a command under a rule.
func onRoute(w *consoletest.World, stages ...circulation.Stage) *consoletest.Conversation {
	k := w.Talked(workspace.Sato, workspace.HR, "channel", "テストして")
	k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	k.ChangeAction(func(g *aggregate.Gate) { g.Terms.ApprovalHours = 72 }, w.Routed(stages...))
	return k
}

func testRouteOfAction(t *testing.T, w *consoletest.World) {
	k := onRoute(w, consoletest.ThreeStages()...)
	b := w.As(workspace.Suzuki)
	page := b.Get(k.Page())
	page.Says(t, 200, "回覧 ルール: 10万円以上 (第3版)", "課長 いまここ あと1人", "鈴木 一郎 承認待ち", "経理 これから 3人中2人",
		"まだ承認も却下もできません", "承認の対象のハッシュ 0123abcd")
	page.Lacks(t, `value="approve"`, `value="reject"`, "[↻]", "承認の期限")
	page.Holds(t, `value="cancel_action"`)
	x := k.Load().Current()
	b.Post(k.Page()+"/act", consoletest.With(consoletest.ActOn(aggregate.ActApprove, x, ""), "hash", x.Gate.Asked)).
		Says(t, http.StatusForbidden, "回覧の順に承認するもので")
	k.ChangeAction(w.Acts(circulation.Stamp, 1, workspace.Tanaka, consoletest.For(workspace.Suzuki)))
	b.Locale = "en"
	b.Get(k.Page()).Says(t, 200, "Approved: 田中 恵 (for 鈴木 一郎)", "経理 Now 2 of 3 2 more needed", "can neither approve nor reject it yet")
	w.As(workspace.Alex).Get("/console/approvals?for=me").Says(t, 200, "経理(あと2人): 田中 恵・Alex Kim・U0TAKADA")
	k.ChangeAction(func(g *aggregate.Gate) { g.Route.Form++ })
	later := b.Get(k.Page())
	later.Says(t, 200, "so it can&#39;t show where it stands")
	later.Lacks(t, `value="approve"`, `value="reject"`, "経理")
}

func testRouteOfPastAction(t *testing.T, w *consoletest.World) {
	k := onRoute(w, consoletest.Desk("課長", 1, workspace.Suzuki), consoletest.Desk("部長", 1, workspace.Alex))
	k.ChangeAction(w.Acts(circulation.Stamp, 1, workspace.Suzuki))
	w.As(workspace.Sato).Post(k.Page()+"/act", consoletest.ActOn(conversation.ActCancel, k.Load().Current(), ""))
	w.As(workspace.Sato).Get(k.Page()).Says(t, 200, "課長 承認済み", "承認: 鈴木 一郎", "部長 承認前に終了")
}

func testReadersOfAction(t *testing.T, w *consoletest.World) {
	k := onRoute(w, consoletest.Desk("課長", 1, workspace.Suzuki))
	alex := w.As(workspace.Alex)
	alex.Get(k.Page()).Says(t, http.StatusNotFound)
	k.ChangeAction(func(g *aggregate.Gate) { g.Route.Readers = []circulation.Person{{User: workspace.Alex}} })
	alex.Get(k.Page()).Says(t, 200, "決定後に知らせる人: Alex Kim")
}

func testListOfOwed(t *testing.T, w *consoletest.World) {
	k := onRoute(w, consoletest.Desk("課長", 1, workspace.Suzuki), consoletest.Desk("部長", 1, workspace.Alex))
	k.Owe(1, workspace.Suzuki)
	k.Owe(2, workspace.Alex) // before its time, as a late entry
	mine := func(user, path string, has bool) {
		t.Helper()
		n := strings.Count(w.As(user).Get("/console/agents"+path).Body, `href="`+k.Page()+`"`)
		expect.That(t, n == 0 && !has || n == 1 && has, "%s%s: %d times", user, path, n)
	}
	mine(workspace.Suzuki, "", true)
	mine(workspace.Alex, "", false)
	k.ChangeAction(w.Acts(circulation.Stamp, 1, workspace.Suzuki))
	mine(workspace.Suzuki, "", true)
	mine(workspace.Alex, "", true)
	mine(workspace.Alex, "?status=open", true)
	mine(workspace.Alex, "?status=closed", false)
	mine(workspace.Alex, "?person="+workspace.Sato, true)
	mine(workspace.Alex, "?person="+workspace.Suzuki, false)
	k.ChangeAction(w.Acts(circulation.Deny, 2, workspace.Alex))
	mine(workspace.Alex, "", false)
}

func testHostileRouteOfAction(t *testing.T, w *consoletest.World) {
	for _, text := range consoletest.Payloads {
		s := consoletest.Desk(text, 1, workspace.Suzuki)
		s.People[0].Via = text
		k := onRoute(w, s)
		k.ChangeAction(func(g *aggregate.Gate) { g.Terms.Rule.Name = text }, w.Acts(circulation.Deny, 1, workspace.Suzuki,
			func(act *circulation.Act) { act.Text, act.Surface = text, text }))
		consoletest.Harmless(t, "a conversation", w.As(workspace.Suzuki).Get(k.Page()))
	}
}
