package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"

	"ringi/shared/model"
	"ringi/shared/model/managed"
	"ringi/shared/pipeline"
	"ringi/shared/task"
	"ringi/shared/tool"
)

// consider takes one of the calls that the session asks for: it answers one that was
// made, makes one that is approved and next, or denies one.
func (h *host) consider(ctx context.Context, a *task.Aggregate, requests []managed.ToolRequest) (*task.Aggregate, error) {
	e := a.Execution()
	for _, w := range requests {
		if row := a.Granted(e, w.ID); row != nil && row.Status == task.StepCompleted {
			return h.answer(ctx, a, w, reply{Status: "done", Step: row.StepID, Facts: h.facts(ctx, a, row)})
		}
	}
	var denied reply
	for i, w := range requests {
		step, denial, err := h.admit(ctx, a, w)
		if err != nil {
			return nil, err
		}
		if denial == "" {
			return h.grant(ctx, a, w, step)
		}
		if i == 0 {
			denied = deny(denial)
		}
	}
	return h.answer(ctx, a, requests[0], denied)
}

// admit finds the approved step that a request is for. Its arguments, a read's too, are those that people stamped, as they
// stand or with their references resolved: the effect lines say what they are.
func (h *host) admit(ctx context.Context, a *task.Aggregate, w managed.ToolRequest) (task.Step, task.Denial, error) {
	e := a.Execution()
	steps, input := a.ProcessOf(e).Steps, tool.Canonical(w.Input)
	var down error
	next := a.NextStep(e)
	fits := func(s task.Step) bool {
		switch {
		case input == tool.Canonical(json.RawMessage(s.ToolInput)):
			return true
		case next == nil || s.Order != next.Order:
			return false
		}
		resolved, _, err := tool.Resolve(s.ToolInput, func(stepID string) (json.RawMessage, error) {
			v, err := h.resultOf(ctx, a, e, stepID)
			if err != nil && pipeline.Name(err) == pipeline.Unavailable {
				down = err
			}
			return v, err
		})
		return err == nil && input == tool.Canonical(resolved)
	}
	request := task.ToolRequest{ID: w.ID}
	for name, called := range namesOf(steps) {
		if called == w.Name {
			request.Tool = name
		}
	}
	step, denial := a.Admit(e, request, fits)
	if denial == task.DeniedArguments && down != nil { // they may be right
		return step, denial, down
	}
	return step, denial, nil
}

// grant makes a call.
func (h *host) grant(ctx context.Context, a *task.Aggregate, w managed.ToolRequest, step task.Step) (*task.Aggregate, error) {
	after, err := h.take(ctx, a, step, w.ID)
	if errors.Is(err, errNoTime) {
		return h.rest(ctx, a, 0)
	}
	return after, err
}

// reply is a call's result as the session gets it. Whole results stay with Ringi.
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

// answer sends a result. Whether it arrived, the session's events say at the next turn.
func (h *host) answer(ctx context.Context, a *task.Aggregate, w managed.ToolRequest, r reply) (*task.Aggregate, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	if r.Reason != "" {
		slog.WarnContext(ctx, "denied", "task_id", h.in.Task, "reason", r.Reason)
	}
	err = h.Sessions.Answer(ctx, a.Execution().SessionID, w.ID, string(text), r.Reason != "")
	if e := (*model.Error)(nil); errors.As(err, &e) && e.Kind == model.BadRequest { // it is answered, or over
		return h.wait(ctx, a, h.PollEvery)
	}
	if err != nil {
		return h.later(ctx, a, err)
	}
	return h.wait(ctx, a, 0)
}
