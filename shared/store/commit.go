package store

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Commit writes a change of a in one transaction headed by the head row, and returns the aggregate as it is afterwards.
// If the change is empty, it returns a.
//
// It returns aggregate.ErrConflict when the head, a row that the change writes, or a row that it relied on has changed
// since a was read. When only one of the tenant's rows or of a list's has changed, it returns the error of that row's
// Owned or Listed: deciding again without reading the row would not help. aggregate.ErrFull means that a quota is used
// up. A commit whose answer was lost but which can be seen in the table succeeds. aggregate.ErrUnconfirmed means that
// it can't be seen and may still be written.
func (s *Store) Commit(ctx context.Context, a aggregate.Aggregate, c aggregate.Change) (aggregate.Aggregate, error) {
	if err := s.commit(ctx, a, &c); err != nil {
		return nil, fmt.Errorf("commit to %s: %w", a.Ref(), err)
	}
	if c.Empty() {
		return a, nil
	}
	return a.After(c), nil
}

// commit writes a change, and completes it. The rows of one without a head are put outside of a transaction.
func (s *Store) commit(ctx context.Context, a aggregate.Aggregate, c *aggregate.Change) error {
	if len(c.Copies) > 0 { // large.Copying makes them
		return fmt.Errorf("the rows name %d objects that nobody copied", len(c.Copies))
	}
	if c.Head == nil {
		return s.putAbsent(ctx, a.Ref(), c.Rows, c.Counts)
	}
	was := a.Root().Common()
	*c = s.numbered(*c)
	c.Rely = was.Newest.Unproven(c.Rely)
	c.Head.Common().Newest = was.Newest.After(was.Rev, *c)
	items, err := s.moves(a, *c)
	if err != nil {
		return err
	}
	says := map[int]error{0: nil} // error if the condition of the action with this index fails; nil: ErrConflict
	for i, o := range c.Owned {
		says[1+i] = o.Err
	}
	listed := 1 + len(c.Owned) + len(c.Rows) + len(c.Drop)
	for i, l := range c.Beside {
		says[listed+i] = l.Err
	}
	counts := summed(c.Counts)
	counters, err := s.countMoves(a.Ref().Tenant, counts)
	if err != nil {
		return err
	}
	err = s.t.Transact(ctx, c.ID, append(items, counters...))
	switch {
	case err == nil, s.wentThrough(ctx, a.Ref(), c.ID, err):
		return nil
	case !errors.As(err, new(*table.Lost)) && !errors.As(err, new(smithy.APIError)): // no answer says that it failed
		return fmt.Errorf("%w: %w", aggregate.ErrUnconfirmed, err)
	}
	return full(meant(err, says), counts, len(items))
}

// putAbsent puts rows outside of commits, each only if it is absent. A row that changes counters is written together
// with them in one transaction, so that it counts once.
func (s *Store) putAbsent(ctx context.Context, ref aggregate.Ref, rows []aggregate.Row,
	counts []aggregate.Count) error {
	if len(counts) > 0 {
		return s.putCounted(ctx, ref, rows, counts)
	}
	for _, r := range rows {
		e := table.NewExpression()
		if err := s.putIf(ctx, ref, r, e, e.Absent()); err != nil && !table.ConditionFailed(err) {
			return err
		}
	}
	return nil
}

// meant returns the error of the first tenant row that has changed. It returns err if a condition without an error of
// its own failed.
func meant(err error, says map[int]error) error {
	var l *table.Lost
	if !errors.As(err, &l) {
		return err
	}
	var said error
	for _, i := range slices.Sorted(maps.Keys(says)) {
		switch {
		case !l.Failed(i):
		case says[i] == nil:
			return err
		case said == nil:
			said = says[i]
		}
	}
	if said == nil {
		return err
	}
	return said
}

// summed merges counts so that each counter occurs once: a transaction takes only one action per item.
func summed(all []aggregate.Count) (counts []aggregate.Count) {
	for _, c := range all {
		if i := slices.IndexFunc(counts, func(x aggregate.Count) bool { return x.Key == c.Key }); i >= 0 {
			counts[i].By += c.By
		} else {
			counts = append(counts, c)
		}
	}
	return counts
}

// wentThrough reports, after a failure, whether an earlier try of the same commit succeeded and only its answer was
// lost.
func (s *Store) wentThrough(ctx context.Context, ref aggregate.Ref, change string, failure error) bool {
	var l *table.Lost
	if errors.As(failure, &l) {
		if !l.Failed(0) {
			return false // the head is unchanged: nothing was written
		}
		if it := l.Found(0); it != nil {
			return table.TextOf(it, "last_change") == change
		}
	}
	if ctx.Err() != nil { // the caller's deadline has passed: lastLook must leave time to report that
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(context.WithoutCancel(ctx), lastLook)
		defer cancel()
	}
	h, err := s.Head(ctx, ref)
	return err == nil && h.Common().LastChange == change
}

// lastLook bounds the check whether a commit that was cut off was written. It fits into decideMargin.
const lastLook = 150 * time.Millisecond

// numbered returns a change with ids for itself and its audit entries.
func (s *Store) numbered(c aggregate.Change) aggregate.Change {
	c.ID, c.Audit = s.newID(), s.entries(c.Audit)
	return c
}

