package subject_test

import (
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func TestQuestionsAndAdditionsOnPages(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a question is asked and answered on the page":       testAskedOnPage,
		"a question that can't be asked is refused in words": testAskedBadlyOnPage,
		"somebody is added, and asked by name":               testAddedOnPage,
		"whom the rule names is offered first":               testOfferedOnPage,
		"somebody was added in the round before":             testAddedBefore,
		"who is consulted agrees or objects":                 testConsultedOnPage,
		"who answers an objection isn't asked again":         testAskedOnceOnPage,
		"minutes are recorded on the page":                   testMinutesOnPage,
	})
}

func testAskedOnPage(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.ThreeStages()...)
	suzuki, sato, tanaka := w.As(webapi.Suzuki), w.As(webapi.Sato), w.As(webapi.Tanaka)
	for _, b := range []*consoletest.Browser{sato, tanaka} {
		b.Get(w.TaskPage()).Lacks(t, `value="ask"`, `value="answer"`, `value="add"`)
	}
	page := suzuki.Get(w.TaskPage())
	page.Holds(t, `value="ask"`, `value="add"`).Lacks(t, `value="answer"`, `value="dissent"`)
	form := page.FormOf(t, aggregate.ActAsk, "見積は何社ですか\n」<b>太字</b>")
	for range 2 {
		suzuki.Post(w.TaskPage()+"/act", form).Leads(t, w.TaskPage()+"?done=act_ask")
	}
	expect.Is(t, len(w.Load().Process().Acts), 1, "acts")
	suzuki.Get(w.TaskPage()+"?done=act_ask").Says(t, 200, "質問しました。")
	suzuki.Get(w.TaskPage()).Says(t, 200, "質問: 鈴木 一郎", "見積は何社ですか", "回答待ち", "あなたの番です").
		Holds(t, "」&lt;b&gt;太字").Lacks(t, `value="ask"`)
	page = sato.Get(w.TaskPage())
	page.Says(t, 200, "鈴木 一郎さんの質問「見積は何社ですか 』")
	form = page.FormOf(t, aggregate.ActAnswer, "2 社です")
	tanaka.Post(w.TaskPage()+"/act", form).Says(t, http.StatusForbidden, "依頼した方だけです")
	for range 2 {
		sato.Post(w.TaskPage()+"/act", form).Leads(t, w.TaskPage()+"?done=act_answer")
	}
	sato.Post(w.TaskPage()+"/act", consoletest.With(form, "reason", "3 社です")).
		Says(t, http.StatusForbidden, "先に回答したため", "未送信の理由 3 社です")
	tanaka.Get(w.TaskPage()).Says(t, 200, "回答: 佐藤", "2 社です").Lacks(t, "回答待ち")
	acted(suzuki, w, aggregate.ActApprove, "").Leads(t, w.TaskPage()+"?done=act_stamp")
	tanaka.In("en").Get(w.TaskPage()).Says(t, 200, "Question: 鈴木 一郎", "Answer: 佐藤")
}

func testAskedBadlyOnPage(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.ThreeStages()...)
	suzuki := w.As(webapi.Suzuki)
	page := suzuki.Get(w.TaskPage())
	for reason, want := range map[string]string{" ": "質問を 1〜1000 文字で入力してください。",
		strings.Repeat("長", 1001): "質問を 1〜1000 文字で入力してください。"} {
		refused := suzuki.Post(w.TaskPage()+"/act", page.FormOf(t, aggregate.ActAsk, reason))
		refused.Says(t, http.StatusBadRequest, want).Holds(t, `value="approve"`)
	}
	form := page.FormOf(t, aggregate.ActAsk, "何社ですか")
	w.As(webapi.Tanaka).Post(w.TaskPage()+"/act", form).Says(t, http.StatusForbidden, "番です")
	for name, value := range map[string]string{"hash": "0", "stage": "2", "id": w.Load().Prompt().ID} {
		got := suzuki.Post(w.TaskPage()+"/act", consoletest.With(form, name, value))
		expect.That(t, got.Status >= 400, "%s: %v", name, got)
	}
	expect.Is(t, len(w.Load().Process().Acts), 0, "acts")
}

