package web_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

var asked = time.Date(2026, 11, 22, 1, 0, 0, 0, time.UTC)

var desk = consoletest.Desk

func gateOf(stages ...circulation.Stage) aggregate.Gate {
	return aggregate.Gate{
		Status: aggregate.PendingApproval, AskedAt: &asked, AskedSum: "hash", Askers: []circulation.Person{{User: "Q"}},
		Terms: aggregate.Terms{ApprovalHours: 72, ApprovalRequired: true,
			Rule: &circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3}},
		Route: &circulation.Route{Form: circulation.Form, Stages: stages},
	}
}

func three() aggregate.Gate {
	return gateOf(desk("課長", 1, "A"), desk("経理", 2, "B", "C", "D"), desk("部長", 1, "E"))
}

// actedOn adds an act a minute after the last one.
func actedOn(t *testing.T, g aggregate.Gate, kind circulation.Kind, stage int, hand string,
	more ...func(*circulation.Act)) aggregate.Gate {
	t.Helper()
	return ringitest.Acted(t, g, asked.Add(time.Duration(len(g.Acts)+1)*time.Minute), kind, stage, hand, more...)
}

func reader(locale string) web.Reader {
	return web.Reader{Locale: locale, Person: func(id string) string { return "@" + id }, Channel: "#人事"}
}

// drawn is a route as a line, stage by stage.
func drawn(r *web.GateRoute) string {
	var parts []string
	for _, s := range r.Stages {
		part := strings.TrimSpace(strings.Join([]string{s.Mark, s.Name, s.State, s.Need, s.Owed}, " "))
		for _, p := range s.People {
			if p.Owes {
				part += " ?" + p.Name
			}
		}
		for _, act := range s.Stamps {
			part += " +" + act.By
		}
		if s.End != nil {
			part += fmt.Sprintf(" !%s %s", s.End.By, s.End.Text)
		}
		parts = append(parts, strings.Join(strings.Fields(part), " "))
	}
	return strings.Join(parts, " / ")
}

// A page says of every state of a gate what each stage is, who owes it a stamp and who gave one.
func TestWhereAGateStands(t *testing.T) {
	stamp := circulation.Stamp
	standIn := func(act *circulation.Act) {
		act.Principal.User, act.Found.Delegation = "A", &circulation.Delegation{Key: "Z#A#2026", Rev: 1}
	}
	one := actedOn(t, three(), stamp, 1, "A")
	two := actedOn(t, one, stamp, 2, "B")
	settled := actedOn(t, actedOn(t, two, stamp, 2, "D"), stamp, 3, "E")
	channel := gateOf(desk("課長", 1, "A"), circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1})
	for _, c := range []struct {
		gate aggregate.Gate
		over bool
		says string
	}{
		{three(), false, "🔵 課長 いまここ あと1人 ?@A / ⬜ 経理 これから 3 人のうち 2 人の承認が必要 / ⬜ 部長 これから"},
		{two, false, "✅ 課長 承認済み +@A / 🔵 経理 いまここ 3 人のうち 2 人の承認が必要 あと1人 ?@C ?@D +@B / ⬜ 部長 これから"},
		{actedOn(t, three(), stamp, 1, "Z", standIn), false,
			"✅ 課長 承認済み +@Z(@Aさんの代理) / 🔵 経理 いまここ 3 人のうち 2 人の承認が必要 あと2人 ?@B ?@C ?@D / ⬜ 部長 これから"},
		{actedOn(t, two, circulation.SendBack, 2, "C"), false,
			"✅ 課長 承認済み +@A / ↩️ 経理 差し戻し 3 人のうち 2 人の承認が必要 +@B !@C 宛名が違います / ⬜ 部長 承認前に終了"},
		{actedOn(t, three(), circulation.Deny, 1, "A"), false,
			"❌ 課長 却下 !@A 宛名が違います / ⬜ 経理 承認前に終了 3 人のうち 2 人の承認が必要 / ⬜ 部長 承認前に終了"},
		{settled, false, "✅ 課長 承認済み +@A / ✅ 経理 承認済み 3 人のうち 2 人の承認が必要 +@B +@D / ✅ 部長 承認済み +@E"},
		{two, true, "✅ 課長 承認済み +@A / ⬜ 経理 承認前に終了 3 人のうち 2 人の承認が必要 +@B / ⬜ 部長 承認前に終了"}, // cancelled
		{actedOn(t, channel, stamp, 1, "A"), false, "✅ 課長 承認済み +@A / 🔵 みんな いまここ #人事 の参加者のうち1人 あと1人"},
	} {
		expect.Same(t, drawn(reader("ja").Route(&c.gate, c.over)), c.says)
	}
	expect.Same(t, drawn(reader("en").Route(&one, false)),
		"✅ 課長 Approved +@A / 🔵 経理 Now 2 of 3 must approve 2 more needed ?@B ?@C ?@D / ⬜ 部長 Later")
}

