package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/model"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/clock"
	"ringi/shared/store/large"
	"ringi/shared/tool"
)

// calls makes the claimed call of x, and then each call whose claim was committed together with the result before it.
// It returns the task after the last commit, or nil if the rows must be read again.
func (j *job) calls(ctx context.Context, a *task.Aggregate, x *ready) (_ *task.Aggregate, err error) {
	for a != nil && x != nil && err == nil {
		j.used = true
		a, x, err = j.call(ctx, a, x)
	}
	return a, err
}

// call makes the claimed call and commits its outcome, even if the task was cancelled meanwhile. It returns the task
// after that commit, and the next step if that is claimed by the same commit.
func (j *job) call(ctx context.Context, a *task.Aggregate, x *ready) (*task.Aggregate, *ready, error) {
	e, step, claim := a.Execution(), x.step, x.call.Claim
	key := task.StepKey(e.ProcessVersion, e.Attempt, step.Order)
	callCtx, stop := context.WithDeadline(ctx, x.deadline)
	defer stop()
	if step.Access == aggregate.Read { // cancelling a write in progress would leave its outcome unknown
		go j.watch(callCtx, a.Ref(), stop)
	}
	began := time.Now()
	value, err := j.run(callCtx, j.toolCall(a, step, x.found, x.arguments))
	stop()
	tool.NoteChanged(ctx, j.Store, x.permission, j.Now(), err)
	o, err := j.outcome(ctx, a.Ref(), step, value, err, claim.LeaseUntil.Add(-commitWithin))
	slog.InfoContext(ctx, "called", "task_id", a.Head.TaskID, "execution_id", e.ID, "step", step.StepID, "tool", step.Tool,
		"status", o.Status, "ms", time.Since(began).Milliseconds())
	if err != nil { // the lease expires, and the read is repeated
		return nil, nil, fmt.Errorf("keep the result of %s: %w", step.StepID, err)
	}
	finish := func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishStep(key, claim.Invocation, o, j.Now())
	}
	next := j.following(ctx, a, x, finish)
	a, err = j.record(ctx, a, key, claim, finish, next)
	return a, next.held(a, j.Now()), err
}

func (j *job) toolCall(a *task.Aggregate, step task.Step, t found, arguments tool.Resolved) tool.Call {
	e, c := a.Execution(), t.spec.Call(arguments)
	c.Tenant, c.Locale, c.Key = j.in.Tenant, j.settings.Locale, a.IdempotencyKey(e, step)
	c.Asked, c.Stamped = a.Head.Requester, stampedBy(a, e, step)
	return c
}

// look completes the next step, a write of unknown outcome, if Ringi sees that it arrived. It returns nil if it
// doesn't, or can't look: then people decide.
func (j *job) look(ctx context.Context, a *task.Aggregate) *task.Aggregate {
	var err error
	defer boot.Recover(ctx, &err, "task_id", j.in.Task)
	ctx, cancel := context.WithTimeout(ctx, min(lookWithin, timeLeft(ctx)-finishWithin))
	defer cancel()
	step := a.NextStep(a.Execution())
	if step == nil {
		return nil
	}
	t, err := j.find(ctx, a.Head.TenantID, *step)
	if err != nil {
		return nil
	}
	call, arguments, err := j.prepare(ctx, a, j.fill(ctx, a, *step), t)
	if row := a.StepOf(a.Execution(), step.Order); err != nil || row == nil ||
		row.Arguments.Hash() != call.Arguments.Hash() {
		return nil
	}
	value, found := j.Tools.Look(ctx, j.toolCall(a, *step, t, arguments))
	if !found {
		return nil
	}
	blob, err := j.results.Keep(ctx, a.Ref(), value)
	if err == nil {
		a, err = j.Store.Decide(ctx, a.Ref(), func(a *task.Aggregate) (aggregate.Change, error) {
			return a.FindStep(j.in.Run, step.Order, blob, j.Now())
		})
	}
	slog.InfoContext(ctx, "looked", "task_id", j.in.Task, "step", step.StepID, "tool", step.Tool, "err", err)
	if err != nil {
		return nil
	}
	return a
}

// run makes the call. A panic of the tool becomes an error: a read has failed, a write's outcome is unknown.
func (j *job) run(ctx context.Context, c tool.Call) (v json.RawMessage, err error) {
	defer boot.Recover(ctx, &err, "task_id", j.in.Task, "tool", c.Tool)
	return j.Tools.Run(ctx, c)
}

// outcome converts the end of a call into the outcome that is recorded. It returns an error only for a read whose
// result could not be stored before until.
func (j *job) outcome(ctx context.Context, ref aggregate.Ref, step task.Step, value json.RawMessage, err error,
	until time.Time) (task.Outcome, error) {
	if err == nil {
		return j.kept(ctx, ref, step, value, until)
	}
	o := task.Outcome{Status: task.StepFailed, Reason: task.ReasonToolFailed, Detail: step.Tool}
	if te := (*explain.CallError)(nil); errors.As(err, &te) {
		o.Detail = te.Detail
		if te.Problem == explain.ProblemNoDepartment { // the approved steps name it, so trying again can't help
			o.Reason = task.ReasonToolValue
		}
	}
	if step.Access == aggregate.Write && explain.Unsure(err) {
		o.Status, o.Reason = task.StepUnknown, task.ReasonToolUnknown
	}
	return o, nil
}

