package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/explain"
	"ringi/shared/model/turn"
)

// history returns the conversation for the agent: the summary of folded messages, the answered messages, and the
// messages that are answered now. It loads the rows again after the messages, so that it knows every message that came
// meanwhile as waiting.
func (t *answering) history(ctx context.Context) ([]turn.Message, error) {
	s := t.a.Conversation
	t.from = s.From()
	said, err := t.Store.Messages(ctx, t.in.Tenant, s.ID, t.from)
	if err != nil {
		return nil, fmt.Errorf("read what was said: %w", err)
	}
	said = conversation.Heard(said)
	now, err := t.asked(ctx, said)
	if err != nil {
		return nil, err
	}
	if t.a, err = t.Store.Load(ctx, t.ref); err != nil {
		return nil, fmt.Errorf("load the session: %w", err)
	}
	notBefore := map[string]bool{}
	for _, i := range t.a.Inbox {
		notBefore[i.Message] = true
	}
	for _, m := range now {
		notBefore[m.Key()] = true
	}
	var before []conversation.Message
	for _, m := range said {
		if key := m.Key(); key <= t.from || m.Collapsed || notBefore[key] {
			continue
		}
		late, err := t.late(ctx, m)
		if err != nil {
			return nil, err
		}
		before = append(append(before, late...), m)
	}
	t.summed = nil
	if s.From() == "" {
		return t.told(ctx, conversation.InOrder(before, now), said)
	}
	older, err := t.older(ctx)
	if err != nil {
		return nil, err
	}
	out, err := t.told(ctx, conversation.InOrder(before, now), said)
	return slices.Insert(out, 0, older), err
}

// older returns what the agent is told of the messages that it is not shown: their summary, if there is one. It notes
// who spoke there.
func (t *answering) older(ctx context.Context) (turn.Message, error) {
	s := t.a.Conversation
	out := turn.Message{Key: s.From(), Sender: conversation.FromSystem, Collapsed: true, At: conversation.TimeOf(s.From())}
	if s.SummaryKey == "" {
		return out, nil
	}
	summary, err := t.Store.Message(ctx, t.in.Tenant, s.ID, s.SummaryKey)
	switch {
	case errors.Is(err, aggregate.ErrNotFound): // the summary has expired, like the messages in it
	case err != nil:
		return out, fmt.Errorf("read the summary: %w", err)
	}
	out.Text = summary.Content
	for _, user := range summary.Spoke {
		t.summed = append(t.summed, spoken{user, out.Key, out.At})
	}
	return out, nil
}

// asked returns the messages that are answered now, in the order of their inbox rows. A message that Slack delivered
// late may come before t.from. A folded message is in the summary. A message that can't be read is left out; if none
// can be read, asked fails and another try reads again.
func (t *answering) asked(ctx context.Context, said []conversation.Message) ([]conversation.Message, error) {
	found := map[string]conversation.Message{}
	for _, m := range said {
		found[m.Key()] = m
	}
	var out []conversation.Message
	var seen []*conversation.Inbox
	for _, i := range t.seen {
		if i.Folded {
			seen = append(seen, i)
			continue
		}
		m, known := found[i.Message]
		if !known {
			var err error
			switch m, err = t.Store.Message(ctx, t.in.Tenant, t.ref.ID, i.Message); {
			case errors.Is(err, aggregate.ErrNotFound):
				slog.WarnContext(ctx, "a message that waits can't be read", "session", t.ref.ID, "message", i.Message)
				continue
			case err != nil:
				return nil, fmt.Errorf("read a message that waits: %w", err)
			}
		}
		out, seen = append(out, m), append(seen, i)
	}
	if t.seen = seen; len(seen) == 0 {
		return nil, fmt.Errorf("none of the messages that wait can be read: %w", explain.ErrUnavailable)
	}
	return out, nil
}

// late returns the messages before t.from that this message answered, unless they have expired.
func (t *answering) late(ctx context.Context, m conversation.Message) (out []conversation.Message, err error) {
	for _, key := range m.Late {
		if key > t.from {
			continue
		}
		late, err := t.Store.Message(ctx, t.in.Tenant, t.ref.ID, key)
		switch {
		case errors.Is(err, aggregate.ErrNotFound):
		case err != nil:
			return nil, fmt.Errorf("read a message that was late: %w", err)
		default:
			out = append(out, late)
		}
	}
	return out, nil
}