func testAddedOnPage(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.Desk("課長", 1, webapi.Suzuki), consoletest.Desk("部長", 1, webapi.Tanaka))
	suzuki, alex, tanaka := w.As(webapi.Suzuki), w.As(webapi.Alex), w.As(webapi.Tanaka)
	page := suzuki.Get(w.TaskPage())
	form := consoletest.With(consoletest.With(page.FormOf(t, aggregate.ActAdd, "契約を見てください"), "to", webapi.Alex), "role",
		"consult")
	for user, want := range map[string]string{webapi.Sato: "依頼した方は追加できません", webapi.Suzuki: "自分自身や",
		webapi.Tanaka: "すでにこの回覧に入っています", webapi.Guest: "正規メンバーだけ", "": "だれを追加するかを選んでください"} {
		suzuki.Post(w.TaskPage()+"/act", consoletest.With(form, "to", user)).Says(t, http.StatusForbidden, want)
	}
	for range 2 {
		suzuki.Post(w.TaskPage()+"/act", form).Leads(t, w.TaskPage()+"?done=act_add")
	}
	act := w.Load().Process().Acts[0]
	expect.That(t, len(w.Load().Process().Acts) == 1 && act.To.User == webapi.Alex && act.To.Via == task.ViaAdded,
		"%+v", act)
	suzuki.Get(w.TaskPage()).Says(t, 200, "Alex Kimさんの意見 (追加) これから", "追加: 鈴木 一郎", "契約を見てください",
		"承認しても、部長の承認までは決まりません。", "この回覧で追加された人")
	alex.Get(w.TaskPage()).Says(t, 200, "いまは 課長(鈴木 一郎)の番です。あなたの番(追加された段階)になったら")
	acted(suzuki, w, aggregate.ActApprove, "")
	tanaka.Get(w.TaskPage()).Says(t, 200, "いまは 追加された段階(Alex Kim)の番です。あなたの番(部長)に").Lacks(t, `value="approve"`)
	alex.Get(w.TaskPage()).Says(t, 200, "あなたの番です Alex Kimさんの意見 (追加) — あなたの意見が求められています", "✅ 同意").
		Holds(t, `value="dissent"`).Lacks(t, `value="reject"`)
	alex.Get("/console/approvals").Says(t, 200, "Alex Kimさんの意見 (追加)")
	acted(alex, w, aggregate.ActApprove, "").Leads(t, w.TaskPage()+"?done=act_stamp")
	acted(tanaka, w, aggregate.ActApprove, "").Leads(t, w.TaskPage()+"?done=act_settle")
	tanaka.Get(w.TaskPage()).Says(t, 200, "Alex Kimさんの意見 (追加) 意見あり", "部長 承認済み")
}

func testOfferedOnPage(t *testing.T, w *consoletest.World) {
	desk := consoletest.Desk("課長", 1, webapi.Suzuki)
	desk.Raises = []circulation.Raise{{When: "特に重要と認めるとき", To: circulation.Person{User: webapi.Tanaka}},
		{When: "異例のとき", LeftOut: rules.LeftVacant}, {When: "緊急", To: circulation.Person{User: webapi.Tanaka}}}
	w.Opened(desk, consoletest.Desk("部長", 1, webapi.Alex))
	suzuki := w.As(webapi.Suzuki)
	page := suzuki.Get(w.TaskPage()).Says(t, 200, "必要なら上げる先: 田中 恵 (特に重要と認めるとき)",
		"必要なら上げる先: 異例のとき (該当者なしのため省略)", "選んでください 田中 恵 (特に重要と認めるとき、緊急)")
	form := consoletest.With(page.FormOf(t, aggregate.ActAdd, "重要です"), "to", webapi.Tanaka)
	form = consoletest.With(form, "role", "approve")
	suzuki.Post(w.TaskPage()+"/act", form).Leads(t, w.TaskPage()+"?done=act_add")
	suzuki.Get(w.TaskPage()).Says(t, 200, "田中 恵さんの承認 (追加) これから").Lacks(t, `>田中 恵 (特に重要と認めるとき)<`)
	w.As(webapi.Alex).Get(w.TaskPage()).Says(t, 200, "必要なら上げる先: 異例のとき").Lacks(t, "必要なら上げる先: 田中 恵")
}

