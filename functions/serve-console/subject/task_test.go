package subject_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func TestTheStoryOfATask(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"from its message to its results": wholeStory, "decided here as in Slack": decidesHere,
		"who may not decide is told why": refusesHere, "who may approve holds at once": holdsAtOnce,
		"what nobody may approve is on hold": onHold, "what was not shown is not decided": onlyWhatWasShown,

		"what people and models write stays text": writtenIsText,
		"prompts are for few":                     promptsAreForFew,
		"files for spreadsheets":                  filesForSpreadsheets, "files of a request": filesOfARequest,
		"arguments that can't be read whole":     unreadArguments,
		"steps that nobody can read":             unreadSteps,
		"what the request forwards and attaches": enclosed,
	})
}

func wholeStory(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	sato, suzuki := w.As(webapi.Sato), w.As(webapi.Suzuki)
	sato.Get(w.TaskPage()).Holds(t, "勤怠集計", "承認待ち", `data-live="`+w.TaskPage()+`"`, "方針", `value="reject"`,
		ringitest.Text, "書き込みはまだ行いません").Lacks(t, `<details id="run-`)
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActReject, "部署ごとに分けてください")).Leads(t, w.TaskPage()+"?done=act_reject")
	w.Draft(tenancy.DefaultSettings())
	a := sato.Get(w.TaskPage())
	a.Holds(t, "v2", "前のバージョンの却下理由", "部署ごとに分けてください", "コンソール", "prompt.rejected", "鈴木")
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, ""))
	w.Plan([]task.Step{
		ringitest.Step(1, "list_employees", aggregate.Read, `{"department":"営業部","status":"active"}`),
		ringitest.Step(2, "send_slack_dm", aggregate.Write, `{"recipient":"`+webapi.Sato+`","text":"完了"}`),
	})
	sato.Get(w.TaskPage()).Holds(t, "営業部", "list_employees", "書き込み", `value="approve"`, "取り消せません")
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, ""))
	w.Begin()
	w.Ran(consoletest.Inline(`{"department":"営業部","status":"active"}`),
		consoletest.Inline(`{"employees":[{"num":"101","name":"田中","email":"tanaka@example.com"},{"num":"102",`+
			`"name":"=cmd()"}],"total":2}`))
	a = sato.Get(w.TaskPage())
	a.Holds(t, "2.5秒", "<th scope=\"col\">num</th>", "田中", "/results/1-1-1/1.csv", "中止", "t*****@example.com")
	a.Lacks(t, "tanaka@example.com", "style=")
	w.Ran(consoletest.Inline(`{"recipient":"x","text":"完了"}`),
		consoletest.Inline(`{"url":"https://example.slack.com/archives/C1/p1"}`))
	w.Completed("42 名分をまとめました。")
	a = sato.Get(w.TaskPage())
	a.Holds(t, "42 名分をまとめました。", `href="https://example.slack.com/archives/C1/p1"`, "execution.completed", "✅ 承認", "完了")
	a.Lacks(t, `id="gate"`, `class="mono muted">send_slack_dm`, "1 回目", "data-live", "取り消せません") // the plan is folded
	a.Holds(t, `target="_blank">「send_slack_dm」の結果を開く</a>`, "2.5秒", `<details id="entries">`)
	outcome, message := strings.Index(a.Body, `<div class="outcome">`), strings.Index(a.Body, "今月の勤怠をまとめて")
	expect.That(t, outcome > 0 && outcome < message && strings.Count(a.Body, "42 名分をまとめました。") == 1,
		"the result does not come first, once")
	a.Lacks(t, "<form method=\"post\" action=\""+w.TaskPage())
	sato.In("en").Get(w.TaskPage()).Holds(t, "Requested by", "Completed", "2.5 s")
	link := sato.Get(w.TaskPage() + "/message")
	expect.That(t, strings.Contains(link.To, "/archives/"+webapi.HR), "the message is at %q", link.To)
	log := w.Audited(store.AuditFilter{Resource: w.Ref.ID})
	stamp := w.Load().Processes[0].Acts[0]
	expect.That(t, stamp.Surface == string(aggregate.SurfaceConsole) && stamp.Hand.User == webapi.Suzuki && len(log) >= 5,
		"the stamp is %+v, %d audit rows", stamp, len(log))
}

