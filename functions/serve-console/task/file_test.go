package task_test

import (
	"bytes"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func promptsAreForFew(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Results["prompts/x"] = `{"system":"あなたは総務の担当です。\n二行目","messages":[{"role":"user","content":"tanaka@example.com <b>今月</b>"}]}`
	bill := task.Charge(aggregate.Usage{ID: "01USE", Provider: "anthropic", Model: "claude-x", Prompt: "extract.ja.2", Calls: 1, Input: 1200, Output: 34, Cost: 5600, Sent: &aggregate.Blob{S3Key: "prompts/x", Bytes: 9}}, w.Now(),
		func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Description: "今月", Priority: task.Medium, TaskType: task.TypeStandard}, w.Now())
		})
	w.Decide(bill)
	for user, status := range map[string]int{webapi.Sato: 200, webapi.Suzuki: 200, webapi.Tanaka: 403} {
		b := w.As(user)
		page, sent := b.Get(w.TaskPage()), b.Get(w.TaskPage()+"/sent/01USE")
		page.Holds(t, "claude-x", "1,200", "$0.0056")
		expect.That(t, sent.Status == status && strings.Contains(page.Body, "/sent/01USE") == (status == 200) &&
			strings.Contains(sent.Body, "総務の担当") == (status == 200), "%s gets %d", user, sent.Status)
		sent.Lacks(t, "tanaka@example.com", "<b>")
		if status == http.StatusOK {
			sent.Says(t, status, "システム", "ユーザー", "回答", "勤怠集計")
		}
	}
	delete(w.Results, "prompts/x")
	w.As(webapi.Sato).Get(w.TaskPage()+"/sent/01USE").Holds(t, "保存期間を過ぎたため")
	w.As(webapi.Sato).Get(w.TaskPage()+"/sent/01OTHER").Says(t, 404)
}

func filesForSpreadsheets(t *testing.T, w *consoletest.World) {
	w.Steps(pipelinetest.Step(1, "list_employees", aggregate.Read, `{}`))
	w.Approve()
	w.Begin()
	w.Ran(consoletest.Inline(`{}`), consoletest.Inline(`{"rows":[{"id":"=HYPERLINK(\"http://evil\")","n":-5,"mail":"tanaka@example.com"},{"id":"@SUM(1)","n":2,"mail":"+81"}],"note":"-1+2"}`))
	sato := w.As(webapi.Sato)
	a := sato.Get(w.TaskPage() + "/results/1-1-1/1.csv")
	want := "\ufeff\"id\",\"mail\",\"n\"\r\n\"'=HYPERLINK(\"\"http://evil\"\")\",\"t*****@example.com\",\"-5\"\r\n\"'@SUM(1)\",\"'+81\",\"2\"\r\n"
	expect.That(t, a.Body == want && strings.HasPrefix(a.Header.Get("Content-Type"), "text/csv") &&
		strings.HasPrefix(a.Header.Get("Content-Disposition"), "attachment"), "%d %v %q", a.Status, a.Header, a.Body)
	if a := sato.Get(w.TaskPage() + "/results/1-1-1/values.csv"); a.Body != "\ufeff\"name\",\"value\"\r\n\"note\",\"'-1+2\"\r\n" {
		t.Errorf("%d %q", a.Status, a.Body)
	}
	if a := sato.Get(w.TaskPage() + "/results/1-1-1/all.csv"); a.Body != want {
		t.Errorf("%d %q", a.Status, a.Body)
	}
	for _, path := range []string{"1-1-1/2.csv", "1-1-1/1.html", "1-1-2/1.csv", "x/1.csv", "1-1-1/-1.csv", "1-1-1/0.csv"} {
		sato.Get(w.TaskPage()+"/results/"+path).Says(t, 404)
	}
}