func testAddedBefore(t *testing.T, w *consoletest.World) {
	w.Ask()
	o := consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki), consoletest.Desk("部長", 1, webapi.Tanaka))
	o.Route.Carried = []circulation.Carried{{To: circulation.Person{User: webapi.Alex},
		By: circulation.Person{User: webapi.Suzuki}, As: circulation.AsApprove, After: 1, Round: 2}}
	w.PlannedOnRoute(w.SettingsNow(), o, consoletest.Message(1, "締切は金曜です"))
	suzuki, alex := w.As(webapi.Suzuki), w.As(webapi.Alex)
	suzuki.Get(w.TaskPage()).Says(t, 200, "Alex Kimさんの承認 (追加) これから", "追加: 鈴木 一郎 · 2 回目の回覧から引き継ぎ")
	acted(suzuki, w, aggregate.ActApprove, "")
	alex.Get(w.TaskPage()).Says(t, 200, "あなたの番です Alex Kimさんの承認 (追加)")
}

func testConsultedOnPage(t *testing.T, w *consoletest.World) {
	consulted := consoletest.Desk("法務", 1, webapi.Alex)
	consulted.As, consulted.Dissent = circulation.AsConsult, circulation.ObjectionRaised
	consulted.Over = []circulation.Person{{User: webapi.Suzuki}}
	w.Opened(consulted, consoletest.Desk("部長", 1, webapi.Tanaka))
	alex, suzuki := w.As(webapi.Alex), w.As(webapi.Suzuki)
	page := alex.Get(w.TaskPage())
	page.Says(t, 200, "Alex Kim 意見待ち").Lacks(t, "Alex Kim 承認待ち")
	page.Holds(t, `value="dissent"`, `value="ask"`).Lacks(t, `value="reject"`, `value="deny"`)
	page.Says(t, 200, "この依頼を止めるものではありません。あなたの上の人の確認が加わります。")
	w.As(webapi.Alex).In("en").Get(w.TaskPage()).Says(t, 200, "It doesn’t stop the request. Who stands above you is asked, too.")
	empty := alex.Post(w.TaskPage()+"/act", page.FormOf(t, aggregate.ActDissent, " "))
	empty.Says(t, http.StatusBadRequest, "異議の理由を 1〜1000 文字")
	form := page.FormOf(t, aggregate.ActDissent, "条項が古い")
	for range 2 {
		alex.Post(w.TaskPage()+"/act", form).Leads(t, w.TaskPage()+"?done=act_dissent")
	}
	suzuki.Get(w.TaskPage()).Says(t, 200, "✋ 法務 異議あり", "✋ 異議: Alex Kim", "条項が古い", "あなたの番です 鈴木 一郎さんの確認 (異議のため)")
	acted(suzuki, w, aggregate.ActApprove, "")
	acted(w.As(webapi.Tanaka), w, aggregate.ActApprove, "").Leads(t, w.TaskPage()+"?done=act_settle")
	expect.Is(t, w.Load().Process().Status, aggregate.Approved)
}

