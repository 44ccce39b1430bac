package store

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// WaitingItem is a gate at which an aggregate waits for a person.
type WaitingItem struct {
	Ref aggregate.Ref
	aggregate.Question
	Row aggregate.AskingRow `json:"-"` // that asks, as the index has it
}

// Waiting lists a tenant's gates that wait for a decision, the oldest first. The index may be slightly stale. It
// returns an aggregate.Problem for a limit outside 1 to MaxPage, or a cursor of another list.
func (s *Store) Waiting(ctx context.Context, tenant, cursor string, limit int) (table.Page[WaitingItem], error) {
	l := table.List{Name: "pending", Tenant: tenant, Prefixes: s.prefixes(), Index: "GSI1",
		Partitions: []string{aggregate.PendingOf(tenant)}, OldestFirst: true}
	return table.ReadPage(ctx, s.t, l, cursor, limit, s.readWaiting)
}

// prefixes returns those of the partition keys of all kinds.
func (s *Store) prefixes() (out []string) {
	for _, k := range s.kinds {
		out = append(out, k.Prefix)
	}
	return out
}

func (s *Store) readWaiting(it table.Item) (*WaitingItem, error) {
	ref, ok := s.kinds.Ref(table.TextOf(it, "PK"))
	if !ok {
		return nil, nil // the kind is of a later release
	}
	kind, _ := s.kinds.Named(ref.Kind)
	r, err := s.unpackRow(kind, it)
	if err != nil || r == nil {
		return nil, err
	}
	asking, ok := r.(aggregate.AskingRow)
	if !ok {
		return nil, fmt.Errorf("item %s cannot wait for a person", r.Key())
	}
	return &WaitingItem{Ref: ref, Question: asking.Asks(), Row: asking}, nil
}

func listPartition(list, tenant, of string) (string, error) {
	if !table.KeyPart(tenant) || !table.KeyPart(of) {
		return "", fmt.Errorf("%s%.40q: %w", list, of, aggregate.ErrNotFound)
	}
	return list + tenant + "#" + of, nil
}

// beside returns the actions that put a change's list rows, each only if it is absent.
func (s *Store) beside(ref aggregate.Ref, c aggregate.Change) ([]types.TransactWriteItem, error) {
	var out []types.TransactWriteItem
	for _, l := range c.Beside {
		pk, err := listPartition(l.List, ref.Tenant, l.Of)
		if err != nil {
			return nil, err
		}
		put, err := absent(s, pk, l.Row)
		if err != nil {
			return nil, err
		}
		out = append(out, put...)
	}
	return out, nil
}

// PutListed puts rows into an aggregate's list, overwriting existing ones, and deletes the rows with the keys in drop.
// It writes at most 25 rows per call to DynamoDB, outside the aggregate's commits.
func (s *Store) PutListed(ctx context.Context, tenant, list, of string, rows []aggregate.Row, drop []string) error {
	pk, err := listPartition(list, tenant, of)
	if err != nil {
		return err
	}
	var writes []types.WriteRequest
	for _, r := range rows {
		it, err := table.Pack(r.Type(), pk, r.Key(), r)
		if err != nil {
			return err
		}
		writes = append(writes, types.WriteRequest{PutRequest: &types.PutRequest{Item: it}})
	}
	for _, sk := range drop {
		writes = append(writes, types.WriteRequest{DeleteRequest: &types.DeleteRequest{Key: table.Key(pk, sk)}})
	}
	stop, wait := time.Now().Add(table.RetryFor), table.NewBackoff(20*time.Millisecond, 400*time.Millisecond)
	for len(writes) > 0 {
		n := min(len(writes), mostWritten)
		out, err := s.t.DB.BatchWriteItem(ctx,
			&dynamodb.BatchWriteItemInput{RequestItems: map[string][]types.WriteRequest{s.t.Name: writes[:n]}})
		if err != nil {
			return fmt.Errorf("write %d rows of %s%s: %w", n, list, of, err)
		}
		left := out.UnprocessedItems[s.t.Name]
		if writes = append(left, writes[n:]...); len(left) > 0 && !wait.Until(ctx, stop) {
			return fmt.Errorf("%d rows of %s%s were not written", len(writes), list, of)
		}
	}
	return nil
}

// mostWritten is DynamoDB's limit for one BatchWriteItem.
const mostWritten = 25

// Listed reads rows of an aggregate's list from one key to another, both included; an empty key means that end of the
// list. It reads oldest first, or newest first if newest is set. It returns at most limit rows, or all if limit is 0.
func Listed[T any](
	ctx context.Context, s *Store, tenant, list, of, from, until string, newest bool, limit int,
) ([]T, error) {
	pk, err := listPartition(list, tenant, of)
	if err != nil {
		return nil, err
	}
	if until == "" {
		until = "\U0010FFFF"
	}
	e := table.NewExpression()
	in := s.t.Find(e, "", pk, e.Between("SK", cmp.Or(from, " "), until))
	in.ScanIndexForward = aws.Bool(!newest)
	if limit > 0 {
		in.Limit = aws.Int32(int32(limit))
	}
	out, err := unexpired[T](ctx, s, in, limit)
	return out, table.Wrapped(err, "read %s%s", list, of)
}

// listedAt reads the row of an aggregate's list with this key, or returns aggregate.ErrNotFound.
func listedAt[T any](ctx context.Context, s *Store, tenant, list, of, key string) (x T, err error) {
	pk, err := listPartition(list, tenant, of)
	if err == nil {
		err = s.t.Get(ctx, pk, key, &x)
	}
	return x, table.Wrapped(err, "read %.80q of %s%.40s", key, list, of)
}

// AuditFilter narrows the audit log; an empty field filters nothing.
type AuditFilter struct {
	From, To time.Time // from inclusive, to exclusive
	Action   aggregate.Action
	Resource string // an aggregate's id, or that of a resource outside of aggregates
}

// Audit lists a tenant's audit log, newest first. Without other filters it reads one monthly partition after another.
// It returns an aggregate.Problem if From is after To, and the same errors as Tasks.
func (s *Store) Audit(ctx context.Context, tenant string, f AuditFilter, cursor string,
	limit int) (table.Page[aggregate.AuditEntry], error) {
	if !f.To.IsZero() && f.From.After(f.To) {
		return table.Page[aggregate.AuditEntry]{}, aggregate.Problem{Field: "from", Code: "must not be after to"}
	}
	// An entry's time may be ahead of this machine's clock.
	to := s.t.Now().AddDate(0, 0, 1)
	l := table.List{
		Name: "audit", Tenant: tenant, Prefixes: []string{"AUDIT#"}, Filter: []string{string(f.Action), f.Resource},
		From: aggregate.TimeText(f.From), Until: "9999", Sparse: f.Resource != "" && f.Action != "",
	}
	if !f.To.IsZero() {
		l.Until = aggregate.TimeText(f.To)
		if f.To.Before(to) {
			to = f.To
		}
	}
	switch {
	case f.Resource != "":
		l.Index, l.Partitions = "GSI2", []string{table.AuditOf(tenant, "RESOURCE", f.Resource)}
	case f.Action != "":
		l.Index, l.Partitions = "GSI1", []string{table.AuditOf(tenant, "ACTION", string(f.Action))}
	default:
		l.Partitions = table.AuditMonths(tenant, f.From, to)
		slices.Reverse(l.Partitions)
	}
	return table.Rows(ctx, s.t, l, cursor, limit, func(x aggregate.AuditEntry) bool {
		return f.Action == "" || x.Action == f.Action
	})
}
