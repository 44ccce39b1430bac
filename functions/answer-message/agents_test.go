package main

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// onlyAnswers lets no agent answer but one.
func (w *world) onlyAnswers(id string) {
	w.Answers = func(_ context.Context, d agent.Definition, _ tenancy.Settings) (agent.Answering, error) {
		x := agent.Answering{ID: d.ID}
		if d.ID != id {
			x.Lacks, x.Detail = agent.LacksKey, "k"
		}
		return x, nil
	}
}

// Where nobody named an agent and the default has no key, one that can answer does, and stays the conversation's.
func TestWhereNobodyNamedAnAgentOneThatCanAnswerDoes(t *testing.T) {
	server := storetest.Start(t)
	for _, unnamed := range []bool{true, false} {
		w := talking(t, server, conversation.Opening{AgentID: "codex", Unnamed: unnamed, Locale: "en"},
			func(*tenancy.Settings) {})
		w.onlyAnswers("claude")
		var opened string
		w.Open = func(_ context.Context, d agent.Definition, _ tenancy.Settings) (model.Wire, error) {
			opened = d.ID
			return w.vendor, nil
		}
		expect.Value(w.handle())(t)
		want := map[bool]string{true: "claude", false: "codex"}[unnamed]
		expect.That(t, opened == want && w.load().Conversation.AgentID == want,
			"unnamed %t: %s answered, %s stays", unnamed, opened,
			w.load().Conversation.AgentID)
		if unnamed { // it goes on with that agent though the default could answer by now
			w.Answers = func(_ context.Context, d agent.Definition, _ tenancy.Settings) (agent.Answering, error) {
				return agent.Answering{ID: d.ID}, nil
			}
			w.tell("1775034009.000100", "U1", "more")
			expect.Value(w.rows.Decide(t.Context(), w.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
				return a.StartRun(time.Now())
			}))(t)
			expect.Value(w.handle())(t)
			expect.Is(t, opened, "claude", "goes on with")
		}
	}
}

// The console asks the same function, and gets names, never a key; anything else is a run's input.
func TestTheConsoleIsToldWhichAgentsCanAnswer(t *testing.T) {
	w := talking(t, storetest.Start(t), conversation.Opening{AgentID: "codex"}, func(*tenancy.Settings) {})
	w.onlyAnswers("claude")
	edge := 0
	serve := w.serve(func(context.Context, pipeline.Input) (pipeline.Output, error) {
		edge++
		return pipeline.Output{}, nil
	})
	got := expect.Value(serve(t.Context(), json.RawMessage(`{"agents_of":"`+w.ref.Tenant+`"}`)))(t)
	want := agent.Answered{Agents: []agent.Answering{{ID: "codex", Lacks: agent.LacksKey, Detail: "k"},
		{ID: "claude", Default: true}}}
	expect.Same(t, want, got)
	expect.Value(serve(t.Context(), json.RawMessage(`{"tenant_id":"t","run":1}`)))(t)
	expect.Is(t, edge, 1)
	if _, err := serve(t.Context(), json.RawMessage(`["sk-x"]`)); err == nil {
		t.Error("no input is one")
	}
	w.Answers = func(context.Context, agent.Definition, tenancy.Settings) (agent.Answering, error) {
		return agent.Answering{}, errors.New("no secret now")
	}
	if _, err := serve(t.Context(), json.RawMessage(`{"agents_of":"x"}`)); err == nil {
		t.Error("what is not known is answered")
	}
}
