package task_test

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
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func TestTheStoryOfATask(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"from its message to its results": wholeStory, "nobody else's": strangersSeeNothing,
		"decided here as in Slack":       decidesHere,
		"who may not decide is told why": refusesHere, "who may approve holds at once": holdsAtOnce,
		"what nobody may approve is on hold": onHold, "what was not shown is not decided": onlyWhatWasShown,

		"what people and models write stays text": writtenIsText,
		"prompts are for few":                     promptsAreForFew,
		"files for spreadsheets":                  filesForSpreadsheets, "sixty steps and a thousand rows": largeStory,
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
		ringitest.Text, "書き込みはまだ行いません", `<details id="runs"`)
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActReject, "部署ごとに分けてください")).Leads(t, w.TaskPage()+"?done=act_reject")
	w.Draft(tenancy.DefaultSettings())
	a := sato.Get(w.TaskPage())
	a.Holds(t, "v2", "前のバージョンの却下理由", "部署ごとに分けてください", "コンソール", "prompt.rejected", "鈴木")
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, ""))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		s := tenancy.DefaultSettings()
		s.Rev = expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t).Rev
		return a.FinishProcess(a.Head.Run, []task.Step{
			ringitest.Step(1, "list_employees", aggregate.Read, `{"department":"営業部","status":"active"}`),
			ringitest.Step(2, "send_slack_dm", aggregate.Write, `{"recipient":"`+webapi.Sato+`","text":"完了"}`),
		}, "", s, w.Now())
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
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "42 名分をまとめました。", w.Now())
	})
	a = sato.Get(w.TaskPage())
	a.Holds(t, "42 名分をまとめました。", `href="https://example.slack.com/archives/C1/p1"`, "execution.completed", "✅ 承認", "完了")
	a.Lacks(t, `id="gate"`) // the plan is folded
	a.Holds(t, `target="_blank">「send_slack_dm」の結果を開く</a>`, `class="mono muted">send_slack_dm`)
	a.Holds(t, "2.5秒", `<details id="entries">`)
	outcome, message := strings.Index(a.Body, `<div class="outcome">`), strings.Index(a.Body, "今月の勤怠をまとめて")
	expect.That(t, outcome > 0 && outcome < message && strings.Count(a.Body, "42 名分をまとめました。") == 1,
		"the result does not come first, once")
	a.Lacks(t, "data-live", "取り消せません", "<form method=\"post\" action=\""+w.TaskPage())
	sato.In("en").Get(w.TaskPage()).Holds(t, "Requested by", "Completed", "2.5 s")
	link := sato.Get(w.TaskPage() + "/message")
	expect.That(t, strings.Contains(link.To, "/archives/"+webapi.HR), "the message is at %q", link.To)
	log := w.Audited(store.AuditFilter{Resource: w.Ref.ID})
	stamp := w.Load().Processes[0].Acts[0]
	expect.That(t, stamp.Surface == string(aggregate.SurfaceConsole) && stamp.Hand.User == webapi.Suzuki && len(log) >= 5,
		"the stamp is %+v, %d audit rows", stamp, len(log))
}

