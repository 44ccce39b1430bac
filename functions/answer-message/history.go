package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ringi/shared/aggregate"
	"ringi/shared/chat"
	"ringi/shared/session"
)

// history is what was said, as the agent knows it: the summary of what is folded away, then what was answered, then what is
// answered now. The session is read again after the messages, so that every message that came meanwhile is known to wait.
func (t *turn) history(ctx context.Context) ([]chat.Message, error) {
	s := t.a.Session
	from := s.CollapsedThrough
	if from == "" && s.HistoryFrom != nil {
		from = aggregate.TimeText(*s.HistoryFrom)
	}
	said, err := t.Store.Messages(ctx, t.in.Tenant, s.ID, from)
	if err != nil {
		return nil, fmt.Errorf("read what was said: %w", err)
	}
	if t.a, err = t.Store.Load(ctx, t.ref); err != nil {
		return nil, fmt.Errorf("load the session: %w", err)
	}
	waits := map[string]bool{}
	for _, i := range t.a.Inbox {
		waits[i.Message] = true
	}
	asked := map[string]bool{}
	for _, i := range t.seen {
		asked[i.Message] = true
	}
	var before, now []session.Message
	for _, m := range said {
		switch key := m.Key(); {
		case asked[key]:
			now = append(now, m)
		case key > s.CollapsedThrough && !m.Collapsed && !waits[key]:
			before = append(before, m)
		}
	}
	all := append(before, now...)
	out, err := t.told(ctx, all)
	if err != nil || s.SummaryKey == "" {
		return out, err
	}
	summary, err := t.Store.Message(ctx, t.in.Tenant, s.ID, s.SummaryKey)
	switch {
	case errors.Is(err, aggregate.ErrNotFound): // the session is not kept, and its time is over as that of what it stands for
		return out, nil
	case err != nil:
		return nil, fmt.Errorf("read the summary: %w", err)
	}
	return slices.Insert(out, 0, chat.Message{Key: s.CollapsedThrough, Sender: chat.FromSystem, Text: summary.Content, Collapsed: true}), nil
}

// standsThrough is the key through which a summary of older stands for all that was said; empty if for nothing. What is shown
// or waits is never before it, though it may have been written before an answer that is folded: while that was made.
func (t *turn) standsThrough(older, shown []chat.Message) (key string) {
	folded, first := map[string]bool{}, shown[0].Key
	for _, m := range older {
		folded[m.Key] = true
	}
	for _, m := range shown {
		first = min(first, m.Key)
	}
	for _, i := range t.a.Inbox {
		if !folded[i.Message] {
			first = min(first, i.Message)
		}
	}
	for _, m := range older {
		if m.Key < first {
			key = max(key, m.Key)
		}
	}
	return key
}

// told are messages as the agent is told them.
func (t *turn) told(ctx context.Context, all []session.Message) ([]chat.Message, error) {
	var people []string
	for _, m := range all {
		if m.User != "" && !slices.Contains(people, m.User) {
			people = append(people, m.User)
		}
	}
	names := t.Names(ctx, t.ref, t.a.Session.TeamID, people...)
	actions, err := t.actions(ctx, all)
	if err != nil {
		return nil, err
	}
	t.remember(all)
	out := make([]chat.Message, len(all))
	for i, m := range all {
		out[i] = chat.Message{Key: m.Key(), Sender: chat.Sender(m.Sender), Name: names[m.User], Text: m.Content, Collapsed: m.Collapsed}
		if m.Sender != session.FromAgent {
			out[i].Files = t.files(m)
		}
		x := actions[m.ActionID]
		switch {
		case x == nil:
		case m.Sender == session.FromAgent:
			out[i].Proposal = t.proposed(ctx, x)
			for _, p := range m.Refused {
				out[i].Refused = append(out[i].Refused, chat.Proposal{Type: p.ActionType, Payload: p.Payload, Summary: p.Summary})
			}
		default:
			out[i].ActionID = x.ActionID
		}
	}
	return out, nil
}

// actions are those that messages are about, by id.
func (t *turn) actions(ctx context.Context, all []session.Message) (map[string]*session.Action, error) {
	out := map[string]*session.Action{}
	for _, x := range t.a.Actions {
		out[x.ActionID] = x
	}
	if !slices.ContainsFunc(all, func(m session.Message) bool { return m.ActionID != "" && out[m.ActionID] == nil }) {
		return out, nil
	}
	old, err := t.Store.Archived(ctx, t.in.Tenant, t.a.Session.ID)
	if err != nil {
		return nil, fmt.Errorf("read old actions: %w", err)
	}
	for _, x := range old {
		out[x.ActionID] = &x
	}
	return out, nil
}

// proposed is what the agent proposed, as it wrote it. A large one of long ago is not read again.
func (t *turn) proposed(ctx context.Context, x *session.Action) *chat.Proposal {
	p := &chat.Proposal{ActionID: x.ActionID, Type: x.ActionType, Payload: string(x.Payload.JSON), Summary: x.Summary}
	if p.Payload == "" {
		p.Payload = "{}"
		if text, err := t.Payloads.Open(ctx, t.ref, x.Payload); err == nil && x.Number > t.a.Session.Actions-3 {
			p.Payload = string(text)
		}
	}
	return p
}
