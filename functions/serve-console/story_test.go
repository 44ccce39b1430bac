package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"os"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

func TestTheStoryOfATask(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"from its message to its results": wholeStory, "nobody else's": strangersSeeNothing, "decided here as in Slack": decidesHere,
		"who may not decide is told why": refusesHere, "who may approve holds at once": holdsAtOnce, "what nobody may approve is on hold": onHold, "what was not shown is not decided": onlyWhatWasShown,
		"two at once make one decision": oneDecision, "what people and models write stays text": writtenIsText, "prompts are for few": promptsAreForFew,
		"files for spreadsheets": filesForSpreadsheets, "sixty steps and a thousand rows": largeStory, "arguments that can't be read whole": unreadArguments, "a sheet that waits": sheetToCheck,
		"a message beside a gate": besideAGate,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

// page returns the path of the task's page.
func (w *world) page() string { return "/console/tasks/" + w.Ref.ID }

// anyMember lets every member of the channel decide.
func (w *world) anyMember() aggregate.Policy {
	return aggregate.Policy{Team: w.By.Team, Mode: aggregate.ApproversChannel, AllowSelf: true}
}

// act is the form of an act that the task offers by now.
func (w *world) act(name aggregate.Act, reason string) url.Values {
	w.T.Helper()
	for _, x := range w.Load().Offers() {
		if x.Act == name {
			return url.Values{"act": {string(x.Act)}, "id": {x.ID}, "kind": {string(x.Kind)}, "hash": {x.Hash}, "reason": {reason}}
		}
	}
	w.T.Fatalf("%s is not offered", name)
	return nil
}

func (w *world) steps(steps ...task.Step) {
	w.T.Helper()
	w.ask()
	w.Planned(tenancy.DefaultSettings(), steps...)
}

// ran lets the next step be called with arguments, and return a result.
func (w *world) ran(arguments, result aggregate.Blob) {
	w.T.Helper()
	a := w.Load()
	order := a.NextStep(a.Execution()).Order
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ClaimStep(a.Head.Run, task.Call{
			Order: order, Arguments: arguments, Tool: task.ToolRef{Name: a.NextStep(a.Execution()).Tool},
			Claim: task.Claim{Invocation: "i", LeaseUntil: w.Now().Add(time.Minute)},
		}, w.Now())
	})
	w.Later(2500 * time.Millisecond)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		e := a.Execution()
		return a.FinishStep(task.StepKey(e.ProcessVersion, e.Attempt, order), "i", task.Outcome{Status: task.StepCompleted, Result: &result}, w.Now())
	})
}

func inline(text string) aggregate.Blob {
	return aggregate.Blob{JSON: aggregate.JSON(text), Bytes: len(text)}
}

// holds reports what a page lacks of some texts.
func holds(t *testing.T, a answer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if !strings.Contains(a.body, text) {
			t.Errorf("the page (%d) lacks %q", a.status, text)
		}
	}
	if t.Failed() {
		os.WriteFile(t.TempDir()+"/page.html", []byte(a.body), 0o600)
	}
}

func lacks(t *testing.T, a answer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if strings.Contains(a.body, text) {
			t.Errorf("the page has %q", text)
		}
	}
}