func strangersSeeNothing(t *testing.T, w *consoletest.World) {
	w.Steps(ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	other := w.Found("T0OTHER", "U0OTHER")
	logs := consoletest.Logged(t)
	for name, b := range map[string]*consoletest.Browser{
		"another workspace's administrator": w.Of(other, "U0OTHER"), "a member who is not in the channel": w.As(webapi.Alex),
	} {
		for _, path := range []string{"", "/message", "/results/1-1-1/1.csv", "/sent"} {
			b.Get(w.TaskPage()+path).Says(t, http.StatusNotFound).Lacks(t, "勤怠集計")
		}
		expect.Is(t, b.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Status, http.StatusNotFound, name)
	}
	for _, id := range []string{"x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "..%2f..", strings.Repeat("0", 26)} {
		w.As(webapi.Sato).Get("/console/tasks/"+id).Says(t, http.StatusNotFound)
	}
	n := strings.Count(logs.String(), "msg=refused")
	expect.That(t, n >= 14, "%d refusals are logged", n)
	_, waits := w.Load().OpenGate()
	expect.That(t, waits, "something was decided")
}

func decidesHere(t *testing.T, w *consoletest.World) {
	w.Steps(ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	suzuki := w.As(webapi.Suzuki)
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Says(t, http.StatusSeeOther)
	w.Begin()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "", w.Now())
	})
	sato := w.As(webapi.Sato)
	sato.Get(w.TaskPage()).Holds(t, "🔄 再実行", `id="decide"`)
	sato.Post(w.TaskPage()+"/act", w.Act(task.ActRetryExecution, "")).Says(t, http.StatusSeeOther)
	expect.That(t, len(w.Load().Executions) == 2, "it does not run again")
	sato.Post(w.TaskPage()+"/act", w.Act(task.ActCancelExecution, "")).Says(t, http.StatusSeeOther)
	expect.That(t, w.Load().Head.Ended != nil, "it goes on")
	w.Ask()
	w.Extracted()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.GiveUp(a.Head.Run, task.ReasonModelUnavailable, w.Now())
	})
	sato.Get(w.TaskPage()).Holds(t, "🔄 再試行", "依頼をキャンセルする")
	sato.Post(w.TaskPage()+"/act", w.Act(task.ActRetryGeneration, "")).Says(t, http.StatusSeeOther)
	expect.That(t, w.Load().Head.Parked == nil, "it is still parked")
	other := url.Values{"act": {string(conversation.ActClose)}, "id": {w.Ref.ID}}
	sato.Post(w.TaskPage()+"/act", other).Says(t, http.StatusBadRequest)
	expect.That(t, w.Load().Head.Ended == nil, "what closes a conversation, on a task's page")
	sato.Post(w.TaskPage()+"/act", w.Act(task.ActCancelTask, "")).Says(t, http.StatusSeeOther)
	expect.That(t, w.Load().Head.Ended != nil, "it goes on")
	cancelled := w.Load()
	sato.Get(w.TaskPage()).Holds(t, "キャンセル")
	sato.Post(w.TaskPage()+"/act", url.Values{"act": {"cancel_task"}, "id": {w.Ref.ID}}).Says(t, http.StatusSeeOther)
	expect.That(t, w.Load().Head.Rev == cancelled.Head.Rev, "a second click")
}

func refusesHere(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.Prompted(tenancy.DefaultSettings())
	form := w.Act(aggregate.ActApprove, "")
	logs := consoletest.Logged(t)
	sato := w.As(webapi.Sato)
	sato.Get(w.TaskPage()).Holds(t, "自分の依頼は自分で承認できません", `value="reject"`).Lacks(t, "✅ 承認</button>")
	for name, tt := range map[string]struct {
		by     *consoletest.Browser
		form   url.Values
		status int
		says   string
	}{
		"one's own": {sato, form, 403, "自分の依頼は自分で承認できません"},
		"no reason": {w.As(webapi.Suzuki), w.Act(aggregate.ActReject, " "), 400, "却下理由は 1〜1000 文字"},
		"a reason too long": {w.As(webapi.Suzuki), w.Act(aggregate.ActReject, strings.Repeat("長", 1001)), 400,
			strings.Repeat("長", 1001)},
		"another's row": {w.As(webapi.Suzuki), url.Values{"act": {"approve"}, "id": {w.Ref.ID}, "kind": {"prompt"}},
			404, ""},
		"another kind":       {w.As(webapi.Suzuki), consoletest.With(form, "kind", "process"), 404, ""},
		"an act of no card":  {w.As(webapi.Suzuki), consoletest.With(form, "act", "extract"), 400, ""},
		"a rejection of one": {w.As(webapi.Suzuki), url.Values{"act": {"reject"}, "kind": {"execution"}}, 400, ""},
	} {
		t.Run(name, func(t *testing.T) { tt.by.Post(w.TaskPage()+"/act", tt.form).Says(t, tt.status).Holds(t, tt.says) })
	}
	open, waits := w.Load().OpenGate()
	expect.That(t, waits && open.Version == 1, "something was decided")
	expect.That(t, strings.Contains(logs.String(), "self_approval"), "the refusal is not logged")
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
			Team: w.By.Team, Member: true}, w.AnyMember(), w.Now())
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
	set := tenancy.DefaultSettings()
	set.Rev = expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t).Rev
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
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, all, w.Now())
	})
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
		"対象者.csv", "2 KB", "40000 文字のうち、先頭の 30000 文字だけ", "abc123", "図.png", "読んでいません", "画像は読みません")

	expect.That(t, !strings.Contains(sato.Get(w.TaskPage()).Body, "&lt;#C"), "a channel's id stands for its name")

	const wordless = "1776675700.000200"
	w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", Text: "\u2060",
		MessageTS: wordless, ThreadTS: wordless, Forwarded: []aggregate.Quoted{{Name: "Jira", Text: "チケット 12"}},
		Files: []aggregate.SharedFile{{ID: "F1", Name: "対象者.csv"}}})
	sato.Get(w.TaskPage()).Holds(t, "<title>Jira さんのメッセージの転送, 📎 対象者.csv", "本文のないメッセージです。", "チケット 12").
		Lacks(t, `quote"></div>`)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Park(a.Head.Run, task.Generation{Layer: task.L1}, task.ReasonModelUnavailable, "", w.Now())
	})
	sato.Get("/console/tasks").Holds(t, "Jira さんのメッセージの転送, 📎 対象者.csv")
}

