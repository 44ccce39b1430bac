package store

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/boot"
	"ringi/shared/store/table"
)

// ConversationStore reads and writes conversations.
type ConversationStore struct {
	KindStore[*conversation.Aggregate]
	Now func() time.Time
}

// OpenConversations returns a function's store by its environment.
func OpenConversations(cfg aws.Config, env boot.Table) *ConversationStore {
	return NewConversations(dynamodb.NewFromConfig(cfg), env.TableName)
}

// NewConversations returns a store of the conversations in the table of that name.
func NewConversations(db *dynamodb.Client, table string) *ConversationStore {
	return ConversationsOf(New(db, table, conversation.Kind))
}

// ConversationsOf returns the store of the conversations in s.
func ConversationsOf(s *Store) *ConversationStore {
	return &ConversationStore{KindStore: KindStore[*conversation.Aggregate]{Store: s}, Now: time.Now}
}

// Load is store.Store.Load. A conversation that is forgotten is not found, even if some of its rows remain.
func (s *ConversationStore) Load(ctx context.Context, ref aggregate.Ref) (*conversation.Aggregate, error) {
	a, err := s.KindStore.Load(ctx, ref)
	if err == nil && a.Head.Forgotten(s.Now()) {
		return nil, fmt.Errorf("load %s: it is forgotten: %w", ref, aggregate.ErrNotFound)
	}
	return a, err
}

// Head reads the head alone, consistently.
func (s *ConversationStore) Head(ctx context.Context, ref aggregate.Ref) (conversation.Head, error) {
	root, err := s.KindStore.Head(ctx, ref)
	if err != nil {
		return conversation.Head{}, err
	}
	return *root.(*conversation.Head), nil
}

// Begin opens a conversation with its first message. It returns store.ErrExists when its thread has a conversation: the
// message came before, or belongs to that conversation.
func (s *ConversationStore) Begin(ctx context.Context, c aggregate.Change) error {
	h := c.Head.(*conversation.Head)
	return s.KindStore.Create(ctx, conversation.RefOf(h.TenantID, h.SessionID), c)
}

// ConversationFilter narrows a list of conversations to a status or to the person who opened them. Empty fields don't
// filter.
type ConversationFilter struct {
	Status conversation.Status
	Opener string
}

// Listed lists a tenant's conversations, newest first. If keep is not nil, it selects which of them are returned. A
// page reads at most most rows, so it may be short and still have a next one. It returns aggregate.ErrField as
// table.Rows does.
func (s *ConversationStore) Listed(ctx context.Context, tenant string, f ConversationFilter, cursor string, limit,
	most int, keep func(conversation.Conversation) bool) (Page[conversation.Conversation], error) {
	l := table.List{
		Name: "sessions", Filter: []string{string(f.Status),
			f.Opener}, Tenant: tenant, Prefixes: []string{conversation.Kind.Prefix},
		Index: "GSI1", Partitions: []string{conversation.All(tenant)}, Most: most, Sparse: keep != nil || f.Status != "" &&
			f.Opener != "",
	}
	switch {
	case f.Opener != "":
		l.Index, l.Partitions = "GSI3", []string{conversation.By(tenant, f.Opener)}
	case f.Status != "":
		l.Index, l.Partitions = "GSI2", []string{conversation.In(tenant, f.Status)}
	}
	return table.Rows(ctx, s.Table(), l, cursor, limit, func(x conversation.Conversation) bool {
		return (f.Status == "" || x.Status == f.Status) && (keep == nil || keep(x))
	})
}

// InThread returns the conversations that one of these people opened in a thread, by its timestamp alone: whatever the
// channel was called. Those that an earlier message opened are left out.
func (s *ConversationStore) InThread(
	ctx context.Context, tenant, thread string, openers ...string,
) ([]conversation.Conversation, error) {
	sent, err := aggregate.ParseTS(thread)
	if err != nil {
		return nil, err
	}
	l := table.List{Name: "thread", Tenant: tenant, Prefixes: []string{conversation.Kind.Prefix}, Index: "GSI3",
		Sparse: true, OldestFirst: true,
		From:  aggregate.TimeText(sent.Add(-time.Minute)), // clocks differ
		Until: aggregate.TimeText(sent.AddDate(100, 0, 0))}
	for _, user := range openers {
		l.Partitions = append(l.Partitions, conversation.By(tenant, user))
	}
	page, err := table.Rows(ctx, s.Table(), l, "", 10, func(x conversation.Conversation) bool {
		return x.ThreadTS == thread
	})
	return page.Items, err
}

// Titled returns the rows of these conversations by id, for display only. It reads at most a hundred and leaves out
// those that don't exist.
func (s *ConversationStore) Titled(ctx context.Context, tenant string,
	ids ...string) (map[string]conversation.Conversation, error) {
	places := make([]Place, len(ids))
	for i, id := range ids {
		places[i] = Place{Ref: conversation.RefOf(tenant, id), Key: (&conversation.Conversation{}).Key()}
	}
	rows, err := RowsAt[conversation.Conversation](ctx, s.KindStore.Store, places)
	if err != nil {
		return nil, err
	}
	out := map[string]conversation.Conversation{}
	for at, x := range rows {
		out[at.Ref.ID] = x
	}
	return out, nil
}
