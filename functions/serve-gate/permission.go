package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/decide/calls"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/tool"
)

// mostTries is how often a permission looks for a call that its attempt may take, from the newest one known.
const mostTries = 20

// permission answers Claude Code, which runs a tool only after a yes: one text, and nothing beside it. The yes comes
// after the grant of the call is taken for this attempt, and names just the input that people stamped.
func (r request) permission(ctx context.Context, arguments json.RawMessage) *mcp.CallToolResult {
	input, err := r.permit(ctx, arguments)
	out := map[string]any{"behavior": "allow", "updatedInput": input}
	if err != nil {
		out = map[string]any{"behavior": "deny", "message": r.door.faultOf(ctx, err).text}
	}
	text, err := tool.Written(out)
	if err != nil { // impossible for these answers
		return r.failed(ctx, err)
	}
	return said(string(text), false)
}

// permit returns the input that may run now.
func (r request) permit(ctx context.Context, arguments json.RawMessage) (json.RawMessage, error) {
	var in struct {
		Tool  string          `json:"tool_name"`
		Input json.RawMessage `json:"input"`
		Use   string          `json:"tool_use_id"`
	}
	if err := json.Unmarshal(arguments, &in); err != nil || in.Use == "" {
		return nil, fault{text: "tool_name, input and tool_use_id must say which call it is"}
	}
	a, err := r.stamped(ctx, calls.Request{Tool: in.Tool, Arguments: in.Input, Again: againIn(in.Tool, in.Input),
		Elsewhere: true}, in.Use)
	if err != nil {
		return nil, err
	}
	if !a.Call.TakenFor(in.Use, r.door.Now()) {
		return nil, fault{text: r.answerOf(ctx, a).Say}
	}
	content, err := a.Call.Content()
	return json.RawMessage(content.Arguments), err
}

// stamped asks for a call and takes its grant for the attempt. Another attempt of the same call than the one that took
// it is another request, which people are asked about anew, as is one whose request ended without their no. After a no
// the words of the call have to say that it is meant once more; see againIn.
func (r request) stamped(ctx context.Context, w calls.Request, use string) (a *call.Aggregate, err error) {
	until := time.Now().Add(usualWait * time.Second)
	for range mostTries {
		if a, err = r.door.Ask(ctx, r.key, w); err != nil {
			return a, err
		}
		if !a.Call.Over() {
			a, err = r.door.Wait(ctx, r.key, a.Call.CallID, time.Until(until))
		}
		if err == nil && !a.Call.Over() && a.Call.Answered() {
			taken, failed := r.door.Take(ctx, r.key, a.Call.CallID, use, w)
			if failed == nil {
				return taken, nil
			}
			if _, over := errors.AsType[aggregate.ErrDecided](failed); !over && !errors.Is(failed, call.ErrTaken) {
				return a, failed
			}
			a, err = r.door.Get(ctx, r.key, a.Call.CallID)
		}
		if err != nil || !a.Call.Over() || a.Call.TakenFor(use, r.door.Now()) || statusOf(a.Call) == refused {
			return a, err
		}
		w.Again = a.Call.CallID
	}
	return a, aggregate.ErrConflict // other attempts are faster
}
