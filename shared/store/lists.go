package store

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
)

// usageKeys is the key prefix of usage rows in a conversation's list. The keys of messages in the same list begin with
// a year.
const usageKeys = "USAGE#"

// Messages reads a conversation's messages, oldest first, from a key on. An empty key means all.
func (s *ConversationStore) Messages(ctx context.Context, tenant, id, from string) ([]conversation.Message, error) {
	return Listed[conversation.Message](ctx, s.Of.Store, tenant, conversation.MessagesList, id, from, usageKeys, false, 0)
}

// Newest reads the newest messages of a conversation that are older than the key before, if it is not empty. They are
// returned oldest first.
func (s *ConversationStore) Newest(ctx context.Context, tenant, id, before string, limit int) ([]conversation.Message,
	error) {
	if before == "" {
		before = usageKeys
	}
	found, err := Listed[conversation.Message](ctx, s.Of.Store, tenant, conversation.MessagesList, id, "", before, true,
		limit+1)
	found = slices.DeleteFunc(found, func(m conversation.Message) bool { return m.Key() == before })
	found = found[:min(len(found), limit)]
	slices.Reverse(found)
	return found, err
}

// Message reads one message by its key. It returns aggregate.ErrNotFound when there is none.
func (s *ConversationStore) Message(ctx context.Context, tenant, id, key string) (conversation.Message, error) {
	found, err := Listed[conversation.Message](ctx, s.Of.Store, tenant, conversation.MessagesList, id, key, key, false, 1)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("message %.80q: %w", key, aggregate.ErrNotFound)
	}
	if err != nil {
		return conversation.Message{}, err
	}
	return found[0], nil
}

// Uses reads the usage of a conversation's model calls.
func (s *ConversationStore) Uses(ctx context.Context, tenant, id string) ([]aggregate.Use, error) {
	return Listed[aggregate.Use](ctx, s.Of.Store, tenant, conversation.MessagesList, id, usageKeys, "", false, 0)
}

// Archived reads the actions that were moved out of a conversation's partition, by number.
func (s *ConversationStore) Archived(ctx context.Context, tenant, id string) ([]conversation.Action, error) {
	return Listed[conversation.Action](ctx, s.Of.Store, tenant, conversation.ActionsList, id, "", "", false, 0)
}

// Log reads the newest lines of an action's output, returned oldest first. A limit of 0 means all lines.
func (s *ConversationStore) Log(ctx context.Context, tenant, action string, limit int) ([]conversation.LogEntry,
	error) {
	found, err := Listed[conversation.LogEntry](ctx, s.Of.Store, tenant, conversation.LogList, action, "", "", true, limit)
	slices.Reverse(found)
	return found, err
}

// AppendLog adds lines to an action's output, the newest conversation.MostLines of them, and deletes those with the
// indexes gone. Only the holder of the action's claim may write. Writing the same lines again changes nothing. If
// the conversation is being forgotten, the lines are deleted again, and it returns aggregate.ErrNotFound.
func (s *ConversationStore) AppendLog(ctx context.Context, ref aggregate.Ref, action string,
	lines []conversation.LogEntry,
	gone []int) error {
	lines = lines[max(0, len(lines)-conversation.MostLines):]
	rows, drop := make([]aggregate.Row, len(lines)), make([]string, len(gone))
	for i, l := range lines {
		rows[i] = &l
	}
	for i, at := range gone {
		drop[i] = conversation.LogKey(at)
	}
	if err := s.PutListed(ctx, ref.Tenant, conversation.LogList, action, rows, drop); err != nil {
		return err
	}
	late := s.Living(ctx, ref)
	if !errors.Is(late, aggregate.ErrNotFound) {
		return nil
	}
	var own []string
	for _, r := range rows {
		own = append(own, r.Key())
	}
	return errors.Join(late, s.PutListed(ctx, ref.Tenant, conversation.LogList, action, nil, own))
}
