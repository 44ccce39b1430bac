package main

import (
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/provider"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// What bounds the day of a further workspace holds for its agents as well, whatever its administrators set: calls of
// unknown price would count nothing towards that day.
func TestAFurtherWorkspacesAgentsCallNoModelOfUnknownPrice(t *testing.T) {
	w := talking(t, storetest.Start(t), conversation.Opening{AgentID: "mine", Locale: "en"}, func(s *tenancy.Settings) {
		s.FurtherDay = aggregate.USD(5)
		s.Agents = append(s.Agents, agent.Definition{ID: "mine", Provider: agent.Anthropic, Model: "claude-unheard-of", Capabilities: []agent.Capability{agent.Code}})
	})
	w.Open = func(d agent.Definition, s tenancy.Settings) (model.Wire, error) {
		if _, err := (provider.Config{}).OpenAgent(d, "", s); err != nil {
			return nil, err
		}
		return w.vendor, nil
	}
	w.vendor.says.Usage = model.Usage{Calls: 1, Input: 1_000_000, Output: 100_000, Unpriced: 1}
	expect.Value(w.handle())(t)
	if said := w.said(); said.Reason != task.ReasonModelUnpriced || w.load().Session.Status != conversation.Failing || len(w.vendor.requests) != 0 {
		t.Errorf("%d calls, and it said %+v", len(w.vendor.requests), said)
	}
}
