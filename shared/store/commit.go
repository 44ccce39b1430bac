package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"ringi/shared/aggregate"
)

// Commit writes a change of a in one transaction headed by the head row, and
// returns the aggregate as it is afterwards. An empty change is a itself.
//
// It returns aggregate.ErrConflict when the head, a row that the change writes, or one that it relied on is no longer
// as a has it, and an Owned's error when only that row has changed: deciding again without reading it would not help.
// aggregate.ErrFull: a quota leaves no place. A commit whose answer was lost is recognised: it counts.
// aggregate.ErrUnconfirmed: there was no answer, and it is not to be seen either; it may still come.
func (s *Store) Commit(ctx context.Context, a aggregate.Aggregate, c aggregate.Change) (aggregate.Aggregate, error) {
	ref := a.Ref()
	failed := func(err error) error { return fmt.Errorf("commit to %s %s: %w", ref.Kind, ref.ID, err) }
	switch {
	case c.Empty():
		return a, nil
	case c.Head == nil:
		if err := s.putAbsent(ctx, ref, c.Rows); err != nil {
			return nil, failed(err)
		}
		return a.After(c), nil
	}
	c = s.numbered(c)
	items, err := s.moves(a, c)
	if err != nil {
		return nil, failed(err)
	}
	counters, err := s.countMoves(ref.Tenant, c.Counts)
	if err != nil {
		return nil, failed(err)
	}
	items = append(items, counters...)
	err = s.transact(ctx, c.ID, items)
	switch {
	case err == nil, s.wentThrough(ctx, ref, c.ID, err):
		return a.After(c), nil
	case !answered(err):
		return nil, failed(fmt.Errorf("%w: %w", aggregate.ErrUnconfirmed, err))
	}
	return nil, failed(full(changedOwned(err, c.Owned), c.Counts, len(items)-len(c.Counts)))
}

// putAbsent puts rows that no commit conditions on. One that is there stays as it is.
func (s *Store) putAbsent(ctx context.Context, ref aggregate.Ref, rows []aggregate.Row) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	for _, r := range rows {
		it, err := pack(r.Type(), pk, r.Key(), r)
		if err != nil {
			return err
		}
		e := newExpression()
		absent := e.absent()
		err = unhindered(ctx, func() error {
			_, err := s.db.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.table, Item: it, ConditionExpression: &absent, ExpressionAttributeNames: e.names})
			return err
		})
		if err != nil && !conditionFailed(err) {
			return err
		}
	}
	return nil
}

// changedOwned is the error of the tenant's row that has changed, if its action is the first that was refused; else
// err.
func changedOwned(err error, rows []aggregate.Owned) error {
	var l *lost
	if !errors.As(err, &l) || l.failed(0) {
		return err
	}
	for i, r := range rows {
		if r.Err != nil && l.failed(1+i) {
			return r.Err
		}
	}
	return err
}

// wentThrough looks, after a failure, whether an earlier try of the same commit
// had been done and only its answer was lost.
func (s *Store) wentThrough(ctx context.Context, ref aggregate.Ref, change string, failure error) bool {
	var l *lost
	if errors.As(failure, &l) {
		if !l.failed(0) {
			return false // the head is as it was: nothing went through
		}
		if it := l.found(0); it != nil {
			return textOf(it, "last_change") == change
		}
	}
	if ctx.Err() != nil { // the caller's deadline has passed; what is left of its time is for reporting that
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastLook)
		defer cancel()
	}
	h, err := s.Head(ctx, ref)
	return err == nil && h.Common().LastChange == change
}

// lastLook is how long a commit that was cut off is looked for; it fits into decideMargin.
const lastLook = 150 * time.Millisecond

// answered reports whether a failed transaction was refused, rather than cut off or lost.
func answered(err error) bool {
	var l *lost
	var api smithy.APIError
	return errors.As(err, &l) || errors.As(err, &api)
}

// numbered gives a change and its audit entries their ids.
func (s *Store) numbered(c aggregate.Change) aggregate.Change {
	c.ID, c.Audit = s.newID(), s.entries(c.Audit)
	return c
}

// moves are all of a change's actions but those on counters, the head's first.
func (s *Store) moves(a aggregate.Aggregate, c aggregate.Change) ([]types.TransactWriteItem, error) {
	head, err := s.headUpdate(a, c)
	if err != nil {
		return nil, err
	}
	rest, err := s.actions(a.Ref(), c, a.Root().Revision()+1)
	return append([]types.TransactWriteItem{head}, rest...), err
}

// actions are all of a change's but the head's: what it relied on of the tenant's comes first, then rows, what else it
// relied on, audit.
func (s *Store) actions(ref aggregate.Ref, c aggregate.Change, rev int) ([]types.TransactWriteItem, error) {
	pk, err := s.partition(ref)
	if err != nil {
		return nil, err
	}
	tenant, err := tenantPartition(ref.Tenant)
	if err != nil {
		return nil, err
	}
	kind, _ := s.kinds.Of(ref.Kind)
	var out []types.TransactWriteItem
	for _, o := range c.Owned {
		out = append(out, s.check(key(tenant, o.Key), o.Rev))
	}
	for _, r := range c.Rows {
		it, err := packRow(kind, c.Head, pk, r, rev)
		if err != nil {
			return nil, err
		}
		out = append(out, s.put(it, r.Revision()))
	}
	for _, r := range c.Rely {
		out = append(out, s.check(key(pk, r.Key()), r.Revision()))
	}
	for _, entry := range c.Audit {
		it, err := packAudit(entry)
		if err != nil {
			return nil, err
		}
		out = append(out, s.put(it, 0))
	}
	return out, nil
}

// put writes an item over the one of that revision.
func (s *Store) put(it item, revision int) types.TransactWriteItem {
	e := newExpression()
	return types.TransactWriteItem{Put: &types.Put{
		TableName: &s.table, Item: it, ConditionExpression: all(e.revision(revision)),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}
}

// check makes a transaction rely on an item's revision.
func (s *Store) check(k item, revision int) types.TransactWriteItem {
	e := newExpression()
	return types.TransactWriteItem{ConditionCheck: &types.ConditionCheck{
		TableName: &s.table, Key: k, ConditionExpression: all(e.revision(revision)),
		ExpressionAttributeNames: e.names, ExpressionAttributeValues: e.values,
	}}
}
