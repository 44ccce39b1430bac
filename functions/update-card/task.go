package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
)

// Results reads the large arguments of a gate, which are stored outside of the table.
type Results interface {
	Opened(ctx context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error)
}

type taskCards struct {
	results Results
	console string // its address
}

func (taskCards) Place(a aggregate.Aggregate) (Place, bool) {
	t := a.(*task.Aggregate)
	if t.Request == nil {
		return Place{}, false
	}
	return Place{Team: t.Request.TeamID, Thread: t.Request.ThreadTS, Accepted: t.Head.AcceptedAt != nil || t.Task != nil},
		true
}

func (k taskCards) Render(a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, now time.Time) card.Message {
	t := a.(*task.Aggregate)
	if k.Reader(t) == "" {
		s.Locale = t.Language(s.Locale)
	}
	return card.RenderLinked(t, c, s, k.console, now)
}

// Opened reads the large arguments of a waiting step. They never change.
func (k taskCards) Opened(ctx context.Context, a aggregate.Aggregate, c *aggregate.Card) (aggregate.Aggregate, error) {
	if c.CardType != task.CardStep {
		return a, nil
	}
	opened, err := k.results.Opened(ctx, a.(*task.Aggregate), c.Subject)
	if err != nil {
		return nil, fmt.Errorf("open the arguments of a step: %w", err)
	}
	return opened, nil
}

// Suggestions are for a person who was just greeted.
func (taskCards) Suggestions(a aggregate.Aggregate, locale string) []card.Suggestion {
	if e := a.(*task.Aggregate).Head.Ended; e == nil || e.Reason != task.ReasonGreeting {
		return nil
	}
	return card.Suggestions(locale)
}

// Reader returns who wrote a direct message that became no task: only they see the answer.
func (taskCards) Reader(a aggregate.Aggregate) string {
	t := a.(*task.Aggregate)
	if t.Request.ChannelType != "im" || t.Head.Ended == nil || t.Task != nil {
		return ""
	}
	return t.Request.User
}

// outcomeWithin is how long after a task's end its requester is told. After that it is no news.
const outcomeWithin = 24 * time.Hour

// outcome is the subject of the message that says how a task ended.
const outcome = "OUTCOME"

// Outcome tells the requester that a task ended, unless they ended it themselves, or that what they had drafted anew
// was declined. Who asked in direct messages sees the card anyway.
func (taskCards) Outcome(a aggregate.Aggregate, now time.Time) *aggregate.Card {
	t := a.(*task.Aggregate)
	if x := declined(t); x != "" && len(t.CopiesOf(x)) == 0 && t.Request.ChannelType != "im" {
		return &aggregate.Card{CardType: task.CardOutcome, Subject: x, User: t.Head.Requester}
	}
	e, to := t.Head.Ended, t.Head.Requester
	if e == nil || now.Sub(e.At) >= outcomeWithin || t.Task == nil || len(t.CopiesOf(outcome)) > 0 {
		return nil
	}
	if to == "" || to == e.By || t.Request.ChannelType == "im" {
		return nil
	}
	return &aggregate.Card{CardType: task.CardOutcome, Subject: outcome, User: to}
}

// declined is the subject of the message that says that the first layer declined a corrected request; "" if it didn't.
func declined(t *task.Aggregate) string {
	if c := t.Corrected(); c != nil && c.As != "" && t.Head.Ended == nil {
		return "DECLINED#" + c.Edited
	}
	return ""
}

// Copy draws a copy of a card. If a task is retried, the message about its end stays unchanged until it ends again.
func (taskCards) Copy(
	a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time,
) (card.Message, bool) {
	t := a.(*task.Aggregate)
	if c.CardType == task.CardOutcome && c.Subject != declined(t) && (t.Head.Ended == nil || c.Subject != outcome) {
		return card.Message{}, false
	}
	s.Locale = t.Language(s.Locale)
	return card.Copy(t, c, s, link, now), true
}

func (taskCards) Urgency(of aggregate.Aggregate, c *aggregate.Card) urgency {
	a := of.(*task.Aggregate)
	if a.Head.Parked != nil && a.Head.Ended == nil && a.Newest(c.CardType, c.Subject) { // it has a retry button
		return asks
	}
	switch c.CardType {
	case task.CardPrompt, task.CardProcess, task.CardStep:
		if g := a.GateAt(c.Subject); g != nil {
			return ofGate(a, g)
		}
	case task.CardExecution:
		e := a.Execution()
		switch {
		case e != nil && e.Status != task.ExecutionPending && e.Status != task.ExecutionRunning:
			return asks
		case c.MessageTS == "", e != nil && e.Attempt > 1 && len(e.Results) == 0: // another attempt's button is an update
			return stops
		}
	default:
		return ofTask(a, c)
	}
	return progress
}

func ofGate(a *task.Aggregate, g *aggregate.Gate) urgency {
	switch {
	case g.Status == aggregate.PendingApproval && g.Terms.ApprovalRequired:
		return asks
	case g.Status != aggregate.Generating, a.Head.Ended != nil:
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

// urgency orders cards when Slack's rate limits don't allow all.
type urgency int

const (
	stops    urgency = iota // lets people stop work that has begun: whatever else is posted leaves it a post
	asks                    // asks for a decision, or says how the work ended
	settled                 // says what was decided, or is the first word about a request
	progress                // shows progress that a later card will show, too, so it may be skipped
)

// inOrder sets the cards' urgency and returns them in the order of drawing, the most urgent first. A card without a
// message is as urgent as the most urgent card after it, so that the thread stays in order.
func (d *drawing) inOrder() []*aggregate.Card {
	cards := slices.SortedStableFunc(slices.Values(d.a.Common().Cards),
		func(a, b *aggregate.Card) int { return a.CreatedAt.Compare(b.CreatedAt) })
	of := map[string]urgency{}
	behind := progress
	for _, c := range slices.Backward(cards) {
		of[c.Key()] = d.kind.Urgency(d.a, c)
		if c.MessageTS == "" {
			behind = min(behind, of[c.Key()])
			of[c.Key()] = behind
		}
	}
	slices.SortStableFunc(cards, func(a, b *aggregate.Card) int { return int(of[a.Key()] - of[b.Key()]) })
	d.urgency = of
	return cards
}