// kept returns the outcome of a call that succeeded. A write counts as completed even if its result could not be
// stored.
func (j *job) kept(ctx context.Context, ref aggregate.Ref, step task.Step, value json.RawMessage,
	until time.Time) (task.Outcome, error) {
	blob, err := j.keep(ctx, ref, value, until)
	if err == nil || step.Access == aggregate.Write {
		if err != nil {
			slog.ErrorContext(ctx, "result not kept", "task_id", ref.ID, "step", step.StepID, "err", err)
		}
		return task.Outcome{Status: task.StepCompleted, Result: &blob}, nil
	}
	if errors.Is(err, large.ErrTooLarge) {
		return task.Outcome{Status: task.StepFailed, Reason: task.ReasonToolFailed, Detail: step.Tool}, nil
	}
	return task.Outcome{Status: task.StepRunning}, err
}

// keep stores a result. Nobody can repeat the call before its lease ends, so while the bucket is slow or unavailable
// keep retries until the given time.
func (j *job) keep(ctx context.Context, ref aggregate.Ref, value json.RawMessage,
	until time.Time) (blob aggregate.Blob, err error) {
	within := keepWithin
	err = pipeline.Insist(ctx, j.Now, until, func() (err error) {
		try, cancel := context.WithTimeout(ctx, min(within, until.Sub(j.Now())))
		defer cancel()
		within *= 2
		blob, err = j.results.Keep(try, ref, value)
		return err
	})
	return blob, err
}

// record commits an outcome, which no other invocation knows, and retries until the lease ends. The first try also
// claims the next step. record returns the task after that commit, or nil if the lease ended and another invocation
// repeated the call.
func (j *job) record(ctx context.Context, a *task.Aggregate, key string, claim aggregate.Claim, finish task.Decision,
	next *ready) (*task.Aggregate, error) {
	var after *task.Aggregate
	err := pipeline.Insist(ctx, j.Now, claim.LeaseUntil, func() (err error) {
		after, err = j.join(ctx, a, finish, next)
		next = nil
		return err
	})
	if errors.Is(err, aggregate.ErrSuperseded) { // the lease expired, and another invocation repeated the call
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("record the outcome of %s: %w", key, err)
	}
	return after, nil
}

// watch cancels a call when its task has ended.
func (j *job) watch(ctx context.Context, ref aggregate.Ref, stop context.CancelFunc) {
	for clock.Sleep(ctx, j.PollEvery) == nil {
		if head, err := j.Store.Head(ctx, ref); err == nil && head.Ended != nil {
			stop()
			return
		}
	}
}

// lookWithin bounds looking whether a write of unknown outcome arrived.
const lookWithin = 15 * time.Second

// maxRemembered limits the results that an invocation remembers, in bytes.
const maxRemembered = 16 << 20

// remembering are Results of which an invocation reads none from the bucket twice, nor any that it kept there, as far
// as maxRemembered allows. An object's name is the hash of its content.
type remembering struct {
	Results
	of    map[string]json.RawMessage // by key
	bytes int
}

func (r *remembering) Keep(ctx context.Context, ref aggregate.Ref, v json.RawMessage) (aggregate.Blob, error) {
	b, err := r.Results.Keep(ctx, ref, v)
	if err == nil {
		r.remember(b.S3Key, v)
	}
	return b, err
}

func (r *remembering) Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	if v, ok := r.of[b.S3Key]; ok {
		return v, nil
	}
	v, err := r.Results.Open(ctx, ref, b)
	if err == nil {
		r.remember(b.S3Key, v)
	}
	return v, err
}

func (r *remembering) remember(key string, v json.RawMessage) {
	if key == "" || r.bytes+len(v) > maxRemembered {
		return
	}
	if _, ok := r.of[key]; !ok {
		r.bytes += len(v)
		r.of[key] = v
	}
}

// summary asks the model to describe briefly what the steps did. A failed summary never fails an execution whose steps
// all completed: if the model fails or takes longer than summaryWithin, or a cost limit is reached, model.Plain lists
// the steps instead.
func (j *job) summary(ctx context.Context, a *task.Aggregate) (string, model.Usage) {
	ctx, cancel := context.WithTimeout(ctx, min(summaryWithin, timeLeft(ctx)-finishWithin))
	defer cancel()
	if m := a.Matter(); m != nil {
		return explain.DecidedOn(j.settings.Locale, m.Title, a.Execution().Number), model.Usage{}
	}
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
	input := model.SummaryInput{Task: *a.Task, Request: a.Request.Text, Locale: j.settings.Locale,
		Now: a.Request.Written(),
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