func TestARouteSaysItsRuleAndTimes(t *testing.T) {
	g := actedOn(t, three(), circulation.Stamp, 1, "A")
	g.Route.Tells = "S1"
	r := reader("ja").Route(&g, false)
	expect.Must(t, r.Now != nil && r.Now.Name == "経理", "%+v", r.Now)
	expect.Same(t, []any{r.Rule, r.Revision, r.Told}, []any{"10万円以上", 3, "S1"})
}

// What can't be walked has no stage, and no line names anybody.
func TestARouteThatCannotBeWalkedIsSaidToBeOne(t *testing.T) {
	for name, change := range map[string]func(g *aggregate.Gate){
		"form":     func(g *aggregate.Gate) { g.Route.Form++ },
		"mode":     func(g *aggregate.Gate) { g.Route.Stages[0].Mode = "together" },
		"act":      func(g *aggregate.Gate) { g.Acts = []circulation.Act{{Form: circulation.Form, Kind: "other"}} },
		"no route": func(g *aggregate.Gate) { g.Route = nil },
	} {
		g := three()
		change(&g)
		r := reader("ja").Route(&g, false)
		expect.That(t, r.Unknown && r.Stages == nil && r.Now == nil && strings.Contains(r.Note, "読み取れない形式"),
			"%s: %+v", name, r)
	}
}

func TestAGateIsNotDrawnBeforeItsRoute(t *testing.T) {
	g := three()
	g.Status, g.Route, g.AskedSum = aggregate.Generating, nil, ""
	r := reader("ja").Route(&g, false)
	expect.That(t, !r.Unknown && r.Note == "回覧先を確認しています。" && r.Stages == nil, "%+v", r)
	expect.That(t, reader("ja").Route(&g, true).Note == "", "it is looked up after its end")
	expect.That(t, reader("ja").Route(&aggregate.Gate{Status: aggregate.PendingApproval}, false) == nil,
		"a gate without a rule has a route")
}

func TestHowSomebodyWasFound(t *testing.T) {
	for via, want := range map[string]string{
		"named by the rule": "ルールで指定", "group S0KEIRI": "グループ S0KEIRI", "manager 1 of U1": "@U1さんの上長",
		"manager 2 of U1": "@U1さんの 2 段上の上長", "head of sales": "sales の長", "stamped the steps": "ステップを承認した人",
		"over 課長 of sales": "sales の 課長 の上に立つ人", "an unknown way\u202e": "an unknown way⟨U+202E⟩", "": "",
	} {
		expect.Same(t, reader("ja").Via(via), want)
	}
}

func TestActsAlongARoute(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"whoever is asked stamps, and others are told whose turn it is": testStamps,
		"a form sent twice says once what became of it":                 testTwice,
		"a step's check is denied only":                                 testStepsCheck,
		"a channel's stage is everybody's there who didn't ask":         testChannelsTurn,

		"content that was not shown is not stamped": testOtherContent,
	})
}

var (
	twoOfThree = consoletest.Desk("経理", 2, webapi.Tanaka, webapi.Alex, "U0TAKADA")
	chief      = consoletest.Desk("部長", 1, webapi.Alex)
)

func testStamps(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.ThreeStages()...)
	suzuki, tanaka, alex, sato := w.As(webapi.Suzuki), w.As(webapi.Tanaka), w.As(webapi.Alex), w.As(webapi.Sato)
	const approve, reject, deny = `value="approve"`, `value="reject"`, `value="deny"`
	suzuki.Get(w.TaskPage()).Says(t, 200, "👉 あなたの番です 課長 — あなたの承認が必要です", "✅ 承認", "❌ 却下", "却下して終了",
		"期限 "+web.Minute(w.Now().Add(168*time.Hour)), "承認しても、「部長」が済むまでは決まりません。").
		Holds(t, `name="stage" value="1"`)
	tanaka.Get(w.TaskPage()).Says(t, 200, "いまは 課長 (鈴木 一郎) の番です。あなたの番(経理)になったらお知らせします。").Lacks(t, approve, reject, deny)
	sato.Get(w.TaskPage()).Says(t, 200, "自分の依頼は、代理でも承認・却下できません。", "👉 いま: 課長(あと1人): 鈴木 一郎").
		Lacks(t, approve, reject, deny)
	stamped := suzuki.Acts(aggregate.ActApprove, "").Leads(t, w.TaskPage()+"?done=act_approve")
	suzuki.Get(stamped.To).Says(t, 200, "承認しました。 👉 いま: 経理(あと2人): 田中 恵・U0TAKADA", "あなたの段階は終わっています。", "締切は金曜です").
		Lacks(t, approve, reject, deny)
	tanaka.Acts(aggregate.ActApprove, "")
	tanaka.Get(w.TaskPage()).Says(t, 200, "あなたは、この段階で承認済みです。", "👉 いま: 経理(あと1人): U0TAKADA").Lacks(t, approve, deny)
	alex.Get(w.TaskPage()).Lacks(t, approve) // only Alex can give the last stamp, and nobody gives two
	w.By.ID, w.By.Stage = "U0TAKADA", 2
	w.Approve()
	alex.Get(w.TaskPage()).Says(t, 200, "承認待ち: 実行ステップ v1 · 部長(あと1人): Alex Kim")
	settled := alex.Acts(aggregate.ActApprove, "").Leads(t, w.TaskPage()+"?done=act_approve")
	alex.Get(settled.To).Says(t, 200, "承認しました。", "部長 承認済み")
	expect.Is(t, w.Load().Process().Status, aggregate.Approved)
}

