package task

import (
	"strings"

	"ringi/shared/domain/aggregate"
)

const (
	CardTask      aggregate.CardType = "task"
	CardPrompt    aggregate.CardType = "prompt"
	CardProcess   aggregate.CardType = "process"
	CardExecution aggregate.CardType = "execution"
	CardOutcome   aggregate.CardType = "outcome" // how the task ended; only the requester sees it
	CardStep      aggregate.CardType = "step"    // a step's gate
)

// cardOf returns the type of the card that asks about the gate of the row with this key.
func cardOf(key string) aggregate.CardType {
	typ, _, _ := strings.Cut(key, "#")
	return map[string]aggregate.CardType{
		"PROMPT": CardPrompt, "PROCESS": CardProcess, "AGAIN": CardProcess, "GATE": CardStep,
	}[typ]
}

// GateOfSteps returns the key of the newest gate about the request's steps, "" before there is one.
func (h *Head) GateOfSteps() string {
	for _, n := range h.Routes {
		if cardOf(n.Gate) == CardProcess {
			return n.Gate
		}
	}
	return h.Newest.Key("PROCESS")
}
