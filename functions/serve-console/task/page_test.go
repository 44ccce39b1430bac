package task_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func TestTheStoryOfATask(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"from its message to its results": wholeStory, "nobody else's": strangersSeeNothing, "decided here as in Slack": decidesHere,
		"who may not decide is told why": refusesHere, "who may approve holds at once": holdsAtOnce, "what nobody may approve is on hold": onHold, "what was not shown is not decided": onlyWhatWasShown,
		"two at once make one decision": oneDecision, "what people and models write stays text": writtenIsText, "prompts are for few": promptsAreForFew,
		"files for spreadsheets": filesForSpreadsheets, "sixty steps and a thousand rows": largeStory, "arguments that can't be read whole": unreadArguments, "a sheet that waits": sheetToCheck,
		"a message beside a gate": besideAGate,
	})
}

func wholeStory(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	sato, suzuki := w.As(workspace.Sato), w.As(workspace.Suzuki)
	consoletest.Holds(t, sato.Get(w.TaskPage()), "勤怠集計", "判断待ち", `data-live="`+w.TaskPage()+`"`, "方針", `value="reject"`, pipelinetest.Text)
	expect.Same(t, w.TaskPage()+"?done=act_reject", suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActReject, "部署ごとに分けてください")).To)
	w.Draft(tenancy.DefaultSettings())
	a := sato.Get(w.TaskPage())
	consoletest.Holds(t, a, "v2", "前の版の却下理由", "部署ごとに分けてください", "コンソール", "prompt.rejected", "鈴木")
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, ""))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		s := tenancy.DefaultSettings()
		s.Rev = expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t).Rev
		return a.FinishProcess(a.Head.Run, []task.Step{
			pipelinetest.Step(1, "list_employees", aggregate.Read, `{"department":"営業部","status":"active"}`),
			pipelinetest.Step(2, "send_slack_dm", aggregate.Write, `{"recipient":"`+workspace.Sato+`","text":"完了"}`),
		}, "", s, w.Now())
	})
	consoletest.Holds(t, sato.Get(w.TaskPage()), "営業部", "list_employees", "書き込み", `value="approve"`)
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, ""))
	w.Begin()
	w.Ran(consoletest.Inline(`{"department":"営業部","status":"active"}`), consoletest.Inline(`{"employees":[{"num":"101","name":"田中","email":"tanaka@example.com"},{"num":"102","name":"=cmd()"}],"total":2}`))
	a = sato.Get(w.TaskPage())
	consoletest.Holds(t, a, "<svg", "bar-completed", "2.5 秒", "<th scope=\"col\">num</th>", "田中", "/results/1-1-1/1.csv", "中止", "t*****@example.com")
	consoletest.Lacks(t, a, "tanaka@example.com", "style=")
	w.Ran(consoletest.Inline(`{"recipient":"x","text":"完了"}`), consoletest.Inline(`{"url":"https://example.slack.com/archives/C1/p1"}`))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "42 名分をまとめました。", w.Now())
	})
	a = sato.Get(w.TaskPage())
	consoletest.Holds(t, a, "42 名分をまとめました。", `href="https://example.slack.com/archives/C1/p1"`, "execution.completed", "✅ 承認", "完了")
	consoletest.Lacks(t, a, "data-live", "<form method=\"post\" action=\""+w.TaskPage())
	sato.Locale = "en"
	consoletest.Holds(t, sato.Get(w.TaskPage()), "Requested by", "Completed", "2.5 s")
	if link := sato.Get(w.TaskPage() + "/message"); !strings.Contains(link.To, "/archives/"+workspace.HR) {
		t.Errorf("the message is at %q", link.To)
	}
	log := expect.Value(w.Store.Audit(t.Context(), w.Ref.Tenant, store.AuditFilter{Resource: w.Ref.ID}, "", 100))(t)
	if stamp := w.Load().Processes[0].Stamps[0]; stamp.Surface != aggregate.SurfaceConsole || stamp.By != workspace.Suzuki || len(log.Items) < 5 {
		t.Errorf("the stamp is %+v, %d audit rows", stamp, len(log.Items))
	}
}

