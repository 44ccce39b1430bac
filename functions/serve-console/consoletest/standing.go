package consoletest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Standing makes a request of Sato's for each status, and returns their ids.
func (w *World) Standing() map[task.Status]string {
	w.T.Helper()
	ids := map[task.Status]string{}
	for _, s := range task.Statuses {
		r := Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "営業部の今月の勤怠をまとめて、部長に送って"}
		if kind, plain := map[task.Status]task.ExtractKind{
			task.StatusRefused: task.KindUnsupported, task.StatusAnswered: task.KindHelp,
		}[s]; plain {
			w.asked(r)
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Extracted(a.Head.Run, task.Extract{Kind: kind, Sentence: "月ごとの勤怠をまとめられます。"}, w.Now())
			})
		} else {
			w.Made(r)
			w.comes(s)
		}
		ids[s] = w.Ref.ID
		now := w.Load().Status()
		expect.Must(w.T, now == s, "a request that should be %s is %s", s, now)
	}
	return ids
}

// comes brings a new task to a status.
func (w *World) comes(to task.Status) {
	w.T.Helper()
	settings := tenancy.DefaultSettings()
	switch to {
	case task.StatusDrafting, task.StatusNotDrafted:
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.BeginPrompt(a.Head.Run, w.Now()) })
	default:
		w.Draft(settings)
	}
	switch to {
	case task.StatusNotDrafted:
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.Park(a.Head.Run, a.Generating(), task.ReasonModelRefused, "", w.Now())
		})
	case task.StatusCancelled:
		w.Cancel()
	case task.StatusExpired:
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.Expire(w.Now().Add(1000 * time.Hour)) })
	case task.StatusRunning, task.StatusDone, task.StatusFailed, task.StatusToRetry:
		w.AskForSteps(Message(1, "営業部の勤怠をお送りします。"))
		w.Approve()
		w.Begin()
	}
	switch to {
	case task.StatusDone:
		w.Ran(Inline(string(Message(1, "営業部の勤怠をお送りします。").ToolInput)), Inline(`{"ok":true}`))
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.CompleteExecution(a.Head.Run, "営業部の勤怠を送りました。", w.Now())
		})
	case task.StatusFailed, task.StatusToRetry:
		why := map[task.Status]aggregate.Reason{
			task.StatusFailed: task.ReasonToolValue, task.StatusToRetry: task.ReasonStepsChanged,
		}[to]
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			return a.FailExecution(a.Head.Run, why, "", w.Now())
		})
	}
}

// Sixty makes a request with as many steps as there may be, after three versions of the policy and two of the steps, and
// executes them. Each returns a table.
func (w *World) Sixty() {
	w.T.Helper()
	settings := tenancy.DefaultSettings()
	w.Made(Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "全員に今月の勤怠を送って"})
	for n := range 3 {
		if w.Draft(settings); n < 2 {
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return decide.Reject("宛先をもう一度確かめてください。")(a, a.Prompt().ID, w.By, w.AnyMember(), w.Now())
			})
		}
	}
	var steps []task.Step
	for n := range task.MaxSteps {
		steps = append(steps, Message(n+1, "今月の勤怠をお送りします。内容に誤りがあれば、金曜日までに人事へお知らせください。"))
	}
	w.AskForSteps(steps...)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return decide.Reject("送る順に並べてください。")(a, a.Process().ID, w.By, w.AnyMember(), w.Now())
	})
	slices.Reverse(steps)
	for i := range steps {
		steps[i].Order = i + 1
	}
	w.plan(steps)
	w.Approve()
	w.Begin()
	var sent []string
	for n := range 20 {
		sent = append(sent, fmt.Sprintf(`{"employee_id":"E%03d","name":"佐藤 花子","department":"営業部","worked_hours":%d}`, n, 140+n))
	}
	result := Inline(`{"rows":[` + strings.Join(sent, ",") + `]}`)
	for _, s := range steps {
		w.Ran(Inline(string(s.ToolInput)), result)
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "全員に今月の勤怠を送りました。", w.Now())
	})
}
