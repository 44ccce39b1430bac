package decide

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// The time that a person takes to decide is measured from the question, not from the start of its generation.
func TestAGateIsAskedWhenItBeginsToWait(t *testing.T) {
	begun := time.Date(2026, 1, 5, 9, 0, 0, 0, time.UTC)
	pending := begun.Add(3 * time.Minute)
	by := pending.Add(48 * time.Hour)
	terms := aggregate.Terms{DecideBy: &by, ApprovalHours: 48}
	a := &task.Aggregate{
		Prompts:   []*task.Prompt{{ID: "prompt", CreatedAt: begun, Gate: aggregate.Gate{Terms: terms}}, {ID: "generating", CreatedAt: begun}},
		Processes: []*task.Process{{ID: "process", CreatedAt: begun, Gate: aggregate.Gate{Terms: terms}}},
		Gates:     []*task.StepGate{{ID: "gate", CreatedAt: begun, Gate: aggregate.Gate{Terms: terms}}},
	}
	for id, want := range map[string]time.Time{
		"prompt": pending, "process": pending, "gate": pending, "generating": {}, "execution": {},
	} {
		got := a.AskedAt(id)
		expect.That(t, got.Equal(want), "%s was asked at %s, want %s", id, got, want)
	}
}

func TestNobodyDecidesBeforeTheyAreAsked(t *testing.T) {
	asked := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for wait, want := range map[time.Duration]time.Duration{90 * time.Second: 90 * time.Second, 0: 0, -time.Second: 0} {
		expect.Is(t, (Verdict{WaitsSince: asked}).waited(asked.Add(wait)), want, "%s after", wait)
	}
}

// Every kind that asks people must implement Subject: without it clicks and lists of waiting gates can't find it.
func TestAKindThatAsksPeopleSaysHow(t *testing.T) {
	for _, k := range store.Kinds() {
		_, asks := k.New().(Subject)
		says := [4]bool{k.ValidID != nil, k.RequestKey != "", len(k.Asks) > 0, card.DialogsOf(k.New()) != nil}
		if says != [4]bool{asks, asks, asks, asks} {
			t.Errorf("kind %s, decided on: %v, says its ids' form, who asked for one, by which cards, in which dialogs: %v",
				k.Name, asks, says)
		}
	}
}