func largeStory(t *testing.T, w *consoletest.World) {
	steps := make([]task.Step, task.MaxSteps)
	for i := range steps {
		steps[i] = pipelinetest.Step(i+1, "list_employees", aggregate.Read, `{"department":"営業部"}`)
	}
	w.Steps(steps...)
	w.Approve()
	w.Begin()
	var rows bytes.Buffer
	for i := range 1000 {
		if i > 0 {
			rows.WriteByte(',')
		}
		rows.WriteString(`{"id":` + strings.Repeat("1", 1+i%3) + `,"name":"従業員"}`)
	}
	w.Results["results/large"] = aggregate.JSON(`{"employees":[` + rows.String() + `]}`)
	w.Ran(consoletest.Inline(`{}`), aggregate.Blob{S3Key: "results/large", Bytes: rows.Len(), Preview: "{}"})
	for range task.MaxSteps - 2 {
		w.Ran(consoletest.Inline(`{}`), consoletest.Inline(`{"n":1}`))
	}
	w.Ran(consoletest.Inline(`{}`), aggregate.Blob{S3Key: "results/gone", Bytes: 5000, Preview: "前半"})
	sato := w.As(webapi.Sato)
	began := time.Now()
	a := sato.Get(w.TaskPage())
	t.Logf("60 steps, 1,000 rows: %d bytes in %s", len(a.Body), time.Since(began).Round(time.Millisecond))
	a.Holds(t, "900 行は表示していません", "/results/1-1-1/1.csv", "保存期間を過ぎたため", "step-1-1-60")
	n := strings.Count(sato.Get(w.TaskPage()+"/results/1-1-1/1.csv").Body, "従業員")
	expect.That(t, n == 1000, "the file has %d rows", n)
}

func unreadArguments(t *testing.T, w *consoletest.World) {
	w.Steps(pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	w.Approve()
	w.Begin()
	w.Results["arguments/x"] = aggregate.JSON(`{"text":"` + strings.Repeat("長", 5000) + `終わり"}`)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{S3Key: "arguments/x", Bytes: 15000, Preview: "長"}, "hash", w.Now())
	})
	suzuki, form := w.As(webapi.Suzuki), w.Act(aggregate.ActApprove, "")
	suzuki.Get(w.TaskPage()).Holds(t, "終わり", "✅ 承認</button>")
	delete(w.Results, "arguments/x")
	page := suzuki.Get(w.TaskPage())
	page.Holds(t, "ここでは承認できません", `value="reject"`)
	page.Lacks(t, "✅ 承認</button>")
	suzuki.Post(w.TaskPage()+"/act", form).Says(t, http.StatusBadRequest) // what can't be read can't be approved
}

// sheetToCheck brings a step that writes a sheet to its gate.
func sheetToCheck(t *testing.T, w *consoletest.World) {
	call := aggregate.JSON(`{"spreadsheet_id":"1aB","sheet":"2026-10","columns":[{"key":"h","title":"残業時間"},{"key":"n","title":"社員番号"}],"rows":[{"n":"E001","h":25.5,"secret_note":"x1"}]}`)
	w.Steps(pipelinetest.Step(1, "write_rows_to_google_sheet", aggregate.Write, string(call)))
	w.Approve()
	w.Begin()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.OpenStepGate(a.Head.Run, 1, aggregate.Blob{JSON: call, Bytes: len(call)}, "hash", w.Now())
	})
	page := w.As(webapi.Suzuki).Get(w.TaskPage())
	page.Holds(t, `<th scope="col">残業時間</th><th scope="col">社員番号</th></tr></thead><tbody><tr><td class="text">25.5</td><td class="text">E001</td></tr>`)
	page.Holds(t, `>書き込まれない項目</bdi> <bdi class="text value">secret_note</bdi>`, "A1 から上書きします")
	page.Lacks(t, ">key<", `>secret_note</th>`)
}

func besideAGate(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Prompted(tenancy.DefaultSettings())
	gate := w.Ref
	beside, _ := w.Load().OpenGateBeside()
	w.Later(time.Second)
	w.Ask()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Ask(a.Head.Run, beside, tenancy.DefaultSettings(), w.Now())
	})
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get(w.TaskPage()).Holds(t, "却下理由にする", "新しい依頼にする", `href="/console/tasks/`+gate.ID+`"`)
	suzuki.Post(w.TaskPage()+"/act", w.Act(task.ActTakeAsReason, "")).Says(t, http.StatusSeeOther)
	suzuki.Get(w.TaskPage()).Holds(t, "却下理由になりました")
	suzuki.Get("/console/tasks/"+gate.ID).Holds(t, pipelinetest.Text, "却下")
}
