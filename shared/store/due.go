package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

const duePage = 50

// Due returns the aggregates of a shard (0 to Shards-1) that are due at now, the longest due first. It reads page by
// page; an aggregate that is postponed meanwhile is still returned only once. It reads an index, which may be slightly
// stale: load before deciding. An error ends the sequence.
func (s *Store) Due(ctx context.Context, shard int, now time.Time) iter.Seq2[aggregate.Ref, error] {
	return func(yield func(aggregate.Ref, error) bool) {
		if shard < 0 || shard >= Shards {
			yield(aggregate.Ref{}, aggregate.ErrField{Field: "shard", Limit: fmt.Sprintf("must be between 0 and %d", Shards-1)})
			return
		}
		e := table.NewExpression()
		pages := dynamodb.NewQueryPaginator(s.t.DB, table.Filled(e, &dynamodb.QueryInput{
			TableName: &s.t.Name, IndexName: aws.String("GSI1"), Limit: aws.Int32(duePage),
			KeyConditionExpression: table.All(e.Is("GSI1PK", "=", duePartition(shard)),
				e.Is("GSI1SK", "<=", aggregate.TimeText(now))),
		}))
		for pages.HasMorePages() {
			page, err := pages.NextPage(ctx)
			if err != nil {
				yield(aggregate.Ref{}, fmt.Errorf("find what is due in shard %d: %w", shard, err))
				return
			}
			for _, it := range page.Items {
				ref, known := s.kinds.Ref(table.TextOf(it, "PK"))
				if known && !yield(ref, nil) {
					return
				}
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

// redrawWaiting requests a redraw of waiting cards that show changed settings. It only logs errors because clicks check
// the current settings anyway.
func (s *Store) redrawWaiting(ctx context.Context, tenant string) {
	waiting, err := s.Waiting(ctx, tenant, "", maxRedrawn)
	if err != nil {
		slog.WarnContext(ctx, "cards keep the old settings", "tenant_id", tenant, "err", err)
		return
	}
	for _, x := range waiting.Items {
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
	return table.Wrapped(s.dropIf(ctx, ref, w.Key(), "task_token", w.Token), "drop the wait of %s at %s", ref, w.Gate)
}

// dropIf deletes a row outside of commits if an attribute has the given value. It does nothing if the row is gone.
func (s *Store) dropIf(ctx context.Context, ref aggregate.Ref, key, attribute, is string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	if err = s.t.DeleteIf(ctx, table.Key(pk, key), e, e.Is(attribute, "=", is)); table.ConditionFailed(err) {
		return nil
	}
	return err
}

// putIf puts a row outside of commits on a condition.
func (s *Store) putIf(ctx context.Context, ref aggregate.Ref, r aggregate.Row, e *table.Expression,
	condition string) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	it, err := table.Pack(r.Type(), pk, r.Key(), r)
	if err != nil {
		return err
	}
	_, err = table.Unhindered(ctx, s.t.DB.PutItem, table.Filled(e, &dynamodb.PutItemInput{
		TableName: &s.t.Name, Item: it, ConditionExpression: &condition,
	}))
	return err
}

// PutNote puts a row outside of commits. With first it requires that there is no such row, else that the existing row's
// attribute "of" equals of. It returns ErrClaimed if that doesn't hold.
func (s *Store) PutNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string, first bool) error {
	e := table.NewExpression()
	var asRead string
	if first {
		asRead = e.Absent()
	} else {
		asRead = e.Is("of", "=", of)
	}
	err := s.putIf(ctx, ref, r, e, asRead)
	if table.ConditionFailed(err) {
		err = ErrClaimed
	}
	return table.Wrapped(err, "note %s of %s", r.Key(), ref)
}

// DropNote deletes a row that PutNote put, unless its attribute "of" has changed.
func (s *Store) DropNote(ctx context.Context, ref aggregate.Ref, r aggregate.Row, of string) error {
	return table.Wrapped(s.dropIf(ctx, ref, r.Key(), "of", of), "drop note %s of %s", r.Key(), ref)
}

// owned reads all of a tenant's rows of one type, by key: those in the partition of none whose sort keys begin with
// prefix; if that is empty, all of the partition.
func owned[T tenancy.Row](ctx context.Context, s *Store, tenant string, none T, prefix string) ([]T, error) {
	pk, _, _ := none.Place()
	if !table.KeyPart(tenant) {
		return nil, fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	e := table.NewExpression()
	which := []string{e.Is("PK", "=", pk)}
	if prefix != "" {
		which = append(which, e.Begins("SK", prefix))
	}
	out, err := unexpired[T](ctx, s, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, ConsistentRead: aws.Bool(true), KeyConditionExpression: table.All(which...),
	}))
	return out, table.Wrapped(err, "read %s of %s", prefix, pk)
}

// unexpired reads what a query finds and is not past its time.
func unexpired[T any](ctx context.Context, s *Store, in *dynamodb.QueryInput) ([]T, error) {
	out := []T{}
	for it, err := range table.Queried(ctx, s.t, in, func(it table.Item) (table.Item, error) { return it, nil }) {
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
		out = append(out, x)
	}
	return out, nil
}
