package store

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
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
	return ownHead[conversation.Head](ctx, s.KindStore.Store, ref)
}

// Begin opens a conversation with its first message. It returns aggregate.ErrExists when its thread has a
// conversation: the message came before, or belongs to that conversation.
func (s *ConversationStore) Begin(ctx context.Context, c aggregate.Change) error {
	h := c.Head.(*conversation.Head)
	return s.KindStore.Create(ctx, conversation.RefOf(h.TenantID, h.SessionID), c)
}

// Listed lists a tenant's conversations, newest first. If keep is not nil, it selects which of them are returned. A
// page reads at most most rows, so it may be short and still have a next one. It returns an aggregate.Problem as
// table.Rows does.
func (s *ConversationStore) Listed(ctx context.Context, tenant, cursor string, limit, most int,
	keep func(conversation.Conversation) bool) (Page[conversation.Conversation], error) {
	l := table.List{Name: "sessions", Tenant: tenant, Prefixes: []string{conversation.Kind.Prefix}, Index: "GSI1",
		Partitions: []string{conversation.All(tenant)}, Most: most, Sparse: keep != nil}
	return table.Rows(ctx, s.Table(), l, cursor, limit, func(x conversation.Conversation) bool {
		return keep == nil || keep(x)
	})
}

// Titled returns the rows of these conversations by id, for display only. It reads at most a hundred and leaves out
// those that don't exist.
func (s *ConversationStore) Titled(ctx context.Context, tenant string,
	ids ...string) (map[string]conversation.Conversation, error) {
	return titled[conversation.Conversation](ctx, s.KindStore.Store, conversation.RefOf,
		(&conversation.Conversation{}).Key(), tenant, ids)
}

// usageKeys is the key prefix of usage rows in a conversation's list. The keys of messages in the same list begin with
// a year.
const usageKeys = "USAGE#"

// Messages reads a conversation's messages, oldest first, from a key on. An empty key means all.
func (s *ConversationStore) Messages(ctx context.Context, tenant, id, from string) ([]conversation.Message, error) {
	return Listed[conversation.Message](ctx, s.KindStore.Store, tenant, conversation.MessagesList, id, from, usageKeys,
		false, 0)
}

// Newest reads the newest messages of a conversation that are older than the key before, if it is not empty. They are
// returned oldest first.
func (s *ConversationStore) Newest(
	ctx context.Context, tenant, id, before string, limit int,
) ([]conversation.Message, error) {
	if before == "" {
		before = usageKeys
	}
	found, err := Listed[conversation.Message](ctx, s.KindStore.Store, tenant, conversation.MessagesList, id, "", before,
		true, limit+1)
	found = slices.DeleteFunc(found, func(m conversation.Message) bool { return m.Key() == before })
	found = found[:min(len(found), limit)]
	slices.Reverse(found)
	return found, err
}

// Message reads one message by its key. It returns aggregate.ErrNotFound when there is none.
func (s *ConversationStore) Message(ctx context.Context, tenant, id, key string) (conversation.Message, error) {
	return listedAt[conversation.Message](ctx, s.KindStore.Store, tenant, conversation.MessagesList, id, key)
}

// Uses reads the usage of a conversation's model calls.
func (s *ConversationStore) Uses(ctx context.Context, tenant, id string) ([]aggregate.Use, error) {
	return Listed[aggregate.Use](ctx, s.KindStore.Store, tenant, conversation.MessagesList, id, usageKeys, "", false, 0)
}

// Archived reads the actions that were moved out of a conversation's partition, by number.
func (s *ConversationStore) Archived(ctx context.Context, tenant, id string) ([]conversation.Action, error) {
	return Listed[conversation.Action](ctx, s.KindStore.Store, tenant, conversation.ActionsList, id, "", "", false, 0)
}

// Log reads the newest lines of an action's output, returned oldest first. A limit of 0 means all lines.
func (s *ConversationStore) Log(
	ctx context.Context, ref aggregate.Ref, action string, limit int,
) ([]conversation.LogEntry, error) {
	found, err := Listed[conversation.LogEntry](ctx, s.KindStore.Store, ref.Tenant, conversation.LogList, ref.ID,
		conversation.LogKey(action, 0), conversation.LogKey(action, math.MaxInt32), true, limit)
	slices.Reverse(found)
	return found, err
}

// AppendLog adds lines to an action's output, the newest conversation.MostLines of them, and deletes those with the
// indexes gone. Only the holder of the action's claim may write. Writing the same lines again changes nothing.
func (s *ConversationStore) AppendLog(ctx context.Context, ref aggregate.Ref, action string,
	lines []conversation.LogEntry,
	gone []int) error {
	lines = lines[max(0, len(lines)-conversation.MostLines):]
	rows, drop := make([]aggregate.Row, len(lines)), make([]string, len(gone))
	for i, l := range lines {
		rows[i] = &l
	}
	for i, at := range gone {
		drop[i] = conversation.LogKey(action, at)
	}
	return s.PutListed(ctx, ref.Tenant, conversation.LogList, ref.ID, rows, drop)
}

// Objects deletes what stands outside of the table.
type Objects interface {
	// Erase deletes every version of the objects below a prefix, and returns how many that were.
	Erase(ctx context.Context, prefix string) (deleted int, err error)
}

// Erase deletes a conversation or a call that is forgotten, and returns how many rows and objects that were. Of a
// conversation its head stays, and each action that was approved; what that names is below none of the prefixes. A
// call's head goes last: until then the call is due. After an error, or a crash, calling it again deletes the rest.
func (s *Store) Erase(ctx context.Context, results Objects, ref aggregate.Ref) (deleted int, err error) {
	lists, objects := []string{call.Kind.Prefix}, []string(nil)
	switch ref.Kind {
	case call.Kind.Name:
	case conversation.Kind.Name:
		lists, objects = append([]string{conversation.Kind.Prefix}, conversation.Kind.Lists...), conversation.Objects
	default:
		return 0, fmt.Errorf("nothing of %s is ever erased", ref)
	}
	if _, err := s.partition(ref); err != nil {
		return 0, err
	}
	add := func(n int, failed error) { deleted, err = deleted+n, errors.Join(err, failed) }
	for _, prefix := range objects {
		add(results.Erase(ctx, prefix+ref.Tenant+"/"+ref.ID+"/"))
	}
	for _, list := range lists {
		add(s.t.Erase(ctx, list+ref.Tenant+"#"+ref.ID, outlives))
	}
	if ref.Kind == call.Kind.Name && err == nil {
		add(s.t.Erase(ctx, call.Kind.Prefix+ref.Tenant+"#"+ref.ID, nil))
	}
	return deleted, err
}

func outlives(it table.Item) bool {
	typ := table.TextOf(it, "type")
	return typ == "head" || typ == "action" && table.TextOf(it, "approved_by") != ""
}