func wholeStory(t *testing.T, w *world) {
	w.ask()
	w.Prompted(tenancy.DefaultSettings())
	sato, suzuki := w.as(workspace.Sato), w.as(workspace.Suzuki)
	holds(t, sato.get(w.page()), "勤怠集計", "判断待ち", `data-live="`+w.page()+`"`, "方針", `value="reject"`, pipelinetest.Text)
	expect.Same(t, w.page()+"?done=act_reject", suzuki.post(w.page()+"/act", w.act(aggregate.ActReject, "部署ごとに分けてください")).to)
	w.Draft(tenancy.DefaultSettings())
	a := sato.get(w.page())
	holds(t, a, "v2", "前の版の却下理由", "部署ごとに分けてください", "コンソール", "prompt.rejected", "鈴木")
	suzuki.post(w.page()+"/act", w.act(aggregate.ActApprove, ""))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginProcess(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		s := tenancy.DefaultSettings()
		s.Rev = expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t).Rev
		return a.FinishProcess(a.Head.Run, []task.Step{
			pipelinetest.Step(1, "list_employees", aggregate.Read, `{"department":"営業部","status":"active"}`),
			pipelinetest.Step(2, "send_slack_dm", aggregate.Write, `{"recipient":"`+workspace.Sato+`","text":"完了"}`),
		}, "", s, w.Now())
	})
	holds(t, sato.get(w.page()), "営業部", "list_employees", "書き込み", `value="approve"`)
	suzuki.post(w.page()+"/act", w.act(aggregate.ActApprove, ""))
	w.Begin()
	w.ran(inline(`{"department":"営業部","status":"active"}`), inline(`{"employees":[{"num":"101","name":"田中","email":"tanaka@example.com"},{"num":"102","name":"=cmd()"}],"total":2}`))
	a = sato.get(w.page())
	holds(t, a, "<svg", "bar-completed", "2.5 秒", "<th scope=\"col\">num</th>", "田中", "/results/1-1-1/1.csv", "中止", "t*****@example.com")
	lacks(t, a, "tanaka@example.com", "style=")
	w.ran(inline(`{"recipient":"x","text":"完了"}`), inline(`{"url":"https://example.slack.com/archives/C1/p1"}`))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "42 名分をまとめました。", w.Now())
	})
	a = sato.get(w.page())
	holds(t, a, "42 名分をまとめました。", `href="https://example.slack.com/archives/C1/p1"`, "execution.completed", "✅ 承認", "完了")
	lacks(t, a, "data-live", "<form method=\"post\" action=\""+w.page())
	sato.locale = "en"
	holds(t, sato.get(w.page()), "Requested by", "Completed", "2.5 s")
	if link := sato.get(w.page() + "/message"); !strings.Contains(link.to, "/archives/"+workspace.HR) {
		t.Errorf("the message is at %q", link.to)
	}
	log := expect.Value(w.Store.Audit(t.Context(), w.Ref.Tenant, store.AuditFilter{Resource: w.Ref.ID}, "", 100))(t)
	if stamp := w.Load().Processes[0].Stamps[0]; stamp.Surface != aggregate.SurfaceConsole || stamp.By != workspace.Suzuki || len(log.Items) < 5 {
		t.Errorf("the stamp is %+v, %d audit rows", stamp, len(log.Items))
	}
}

func strangersSeeNothing(t *testing.T, w *world) {
	w.steps(pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	other := w.found("T0OTHER", "U0OTHER")
	logs := logged(t)
	for name, b := range map[string]*browser{
		"another workspace's administrator": w.of(other, "U0OTHER"), "a member who is not in the channel": w.as(workspace.Alex),
	} {
		for _, path := range []string{"", "/message", "/results/1-1-1/1.csv", "/sent/x"} {
			if a := b.get(w.page() + path); a.status != http.StatusNotFound || strings.Contains(a.body, "勤怠集計") {
				t.Errorf("%s gets %d of %s", name, a.status, path)
			}
		}
		if a := b.post(w.page()+"/act", w.act(aggregate.ActApprove, "")); a.status != http.StatusNotFound {
			t.Errorf("%s gets %d for a click", name, a.status)
		}
	}
	for _, id := range []string{"x", "01ARZ3NDEKTSV4RRFFQ69G5FAV", "..%2f..", strings.Repeat("0", 26)} {
		if a := w.as(workspace.Sato).get("/console/tasks/" + id); a.status != http.StatusNotFound {
			t.Errorf("%s: %d", id, a.status)
		}
	}
	if n := strings.Count(logs.String(), "msg=refused"); n < 14 {
		t.Errorf("%d refusals are logged", n)
	}
	if _, waits := w.Load().OpenGate(); !waits {
		t.Error("something was decided")
	}
}

func decidesHere(t *testing.T, w *world) {
	w.steps(pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	suzuki := w.as(workspace.Suzuki)
	if a := suzuki.post(w.page()+"/act", w.act(aggregate.ActApprove, "")); a.status != http.StatusSeeOther {
		t.Fatalf("%d %s", a.status, a.text())
	}
	w.Begin()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "", w.Now())
	})
	sato := w.as(workspace.Sato)
	holds(t, sato.get(w.page()), "🔄 再実行")
	if a := sato.post(w.page()+"/act", w.act(task.ActRetryExecution, "")); a.status != http.StatusSeeOther || len(w.Load().Executions) != 2 {
		t.Fatalf("%d %s", a.status, a.text())
	}
	if a := sato.post(w.page()+"/act", w.act(task.ActCancelExecution, "")); a.status != http.StatusSeeOther || w.Load().Head.Ended == nil {
		t.Fatalf("%d %s", a.status, a.text())
	}
	w.ask()
	w.Extracted()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.GiveUp(a.Head.Run, task.ReasonModelUnavailable, w.Now())
	})
	holds(t, sato.get(w.page()), "🔄 再試行", "依頼を取り消す")
	if a := sato.post(w.page()+"/act", w.act(task.ActRetryGeneration, "")); a.status != http.StatusSeeOther || w.Load().Head.Parked != nil {
		t.Fatalf("%d %s", a.status, a.text())
	}
	other := url.Values{"act": {string(conversation.ActClose)}, "id": {w.Ref.ID}}
	if a := sato.post(w.page()+"/act", other); a.status != http.StatusBadRequest || w.Load().Head.Ended != nil {
		t.Errorf("what closes a conversation, on a task's page: %d", a.status)
	}
	if a := sato.post(w.page()+"/act", w.act(task.ActCancelTask, "")); a.status != http.StatusSeeOther || w.Load().Head.Ended == nil {
		t.Fatalf("%d %s", a.status, a.text())
	}
	cancelled := w.Load()
	holds(t, sato.get(w.page()), "取り消し")
	if a := sato.post(w.page()+"/act", url.Values{"act": {"cancel_task"}, "id": {w.Ref.ID}}); a.status != http.StatusSeeOther || w.Load().Head.Rev != cancelled.Head.Rev {
		t.Errorf("a second click: %d", a.status)
	}
}