// standsThrough returns the last key that a summary of older would cover, or "". Messages that are shown or wait must
// come after that key, although they may have been written before a folded answer, while that answer was made. Messages
// before t.from don't matter: they are read by their keys.
func (t *answering) standsThrough(older, shown []turn.Message) (key string) {
	folded := map[string]bool{}
	for _, m := range older {
		folded[m.Key] = true
	}
	var stay []string
	for _, m := range shown {
		stay = append(stay, m.Key)
	}
	for _, i := range t.a.Inbox {
		if !folded[i.Message] {
			stay = append(stay, i.Message)
		}
	}
	stay = slices.DeleteFunc(stay, func(key string) bool { return key <= t.from })
	for _, m := range older {
		if m.Key > max(t.from, key) && !slices.ContainsFunc(stay, func(s string) bool { return s <= m.Key }) {
			key = m.Key
		}
	}
	return key
}

func (t *answering) waitingOf(all []turn.Message) (keys []string) {
	for _, m := range all {
		if slices.ContainsFunc(t.seen, func(i *conversation.Inbox) bool { return i.Message == m.Key }) {
			keys = append(keys, m.Key)
		}
	}
	return keys
}

// told converts messages for the agent. known are the messages that may say that others were deleted.
func (t *answering) told(ctx context.Context, all, known []conversation.Message) ([]turn.Message, error) {
	deleted := map[string]bool{}
	for _, m := range known {
		deleted[m.Changes] = deleted[m.Changes] || m.Deleted
	}
	actions, err := t.actions(ctx, all)
	if err != nil {
		return nil, err
	}
	names := t.names(ctx, all, actions)
	t.remember(all)
	out := make([]turn.Message, len(all))
	for i, m := range all {
		out[i] = turn.Message{Key: m.Key(), Sender: m.Sender, Name: names[m.User], UserID: m.User,
			At: m.CreatedAt, Text: m.Content, Collapsed: m.Collapsed, Deleted: m.Deleted || deleted[m.Key()],
			Replaces: conversation.TimeOf(m.Changes)}
		if m.Sender == conversation.FromUser {
			out[i].Text = named(m.Content, names)
		}
		if out[i].Deleted {
			out[i].Text = ""
		} else if m.Sender != conversation.FromAgent {
			out[i].Forwarded = forwarded(m, names)
			for _, f := range m.Attachments {
				out[i].Files = append(out[i].Files, turn.File{ID: f.FileID, Name: f.Name, Type: f.Type, Size: int(f.Bytes),
					Why: f.Why})
			}
		}
		out[i].Request = m.Request
		if m.Sender == conversation.FromSystem {
			out[i].Pieces = m.Pieces()
		}
		for _, e := range m.Thread {
			out[i].Thread = append(out[i].Thread, turn.Earlier{Name: names[e.User], UserID: e.User, At: e.At,
				Text: named(e.Text, names)})
		}
		x := actions[m.ActionID]
		switch {
		case x == nil:
		case rejects(m, x):
			out[i].ActionID, out[i].Name, out[i].UserID = x.ActionID, names[x.CancelledBy], x.CancelledBy
		case m.Sender == conversation.FromAgent:
			out[i].Proposal = t.proposed(ctx, x)
		default:
			out[i].ActionID = x.ActionID
		}
	}
	readBefore(all, out)
	t.returnedBefore(ctx, all, actions, out)
	t.hear(all, out, actions)
	return out, nil
}