func strangersSeeNothing(t *testing.T, w *consoletest.World) {
	w.Steps(pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	other := w.Found("T0OTHER", "U0OTHER")
	logs := consoletest.Logged(t)
	for name, b := range map[string]*consoletest.Browser{
		"another workspace's administrator": w.Of(other, "U0OTHER"), "a member who is not in the channel": w.As(workspace.Alex),
	} {
		for _, path := range []string{"", "/message", "/results/1-1-1/1.csv", "/sent/x"} {
			if a := b.Get(w.TaskPage() + path); a.Status != http.StatusNotFound || strings.Contains(a.Body, "勤怠集計") {
				t.Errorf("%s gets %d of %s", name, a.Status, path)
			}
		}
		if a := b.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")); a.Status != http.StatusNotFound {
			t.Errorf("%s gets %d for a click", name, a.Status)
		}
	}
	for _, id := range []string{"x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "..%2f..", strings.Repeat("0", 26)} {
		if a := w.As(workspace.Sato).Get("/console/tasks/" + id); a.Status != http.StatusNotFound {
			t.Errorf("%s: %d", id, a.Status)
		}
	}
	if n := strings.Count(logs.String(), "msg=refused"); n < 14 {
		t.Errorf("%d refusals are logged", n)
	}
	if _, waits := w.Load().OpenGate(); !waits {
		t.Error("something was decided")
	}
}

func decidesHere(t *testing.T, w *consoletest.World) {
	w.Steps(pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	suzuki := w.As(workspace.Suzuki)
	if a := suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, "")); a.Status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	w.Begin()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "", w.Now())
	})
	sato := w.As(workspace.Sato)
	consoletest.Holds(t, sato.Get(w.TaskPage()), "🔄 再実行")
	if a := sato.Post(w.TaskPage()+"/act", w.Act(task.ActRetryExecution, "")); a.Status != http.StatusSeeOther || len(w.Load().Executions) != 2 {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	if a := sato.Post(w.TaskPage()+"/act", w.Act(task.ActCancelExecution, "")); a.Status != http.StatusSeeOther || w.Load().Head.Ended == nil {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	w.Ask()
	w.Extracted()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.GiveUp(a.Head.Run, task.ReasonModelUnavailable, w.Now())
	})
	consoletest.Holds(t, sato.Get(w.TaskPage()), "🔄 再試行", "依頼を取り消す")
	if a := sato.Post(w.TaskPage()+"/act", w.Act(task.ActRetryGeneration, "")); a.Status != http.StatusSeeOther || w.Load().Head.Parked != nil {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	other := url.Values{"act": {string(conversation.ActClose)}, "id": {w.Ref.ID}}
	if a := sato.Post(w.TaskPage()+"/act", other); a.Status != http.StatusBadRequest || w.Load().Head.Ended != nil {
		t.Errorf("what closes a conversation, on a task's page: %d", a.Status)
	}
	if a := sato.Post(w.TaskPage()+"/act", w.Act(task.ActCancelTask, "")); a.Status != http.StatusSeeOther || w.Load().Head.Ended == nil {
		t.Fatalf("%d %s", a.Status, a.Text())
	}
	cancelled := w.Load()
	consoletest.Holds(t, sato.Get(w.TaskPage()), "取り消し")
	if a := sato.Post(w.TaskPage()+"/act", url.Values{"act": {"cancel_task"}, "id": {w.Ref.ID}}); a.Status != http.StatusSeeOther || w.Load().Head.Rev != cancelled.Head.Rev {
		t.Errorf("a second click: %d", a.Status)
	}
}