func refusesHere(t *testing.T, w *world) {
	w.ask()
	w.Settings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	w.Prompted(tenancy.DefaultSettings())
	form := w.act(aggregate.ActApprove, "")
	logs := logged(t)
	sato := w.as(workspace.Sato)
	page := sato.get(w.page())
	holds(t, page, "自分の依頼は自分で承認できません", `value="reject"`)
	if strings.Contains(page.body, "✅ 承認</button>") {
		t.Error("a requester has a button that is always refused")
	}
	for name, tt := range map[string]struct {
		by     *browser
		form   url.Values
		status int
		says   string
	}{
		"one's own":          {sato, form, 403, "自分の依頼は自分で承認できません"},
		"no reason":          {w.as(workspace.Suzuki), w.act(aggregate.ActReject, " "), 400, "却下理由は 1〜1000 文字"},
		"a reason too long":  {w.as(workspace.Suzuki), w.act(aggregate.ActReject, strings.Repeat("長", 1001)), 400, strings.Repeat("長", 1001)},
		"another's row":      {w.as(workspace.Suzuki), url.Values{"act": {"approve"}, "id": {w.Ref.ID}, "kind": {"prompt"}}, 404, ""},
		"another kind":       {w.as(workspace.Suzuki), with(form, "kind", "process"), 404, ""},
		"an act of no card":  {w.as(workspace.Suzuki), with(form, "act", "extract"), 400, ""},
		"a rejection of one": {w.as(workspace.Suzuki), url.Values{"act": {"reject"}, "kind": {"execution"}}, 400, ""},
	} {
		if a := tt.by.post(w.page()+"/act", tt.form); a.status != tt.status || !strings.Contains(a.body, tt.says) {
			t.Errorf("%s: %d %s", name, a.status, a.text())
		}
	}
	if open, waits := w.Load().OpenGate(); !waits || open.Version != 1 {
		t.Error("something was decided")
	}
	if !strings.Contains(logs.String(), "self_approval") {
		t.Error("the refusal is not logged")
	}
	if a := sato.send("POST", w.page()+"/act", form); a.status != http.StatusForbidden {
		t.Errorf("without the session's token: %d", a.status)
	}
}

func with(form url.Values, name, value string) url.Values {
	out := url.Values{}
	for k, v := range form {
		out[k] = v
	}
	out.Set(name, value)
	return out
}