// Who is asked after an objection is told that a later stage doesn't ask them again, and it doesn't.
func testAskedOnceOnPage(t *testing.T, w *consoletest.World) {
	consulted, own := consoletest.Desk("法務", 1, webapi.Alex), consoletest.Desk("次長", 1, webapi.Suzuki)
	consulted.As, consulted.Dissent = circulation.AsConsult, circulation.ObjectionRaised
	consulted.Over, own.Once = []circulation.Person{{User: webapi.Suzuki}}, true
	w.Opened(consulted, own, consoletest.Desk("部長", 1, webapi.Tanaka))
	alex, suzuki, tanaka := w.As(webapi.Alex), w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	acted(alex, w, aggregate.ActDissent, "条項が古い")
	suzuki.Get(w.TaskPage()).Says(t, 200, "次長 これから 異議の確認で承認した人には、重ねて求めません")
	acted(suzuki, w, aggregate.ActApprove, "")
	tanaka.Get(w.TaskPage()).Says(t, 200, "次長 承認済み", "鈴木 一郎(異議の確認で承認)", "部長 いまここ")
	acted(tanaka, w, aggregate.ActApprove, "").Leads(t, w.TaskPage()+"?done=act_settle")
}

func testMinutesOnPage(t *testing.T, w *consoletest.World) {
	board := consoletest.Desk("取締役会", 2, webapi.Alex, webapi.Suzuki, webapi.Tanaka)
	board.Parts, board.Minutes, board.Secretary = []circulation.Part{{N: 2, Of: 1}, {N: 1, Of: 1}}, true, 2
	w.Opened(board)
	alex, secretary := w.As(webapi.Alex), w.As(webapi.Tanaka)
	alex.Get(w.TaskPage()).Holds(t, `name="act" value="approve"`).Lacks(t, `name="act" value="minutes"`)
	acted(alex, w, aggregate.ActApprove, "")
	page := secretary.Get(w.TaskPage())
	page.Holds(t, `name="act" value="minutes"`, `name="present"`).Lacks(t, `name="act" value="approve"`)
	form, held := page.FormOf(t, aggregate.Act(card.Minutes), ""), tenancy.DayOf(w.Load().Head.CreatedAt)
	for name, value := range map[string]string{"held": held, "present": webapi.Alex, "carried": "yes",
		"minutes": "全員が<b>賛成</b>した"} {
		form = consoletest.With(form, name, value)
	}
	for name, c := range map[string][2]string{"held": {"2099-01-01", "開催日は"}, "present": {"", "出席者は 1〜30 人"},
		"minutes": {strings.Repeat("議", 2001), "議事の内容 (2000 文字まで)"}, "reference": {strings.Repeat("場", 301), "300 文字まで"},
		"carried": {"no", "否決の理由を"}} {
		secretary.Post(w.TaskPage()+"/act", consoletest.With(form, name, c[0])).Says(t, http.StatusBadRequest, c[1])
	}
	secretary.Post(w.TaskPage()+"/act", consoletest.With(form, "held", "2020-01-01")).
		Says(t, http.StatusBadRequest, "依頼のあった日から今日まで")
	for _, user := range []string{webapi.Guest, "U0NOBODY"} {
		secretary.Post(w.TaskPage()+"/act", consoletest.With(form, "present", user)).
			Says(t, http.StatusBadRequest, "このワークスペースのメンバーから")
	}
	secretary.Post(w.TaskPage()+"/act", consoletest.With(form, "minutes", strings.Repeat("議", 2001))).
		Holds(t, strings.Repeat("議", 2001))
	stale := consoletest.With(form, "stage", "2")
	expect.That(t, secretary.Post(w.TaskPage()+"/act", stale).Status >= 400, "of another stage")
	for range 2 {
		secretary.Post(w.TaskPage()+"/act", form).Leads(t, w.TaskPage()+"?done=act_minutes")
	}
	expect.Is(t, w.Load().Process().Status, aggregate.Approved)
	secretary.Get(w.TaskPage()).Says(t, 200, "📝 議事録: "+held+" 開催 · 可決", "出席者: Alex Kim").Holds(t, "&lt;b&gt;賛成")
}