func decidesHere(t *testing.T, w *consoletest.World) {
	w.Steps(ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	suzuki, sato := w.As(webapi.Suzuki), w.As(webapi.Sato)
	suzuki.Did(w.TaskPage(), aggregate.ActApprove, "")
	w.Begin()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "HTTP 400", w.Now())
	})
	failed := sato.Get(w.TaskPage()).Holds(t, "🔄 再実行", `id="decide"`, "(HTTP 400)")
	_, about, _ := strings.Cut(failed.Body, `id="about"`)
	about, _, _ = strings.Cut(about, "</section>")
	expect.Is(t, strings.Count(about, "ツールの呼び出しに失敗しました"), 1, "times that the section says why it failed")
	expect.Has(t, about, "書き込みも送信も行われていません。")
	sato.Did(w.TaskPage(), task.ActRetryExecution, "")
	expect.Is(t, len(w.Load().Executions), 2, "it does not run again")
	sato.Did(w.TaskPage(), task.ActCancelExecution, "")
	expect.That(t, w.Load().Head.Ended != nil, "it goes on")
	w.Ask()
	w.Extracted()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.GiveUp(a.Head.Run, task.ReasonModelUnavailable, w.Now())
	})
	sato.Get(w.TaskPage()).Holds(t, "🔄 再試行", "依頼をキャンセルする")
	sato.Did(w.TaskPage(), task.ActRetryGeneration, "")
	expect.That(t, w.Load().Head.Parked == nil, "it is still parked")
	other := url.Values{"act": {string(conversation.ActClose)}, "id": {w.Ref.ID}}
	sato.Post(w.TaskPage()+"/act", other).Says(t, http.StatusBadRequest)
	expect.That(t, w.Load().Head.Ended == nil, "what closes a conversation, on a task's page")
	cancel := w.Act(task.ActCancelTask, "")
	sato.Did(w.TaskPage(), task.ActCancelTask, "")
	cancelled := w.Load()
	expect.That(t, cancelled.Head.Ended != nil, "it goes on")
	sato.Post(w.TaskPage()+"/act", cancel).Says(t, http.StatusSeeOther)
	expect.Is(t, w.Load().Head.Rev, cancelled.Head.Rev, "a later click changed it to")
}

func refusesHere(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.Prompted(tenancy.DefaultSettings())
	logs, sato, suzuki := consoletest.Logged(t), w.As(webapi.Sato), w.As(webapi.Suzuki)
	sato.Get(w.TaskPage()).Holds(t, "自分の依頼は自分で承認できません", `value="reject"`).Lacks(t, "✅ 承認</button>")
	form, long := w.Act(aggregate.ActApprove, ""), strings.Repeat("長", 1001)
	for _, tt := range []struct {
		by     *consoletest.Browser
		form   url.Values
		status int
		says   string
	}{
		{sato, form, 403, "自分の依頼は自分で承認できません"},
		{suzuki, w.Act(aggregate.ActReject, " "), 400, "却下理由は 1〜1000 文字"},
		{suzuki, w.Act(aggregate.ActReject, long), 400, long}, // what was typed is not lost
		{suzuki, consoletest.With(form, "id", w.Ref.ID), 404, ""},
		{suzuki, consoletest.With(form, "kind", "process"), 404, ""},
		{suzuki, consoletest.With(form, "act", "extract"), 400, ""},
		{suzuki, url.Values{"act": {"reject"}, "kind": {"execution"}}, 400, ""},
	} {
		tt.by.Post(w.TaskPage()+"/act", tt.form).Says(t, tt.status).Holds(t, tt.says)
	}
	open, waits := w.Load().OpenGate()
	expect.That(t, waits && open.Version == 1, "something was decided")
	expect.Has(t, logs.String(), "self_approval")
}

