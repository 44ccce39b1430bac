package conversations

import (
	"context"
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/session"
	"ringi/shared/store"
)

// usageKeys is where the rows of a session's usage begin in the list of its messages, whose keys begin with a year.
const usageKeys = "USAGE#"

// Messages reads what was said in a session, the oldest first: from the message with a key on, all if it is empty.
func (s *Store) Messages(ctx context.Context, tenant, id, from string) ([]session.Message, error) {
	return store.Listed[session.Message](ctx, s.Of.Store, tenant, session.MessagesList, id, from, usageKeys, false, 0)
}

// Newest reads the newest messages of a session, the oldest of them first; those before a key, the newest of all if it is empty.
func (s *Store) Newest(ctx context.Context, tenant, id, before string, limit int) ([]session.Message, error) {
	if before == "" {
		before = usageKeys
	}
	found, err := store.Listed[session.Message](ctx, s.Of.Store, tenant, session.MessagesList, id, "", before, true, limit+1)
	found = slices.DeleteFunc(found, func(m session.Message) bool { return m.Key() == before })
	found = found[:min(len(found), limit)]
	slices.Reverse(found)
	return found, err
}

// Message reads one message by its key. It returns aggregate.ErrNotFound when there is none.
func (s *Store) Message(ctx context.Context, tenant, id, key string) (session.Message, error) {
	found, err := store.Listed[session.Message](ctx, s.Of.Store, tenant, session.MessagesList, id, key, key, false, 1)
	if err == nil && len(found) == 0 {
		err = fmt.Errorf("message %.80q: %w", key, aggregate.ErrNotFound)
	}
	if err != nil {
		return session.Message{}, err
	}
	return found[0], nil
}

// Uses reads what the models' calls for a session came to.
func (s *Store) Uses(ctx context.Context, tenant, id string) ([]aggregate.Use, error) {
	return store.Listed[aggregate.Use](ctx, s.Of.Store, tenant, session.MessagesList, id, usageKeys, "", false, 0)
}

// Archived reads the actions that have left a session's partition, by number.
func (s *Store) Archived(ctx context.Context, tenant, id string) ([]session.Action, error) {
	return store.Listed[session.Action](ctx, s.Of.Store, tenant, session.ActionsList, id, "", "", false, 0)
}

// Log reads an action's output: its newest lines, the oldest of them first; all that are kept, if limit is 0.
func (s *Store) Log(ctx context.Context, tenant, action string, limit int) ([]session.LogEntry, error) {
	found, err := store.Listed[session.LogEntry](ctx, s.Of.Store, tenant, session.LogList, action, "", "", true, limit)
	slices.Reverse(found)
	return found, err
}

// AppendLog keeps lines of an action's output, and of all its lines only the newest session.MostLines. Only whoever has the
// action's claim may write, and writing lines again changes nothing.
func (s *Store) AppendLog(ctx context.Context, tenant, action string, lines []session.LogEntry) error {
	if len(lines) > session.MostLines {
		lines = lines[len(lines)-session.MostLines:]
	}
	rows, drop := make([]aggregate.Row, len(lines)), []string{}
	for i, l := range lines {
		rows[i] = &l
		if l.Order >= session.MostLines {
			drop = append(drop, session.LogKey(l.Order-session.MostLines))
		}
	}
	return s.PutListed(ctx, tenant, session.LogList, action, rows, drop)
}
