package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"ringi/shared/aggregate"
	"ringi/shared/task"
)

// Commit writes a change of a in one transaction headed by the head row, and
// returns the aggregate as it is afterwards. An empty change is a itself.
//
// It returns task.ErrConflict when the head, a row that the change writes, or
// one that it relied on is no longer as a has it, and task.ErrSettings when only
// the tenant's settings are not: to decide again on them would not help. task.ErrFull:
// a quota leaves no place. A commit whose answer was lost is recognised: it counts.
// task.ErrUnconfirmed: there was no answer, and it is not to be seen either; it may still come.
func (s *Store) Commit(ctx context.Context, a *task.Aggregate, c task.Change) (*task.Aggregate, error) {
	if c.Empty() {
		return a, nil
	}
	c = s.numbered(c)
	items, err := s.moves(a, c)
	if err != nil {
		return nil, fmt.Errorf("commit to task %s: %w", a.Head.TaskID, err)
	}
	counts := c.Counts(a.Head)
	counters, err := s.countMoves(a.Head.TenantID, counts)
	if err != nil {
		return nil, fmt.Errorf("commit to task %s: %w", a.Head.TaskID, err)
	}
	items = append(items, counters...)
	err = s.transact(ctx, c.ID, items)
	if err != nil && !s.wentThrough(ctx, a.Ref(), c.ID, err) {
		if !answered(err) {
			return nil, fmt.Errorf("commit to task %s: %w: %w", a.Head.TaskID, aggregate.ErrUnconfirmed, err)
		}
		var l *lost
		if c.SettingsRev != nil && errors.As(err, &l) && l.failed(1) && !l.failed(0) {
			err = aggregate.ErrSettings
		}
		err = full(err, counts, len(items)-len(counts))
		return nil, fmt.Errorf("commit to task %s: %w", a.Head.TaskID, err)
	}
	return a.Apply(c), nil
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
	if ctx.Err() != nil { // the caller's time is over, but for what it keeps to say so
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastLook)
		defer cancel()
	}
	h, err := s.Head(ctx, ref)
	return err == nil && h.LastChange == change
}

// lastLook is how long a commit that was cut off is looked for; decideMargin holds it.
const lastLook = 150 * time.Millisecond

// answered reports whether a failed transaction was refused, rather than cut off or lost.
func answered(err error) bool {
	var l *lost
	var api smithy.APIError
	return errors.As(err, &l) || errors.As(err, &api)
}

// numbered gives a change and its audit entries their ids. The entries' ids
// keep their order, which their shared timestamp does not.
func (s *Store) numbered(c task.Change) task.Change {
	c.ID = s.newID()
	c.Audit = slices.Clone(c.Audit)
	ids := make([]string, len(c.Audit))
	for i := range ids {
		ids[i] = s.newID()
	}
	slices.Sort(ids)
	for i := range ids {
		c.Audit[i].ID = ids[i]
	}
	return c
}

// moves are all of a change's actions but those on counters, the head's first.
func (s *Store) moves(a *task.Aggregate, c task.Change) ([]types.TransactWriteItem, error) {
	pk, err := partition(a.Ref())
	if err != nil {
		return nil, err
	}
	head, err := s.headUpdate(pk, a.Head, c)
	if err != nil {
		return nil, err
	}
	rest, err := s.actions(a.Ref(), c, a.Head.Rev+1)
	return append([]types.TransactWriteItem{head}, rest...), err
}

// actions are all of a change's but the head's: the settings that it relied on come first, then rows, what else it
// relied on, audit.
func (s *Store) actions(ref aggregate.Ref, c task.Change, rev int) ([]types.TransactWriteItem, error) {
	pk, err := partition(ref)
	if err != nil {
		return nil, err
	}
	tenant, err := tenantPartition(ref.Tenant)
	if err != nil {
		return nil, err
	}
	var out []types.TransactWriteItem
	if c.SettingsRev != nil {
		out = append(out, s.check(key(tenant, settingsKey), *c.SettingsRev))
	}
	for _, r := range c.Rows {
		it, err := packRow(c.Head, pk, r, rev)
		if err != nil {
			return nil, err
		}
		out = append(out, s.put(it, r.Revision()))
	}
	for _, r := range c.Rely {
		out = append(out, s.check(key(pk, r.Key()), r.Revision()))
	}
	if c.Tool != nil {
		out = append(out, s.check(key(tenant, toolKey(c.Tool.Name)), c.Tool.Rev))
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