var quotation = []byte("%PDF-1.7 quotation")

func TestFilesOfARequest(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"stand beside what they are for, and what has a number is counted": testFilesShown,
		"are served to who may read the request, and run nothing":          testFilesServed,
	})
}

func testFilesShown(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	w.MatterAskedWith(map[string][]byte{"見積書.pdf": quotation, "<b>.csv": []byte("a,b\n")})
	sum := aggregate.HashOf(string(quotation))
	page := b.Get(w.TaskPage())
	page.Holds(t, `href="`+w.TaskPage()+"/files/"+sum+`" download><bdi>見積書.pdf</bdi>`, "&lt;b&gt;.csv",
		`/files/`+sum+`?view"`)
	expect.That(t, strings.Count(page.Body, "見積書.pdf") >= 2, "it stands beside the effect and in the request")
	expect.Is(t, b.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")).Status, http.StatusSeeOther)
	number := fmt.Sprintf("%d-000001", w.MatterRecorded())
	b.Get("/console/tasks").Says(t, http.StatusOK, "決裁番号 "+number)
	b.Get("/console/figures").Says(t, http.StatusOK, "依頼 1", "人による承認 1", "決定までの時間")
	b.Get("/console/audit/register.csv?year="+number[:4]).Holds(t, number, "倉庫の賃貸", `"3600000","JPY"`)
}

func testFilesServed(t *testing.T, w *consoletest.World) {
	w.MatterAskedWith(map[string][]byte{"見積書.pdf": quotation, "a.txt": []byte("<html><script>")})
	b, sum := w.As(webapi.Suzuki), aggregate.HashOf(string(quotation))
	for path, want := range map[string]string{sum: "attachment; filename", sum + "?view": "inline; filename",
		aggregate.HashOf("<html><script>") + "?view": "attachment; filename"} {
		a := b.Get(w.TaskPage() + "/files/" + path)
		expect.Is(t, a.Status, 200)
		expect.Has(t, a.Header.Get("Content-Disposition"), want)
		expect.Has(t, a.Header.Get("Content-Security-Policy"), "sandbox; default-src 'none'")
		expect.Is(t, a.Header.Get("X-Content-Type-Options"), "nosniff")
	}
	expect.Is(t, b.Get(w.TaskPage()+"/files/"+aggregate.HashOf("<html><script>")).Header.Get("Content-Type"),
		"text/plain; charset=utf-8")
	expect.Is(t, b.Get(w.TaskPage()+"/files/"+sum).Body, string(quotation))
	b.Get(w.TaskPage()+"/files/"+aggregate.HashOf("other")).Says(t, http.StatusNotFound)
	stranger := w.As(webapi.Alex)
	expect.Is(t, stranger.Get(w.TaskPage()).Status, http.StatusNotFound)
	stranger.Get(w.TaskPage()+"/files/"+sum).Says(t, http.StatusNotFound).Lacks(t, "quotation")
}
