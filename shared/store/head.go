package store

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"iter"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// Shards is the number of partitions of the due index.
const Shards = 8

func duePartition(shard int) string { return "DUE#" + strconv.Itoa(shard) }

// shardOf spreads aggregates evenly by a hash of their id: ids begin with a time.
func shardOf(id string) int {
	h := fnv.New32a()
	h.Write([]byte(id)) // never fails
	return int(h.Sum32() % Shards)
}

func headItem(pk string, ref aggregate.Ref, root aggregate.Root) (table.Item, error) {
	it, err := table.Pack(root.Type(), pk, aggregate.HeadKey, root)
	if err != nil {
		return nil, err
	}
	table.Index(it, 1, duePartition(shardOf(ref.ID)), aggregate.TimeText(*root.Common().DueAt))
	return it, nil
}

// headUpdate updates the head by an expression instead of a put: bookkeeping attributes are written outside of commits
// and must be preserved. It writes only attributes that c changes.
func (s *Store) headUpdate(a aggregate.Aggregate, c aggregate.Change) (types.TransactWriteItem, error) {
	ref, was := a.Ref(), a.Root()
	if id := c.Head.ID(); id != ref.ID || c.Head.Common().TenantID != ref.Tenant {
		return types.TransactWriteItem{}, fmt.Errorf("the change is of %s %s", ref.Kind, id)
	}
	pk, err := s.partition(ref)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	before, err := table.Pack(was.Type(), pk, aggregate.HeadKey, was)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	after, err := table.Pack(was.Type(), pk, aggregate.HeadKey, c.Head)
	if err != nil {
		return types.TransactWriteItem{}, err
	}
	e := table.NewExpression()
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !slices.Contains(untouched, name) && !reflect.DeepEqual(before[name], after[name]) {
			e.SetValue(name, after[name])
		}
	}
	for _, name := range slices.Sorted(maps.Keys(before)) {
		if _, stays := after[name]; !stays && !slices.Contains(untouched, name) {
			e.Remove(name)
		}
	}
	e.Set("rev", was.Revision()+1)
	e.Set("last_change", c.ID)
	setDue(e, ref.ID, c.Now.Add(dueAfterCommit))
	return types.TransactWriteItem{Update: table.Filled(e, &types.Update{
		TableName: &s.t.Name, Key: table.Key(pk, aggregate.HeadKey), UpdateExpression: e.Update(),
		ConditionExpression:                 table.All(e.Is("rev", "=", was.Revision()), e.Is("run", "=", was.Common().Run)),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	})}, nil
}

// untouched are the attributes that headUpdate does not copy from the change's head.
var untouched = append([]string{"rev", "last_change"}, aggregate.Bookkeeping...)

// setDue sets when the sweeper checks the aggregate next.
func setDue(e *table.Expression, id string, at time.Time) {
	e.Set("due_at", at)
	e.Set("GSI1PK", duePartition(shardOf(id)))
	e.Set("GSI1SK", aggregate.TimeText(at))
}

// packRow makes a row's item for the commit with revision rev, with its index keys.
func packRow(kind aggregate.Kind, head aggregate.Root, pk string, r aggregate.Row, rev int) (table.Item, error) {
	if x, checked := r.(aggregate.Checked); checked {
		if err := x.Check(); err != nil {
			return nil, err
		}
	}
	it, err := table.Pack(r.Type(), pk, r.Key(), r)
	if err != nil {
		return nil, err
	}
	it["rev"] = table.Number(rev)
	if x, listed := r.(aggregate.Indexed); listed {
		for _, i := range x.Indexes(head) {
			table.Index(it, i.N, i.PK, i.SK)
		}
	}
	if kind.Columns != nil {
		for name, value := range kind.Columns(r) {
			it[name] = table.Text(value)
		}
	}
	return it, nil
}

// unpackRow makes a row of an item. It returns nil when the TTL has passed, and for unknown types, which a later
// release wrote.
func (s *Store) unpackRow(kind aggregate.Kind, it table.Item) (aggregate.Row, error) {
	r := kind.Row(table.TextOf(it, "type"))
	if r == nil || table.Expired(it, s.t.Now()) {
		return nil, nil
	}
	return r, table.Unpack(it, r)
}

