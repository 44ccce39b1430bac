package task_test

import (
	"net/http"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestAGateUnderARule(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"the page shows where it stands":                      testRouteOnPage,
		"another round says whose stamps don't count":         testNextRound,
		"a route that can't be walked is said to be one":      testUnreadableRoute,
		"whoever is on the route reads it, wherever they are": testWhoIsOnTheRoute,
		"no name on a route runs, and each is legible":        testHostileRoute,
	})
}

func testRouteOnPage(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.ThreeStages()...)
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get(w.TaskPage()).
		Says(t, 200, "回覧", "ルール: すべて (第1版)", "課長 いまここ あと1人", "鈴木 一郎 承認待ち", "鈴木 一郎 : ルールで指定",
			"経理 これから 3 人のうち 2 人の承認が必要", "田中 恵", "Alex Kim", "期限",
			"👉 あなたの番です 課長 — あなたの承認が必要です", "ほかの操作 依頼をキャンセルする").Holds(t, `aria-current="step"`).
		Lacks(t, "承認できる人", "[↻]")
	suzuki.Acts(aggregate.ActApprove, "")
	w.As(webapi.Tanaka).Acts(aggregate.ActApprove, "")
	suzuki.Get(w.TaskPage()).Says(t, 200, "課長 承認済み", "✅ 鈴木 一郎", "コンソール",
		"経理 いまここ 3 人のうち 2 人の承認が必要 あと1人", "✅ 田中 恵", "部長 これから",
		"承認待ち あなたの段階は終わっています。いまは 経理(U0TAKADA)の番です。").
		Lacks(t, "button-danger") // whose turn it is, and nothing to press
	suzuki.In("en").Get(w.TaskPage()).Says(t, 200, "Route", "Rule: すべて (revision 1)", "課長 Approved", "✅ 鈴木 一郎",
		"経理 Now 2 of 3 must approve 1 more needed", "named by the rule",
		"Your stage is over. It is 経理&#39;s turn (U0TAKADA).")
}

func testNextRound(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.ThreeStages()...)
	suzuki, tanaka := w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	suzuki.Acts(aggregate.ActApprove, "")
	tanaka.Acts(aggregate.ActReject, "宛名が違います")
	suzuki.Get(w.TaskPage()).Says(t, 200, "経理 差し戻し", "差し戻し: 田中 恵", "宛名が違います")
	again := func() {
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
		w.FinishedOnRoute(w.SettingsNow(), consoletest.Along(consoletest.ThreeStages()...),
			[]task.Step{consoletest.Message(1, "直しました")}, "")
	}
	again()
	suzuki.Get(w.TaskPage()).Says(t, 200, "2 回目の回覧", "1 回目の回覧の承認 (鈴木 一郎) は引き継がれません。", "課長 いまここ", "経理 差し戻し",
		"前のバージョンの却下理由 宛名が違います", "前のバージョンとの違い")
	suzuki.Acts(aggregate.ActReject, "もう一度")
	again()
	suzuki.Get(w.TaskPage()).Holds(t, `<p class="notice warning">⚠️ 前のバージョンと同じ書き込みです。</p>`)
}

func testUnreadableRoute(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.ThreeStages()...)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		p := *a.Process()
		p.Gate.Route.Form++ // of a later Ringi
		return aggregate.Change{Head: &a.Head, Rows: []aggregate.Row{&p}, Now: w.Now()}, nil
	})
	b := w.As(webapi.Suzuki)
	b.Get(w.TaskPage()).Says(t, 200, "今の Ringi では読み取れない形式です", "依頼をキャンセルする").
		Lacks(t, `value="approve"`, `value="reject"`, `value="deny"`, "いまここ", "課長")
	b.Get("/console").Lacks(t, "締切は金曜です")
	b.In("en").Get(w.TaskPage()).Says(t, 200, "can&#39;t read how this goes round")
}

