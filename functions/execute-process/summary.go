package main

import (
	"context"
	"encoding/json"
	"log/slog"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/runtime/boot"
)

// summary asks the model to describe briefly what the steps did. A failed summary never fails an execution whose steps
// all completed: if the model fails or takes longer than summaryWithin, or a cost limit is reached, model.Plain lists
// the steps instead.
func (j *job) summary(ctx context.Context, a *task.Aggregate) (string, model.Usage) {
	ctx, cancel := context.WithTimeout(ctx, min(summaryWithin, timeLeft(ctx)-finishWithin))
	defer cancel()
	input := j.summaryInput(ctx, a)
	if _, over := pipeline.WithinBudgets(ctx, j.Store, j.in.Tenant, j.settings, j.Now()); over != nil ||
		a.CostReached(j.settings.MaxCost()) {
		return model.Plain(input), model.Usage{}
	}
	text, usage, err := j.words(ctx, input)
	if err != nil {
		slog.WarnContext(ctx, "plain summary", "task_id", j.in.Task, "err", err)
		return model.Plain(input), usage
	}
	return text, usage
}

func (j *job) words(ctx context.Context, input model.SummaryInput) (text string, usage model.Usage, err error) {
	defer boot.Recover(ctx, &err, "task_id", j.in.Task)
	g, err := model.Within(j.settings, j.Open, pipeline.ModelName(j.Model, j.settings), j.Results.Prompts(j.in.Ref()))
	if err != nil {
		return "", model.Usage{}, err
	}
	return model.Summarize(ctx, g, input)
}

// summaryInput reads all results of the newest attempt, and leaves out those that can't be read.
func (j *job) summaryInput(ctx context.Context, a *task.Aggregate) model.SummaryInput {
	e := a.Execution()
	input := model.SummaryInput{Task: *a.Task, Request: a.Request.Text, Locale: j.settings.Locale, Now: a.Request.Written(),
		Try: e.Attempt}
	for _, step := range a.ProcessOf(e).Steps {
		r := model.StepResult{StepID: step.StepID, Title: step.Name(), Tool: step.Tool}
		row := a.StepOf(e, step.Order)
		if row != nil && row.Result != nil && (row.Result.JSON != "" || row.Result.S3Key != "") {
			v, err := j.results.Open(ctx, a.Ref(), *row.Result)
			if err != nil {
				slog.WarnContext(ctx, "a result is not in the summary", "task_id", j.in.Task, "step", step.StepID, "err", err)
			}
			// All that the summary needs: the results together may not fit into the memory.
			r.Result, _ = json.Marshal(model.Facts(v)) // texts, numbers and flags can always be encoded
		}
		input.Steps = append(input.Steps, r)
	}
	return input
}
