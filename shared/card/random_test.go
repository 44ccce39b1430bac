package card_test

import (
	"maps"
	"slices"
	"strings"
	"time"

	"pgregory.net/rapid"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// anyAggregate draws rows in any states, with any texts, that need not fit together.
func anyAggregate(t *rapid.T) *task.Aggregate {
	samples := make([]string, 0, len(hostile))
	for _, k := range slices.Sorted(maps.Keys(hostile)) {
		samples = append(samples, hostile[k])
	}
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom(samples))
	at := rapid.Custom(func(t *rapid.T) *time.Time {
		if rapid.Bool().Draw(t, "unset") {
			return nil
		}
		x := time.Unix(rapid.Int64Range(-1e11, 1e12).Draw(t, "unix"), 0)
		return &x
	})
	gate := rapid.SampledFrom([]aggregate.GateStatus{aggregate.Generating, aggregate.PendingApproval, aggregate.Approved, aggregate.Rejected, aggregate.Expired, aggregate.Cancelled, "", "brand_new"})
	verdict := func() aggregate.Verdict {
		return aggregate.Verdict{
			ApprovedBy: text.Draw(t, "by"), ApprovedAt: at.Draw(t, "at"), RejectedBy: text.Draw(t, "by"), RejectedAt: at.Draw(t, "at"), RejectionReason: text.Draw(t, "reason"),
		}
	}
	terms := func() aggregate.Terms {
		return aggregate.Terms{ApprovalRequired: rapid.Bool().Draw(t, "required"), MaxVersions: rapid.Int().Draw(t, "max"), ApprovalHours: rapid.Int().Draw(t, "hours")}
	}
	reason := rapid.OneOf(rapid.SampledFrom(task.Reasons), rapid.Map(text, func(s string) aggregate.Reason { return aggregate.Reason(s) }))
	number := rapid.IntRange(0, 3)

	a := &task.Aggregate{Head: task.Head{TaskID: text.Draw(t, "task id"), LastChange: text.Draw(t, "change"), PausedUntil: at.Draw(t, "paused")}}
	if rapid.Bool().Draw(t, "parked") {
		a.Head.Parked = &task.Parked{Layer: rapid.SampledFrom([]task.Layer{task.L1, task.L2, task.L3, task.L4, ""}).Draw(t, "layer"), Sentence: reason.Draw(t, "why")}
	}
	if rapid.Bool().Draw(t, "ended") {
		a.Head.Ended = &task.Ended{
			As: rapid.SampledFrom([]task.TaskStatus{task.TaskCompleted, task.TaskFailed, task.TaskCancelled, ""}).Draw(t, "as"),
			By: text.Draw(t, "by"), At: time.Unix(rapid.Int64Range(-1e11, 1e12).Draw(t, "ended at"), 0), Reason: reason.Draw(t, "why"),
		}
	}
	if rapid.Bool().Draw(t, "extracted") {
		a.Task = &task.Task{
			ID: text.Draw(t, "id"), Title: text.Draw(t, "title"), Description: text.Draw(t, "description"),
			Priority: task.Priority(text.Draw(t, "priority")), TaskType: task.Type(text.Draw(t, "type")),
		}
	}
	for v := range number.Draw(t, "prompts") {
		a.Prompts = append(a.Prompts, &task.Prompt{
			ID: text.Draw(t, "id"), Version: v + 1, Content: text.Draw(t, "content"), Status: gate.Draw(t, "status"), Terms: terms(), Verdict: verdict(),
		})
	}
	for v := range number.Draw(t, "processes") {
		p := &task.Process{ID: text.Draw(t, "id"), Version: v + 1, Status: gate.Draw(t, "status"), Terms: terms(), Verdict: verdict()}
		same := text.Draw(t, "name")
		for i := range rapid.SampledFrom([]int{0, 1, 5, 60, 120}).Draw(t, "steps") {
			p.Steps = append(p.Steps, task.Step{
				StepID: strings.Repeat("s", i%7), Order: i + 1, Title: same, Description: same, Tool: same, RequiresHumanCheck: i%2 == 0,
			})
		}
		a.Processes = append(a.Processes, p)
	}
	for n := range number.Draw(t, "executions") {
		a.Executions = append(a.Executions, &task.Execution{
			ID: text.Draw(t, "id"), ProcessVersion: number.Draw(t, "of"), Attempt: n + 1,
			Status: rapid.SampledFrom([]task.ExecutionStatus{task.ExecutionPending, task.ExecutionRunning, task.ExecutionCompleted, task.ExecutionFailed, task.ExecutionCancelled, ""}).Draw(t, "status"),
			Error:  reason.Draw(t, "why"), ErrorDetail: text.Draw(t, "detail"), Summary: text.Draw(t, "summary"),
			CancelledBy: text.Draw(t, "by"), CancelledAt: at.Draw(t, "at"), StartedAt: at.Draw(t, "at"), CompletedAt: at.Draw(t, "at"),
		})
		for i := range number.Draw(t, "rows") {
			a.Steps = append(a.Steps, &task.StepResult{
				ProcessVersion: number.Draw(t, "of"), Attempt: n + 1, Order: i + 1, StepID: strings.Repeat("s", i),
				Status:      rapid.SampledFrom([]task.StepStatus{task.StepRunning, task.StepCompleted, task.StepFailed, task.StepUnknown, ""}).Draw(t, "status"),
				CompletedAt: at.Draw(t, "at"), Reused: rapid.Bool().Draw(t, "reused"),
			})
		}
	}
	for i := range number.Draw(t, "gates") {
		a.Gates = append(a.Gates, &task.Gate{
			ID: text.Draw(t, "id"), ProcessVersion: number.Draw(t, "of"), Attempt: 1, Order: i + 1, StepID: strings.Repeat("s", i), Status: gate.Draw(t, "status"),
			Arguments: aggregate.Blob{JSON: aggregate.JSON(text.Draw(t, "json")), Preview: text.Draw(t, "preview"), S3Key: text.Draw(t, "key"), Bytes: rapid.Int().Draw(t, "bytes")},
			Terms:     terms(), Verdict: verdict(),
		})
	}
	return a
}