func refusesHere(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.Prompted(tenancy.DefaultSettings())
	form := w.Act(aggregate.ActApprove, "")
	logs := consoletest.Logged(t)
	sato := w.As(workspace.Sato)
	page := sato.Get(w.TaskPage())
	consoletest.Holds(t, page, "自分の依頼は自分で承認できません", `value="reject"`)
	if strings.Contains(page.Body, "✅ 承認</button>") {
		t.Error("a requester has a button that is always refused")
	}
	for name, tt := range map[string]struct {
		by     *consoletest.Browser
		form   url.Values
		status int
		says   string
	}{
		"one's own":          {sato, form, 403, "自分の依頼は自分で承認できません"},
		"no reason":          {w.As(workspace.Suzuki), w.Act(aggregate.ActReject, " "), 400, "却下理由は 1〜1000 文字"},
		"a reason too long":  {w.As(workspace.Suzuki), w.Act(aggregate.ActReject, strings.Repeat("長", 1001)), 400, strings.Repeat("長", 1001)},
		"another's row":      {w.As(workspace.Suzuki), url.Values{"act": {"approve"}, "id": {w.Ref.ID}, "kind": {"prompt"}}, 404, ""},
		"another kind":       {w.As(workspace.Suzuki), consoletest.With(form, "kind", "process"), 404, ""},
		"an act of no card":  {w.As(workspace.Suzuki), consoletest.With(form, "act", "extract"), 400, ""},
		"a rejection of one": {w.As(workspace.Suzuki), url.Values{"act": {"reject"}, "kind": {"execution"}}, 400, ""},
	} {
		if a := tt.by.Post(w.TaskPage()+"/act", tt.form); a.Status != tt.status || !strings.Contains(a.Body, tt.says) {
			t.Errorf("%s: %d %s", name, a.Status, a.Text())
		}
	}
	if open, waits := w.Load().OpenGate(); !waits || open.Version != 1 {
		t.Error("something was decided")
	}
	if !strings.Contains(logs.String(), "self_approval") {
		t.Error("the refusal is not logged")
	}
	if a := sato.Send("POST", w.TaskPage()+"/act", form); a.Status != http.StatusForbidden {
		t.Errorf("without the session's token: %d", a.Status)
	}
}

func onlyWhatWasShown(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	seen, approve := w.Act(aggregate.ActReject, "この理由は失われない\n二行目"), w.Act(aggregate.ActApprove, "")
	suzuki := w.As(workspace.Suzuki)
	for _, form := range []url.Values{consoletest.With(approve, "hash", "of something else"), consoletest.With(seen, "hash", "of something else")} {
		if a := suzuki.Post(w.TaskPage()+"/act", form); a.Status != http.StatusConflict {
			t.Errorf("%s of something that was not shown: %d", form.Get("act"), a.Status)
		}
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Reject(a.Prompt().ID, "ほかの理由", aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Tanaka, Team: w.By.Team, Member: true}, w.AnyMember(), w.Now())
	})
	w.Draft(tenancy.DefaultSettings())
	for _, form := range []url.Values{approve, seen} {
		a := suzuki.Post(w.TaskPage()+"/act", form)
		if a.Status != http.StatusConflict {
			t.Errorf("%s of the first version: %d", form.Get("act"), a.Status)
		}
		consoletest.Holds(t, a, "v2", "却下済みです")
		if form.Get("act") == "reject" {
			consoletest.Holds(t, a, "この理由は失われない\n二行目")
		}
	}
	if got := w.Load().Prompt(); got.Version != 2 || got.Status != aggregate.PendingApproval {
		t.Errorf("v%d is %s", got.Version, got.Status)
	}
}

func oneDecision(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	form, tanaka := w.Act(aggregate.ActReject, "コンソールから"), aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Tanaka, Team: w.By.Team, Member: true}
	id, suzuki := w.Load().Prompt().ID, w.As(workspace.Suzuki)
	var wg sync.WaitGroup
	var console consoletest.Answer
	var slack error
	wg.Go(func() { console = suzuki.Post(w.TaskPage()+"/act", form) })
	wg.Go(func() {
		_, slack = w.Store.Decide(t.Context(), w.Ref, func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Approve(id, tanaka, w.AnyMember(), w.Now())
		})
	})
	wg.Wait()
	p := w.Load().Prompts[0]
	if here := console.Status == http.StatusSeeOther; here == (slack == nil) || here != (p.Status == aggregate.Rejected) {
		t.Errorf("console %d, Slack %v: the policy is %s", console.Status, slack, p.Status)
	}
	log := expect.Value(w.Store.Audit(t.Context(), w.Ref.Tenant, store.AuditFilter{Resource: w.Ref.ID}, "", 100))(t)
	n := 0
	for _, e := range log.Items {
		if e.Action == task.AuditPromptApproved || e.Action == task.AuditPromptRejected {
			n++
		}
	}
	if n != 1 {
		t.Errorf("%d decisions in the audit log", n)
	}
}