const duePage = 50

// Due returns the aggregates of a shard (0 to Shards-1) that are due at now, the longest due first. It reads page by
// page; an aggregate that is postponed meanwhile is still returned only once. It reads an index, which may be slightly
// stale: load before deciding. An error ends the sequence.
func (s *Store) Due(ctx context.Context, shard int, now time.Time) iter.Seq2[aggregate.Ref, error] {
	return func(yield func(aggregate.Ref, error) bool) {
		if shard < 0 || shard >= Shards {
			yield(aggregate.Ref{}, aggregate.Problem{Field: "shard", Code: fmt.Sprintf("must be between 0 and %d", Shards-1)})
			return
		}
		e := table.NewExpression()
		in := s.t.Find(e, "GSI1", duePartition(shard), e.Is("GSI1SK", "<=", aggregate.TimeText(now)))
		in.Limit = aws.Int32(duePage)
		for it, err := range table.Queried(ctx, s.t, in, asItem) {
			ref, known := s.kinds.Ref(table.TextOf(it, "PK"))
			if err != nil {
				err, known = fmt.Errorf("find what is due in shard %d: %w", shard, err), true
			}
			if known && !yield(ref, err) {
				return
			}
		}
	}
}

// Postpone sets when the aggregate is due next, nil for never, once all effects of the given head are done. It returns
// aggregate.ErrConflict, and changes nothing, when the head has changed or a redraw was requested.
func (s *Store) Postpone(ctx context.Context, ref aggregate.Ref, h aggregate.Head, due *time.Time) error {
	e := table.NewExpression()
	e.Remove("sweep_failures")
	if due != nil {
		setDue(e, ref.ID, *due)
	} else {
		e.Remove("due_at", "GSI1PK", "GSI1SK")
	}
	err := s.updateHead(ctx, "postpone", ref, e, table.All(e.Is("rev", "=", h.Rev), asRead(e, h)))
	if errors.Is(err, table.ErrCondition) {
		return fmt.Errorf("postpone, %s: %w", ref, aggregate.ErrConflict)
	}
	return err
}

// SweepFailed saves how many times in a row the sweeper failed to handle the aggregate, and when to retry. If the
// aggregate changed meanwhile, it keeps the due time of that change.
func (s *Store) SweepFailed(ctx context.Context, ref aggregate.Ref, failures int, due, now time.Time) error {
	return s.dueBy(ctx, "note a failed sweep", ref, due, now,
		func(e *table.Expression) { e.Set("sweep_failures", failures) })
}

// maxRedrawn bounds how many waiting aggregates are redrawn when the settings change: Slack allows about 50 updates a
// minute. Others show the change when they are next redrawn.
const maxRedrawn = 100

// redrawWaiting requests a redraw of waiting cards that show changed settings: all, or those along routes that wait for
// a user. It only logs errors because clicks check the current settings anyway.
func (s *Store) redrawWaiting(ctx context.Context, tenant, user string) {
	waiting, err := s.Waiting(ctx, tenant, "", maxRedrawn)
	if err != nil {
		slog.WarnContext(ctx, "cards keep the old settings", "tenant_id", tenant, "err", err)
		return
	}
	for _, x := range waiting.Items {
		if g := aggregate.GateOf(x.Row); user != "" && (g == nil || g.Owes(user) == 0) {
			continue
		}
		if err := s.Redraw(ctx, x.Ref); err != nil {
			slog.WarnContext(ctx, "a card keeps the old settings", x.Ref.Log(), "err", err)
		}
	}
}

// PutWait saves the token of a run that waits at a gate. It returns ErrStale when the row is of a newer run, of a state
// entered later, or of a later retry.
func (s *Store) PutWait(ctx context.Context, ref aggregate.Ref, w aggregate.Wait) error {
	e := table.NewExpression()
	sameRun, sameEntry := e.Is("run", "=", w.Run), e.Is("entered", "=", w.Entered)
	err := s.putIf(ctx, ref, w, e, table.AnyOf(
		e.Absent(),
		e.Is("run", "<", w.Run),
		"("+sameRun+" AND "+e.Is("entered", "<", w.Entered)+")",
		"("+sameRun+" AND "+sameEntry+" AND "+e.Is("retry", "<=", w.Retry)+")",
	))
	if table.ConditionFailed(err) {
		err = ErrStale
	}
	return table.Wrapped(err, "keep the wait of %s at %s", ref, w.Gate)
}