// moves returns all actions of a change except those on counters, the head's first.
func (s *Store) moves(a aggregate.Aggregate, c aggregate.Change) ([]types.TransactWriteItem, error) {
	head, err := s.headUpdate(a, c)
	if err != nil {
		return nil, err
	}
	rest, err := s.actions(a.Ref(), c, a.Root().Revision()+1)
	return append([]types.TransactWriteItem{head}, rest...), err
}

// actions returns all actions of a change except the head's, in this order: checks of the tenant's rows, the change's
// rows, checks of other rows, audit entries.
func (s *Store) actions(ref aggregate.Ref, c aggregate.Change, rev int) ([]types.TransactWriteItem, error) {
	pk, err := s.partition(ref)
	if err != nil {
		return nil, err
	}
	kind, _ := s.kinds.Named(ref.Kind)
	var out []types.TransactWriteItem
	for _, o := range c.Owned {
		owner, err := table.TenantPartition(cmp.Or(o.Partition, "TENANT#"), cmp.Or(o.Of, ref.Tenant))
		if err != nil {
			return nil, err
		}
		out = append(out, s.t.Check(table.Key(owner, o.Key), o.Rev))
	}
	for _, r := range c.Rows {
		it, err := packRow(kind, c.Head, pk, r, rev)
		if err != nil {
			return nil, err
		}
		out = append(out, s.t.Put(it, r.Revision()))
	}
	for _, r := range c.Drop {
		out = append(out, s.t.Drop(table.Key(pk, r.Key()), r.Revision()))
	}
	beside, err := s.beside(ref, c)
	if err != nil {
		return nil, err
	}
	out = append(out, beside...)
	for _, r := range c.Rely {
		out = append(out, s.t.Check(table.Key(pk, r.Key()), r.Revision()))
	}
	logged, err := s.logged(c.Audit)
	return append(out, logged...), err
}

// logged returns the actions that put audit entries.
func (s *Store) logged(entries []aggregate.AuditEntry) (out []types.TransactWriteItem, err error) {
	for _, entry := range entries {
		it, err := table.PackAudit(entry)
		if err != nil {
			return nil, err
		}
		out = append(out, s.t.Put(it, 0))
	}
	return out, nil
}

// absent returns the actions that put rows into a partition, each only if it is absent.
func absent[R aggregate.Row](s *Store, pk string, rows ...R) (out []types.TransactWriteItem, err error) {
	for _, r := range rows {
		it, err := table.Pack(r.Type(), pk, r.Key(), r)
		if err != nil {
			return nil, err
		}
		out = append(out, s.t.Put(it, 0))
	}
	return out, nil
}

// entries returns audit entries with ids that preserve their order, which their shared timestamp does not.
func (s *Store) entries(all []aggregate.AuditEntry) []aggregate.AuditEntry {
	all = slices.Clone(all)
	ids := make([]string, len(all))
	for i := range ids {
		ids[i] = s.newID()
	}
	slices.Sort(ids)
	for i := range ids {
		all[i].ID = ids[i]
	}
	return all
}

// Create writes an aggregate's first rows without reading before, each only if it is absent. It returns
// aggregate.ErrExists when the head exists because the same message came before, and aggregate.ErrFull when a new
// aggregate would exceed a quota. While the table is busy it retries for two seconds, or until ctx ends.
func (s *Store) Create(ctx context.Context, ref aggregate.Ref, c aggregate.Change) error {
	c = s.numbered(c)
	items, err := s.creating(ref, c)
	if err != nil {
		return fmt.Errorf("create %s: %w", ref, err)
	}
	counters, err := s.countMoves(ref.Tenant, c.Counts)
	if err != nil {
		return fmt.Errorf("create %s: %w", ref, err)
	}
	err = s.t.TransactPast(ctx, c.ID, append(items, counters...))
	var l *table.Lost
	switch {
	case err == nil:
		return nil
	case errors.As(err, &l) && l.Failed(0):
		if table.TextOf(l.Found(0), "last_change") == c.ID {
			return nil // an earlier try went through, its answer was lost
		}
		err = aggregate.ErrExists
	}
	says := map[int]error{}
	for j, o := range c.Owned {
		says[1+j] = o.Err
	}
	return fmt.Errorf("create %s: %w", ref, full(meant(err, says), c.Counts, len(items)))
}

// creating returns what puts an aggregate's first rows, the head's first. c has its id.
func (s *Store) creating(ref aggregate.Ref, c aggregate.Change) ([]types.TransactWriteItem, error) {
	pk, err := s.partition(ref)
	if err != nil {
		return nil, err
	}
	due := c.Now.Add(dueAfterCommit)
	root := c.Head.At(1).(aggregate.Root)
	root.Common().LastChange, root.Common().DueAt, root.Common().Newest = c.ID, &due, aggregate.Newest("").After(0, c)
	it, err := headItem(pk, ref, root)
	if err != nil {
		return nil, err
	}
	head := s.t.Put(it, 0)
	head.Put.ReturnValuesOnConditionCheckFailure = types.ReturnValuesOnConditionCheckFailureAllOld
	rest, err := s.actions(ref, c, 1)
	return append([]types.TransactWriteItem{head}, rest...), err
}