func onlyWhatWasShown(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	seen, approve := w.Act(aggregate.ActReject, "この理由は失われない\n二行目"), w.Act(aggregate.ActApprove, "")
	suzuki := w.As(webapi.Suzuki)
	for _, form := range []url.Values{consoletest.With(approve, "hash", "of something else"),
		consoletest.With(seen, "hash", "of something else")} {
		suzuki.Post(w.TaskPage()+"/act", form).Says(t, http.StatusConflict)
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("ほかの理由")(a, a.Prompt().ID, aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Tanaka,
			Team: w.By.Team, Member: true}, ringitest.Policy(), w.Now())
	})
	w.Draft(tenancy.DefaultSettings())
	for _, form := range []url.Values{approve, seen} {
		a := suzuki.Post(w.TaskPage()+"/act", form)
		a.Says(t, http.StatusConflict) // of the first version
		a.Holds(t, "v2", "却下しました")
		if form.Get("act") == "reject" {
			a.Holds(t, "この理由は失われない\n二行目")
		}
	}
	got := w.Load().Prompt()
	expect.That(t, got.Version == 2 && got.Status == aggregate.PendingApproval, "v%d is %s", got.Version, got.Status)
}

func writtenIsText(t *testing.T, w *consoletest.World) {
	all := strings.Join(consoletest.Payloads, "\n")
	quoted := string(expect.Value(json.Marshal(all))(t))
	w.Ask()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: strings.Join(consoletest.Payloads[:3], " "), Description: all,
			Priority: task.Medium, TaskType: task.TypeStandard}, w.Now())
	})
	set := w.SettingsNow()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: all}, set, w.Now())
	})
	suzuki := w.As(webapi.Suzuki)
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActReject, all))
	w.Draft(tenancy.DefaultSettings())
	w.Approve()
	step := ringitest.Step(1, "rooms."+strings.ReplaceAll(consoletest.Payloads[1], " ", ""), aggregate.Write,
		`{"text":`+quoted+`}`)
	step.Title, step.Description, step.ExpectedOutput, step.LeftOut =
		consoletest.Payloads[0], all, all, aggregate.JSON(`{"d":`+quoted+`}`)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, []task.Step{step}, all, set, w.Now())
	})
	w.Approve()
	w.Begin()
	w.Ran(consoletest.Inline(`{"text":`+quoted+`}`),
		consoletest.Inline(`{"url":"javascript:alert(1)","n":[{`+
			string(expect.Value(json.Marshal(consoletest.Payloads[4]))(t))+`:`+quoted+`}],"t":`+quoted+`}`))
	w.Completed(all)
	refused := suzuki.Post(w.TaskPage()+"/act", url.Values{"act": {"reject"}, "id": {w.Load().Prompts[0].ID},
		"kind": {"prompt"}, "hash": {w.Load().Asked(w.Load().Prompts[0].ID).Hash}, "reason": {all + "?"}})
	refused.Says(t, http.StatusConflict)
	for i, a := range []consoletest.Answer{suzuki.Get(w.TaskPage()), refused} {
		if i == 1 { // the field for the reason has what was typed
			a.Body = regexp.MustCompile(`(?s)<textarea.*?</textarea>`).ReplaceAllString(a.Body, "")
		}
		consoletest.Harmless(t, w.TaskPage(), a)
		a.Holds(t, "&lt;script&gt;alert(1)", "{{.}}")
	}
}