// hear notes what people said, in the words that they wrote, and who spoke since a person last approved an action: also
// in the thread before the conversation, in messages that are summed up or deleted, and in proposals and rejections.
func (t *answering) hear(all []conversation.Message, shown []turn.Message, actions map[string]*conversation.Action) {
	t.words, t.spoke = nil, slices.Clone(t.summed)
	for i, m := range all {
		spoke := func(at time.Time, users ...string) {
			for _, user := range users {
				t.spoke = append(t.spoke, spoken{user, m.Key(), at})
			}
		}
		x := actions[m.ActionID]
		switch {
		case m.Sender == conversation.FromUser:
			if spoke(m.CreatedAt, append(m.Quotes(), m.User)...); !shown[i].Deleted {
				t.words = append(t.words, said{m.User, m.Content})
			}
		case m.Sender == conversation.FromSystem && x != nil:
			if x.RequestedBy == conversation.RequestedByUser {
				spoke(x.CreatedAt, x.Askers...)
			}
			if x.Gate.RejectedBy != "" {
				spoke(m.CreatedAt, x.Gate.RejectedBy)
			}
			if x.ApprovedBy == conversation.ApprovedByUser && x.Gate.ApprovedAt != nil {
				t.spoke = slices.DeleteFunc(t.spoke, func(s spoken) bool { return !s.at.After(*x.Gate.ApprovedAt) })
			}
		}
		for _, e := range m.Thread {
			spoke(m.CreatedAt, append(slices.Clone(e.Quoted), e.User)...)
		}
	}
}

// spoken says who spoke when, in the message with this key.
type spoken struct {
	user, key string
	at        time.Time
}

// speakers returns who spoke since a person last approved an action.
func (t *answering) speakers() []string { return t.speakersThrough(conversation.LastKey) }

// speakersThrough is speakers as far as a summary of the messages up to a key covers them.
func (t *answering) speakersThrough(key string) (users []string) {
	for _, s := range t.spoke {
		if s.key <= key && !slices.Contains(users, s.user) {
			users = append(users, s.user)
		}
	}
	return users
}

// said is what a person wrote.
type said struct{ user, text string }

// wordsOf returns what these people said.
func (t *answering) wordsOf(people []string) (words []string) {
	for _, w := range t.words {
		if slices.Contains(people, w.user) {
			words = append(words, w.text)
		}
	}
	return words
}

// actions returns the actions that messages refer to, by id.
func (t *answering) actions(ctx context.Context, all []conversation.Message) (map[string]*conversation.Action, error) {
	out := map[string]*conversation.Action{}
	for _, x := range t.a.Actions {
		out[x.ActionID] = x
	}
	if !slices.ContainsFunc(all, func(m conversation.Message) bool { return m.ActionID != "" && out[m.ActionID] == nil }) {
		return out, nil
	}
	old, err := t.Store.Archived(ctx, t.in.Tenant, t.a.Conversation.ID)
	if err != nil {
		return nil, fmt.Errorf("read old actions: %w", err)
	}
	for _, x := range old {
		out[x.ActionID] = &x
	}
	return out, nil
}

// mention matches Slack's mention of a person.
var mention = regexp.MustCompile(`<@([A-Z0-9]{2,30})(?:\|[^<>]*)?>`)

// rejects reports whether a message tells the agent that a person rejected this action.
func rejects(m conversation.Message, x *conversation.Action) bool {
	return m.Sender == conversation.FromSystem && x.CancelReason == conversation.ReasonRejected && !m.Proposes(x)
}

// names returns the names of the messages' authors, of the people whom they mention and of those who rejected actions,
// by id.
func (t *answering) names(
	ctx context.Context, all []conversation.Message, actions map[string]*conversation.Action,
) map[string]string {
	var people []string
	add := func(id string) {
		if id != "" && !slices.Contains(people, id) {
			people = append(people, id)
		}
	}
	for _, m := range slices.Backward(all) { // only so many are looked up
		add(m.User)
		if x := actions[m.ActionID]; x != nil && rejects(m, x) {
			add(x.CancelledBy)
		}
		texts := ""
		if m.Sender == conversation.FromUser {
			texts = m.Content
		}
		for _, e := range m.Thread {
			add(e.User)
			texts += "\n" + e.Text
		}
		for _, q := range m.Forwarded {
			add(q.User)
			texts += "\n" + q.Text
		}
		for _, found := range mention.FindAllStringSubmatch(texts, -1) {
			add(found[1])
		}
	}
	return t.Names(ctx, t.ref, t.a.Conversation.TeamID, people...)
}

// named puts people's names beside their ids in a text. A name is its person's own choice, and says nothing more.
func named(text string, names map[string]string) string {
	return mention.ReplaceAllStringFunc(text, func(m string) string {
		id := mention.FindStringSubmatch(m)[1]
		if name := names[id]; name != "" && name != id {
			return "@" + name + " (" + id + ")"
		}
		return m
	})
}