// testTwice: in the end steps are denied for good.
func testTwice(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.ThreeStages()...)
	suzuki, tanaka := w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	form := suzuki.Get(w.TaskPage()).FormOf(t, aggregate.ActApprove, "")
	for range 2 {
		suzuki.Post(w.TaskPage()+"/act", form).Leads(t, w.TaskPage()+"?done=act_approve")
	}
	expect.Is(t, len(w.Load().Process().Acts), 1, "acts")
	form = tanaka.Get(w.TaskPage()).FormOf(t, aggregate.Act("deny"), "宛名が違います")
	for range 2 {
		tanaka.Post(w.TaskPage()+"/act", form).Leads(t, w.TaskPage()+"?done=act_deny")
	}
	expect.Is(t, len(w.Load().Process().Acts), 2, "acts")
	expect.Is(t, w.Load().Head.Ended.Reason, task.ReasonDenied)
	tanaka.Post(w.TaskPage()+"/act", consoletest.With(form, "reason", "別の理由")).
		Says(t, http.StatusConflict, "田中 恵 が", "却下しました。", "未送信の理由 別の理由")
	suzuki.In("en").Get(w.TaskPage()+"?done=act_deny").Says(t, 200, "Rejected. This is closed.", "宛名が違います").
		Lacks(t, `<form method="post" action="`+w.TaskPage())
}

func testStepsCheck(t *testing.T, w *consoletest.World) {
	step := consoletest.Message(1, "締切は金曜です")
	step.RequiresHumanCheck = true
	w.Ask()
	w.PlannedOnRoute(tenancy.DefaultSettings(), consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki)), step)
	suzuki := w.As(webapi.Suzuki)
	suzuki.Acts(aggregate.ActApprove, "")
	w.Begin()
	suzuki.Get(w.TaskPage()).Says(t, 200, "実行 実行中").Lacks(t, "1 回目")
	w.Checks(1, consoletest.Inline(string(step.ToolInput)))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Open(a.Head.Run, a.Unopened().Key(), nil, w.SettingsNow(), w.Now())
	})
	page := suzuki.Get(w.TaskPage())
	page.Says(t, 200, "実行 確認待ち")
	page.Says(t, 200, "実行前の確認", "あなたの番です", "却下して中止 却下すると、このタスクの実行は中止されます。").Lacks(t, `value="reject"`)
	suzuki.Post(w.TaskPage()+"/act", page.FormOf(t, aggregate.ActApprove, "")).Leads(t, w.TaskPage()+"?done=act_approve")
	suzuki.Post(w.TaskPage()+"/act", page.FormOf(t, aggregate.Act("deny"), "宛名が違います")).
		Says(t, http.StatusConflict, "鈴木 一郎 が", "承認しました。")
}

func testChannelsTurn(t *testing.T, w *consoletest.World) {
	w.Opened(circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}, chief)
	w.As(webapi.Sato).Get(w.TaskPage()).Says(t, 200, "自分の依頼は、代理でも承認・却下できません。", "みんな(あと1人): #人事 の参加者のうち1人").
		Lacks(t, `value="approve"`, `value="deny"`)
	alex := w.As(webapi.Alex)
	outside := alex.Get(w.TaskPage())
	outside.Says(t, 200, "チャンネルのメンバーだけが承認できます").Lacks(t, `value="approve"`, `value="deny"`)
	form := w.As(webapi.Tanaka).Get(w.TaskPage()).FormOf(t, aggregate.ActApprove, "")
	alex.Post(w.TaskPage()+"/act", form).Says(t, http.StatusForbidden, "チャンネルのメンバーだけが承認できます")
	w.As(webapi.Tanaka).Acts(aggregate.ActApprove, "").Leads(t, w.TaskPage()+"?done=act_approve")
	alex.Get(w.TaskPage()).Says(t, 200, "あなたの番です 部長")
}

func testOtherContent(t *testing.T, w *consoletest.World) {
	w.Opened(twoOfThree)
	tanaka := w.As(webapi.Tanaka)
	form := tanaka.Get(w.TaskPage()).FormOf(t, aggregate.ActApprove, "")
	for name, value := range map[string]string{"hash": "0", "stage": "2", "id": w.Load().Prompt().ID} {
		got := tanaka.Post(w.TaskPage()+"/act", consoletest.With(form, name, value))
		expect.That(t, got.Status >= 400, "%s: %v", name, got)
	}
	tanaka.Post(w.TaskPage()+"/act", consoletest.With(form, "stage", "")).Says(t, http.StatusForbidden, "いまは 経理 (")
	expect.Is(t, len(w.Load().Process().Acts), 0, "acts")
}