// enclosed: the page has what was forwarded, by its author's name, and each file with its hash and how much was read.
func enclosed(t *testing.T, w *consoletest.World) {
	const ts = "1776675700.000100"
	w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", Text: "今月の勤怠をまとめて",
		MessageTS: ts, ThreadTS: ts,
		Forwarded: []aggregate.Quoted{{User: webapi.Suzuki, Text: "<b>対象は営業だけ</b>", Where: "#sales", Cut: true},
			{Name: "Jira", Where: "<#" + webapi.HR + ">"}},
		Files: []aggregate.SharedFile{{ID: "F1", Name: "対象者.csv"}, {ID: "F2", Name: "図.png"}}, MoreFiles: 5})
	sato := w.As(webapi.Sato)
	sato.Get(w.TaskPage()).Holds(t, "対象者.csv", "これから読みます", "ほかに 5 件のファイルがありますが、読んでいません")
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ReadFiles(a.Head.Run, []task.ReadFile{
			{SharedFile: aggregate.SharedFile{ID: "F1", Name: "対象者.csv", Bytes: 2048}, SHA256: "abc123", Characters: 40000,
				Shown: 30000},
			{SharedFile: aggregate.SharedFile{ID: "F2", Name: "図.png"}, Why: "other_type"}}, w.Now())
	})
	sato.Get(w.TaskPage()).Holds(t, "転送されたメッセージ", "鈴木 一郎", "&lt;b&gt;対象は営業だけ&lt;/b&gt;", "#sales", "ここまで読みます", "Jira",
		"内容を表示しない",
		"対象者.csv", "2 KB", "40000 文字のうち、先頭の 30000 文字だけ", "abc123", "図.png", "読んでいません", "画像は読みません").Lacks(t, "&lt;#C")
}

// filesOfARequest stand beside what they are for and run nothing; what has a number is counted.
func filesOfARequest(t *testing.T, w *consoletest.World) {
	b, quotation := w.As(webapi.Suzuki), []byte("%PDF-1.7 quotation")
	w.MatterAskedWith(map[string][]byte{"見積書.pdf": quotation, "<b>.txt": []byte("<html><script>")})
	sum, text := aggregate.HashOf(string(quotation)), aggregate.HashOf("<html><script>")
	page := b.Get(w.TaskPage()).Holds(t, `href="`+w.TaskPage()+"/files/"+sum+`" download><bdi>見積書.pdf</bdi>`,
		"&lt;b&gt;.txt", `/files/`+sum+`?view"`).Lacks(t, "承認不要") // a decision has no policy of its own
	expect.That(t, strings.Count(page.Body, "見積書.pdf") >= 2, "it stands beside the effect and in the request")
	for path, want := range map[string]string{sum: "attachment; filename", sum + "?view": "inline; filename",
		text + "?view": "attachment; filename"} {
		a := b.Get(w.TaskPage()+"/files/"+path).Says(t, 200)
		expect.Has(t, a.Header.Get("Content-Disposition"), want)
		expect.Has(t, a.Header.Get("Content-Security-Policy"), "sandbox; default-src 'none'")
		expect.Is(t, a.Header.Get("X-Content-Type-Options"), "nosniff")
	}
	expect.Is(t, b.Get(w.TaskPage()+"/files/"+text).Header.Get("Content-Type"), "text/plain; charset=utf-8")
	expect.Is(t, b.Get(w.TaskPage()+"/files/"+sum).Body, string(quotation))
	b.Get(w.TaskPage()+"/files/"+aggregate.HashOf("other")).Says(t, http.StatusNotFound)
	b.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Says(t, http.StatusSeeOther)
	number := fmt.Sprintf("%d-000001", w.MatterRecorded())
	page = b.Get(w.TaskPage()).Says(t, 200, "決裁番号 "+number+" 承認 鈴木 一郎", "決裁 承認済み")
	page.Body, _, _ = strings.Cut(page.Body, `id="audit"`)
	page.Lacks(t, `id="run-`, "record_decision", "v1", "実行ステップ", "優先度", "AI の利用")
	b.Get("/console/tasks").Says(t, http.StatusOK, "決裁番号 "+number)
	b.Get("/console/figures").Says(t, http.StatusOK, "依頼 1", "人による承認 1", "決定までの時間")
	b.Get("/console/audit/register.csv?year="+number[:4]).Holds(t, number, "倉庫の賃貸", `"3600000","JPY"`)
	w.MatterAsked()
	b.Acts(aggregate.ActReject, "見積もりを 2 社から")
	b.Get(w.TaskPage()).Says(t, 200, "決裁 差し戻し 見積もりを 2 社から") // why it was sent back is not folded
	m := *w.Load().Matter()
	m.Description += "追記: 敷金は 900 万円です。"
	w.FormRefilled(m)
	sent, _, _ := strings.Cut(b.Get(w.TaskPage()).Body, `id="request"`)
	expect.That(t, !strings.Contains(sent, "敷金"), "what is asked next stands below what was sent back: %s", sent)
}

