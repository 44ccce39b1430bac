package main

import (
	"slices"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// urgency is how soon a card has to be drawn while Slack's pace does not suffice for all.
type urgency int

const (
	asks     urgency = iota // it asks for a decision, or says how the work ended
	settled                 // it says what was decided, or is the first word to who asked
	progress                // something goes on, and more will be said: it can be left out
)

// urgencyOf reads off the rows how soon a card has to be drawn.
func urgencyOf(a *task.Aggregate, c *aggregate.Card) urgency {
	if a.Head.Parked != nil && a.Head.Ended == nil && a.Newest(c.CardType, c.Subject) { // it has a button to try again
		return asks
	}
	switch c.CardType {
	case task.CardPrompt:
		if i := slices.IndexFunc(a.Prompts, func(p *task.Prompt) bool { return p.Key() == c.Subject }); i >= 0 {
			return ofGate(a, a.Prompts[i].Status, a.Prompts[i].Terms)
		}
	case task.CardProcess:
		if i := slices.IndexFunc(a.Processes, func(p *task.Process) bool { return p.Key() == c.Subject }); i >= 0 {
			return ofGate(a, a.Processes[i].Status, a.Processes[i].Terms)
		}
	case task.CardStep:
		if i := slices.IndexFunc(a.Gates, func(g *task.Gate) bool { return g.Key() == c.Subject }); i >= 0 {
			return ofGate(a, a.Gates[i].Status, a.Gates[i].Terms)
		}
	case task.CardExecution:
		if e := a.Execution(); e != nil && e.Status != task.ExecutionPending && e.Status != task.ExecutionRunning {
			return asks
		}
	default:
		return ofTask(a, c)
	}
	return progress
}

func ofGate(a *task.Aggregate, s aggregate.GateStatus, t aggregate.Terms) urgency {
	switch {
	case s == aggregate.PendingApproval && t.ApprovalRequired:
		return asks
	case s != aggregate.Generating, a.Head.Ended != nil:
		return settled
	}
	return progress
}

func ofTask(a *task.Aggregate, c *aggregate.Card) urgency {
	switch {
	case a.Choosing() != nil:
		return asks
	case a.Head.Ended != nil, c.MessageTS == "":
		return settled
	}
	return progress
}

// inOrder are a task's cards as they are drawn: the most urgent first. A card that has no
// message yet is as urgent as the most urgent one after it, so that a thread reads in order.
func inOrder(a *task.Aggregate) ([]*aggregate.Card, map[string]urgency) {
	cards := slices.SortedStableFunc(slices.Values(a.Cards), func(a, b *aggregate.Card) int { return a.CreatedAt.Compare(b.CreatedAt) })
	of := map[string]urgency{}
	behind := progress
	for _, c := range slices.Backward(cards) {
		of[c.Key()] = urgencyOf(a, c)
		if c.MessageTS == "" {
			behind = min(behind, of[c.Key()])
			of[c.Key()] = behind
		}
	}
	slices.SortStableFunc(cards, func(a, b *aggregate.Card) int { return int(of[a.Key()] - of[b.Key()]) })
	return cards, of
}
