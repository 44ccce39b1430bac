package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
)

// Results reads the large arguments of a gate, which are stored outside of the table.
type Results interface {
	Opened(ctx context.Context, a *task.Aggregate, gate string) (*task.Aggregate, error)
}

type taskCards struct {
	results Results
	console string // its address
	links   decide.InboxLinks
}

func (taskCards) Place(a aggregate.Aggregate) (Place, bool) {
	t := a.(*task.Aggregate)
	if t.Request == nil {
		return Place{}, false
	}
	return Place{Team: t.Request.TeamID, Thread: t.Request.ThreadTS, Accepted: t.Head.AcceptedAt != nil || t.Task != nil},
		true
}

func (k taskCards) Render(
	a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, away []circulation.StandIn, now time.Time,
) card.Message {
	t := a.(*task.Aggregate)
	if k.Reader(t) == "" {
		s.Locale = t.Language(s.Locale)
	}
	return card.Render(t, c, s, card.Around{Console: k.console, StandIns: away}, now)
}

// Opened reads the large arguments of a waiting step, which never change, and the links of a reminder.
func (k taskCards) Opened(ctx context.Context, a aggregate.Aggregate, c *aggregate.Card) (aggregate.Aggregate, error) {
	if c.CardType != task.CardStep {
		return a.(*task.Aggregate).Linked(func(channel, ts, thread string) string {
			return k.links.Link(ctx, channel, ts, thread)
		}), nil
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

// remindedWithin is how long a reminder may wait for Slack. After that what it says may be over.
const remindedWithin = 4 * time.Hour

// Outdated reports whether a reminder is not posted any more: it is late.
func (taskCards) Outdated(a aggregate.Aggregate, _ tenancy.Settings, now time.Time) bool {
	t := a.(*task.Aggregate)
	_, reminds := t.Reminded()
	posted := func(c *aggregate.Card) bool { return c.MessageTS != "" }
	return reminds && !slices.ContainsFunc(t.Cards, posted) && now.Sub(t.Head.Ended.At) > remindedWithin
}

// outcomeWithin is how long after a task's end its requester is told. After that it is no news.
const outcomeWithin = 24 * time.Hour

// outcome is the subject of the message that says how a task ended.
const outcome = "OUTCOME"

// Outcome tells an asker that something was given back to them, and the requester that a task ended, unless they ended
// it themselves. Who asked in direct messages sees the card anyway.
func (taskCards) Outcome(a aggregate.Aggregate, now time.Time) *aggregate.Card {
	t := a.(*task.Aggregate)
	if c := returned(t); c != nil {
		return c
	}
	e, to := t.Head.Ended, t.Head.Requester
	if e == nil || now.Sub(e.At) >= outcomeWithin || t.Task == nil || len(t.CopiesOf(outcome)) > 0 {
		return nil
	}
	if to == "" || to == e.By || t.Request.ChannelType == "im" || card.ToldRequester(t) {
		return nil
	}
	return &aggregate.Card{CardType: task.CardOutcome, Subject: outcome, User: to}
}

// Decided returns the keys of the gates of steps that began to run.
func (taskCards) Decided(a aggregate.Aggregate) []string { return a.(*task.Aggregate).Decided() }

// Copy draws a copy of a card. If a task is retried, the message about its end stays unchanged until it ends again.
func (k taskCards) Copy(
	a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time,
) (card.Message, bool) {
	t := a.(*task.Aggregate)
	if c.CardType == task.CardOutcome && !strings.HasPrefix(c.Subject, card.ReturnedCopy) &&
		(t.Head.Ended == nil || c.Subject != outcome) {
		return card.Message{}, false
	}
	s.Locale = t.Language(s.Locale)
	return card.Copy(t, c, s, link, now), true
}

func (taskCards) Urgency(of aggregate.Aggregate, c *aggregate.Card) urgency {
	a, subject := of.(*task.Aggregate), c.Subject
	if p := a.Process(); a.Matter() != nil && p != nil { // its message shows what its steps' card would
		subject = p.Key()
	}
	if row := a.Returned(); row != nil && row.Key() == subject || // whoever asked has to fill it in again
		a.Head.Parked != nil && a.Head.Ended == nil && a.Newest(c.CardType, c.Subject) { // it has a retry button
		return asks
	}
	if g := a.GateAt(subject); g != nil {
		return ofGate(a, g)
	}
	switch c.CardType {
	case task.CardPrompt, task.CardProcess, task.CardStep:
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
	case a.Head.Ended != nil, c.MessageTS == "":
		return settled
	}
	return progress
}

// Said reads a conversation's messages and the output of its actions, which are outside of the aggregate.
type Said interface {
	Message(ctx context.Context, tenant, id, key string) (conversation.Message, error)
	Log(ctx context.Context, ref aggregate.Ref, action string, limit int) ([]conversation.LogEntry, error)
}

type Payloads interface {
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

type conversationCards struct {
	said    Said
	results Payloads
	console string // its address
}

func (conversationCards) Place(a aggregate.Aggregate) (Place, bool) {
	s := conversationOf(a).Conversation
	if s == nil {
		return Place{}, false
	}
	return Place{Team: s.TeamID, Thread: s.ThreadTS}, true
}

func conversationOf(a aggregate.Aggregate) card.Conversation {
	if t, ok := a.(card.Conversation); ok {
		return t
	}
	return card.Conversation{Aggregate: a.(*conversation.Aggregate)}
}

func (conversationCards) Render(
	a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, _ []circulation.StandIn, now time.Time,
) card.Message {
	return card.RenderConversation(conversationOf(a), c, s, now)
}

// Live adds the last lines of a running action's output, which grows without a commit.
func (k conversationCards) Live(ctx context.Context, a aggregate.Aggregate) (aggregate.Aggregate, error) {
	t := conversationOf(a)
	t.Console = k.console
	x := t.Current()
	if x == nil || x.Status != conversation.ActionExecuting {
		return t, nil
	}
	var err error
	if t.Log, err = k.said.Log(ctx, t.Ref(), x.ActionID, card.TailLines); err != nil {
		return nil, fmt.Errorf("read what the action prints: %w", err)
	}
	return t, nil
}

// Opened reads the contents that the card's row lacks. A card whose message was deleted shows nothing.
func (k conversationCards) Opened(
	ctx context.Context, a aggregate.Aggregate, c *aggregate.Card,
) (aggregate.Aggregate, error) {
	t, ref := conversationOf(a), a.Ref()
	switch c.CardType {
	case conversation.CardMessage:
		key, _ := conversation.OfMessage(c.Subject)
		m, err := k.said.Message(ctx, ref.Tenant, ref.ID, key)
		switch {
		case errors.Is(err, aggregate.ErrNotFound):
			t.Message = &conversation.Message{}
		case err != nil:
			return nil, fmt.Errorf("read what was said: %w", err)
		default:
			t.Message = &m
		}
	case conversation.CardAction:
		x := aggregate.Find(t.Actions, c.Subject)
		if x == nil {
			return a, nil
		}
		var err error
		if x.Payload.S3Key != "" {
			if t.Payload, err = k.results.Open(ctx, ref, x.Payload); err != nil {
				return nil, fmt.Errorf("open what the action is to do: %w", err)
			}
		}
		if x.StartedAt != nil && t.Log == nil {
			if t.Log, err = k.said.Log(ctx, ref, x.ActionID, card.TailLines); err != nil {
				return nil, fmt.Errorf("read what the action printed: %w", err)
			}
		}
	}
	return t, nil
}

// Outcome returns nothing: a person who talks with an agent has the answer in the thread.
func (conversationCards) Outcome(aggregate.Aggregate, time.Time) *aggregate.Card { return nil }

// Decided returns none: rules say nothing of actions.
func (conversationCards) Decided(aggregate.Aggregate) []string { return nil }

// Copy draws a copy. If its action is no longer in the conversation, the copy stays unchanged.
func (k conversationCards) Copy(
	a aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time,
) (card.Message, bool) {
	t := conversationOf(a)
	x := aggregate.Find(t.Actions, c.Subject)
	if x == nil {
		return card.Message{}, false
	}
	if x.Status == conversation.ActionExecuting { // people follow the output in the thread only
		t.Log = nil
	}
	return card.Copy(t, c, s, link, now), true
}

// Suggestions returns none: people who talk with an agent know what they want.
func (conversationCards) Suggestions(aggregate.Aggregate, string) []card.Suggestion { return nil }

func (conversationCards) Urgency(a aggregate.Aggregate, c *aggregate.Card) urgency {
	switch o := conversationOf(a).OpenOffer(); {
	case c.CardType == conversation.CardOffered && o != nil && o.Key() == c.Subject:
		return asks
	case c.CardType != conversation.CardAction:
		return settled
	}
	switch x := aggregate.Find(conversationOf(a).Actions, c.Subject); {
	case x == nil:
		return settled
	case x.Status == conversation.ActionPending:
		return asks
	case x.Status == conversation.ActionExecuting && c.MessageTS != "":
		return progress
	}
	return settled
}

// Waits says what the agent reads for the answer that people wait for; "": nothing.
func (conversationCards) Waits(a aggregate.Aggregate, s tenancy.Settings) string {
	return card.AgentReads(conversationOf(a), s)
}

// Status returns the agent's state for the thread.
func (conversationCards) Status(a aggregate.Aggregate) (st slackapi.AgentStatus, title string) {
	t := conversationOf(a)
	x := t.Current()
	switch {
	case t.Conversation.Status == conversation.Closed:
		return slackapi.AgentClosed, t.Conversation.Title
	case x != nil && x.Status == conversation.ActionPending && len(t.Inbox) == 0:
		return slackapi.AgentSuspended, t.Conversation.Title
	case !t.Head.Resting:
		return slackapi.AgentProcessing, t.Conversation.Title
	}
	return slackapi.AgentActive, t.Conversation.Title
}

// withStatus is a kind whose threads show an agent's state.
type withStatus interface {
	Status(a aggregate.Aggregate) (st slackapi.AgentStatus, title string)
	Waits(a aggregate.Aggregate, s tenancy.Settings) string
}

// status sends Slack the agent's state, each time, since another process may have sent another one. If it fails, cards
// and copies are drawn anyway.
func (d *drawing) status(ctx context.Context) {
	k, ok := d.kind.(withStatus)
	if !ok {
		return
	}
	if d.reach(ctx) != nil { // the next card shows it
		return
	}
	st, title := k.Status(d.a)
	channel := conversationOf(d.a).Conversation.Channel
	err := d.Slack.SetAgentStatus(ctx, channel, d.place.Thread, st, title)
	if waits := k.Waits(d.a, d.settings); err == nil && waits != "" {
		err = d.Slack.SetWaiting(ctx, channel, d.place.Thread, waits)
	}
	if d.heard(ctx, err); err != nil {
		slog.WarnContext(ctx, "the status is not shown", d.ref.Log(), "status", st, "err", err)
	}
}

// withOutput is a kind whose cards can change without a commit.
type withOutput interface {
	Live(ctx context.Context, a aggregate.Aggregate) (aggregate.Aggregate, error)
}