func onlyWhatWasShown(t *testing.T, w *world) {
	w.ask()
	w.Prompted(tenancy.DefaultSettings())
	seen, approve := w.act(aggregate.ActReject, "この理由は失われない\n二行目"), w.act(aggregate.ActApprove, "")
	suzuki := w.as(workspace.Suzuki)
	for _, form := range []url.Values{with(approve, "hash", "of something else"), with(seen, "hash", "of something else")} {
		if a := suzuki.post(w.page()+"/act", form); a.status != http.StatusConflict {
			t.Errorf("%s of something that was not shown: %d", form.Get("act"), a.status)
		}
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Reject(a.Prompt().ID, "ほかの理由", aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Tanaka, Team: w.By.Team, Member: true}, w.anyMember(), w.Now())
	})
	w.Draft(tenancy.DefaultSettings())
	for _, form := range []url.Values{approve, seen} {
		a := suzuki.post(w.page()+"/act", form)
		if a.status != http.StatusConflict {
			t.Errorf("%s of the first version: %d", form.Get("act"), a.status)
		}
		holds(t, a, "v2", "却下済みです")
		if form.Get("act") == "reject" {
			holds(t, a, "この理由は失われない\n二行目")
		}
	}
	if got := w.Load().Prompt(); got.Version != 2 || got.Status != aggregate.PendingApproval {
		t.Errorf("v%d is %s", got.Version, got.Status)
	}
}

func oneDecision(t *testing.T, w *world) {
	w.ask()
	w.Prompted(tenancy.DefaultSettings())
	form, tanaka := w.act(aggregate.ActReject, "コンソールから"), aggregate.Actor{Type: aggregate.ActorUser, ID: workspace.Tanaka, Team: w.By.Team, Member: true}
	id, suzuki := w.Load().Prompt().ID, w.as(workspace.Suzuki)
	var wg sync.WaitGroup
	var console answer
	var slack error
	wg.Go(func() { console = suzuki.post(w.page()+"/act", form) })
	wg.Go(func() {
		_, slack = w.Store.Decide(t.Context(), w.Ref, func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Approve(id, tanaka, w.anyMember(), w.Now())
		})
	})
	wg.Wait()
	p := w.Load().Prompts[0]
	if here := console.status == http.StatusSeeOther; here == (slack == nil) || here != (p.Status == aggregate.Rejected) {
		t.Errorf("console %d, Slack %v: the policy is %s", console.status, slack, p.Status)
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

func writtenIsText(t *testing.T, w *world) {
	all := strings.Join(writings, "\n")
	quoted := string(expect.Value(json.Marshal(all))(t))
	w.ask()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: strings.Join(writings[:3], " "), Description: all, Priority: task.Medium, TaskType: task.TypeStandard}, w.Now())
	})
	set := tenancy.DefaultSettings()
	set.Rev = expect.Value(w.Store.Settings(t.Context(), w.Ref.Tenant))(t).Rev
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, all, set, w.Now())
	})
	suzuki := w.as(workspace.Suzuki)
	suzuki.post(w.page()+"/act", w.act(aggregate.ActReject, all))
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
	w.ran(inline(`{"text":`+quoted+`}`), inline(`{"url":"javascript:alert(1)","n":[{`+string(expect.Value(json.Marshal(writings[4]))(t))+`:`+quoted+`}],"t":`+quoted+`}`))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, all, w.Now())
	})
	refused := suzuki.post(w.page()+"/act", url.Values{"act": {"reject"}, "id": {w.Load().Prompts[0].ID}, "kind": {"prompt"}, "hash": {w.Load().AskedHash(w.Load().Prompts[0].ID)}, "reason": {all + "?"}})
	if refused.status != http.StatusConflict {
		t.Errorf("%d", refused.status)
	}
	empty := w.browser().get("/console/signin")
	for i, a := range []answer{suzuki.get(w.page()), refused} {
		if i == 1 { // in the field for the reason stands what was typed
			a.body = regexp.MustCompile(`(?s)<textarea.*?</textarea>`).ReplaceAllString(a.body, "")
		}
		lower := strings.ToLower(a.body)
		for _, tag := range []string{"<script", "<img", "<iframe", "<style", "<b ", "ontoggle=alert(1)>", "\"javascript:", "'javascript:", "<form action=//", "\u202e"} {
			if strings.Count(lower, tag) > strings.Count(strings.ToLower(empty.body), tag) {
				i := strings.LastIndex(lower, tag)
				t.Errorf("the page has %s: %s", tag, a.body[max(0, i-80):min(len(a.body), i+80)])
			}
		}
		holds(t, a, "&lt;script&gt;alert(1)", "{{.Form}}")
	}
}
