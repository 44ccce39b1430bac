package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/agent"
)

// serve handles a run's input with edge, and the console's question which agents can answer with Agents.
func (h *Handler) serve(edge func(context.Context, pipeline.Input) (pipeline.Output, error),
) func(context.Context, json.RawMessage) (any, error) {
	return func(ctx context.Context, event json.RawMessage) (any, error) {
		var asked agent.Asked
		if err := json.Unmarshal(event, &asked); err == nil && asked.Tenant != "" {
			return h.Agents(ctx, asked.Tenant)
		}
		var in pipeline.Input
		if err := json.Unmarshal(event, &in); err != nil {
			return nil, errors.New("the event is no run's input") // the error could quote it
		}
		return edge(ctx, in)
	}
}

// Agents says which of a tenant's agents can answer. It has no key in its answer, and calls no model.
func (h *Handler) Agents(ctx context.Context, tenant string) (agent.Answered, error) {
	settings, err := h.Store.Settings(ctx, tenant)
	if err != nil {
		return agent.Answered{}, fmt.Errorf("read the settings: %w", err)
	}
	defs, _ := agent.Definitions(settings.Agents, h.Allow)
	var out agent.Answered
	for _, d := range defs {
		x, err := h.Answers(ctx, d, settings)
		if err != nil {
			return agent.Answered{}, fmt.Errorf("who can answer: %w", err)
		}
		out.Agents = append(out.Agents, x)
	}
	agent.Choose(out.Agents, agent.Default(defs).ID)
	return out, nil
}

// agent returns the conversation's agent. In a conversation that began without an agent's name, the default may be one
// that can't answer; then the agent is the first that can. known is false if the settings have no such agent.
func (t *answering) agent(ctx context.Context) (d agent.Definition, known bool, err error) {
	s := t.a.Conversation
	defs, _ := agent.Definitions(t.settings.Agents, t.Allow)
	d, known = agent.Find(defs, s.AgentID)
	if !s.Unnamed {
		return d, known, nil
	}
	var all []agent.Answering
	for _, of := range defs {
		x, err := t.Answers(ctx, of, t.settings)
		if err != nil {
			return d, known, err
		}
		all = append(all, x)
	}
	agent.Choose(all, s.AgentID)
	for i, x := range all {
		if x.Default {
			return defs[i], true, nil
		}
	}
	return d, known, nil
}
