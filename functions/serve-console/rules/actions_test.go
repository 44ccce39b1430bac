package rules_test

import (
	"net/http"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// Rules are for the steps of requests until one is for actions. From then on the page says so, and the weakest way to a
// tool is also one by way of an agent.
func testRulesForActions(t *testing.T, w *consoletest.World) {
	written(t, w)
	b := w.As(webapi.Suzuki)
	aside, ruled := "対象に「操作」を選んだルールがないため、エージェントの操作は、設定の", "対象に「操作」を選んだルールがあるため、"
	list := b.Get(path)
	list.Says(t, http.StatusOK, aside).Lacks(t, ruled)
	b.Locale = "en"
	b.Get(path).Says(t, http.StatusOK, "No rule is for “actions”, so agents’ actions are approved by the people under")
	b.Locale = "ja"
	form := b.Post(path, list.Hidden("act", "edit.0"))
	form.Says(t, http.StatusOK, "「操作」は、会話でエージェントや人が提案する").Holds(t, `value="steps" selected`)
	for kinds, says := range map[string]string{"action": "(エージェントの操作だけのルールです。)",
		"steps action": "(エージェントの操作にも使うルールです。)", "": "部長 (鈴木 一郎)"} {
		tried := b.Post(path+"/rule", form.Hidden(append(append([]string{}, ordered...), "act", "try", "kinds", kinds)...))
		tried.Says(t, http.StatusOK, says).Holds(t, `value="`+kinds+`" selected`)
	}
	wrong := form.Hidden(append(append([]string{}, ordered...), "act", "keep", "kinds", "money")...)
	b.Post(path+"/rule", wrong).Says(t, http.StatusUnprocessableEntity, "対象 (1): 次のどれかにしてください: steps or action。")

	add := b.Post(path, list.Hidden("act", "add"))
	list = b.Post(path+"/rule", add.Hidden("kinds", "action", "name", "エージェント", "use", "writes_outside",
		"outcome", "route", "stages.0.name", "経理", "stages.0.kind", "people", "stages.0.people", "|"+webapi.Tanaka, "stages.0.need", "1",
		"stages.0.vacant", "refuse", "stages.0.own", "refuse", "stages.0.twice", "again", "act", "keep"))
	list.Says(t, http.StatusOK, ruled).Lacks(t, aside)
	check := b.Post(path, list.Hidden("act", "check"))
	check.Says(t, http.StatusOK, "保存すると、エージェントとの会話の操作も回覧ルールで決まります。",
		"「完了通知」 エージェントの操作: ほかのチャンネル・ダイレクトメッセージ・#人事 承認 1 つ・別の人 1 人 ルール 2「エージェント」")
	b.Post(path, check.Hidden("act", "save")).Leads(t, path+"?done=saved")
	expect.That(t, stored(w).Actions() && stored(w).Rules[1].When.Kinds[0] == rules.KindAction, "%+v", stored(w).Rules[1])
	for kind, rule := range map[string]string{"steps": "どれにも当てはまらないとき: 依頼を断ります。",
		"action": "ルール 2「エージェント」: 経理 (田中 恵)が承認します。"} {
		b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.kind", kind, "try.amount", "500")).
			Says(t, http.StatusOK, rule).Holds(t, `value="`+kind+`" selected`)
	}
	again := b.Post(path, b.Get(path).Hidden("act", "check"))
	again.Says(t, http.StatusOK).Lacks(t, "保存すると、エージェントとの会話の操作も")
	b.Locale = "en"
	b.Post(path, b.Get(path).Hidden("act", "check")).Says(t, http.StatusOK, "Actions of agents: Any other channel, direct messages, #人事")
}