func testWhoIsOnTheRoute(t *testing.T, w *consoletest.World) {
	told := consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki))
	told.Route.Tells = webapi.HR
	w.Ask()
	w.PlannedOnRoute(tenancy.DefaultSettings(), told, consoletest.Message(1, "締切は金曜です"))
	alex := w.As(webapi.Alex)
	alex.Get(w.TaskPage()).Says(t, http.StatusNotFound)
	w.As(webapi.Suzuki).Get(w.TaskPage()).Says(t, 200, "決定後に知らせる先: #人事", "課長")
	w.Opened(consoletest.ThreeStages()...)
	alex.Get(w.TaskPage()).Says(t, 200, "部長 これから")
}

func testHostileRoute(t *testing.T, w *consoletest.World) {
	var stages []circulation.Stage
	for i, text := range consoletest.Payloads[:5] {
		s := consoletest.Desk(text, 1, webapi.Suzuki, "U0"+strings.Repeat("X", i+1))
		s.People[0].Via, s.People[1].Via = text, "group "+text
		stages = append(stages, s)
	}
	hostile := consoletest.Along(append(stages, consoletest.Desk("\u202e"+strings.Repeat("長", 400), 1, "U0LAST"))...)
	suzuki := w.As(webapi.Suzuki)
	for _, hostile.Rule.Name = range consoletest.Payloads {
		w.Ask()
		w.PlannedOnRoute(tenancy.DefaultSettings(), hostile, consoletest.Message(1, "締切は金曜です"))
		for _, locale := range language.All {
			consoletest.Harmless(t, "a request", suzuki.In(locale).Get(w.TaskPage()))
		}
	}
	for _, locale := range language.All {
		consoletest.Harmless(t, "approvals", suzuki.In(locale).Get("/console"))
	}
	suzuki.Acts("deny", strings.Join(consoletest.Payloads, "\n"))
	page := suzuki.In("ja").Get(w.TaskPage())
	consoletest.Harmless(t, "a denied request", page)
	page.Says(t, 200, "⟨U&#43;202E⟩長長", "&lt;script&gt;alert(1)&lt;/script&gt; 却下")
}

// onHold parks a task that nobody may approve. Its page reports no failed draft, and a retry says that approvers are
// checked again.
func onHold(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Extracted()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Park(a.Head.Run, a.Generating(), task.ReasonNobodyApproves, "", w.Now())
	})
	sato := w.As(webapi.Sato)
	sato.Get(w.TaskPage()).Holds(t, ">作成できず<", "承認できる人がいません", "次の案の作成を保留した").Lacks(t, "作成に失敗", "作成できませんでした", "[↻]")
	a := sato.Post(w.TaskPage()+"/act", w.Act(task.ActRetryGeneration, ""))
	to := a.To
	expect.Must(t, a.Status == http.StatusSeeOther && strings.HasSuffix(to, "?done=act_check_approvers"), "%d %s",
		a.Status, to)
	sato.Get(w.TaskPage()+"?done=act_check_approvers").Holds(t, "承認できる人がいるかを、もう一度確認します。")
}

// As the settings page says, a change of approvers also applies to what already waits.
func holdsAtOnce(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	form, sato := w.Act(aggregate.ActApprove, ""), w.As(webapi.Sato)
	sato.Get(w.TaskPage()).Holds(t, "✅ 承認</button>")
	w.Settings(func(s *tenancy.Settings) {
		s.AllowSelfApproval, s.Approvers = false, tenancy.Approvers{Mode: aggregate.ApproversList,
			Users: []string{webapi.Sato}}
	})
	page, click := sato.Get(w.TaskPage()), sato.Post(w.TaskPage()+"/act", form)
	for _, a := range []consoletest.Answer{page, click} {
		a.Holds(t, "承認できる人: 今の設定では、いません", "自分の依頼は自分で承認できません。")
		a.Lacks(t, "ほかの承認者に依頼")
	}
	click.Says(t, http.StatusForbidden)
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = true })
	sato.Post(w.TaskPage()+"/act", form).Says(t, http.StatusSeeOther)
}
