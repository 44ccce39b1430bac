package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"ringi/shared/domain/task"
	"ringi/shared/model"
	"ringi/shared/model/managed"
	"ringi/shared/tool"
)

// consider handles one of the session's tool requests. It answers a request whose call was already made; else it makes
// the call of one that is approved and next; else it denies the first.
func (j *sessionJob) consider(ctx context.Context, a *task.Aggregate,
	requests []managed.ToolRequest) (*task.Aggregate, error) {
	e := a.Execution()
	for _, w := range requests {
		if row := a.Granted(e, w.ID); row != nil && row.Status == task.StepCompleted {
			return j.answer(ctx, a, w, reply{Status: "done", Step: row.StepID, Facts: j.facts(ctx, a, row)})
		}
	}
	var denied reply
	for i, w := range requests {
		f, denial, err := j.admit(ctx, a, w)
		if err != nil {
			return nil, err
		}
		if denial == "" {
			return j.grant(ctx, a, w, f)
		}
		if i == 0 {
			denied = deny(denial)
		}
	}
	return j.answer(ctx, a, requests[0], denied)
}

// admit finds the approved step for a request. The request's arguments, even for a read, must equal the step's approved
// arguments, or those with their references resolved. Any other request is denied.
func (j *sessionJob) admit(ctx context.Context, a *task.Aggregate, w managed.ToolRequest) (filled, task.Denial, error) {
	e := a.Execution()
	steps, input := a.ProcessOf(e).Steps, tool.Canonical(w.Input)
	var next filled
	fits := func(s task.Step) bool {
		switch n := a.NextStep(e); {
		case input == tool.Canonical(json.RawMessage(s.ToolInput)):
			return true
		case n == nil || s.Order != n.Order:
			return false
		}
		next = j.fill(ctx, a, s)
		return next.err == nil && input == string(next.resolved.JSON())
	}
	request := task.ToolRequest{ID: w.ID}
	for name, called := range namesOf(steps) {
		if called == w.Name {
			request.Tool = name
		}
	}
	step, denial := a.Admit(e, request, fits)
	switch {
	case denial == task.DeniedArguments && next.down != nil: // a result was unavailable, so the arguments may be right
		return next, denial, next.down
	case denial == "" && next.step.Order != step.Order: // the arguments are as planned
		next = j.fill(ctx, a, step)
	}
	return next, denial, nil
}

// grant makes the call, or leaves it to the next invocation if too little time is left.
func (j *sessionJob) grant(ctx context.Context, a *task.Aggregate, w managed.ToolRequest,
	f filled) (*task.Aggregate, error) {
	after, err := j.take(ctx, a, f, w.ID)
	if errors.Is(err, errNoTime) {
		return j.leaveForLater(ctx, a, 0)
	}
	return after, err
}

// reply answers a session's tool request. It contains only the result's Facts; the complete result stays in the row or
// the bucket.
type reply struct {
	Status string         `json:"status"` // done or denied
	Step   string         `json:"stepId,omitempty"`
	Facts  map[string]any `json:"facts,omitempty"`
	Reason task.Denial    `json:"reason,omitempty"`
	Why    string         `json:"why,omitempty"`
}

func deny(d task.Denial) reply { return reply{Status: "denied", Reason: d, Why: denials[d]} }

var denials = map[task.Denial]string{
	task.DeniedTool:      "Nobody approved a call of this tool. Only the steps may be carried out.",
	task.DeniedArguments: "These are not the arguments that were approved. Pass the step's arguments on exactly as they stand, with their $ref.",
	task.DeniedDone:      "This step has been done. It is not done again; go on with the next one.",
	task.DeniedOrder:     "Another step is next. Call the steps in their order.",
}

// answer sends a reply. The session's events tell the next turn whether it arrived.
func (j *sessionJob) answer(ctx context.Context, a *task.Aggregate, w managed.ToolRequest,
	r reply) (*task.Aggregate, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if r.Reason != "" {
		slog.WarnContext(ctx, "denied", "task_id", j.in.Task, "reason", r.Reason)
	}
	err = j.Sessions.Answer(ctx, a.Execution().SessionID, w.ID, string(text), r.Reason != "")
	// the request was already answered, or the session has ended
	if e := (*model.Error)(nil); errors.As(err, &e) && e.Kind == model.BadRequest {
		return j.wait(ctx, a, j.PollEvery)
	}
	if err != nil {
		return j.later(ctx, a, err)
	}
	return j.wait(ctx, a, 0)
}
