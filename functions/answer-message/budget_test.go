package main

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// By default agents have a budget of the day. Used up by one conversation, no other asks a model until the next day.
func TestAgentsHaveABudgetOfTheDay(t *testing.T) {
	server := storetest.Start(t)
	w := talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"}, func(*tenancy.Settings) {})
	now := time.Now()
	w.Now = func() time.Time { return now }
	expect.That(t, tenancy.DefaultSettings().MaxAgentsDay() > 0, "there is none")
	w.vendor.says.Usage = model.Usage{Provider: "openai", Model: "gpt-5.4", Input: 7_000_000, Calls: 1} // $35
	expect.Value(w.handle())(t)
	expect.That(t, w.said().Content == "hi" && w.load().Conversation.Usage.Cost >= 20_000_000,
		"%+v", w.load().Conversation.Usage)
	w.tell("1775034001.000100", "U1", "more")
	w.wake()
	expect.Value(w.handle())(t)
	m := w.said()
	expect.That(t, m.Reason == reasonAgentsDay && len(w.vendor.requests) == 1, "%d calls, %+v", len(w.vendor.requests), m)
	expect.Has(t, m.Content, "budget for agents ($20.00)")
	expect.That(t, w.load().Conversation.Status == conversation.Open,
		"the conversation is %s", w.load().Conversation.Status)
	now = now.AddDate(0, 0, 1)
	w.tell("1775034002.000100", "U1", "and today?")
	w.wake()
	expect.Value(w.handle())(t)
	expect.That(t, w.said().Content == "hi" && len(w.vendor.requests) == 2, "the next day: %+v", w.said())
}

// The budget is looked at before each call, not only before the first one of a turn. What was paid is charged.
func TestTheBudgetIsLookedAtBeforeEachCall(t *testing.T) {
	server := storetest.Start(t)
	for about, provider := range map[string]model.Usage{
		"of known price":   {Provider: "openai", Model: "gpt-5.4", Input: 1_000_000, Calls: 1},
		"of unknown price": {Provider: "x", Model: "y", Input: 1_000_000, Calls: 1},
	} {
		w := talking(t, server, conversation.Opening{AgentID: "codex", Locale: "en"},
			func(s *tenancy.Settings) { s.MaxAgentsCostDayUSD = 1 })
		// it would be asked again
		w.vendor.says = model.Response{Stop: model.StopEnd, Usage: provider,
			Calls: []model.Call{{ID: "c", Name: "test_run", Input: []byte(`{}`)}}}
		expect.Value(w.handle())(t)
		a := w.load()
		expect.That(t, len(w.vendor.requests) == 1 && w.said().Reason == reasonAgentsDay &&
			a.Conversation.Usage.Calls >= 1 && len(a.Inbox) == 0,
			"%s: %d calls, %+v, %+v", about, len(w.vendor.requests), w.said(), a.Conversation.Usage)
		spent := expect.Value(w.rows.Quota(t.Context(), w.ref.Tenant, tenancy.AgentsDay(time.Now())))(t)
		expect.That(t, spent >= 2_500_000, "%s: %d counted", about, spent)
	}
}

// Without a limit nothing is asked for, and the count goes on.
func TestAgentsWithoutABudget(t *testing.T) {
	w := talking(t, storetest.Start(t), conversation.Opening{AgentID: "codex", Locale: "ja"},
		func(s *tenancy.Settings) { s.MaxAgentsCostDayUSD = 0 })
	w.vendor.says.Usage = model.Usage{Provider: "openai", Model: "gpt-5.4", Input: 90_000_000, Calls: 1}
	for i := range 2 {
		expect.Value(w.handle())(t)
		expect.Is(t, w.said().Content, "hi")
		w.tell("177503400"+string(rune('1'+i))+".000100", "U1", strings.Repeat("x", i+1))
		w.wake()
	}
}