// DropWait deletes a token that was answered. It does nothing if the row is gone or has another token.
func (s *Store) DropWait(ctx context.Context, ref aggregate.Ref, w aggregate.Wait) error {
	pk, err := s.partition(ref)
	if err == nil {
		e := table.NewExpression()
		err = s.t.DeleteIf(ctx, table.Key(pk, w.Key()), e, e.Is("task_token", "=", w.Token))
	}
	if table.ConditionFailed(err) {
		return nil
	}
	return table.Wrapped(err, "drop the wait of %s at %s", ref, w.Gate)
}

// putIf puts a row outside of commits on a condition.
func (s *Store) putIf(ctx context.Context, ref aggregate.Ref, r aggregate.Row, e *table.Expression,
	condition string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	return s.putAt(ctx, pk, r, e, condition)
}

func (s *Store) putAt(ctx context.Context, pk string, r aggregate.Row, e *table.Expression, condition string) error {
	it, err := table.Pack(r.Type(), pk, r.Key(), r)
	if err != nil {
		return err
	}
	_, err = table.Unhindered(ctx, s.t.DB.PutItem, table.Filled(e, &dynamodb.PutItemInput{
		TableName: &s.t.Name, Item: it, ConditionExpression: &condition,
	}))
	return err
}

// owned reads all of a tenant's rows of one type, by key: those in the partition of none whose sort keys begin with
// prefix; if that is empty, all of the partition.
func owned[T tenancy.Row](ctx context.Context, s *Store, tenant string, none T, prefix string) ([]T, error) {
	pk, _, _ := none.Place()
	if !table.KeyPart(tenant) {
		return nil, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	e := table.NewExpression()
	var which []string
	if prefix != "" {
		which = []string{e.Begins("SK", prefix)}
	}
	out, err := unexpired[T](ctx, s, s.t.Find(e, "", pk, which...), 0)
	return out, table.Wrapped(err, "read %s of %s", prefix, pk)
}

func asItem(it table.Item) (table.Item, error) { return it, nil }

// unexpired reads what a query finds and is not past its time, at most limit rows unless that is 0.
func unexpired[T any](ctx context.Context, s *Store, in *dynamodb.QueryInput, limit int) ([]T, error) {
	out := []T{}
	for it, err := range table.Queried(ctx, s.t, in, asItem) {
		var x T
		if err == nil && table.Expired(it, s.t.Now()) {
			continue
		}
		if err == nil {
			err = table.Unpack(it, &x)
		}
		if err != nil {
			return nil, err
		}
		if out = append(out, x); len(out) == limit {
			break
		}
	}
	return out, nil
}

// PutLease takes, renews or releases a lease if it is as a has read it. The head does not change. It returns
// aggregate.ErrInFlight when another caller was faster. A write whose answer was lost counts as successful.
func (s *Store) PutLease(ctx context.Context, a aggregate.Aggregate, l *aggregate.Lease) error {
	ref := a.Ref()
	e := table.NewExpression()
	var asRead string
	if was := aggregate.Find(a.Common().Leases, l.Key()); was == nil {
		asRead = e.Absent()
	} else {
		asRead = table.Both(e.Is("invocation", "=", was.Invocation), e.Is("lease_until", "=", was.LeaseUntil))
	}
	err := s.putIf(ctx, ref, l, e, asRead)
	if err == nil {
		return nil
	}
	var is aggregate.Lease
	if s.RowAt(ctx, Place{ref, l.Key()}, &is) == nil && l.Same(&is) {
		return nil
	}
	if table.ConditionFailed(err) {
		err = aggregate.ErrInFlight
	}
	return fmt.Errorf("lease %s of %s: %w", l.Of, ref, err)
}