func TestAGateUnderARule(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"another round says whose stamps don't count":         testNextRound,
		"a route that can't be walked is said to be one":      testUnreadableRoute,
		"whoever is on the route reads it, wherever they are": testWhoIsOnTheRoute,
		"no name on a route runs, and each is legible":        testHostileRoute,
	})
}

// testNextRound: steps are sent back, which says whose stamps are lost, and go round again. The page tells the round
// before, and what the next version does otherwise.
func testNextRound(t *testing.T, w *consoletest.World) {
	w.Opened(consoletest.ThreeStages()...)
	suzuki, tanaka := w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	suzuki.Get(w.TaskPage()).Says(t, 200, "回覧", "ルール: すべて (第1版)", "鈴木 一郎 承認待ち", "鈴木 一郎 : ルールで指定", "Alex Kim", "期限",
		"ほかの操作 依頼をキャンセルする").Holds(t, `aria-current="step"`).Lacks(t, "承認できる人", "[↻]")
	suzuki.Acts(aggregate.ActApprove, "")
	suzuki.Get(w.TaskPage()).Says(t, 200, "✅ 鈴木 一郎", "コンソール").Lacks(t, "button-danger") // nothing to press
	read := tanaka.Get(w.TaskPage()).Says(t, 200, "❌ 却下… 却下理由を入力してください。これまでの承認は無効になります: 鈴木 一郎",
		"送信して再生成 この内容を反映して新しいバージョンを生成します。", "却下して終了 却下として記録し、依頼を終わりにします。続けるには新しい依頼が必要です。")
	tanaka.Acts(aggregate.ActReject, " ").Says(t, http.StatusBadRequest, "理由を 1〜1000 文字で入力してください。").
		Holds(t, `value="approve"`)
	tanaka.Acts(aggregate.ActReject, "宛名が違います").Leads(t, w.TaskPage()+"?done=act_reject")
	suzuki.Get(w.TaskPage()).Says(t, 200, "経理 差し戻し", "差し戻し: 田中 恵", "宛名が違います")
	again := func() consoletest.Answer {
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
		along := consoletest.Along(consoletest.ThreeStages()...)
		along.Route.LeftOut = []string{"総務"}
		w.FinishedOnRoute(w.SettingsNow(), along, []task.Step{consoletest.Message(1, "直しました")}, "")
		return suzuki.Get(w.TaskPage())
	}
	again().Says(t, 200, "省いた段階: 総務", "2 回目の回覧", "1 回目の回覧の承認 (鈴木 一郎) は引き継がれません。", "課長 いまここ", "経理 差し戻し",
		"前のバージョンの却下理由 宛名が違います", "前のバージョンとの違い", "締切は金曜です → 直しました")
	tanaka.Post(w.TaskPage()+"/act", read.FormOf(t, aggregate.ActApprove, "")).Says(t, http.StatusConflict)
	suzuki.Acts(aggregate.ActReject, "もう一度")
	again().Holds(t, `<p class="notice warning">⚠️ 前のバージョンと同じ書き込みです。</p>`)
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
	b.In("en").Get(w.TaskPage()).Says(t, 200, "can&#39;t read this approval route")
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
		consoletest.Harmless(t, "a request", suzuki.Get(w.TaskPage()))
	}
	consoletest.Harmless(t, "approvals", suzuki.Get("/console"))
	suzuki.Acts("deny", strings.Join(consoletest.Payloads, "\n"))
	page := suzuki.Get(w.TaskPage()).Says(t, 200, "⟨U&#43;202E⟩長長", "&lt;script&gt;alert(1)&lt;/script&gt; 却下")
	consoletest.Harmless(t, "a denied request", page)
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