// writings are what makes markup, script, links or formulas of a text that is not kept one.
var writings = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg/onload=alert(1)>`, `javascript:alert(1)`, `</textarea><script>alert(1)</script>`,
	`</title><script>alert(1)</script>`, `<a href="javascript:alert(1)">x</a>`, `<iframe srcdoc="<script>alert(1)</script>">`, `<style>*{display:none}</style>`, `{{.Form}}`,
	"\u202e<b onmouseover=alert(1)>", `<details open ontoggle=alert(1)>`, `<form action=//evil.example><input name=form>`, `&lt;script&gt;<!--<ScRiPt>alert(1)//-->`,
}

func writtenIsText(t *testing.T, w *consoletest.World) {
	all := strings.Join(writings, "\n")
	quoted := string(expect.Value(json.Marshal(all))(t))
	w.Ask()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: strings.Join(writings[:3], " "), Description: all, Priority: task.Medium, TaskType: task.TypeStandard}, w.Now())
	})
	set := tenancy.DefaultSettings()
	set.Rev = expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t).Rev
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, all, set, w.Now())
	})
	suzuki := w.As(workspace.Suzuki)
	suzuki.Post(w.TaskPage()+"/act", w.Act(aggregate.ActReject, all))
	w.Draft(tenancy.DefaultSettings())
	w.Approve()
	step := pipelinetest.Step(1, "rooms."+strings.ReplaceAll(writings[1], " ", ""), aggregate.Write, `{"text":`+quoted+`}`)
	step.Title, step.Description, step.ExpectedOutput, step.LeftOut = writings[0], all, all, aggregate.JSON(`{"d":`+quoted+`}`)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, []task.Step{step}, all, set, w.Now())
	})
	w.Approve()
	w.Begin()
	w.Ran(consoletest.Inline(`{"text":`+quoted+`}`), consoletest.Inline(`{"url":"javascript:alert(1)","n":[{`+string(expect.Value(json.Marshal(writings[4]))(t))+`:`+quoted+`}],"t":`+quoted+`}`))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, all, w.Now())
	})
	refused := suzuki.Post(w.TaskPage()+"/act", url.Values{"act": {"reject"}, "id": {w.Load().Prompts[0].ID}, "kind": {"prompt"}, "hash": {w.Load().AskedHash(w.Load().Prompts[0].ID)}, "reason": {all + "?"}})
	if refused.Status != http.StatusConflict {
		t.Errorf("%d", refused.Status)
	}
	empty := w.Browser().Get("/console/signin")
	for i, a := range []consoletest.Answer{suzuki.Get(w.TaskPage()), refused} {
		if i == 1 { // in the field for the reason stands what was typed
			a.Body = regexp.MustCompile(`(?s)<textarea.*?</textarea>`).ReplaceAllString(a.Body, "")
		}
		lower := strings.ToLower(a.Body)
		for _, tag := range []string{"<script", "<img", "<iframe", "<style", "<b ", "ontoggle=alert(1)>", "\"javascript:", "'javascript:", "<form action=//", "\u202e"} {
			if strings.Count(lower, tag) > strings.Count(strings.ToLower(empty.Body), tag) {
				i := strings.LastIndex(lower, tag)
				t.Errorf("the page has %s: %s", tag, a.Body[max(0, i-80):min(len(a.Body), i+80)])
			}
		}
		consoletest.Holds(t, a, "&lt;script&gt;alert(1)", "{{.Form}}")
	}
}
