package card_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// draw makes rows in any states, with any texts, that need not fit together.
type draw struct{ *rapid.T }

var (
	anyText = rapid.OneOf(rapid.String(), rapid.SampledFrom(slices.Sorted(maps.Values(hostile))))
	anyTime = rapid.Map(rapid.Int64Range(-1e11, 1e12), func(s int64) time.Time { return time.Unix(s, 0) })
	anyGate = rapid.SampledFrom([]aggregate.GateStatus{aggregate.Generating, aggregate.PendingApproval, aggregate.Approved,
		aggregate.Rejected, aggregate.Expired, aggregate.Cancelled, "", "brand_new"})
	why = rapid.OneOf(rapid.SampledFrom(task.Reasons),
		rapid.Map(anyText, func(s string) aggregate.Reason { return aggregate.Reason(s) }))
	number = rapid.IntRange(0, 3)
)

func (t draw) text(name string) string { return anyText.Draw(t.T, name) }
func (t draw) yes(name string) bool    { return rapid.Bool().Draw(t.T, name) }
func (t draw) n(name string) int       { return number.Draw(t.T, name) }

func (t draw) at() *time.Time { return rapid.Ptr(anyTime, true).Draw(t.T, "at") }

func (t draw) verdict() aggregate.Verdict {
	return aggregate.Verdict{ApprovedBy: t.text("by"), ApprovedAt: t.at(), RejectedBy: t.text("by"), RejectedAt: t.at(),
		RejectionReason: t.text("reason")}
}

func (t draw) terms() aggregate.Terms {
	return aggregate.Terms{ApprovalRequired: t.yes("required"), MaxVersions: rapid.Int().Draw(t.T, "max"),
		ApprovalHours: rapid.Int().Draw(t.T, "hours")}
}

func anyAggregate(rt *rapid.T) *task.Aggregate {
	t := draw{rt}
	a := &task.Aggregate{Head: t.head()}
	if t.yes("extracted") {
		a.Task = &task.Task{ID: t.text("id"), Title: t.text("title"), Description: t.text("description"),
			Priority: task.Priority(t.text("priority")), TaskType: task.Type(t.text("type"))}
	}
	for v := range t.n("prompts") {
		a.Prompts = append(a.Prompts, &task.Prompt{ID: t.text("id"), Version: v + 1, Content: t.text("content"),
			Gate: aggregate.Gate{Status: anyGate.Draw(rt, "status"), Terms: t.terms(), Verdict: t.verdict()}})
	}
	for v := range t.n("processes") {
		p := &task.Process{ID: t.text("id"), Version: v + 1,
			Gate: aggregate.Gate{Status: anyGate.Draw(rt, "status"), Terms: t.terms(), Verdict: t.verdict()}}
		same := t.text("name")
		for i := range rapid.SampledFrom([]int{0, 1, 5, 60, 120}).Draw(rt, "steps") {
			p.Steps = append(p.Steps, task.Step{StepID: strings.Repeat("s", i%7), Order: i + 1, Title: same, Description: same,
				Tool: same, RequiresHumanCheck: i%2 == 0})
		}
		a.Processes = append(a.Processes, p)
	}
	for n := range t.n("executions") {
		a.Executions = append(a.Executions, t.execution(n+1))
		for i := range t.n("rows") {
			a.Steps = append(a.Steps, &task.StepResult{
				ProcessVersion: t.n("of"), Attempt: n + 1, Order: i + 1, StepID: strings.Repeat("s", i), CompletedAt: t.at(),
				Reused: t.yes("reused"),
				Status: rapid.SampledFrom([]task.StepStatus{task.StepRunning, task.StepCompleted, task.StepFailed, task.StepUnknown,
					""}).Draw(rt, "status"),
			})
		}
	}
	for i := range t.n("gates") {
		a.Gates = append(a.Gates, &task.StepGate{
			ID: t.text("id"), ProcessVersion: t.n("of"), Attempt: 1, Order: i + 1, StepID: strings.Repeat("s", i),
			Arguments: aggregate.Blob{JSON: aggregate.JSON(t.text("json")), Preview: t.text("preview"), S3Key: t.text("key"),
				Bytes: rapid.Int().Draw(rt, "bytes")},
			Gate: aggregate.Gate{Status: anyGate.Draw(rt, "status"), Terms: t.terms(), Verdict: t.verdict()},
		})
	}
	return a
}

func (t draw) head() task.Head {
	h := task.Head{Head: aggregate.Head{LastChange: t.text("change")}, TaskID: t.text("task id"), PausedUntil: t.at()}
	if t.yes("parked") {
		h.Parked = &task.Parked{Layer: rapid.SampledFrom([]task.Layer{task.L1, task.L2, task.L3, task.L4, ""}).Draw(t.T,
			"layer"), Sentence: why.Draw(t.T, "why")}
	}
	if t.yes("ended") {
		as := rapid.SampledFrom([]task.TaskStatus{task.TaskCompleted, task.TaskFailed, task.TaskCancelled, ""}).Draw(t.T,
			"as")
		h.Ended = &task.Ended{As: as, By: t.text("by"), At: anyTime.Draw(t.T, "ended at"), Reason: why.Draw(t.T, "why")}
	}
	return h
}

func (t draw) execution(attempt int) *task.Execution {
	return &task.Execution{
		ID: t.text("id"), ProcessVersion: t.n("of"), Attempt: attempt,
		Status: rapid.SampledFrom([]task.ExecutionStatus{task.ExecutionPending, task.ExecutionRunning,
			task.ExecutionCompleted, task.ExecutionFailed, task.ExecutionCancelled, ""}).Draw(t.T, "status"),
		Error: why.Draw(t.T, "why"), ErrorDetail: t.text("detail"), Summary: t.text("summary"),
		CancelledBy: t.text("by"), CancelledAt: t.at(), StartedAt: t.at(), CompletedAt: t.at(),
	}
}
