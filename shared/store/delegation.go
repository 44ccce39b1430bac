package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// StandIns returns all delegations by which a hand stands in for others, those that are over, too. It makes one
// consistent query.
func (s *Store) StandIns(ctx context.Context, tenant, hand string) (out []circulation.StandIn, err error) {
	all, err := s.DelegationsTo(ctx, tenant, hand)
	for _, d := range all {
		out = append(out, d.StandIn())
	}
	return out, err
}

// DelegationsTo is StandIns, with the rows.
func (s *Store) DelegationsTo(ctx context.Context, tenant, hand string) ([]tenancy.Delegation, error) {
	if !table.KeyPart(hand) {
		return nil, fmt.Errorf("delegations of %.40q: %w", hand, aggregate.ErrNotFound)
	}
	return owned(ctx, s, tenant, tenancy.Delegation{TenantID: tenant}, hand+"#")
}

// Delegations returns all of a tenant's delegations that are kept, those that are over, too.
func (s *Store) Delegations(ctx context.Context, tenant string) ([]tenancy.Delegation, error) {
	return owned(ctx, s, tenant, tenancy.Delegation{TenantID: tenant}, "")
}

// DelegationsOf returns the delegations by which others stand in for a principal, by their first days, those that are
// over, too. It reads an index, which may be slightly stale.
func (s *Store) DelegationsOf(ctx context.Context, tenant, principal string) ([]tenancy.Delegation, error) {
	if !table.KeyPart(tenant) || !table.KeyPart(principal) {
		return nil, fmt.Errorf("delegations of %.40q: %w", principal, aggregate.ErrNotFound)
	}
	in := s.t.Find(table.NewExpression(), "GSI1", tenancy.DelegatedBy(tenant, principal))
	out, err := unexpired[tenancy.Delegation](ctx, s, in, 0)
	return out, table.Wrapped(err, "read the delegations of %s", principal)
}

// Delegation reads the row with the keys of d, or returns aggregate.ErrNotFound.
func (s *Store) Delegation(ctx context.Context, d tenancy.Delegation) (tenancy.Delegation, error) {
	return saved(ctx, s, d.TenantID, d)
}

// SetDelegation reads what Delegation.Set needs and commits it, with the notices that tell of it. If nothing changes,
// nobody is told. It returns aggregate.ErrConflict when somebody set the same in between.
func (s *Store) SetDelegation(ctx context.Context, d tenancy.Delegation, by tenancy.Setter, now time.Time,
	tell func(tenancy.Delegation) []Notice) (tenancy.Delegation, error) {
	was, err := s.Delegation(ctx, d)
	if errors.Is(err, aggregate.ErrNotFound) && table.KeyPart(d.TenantID) {
		was, err = tenancy.Delegation{}, nil
	}
	if err != nil {
		return d, err
	}
	of, err := s.DelegationsOf(ctx, d.TenantID, d.Principal)
	if err != nil {
		return d, err
	}
	theirs, err := s.DelegationsTo(ctx, d.TenantID, d.Hand)
	if err != nil {
		return d, err
	}
	d, c, err := d.Set(was, of, theirs, by, now)
	return d, s.changeTelling(ctx, c, d, tell, err)
}

// EndDelegation reads the delegation with the keys of d and commits Delegation.End, as SetDelegation does. It returns
// aggregate.ErrNotFound if there is none.
func (s *Store) EndDelegation(ctx context.Context, d tenancy.Delegation, by tenancy.Setter, now time.Time,
	tell func(tenancy.Delegation) []Notice) (tenancy.Delegation, error) {
	was, err := s.Delegation(ctx, d)
	if err != nil {
		return d, err
	}
	d, c, err := was.End(by, now)
	return d, s.changeTelling(ctx, c, d, tell, err)
}

func (s *Store) changeTelling(ctx context.Context, c tenancy.Change, d tenancy.Delegation,
	tell func(tenancy.Delegation) []Notice, err error) error {
	var told []Notice
	if err == nil && len(c.Writes) > 0 && tell != nil {
		told = tell(d)
	}
	return s.changeBy(ctx, s.t.TransactPast, c, told, err)
}

// Tell adds rows to an aggregate without reading it first. Each row must be absent. The head gets a new revision, so
// that no decision made without these rows can be committed. c has no head because an expression updates it.
// last_change stays unchanged because a commit whose answer was lost is recognised by it. The rows count as written by
// the first commit.
//
// It returns aggregate.ErrExists when one of the rows exists, and aggregate.ErrNotFound when there is no head or the
// aggregate is forgotten.
func (s *Store) Tell(ctx context.Context, ref aggregate.Ref, c aggregate.Change) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	e := table.NewExpression()
	e.Add("rev", 1)
	setDue(e, ref.ID, c.Now.Add(dueAfterCommit))
	kept := table.AnyOf(e.Lacks("forgotten_at"), e.Is("forgotten_at", ">", c.Now))
	head := s.t.Move(table.Key(pk, aggregate.HeadKey), e, e.Exists(), kept, e.Lacks("forgetting_at"))
	rest, err := s.actions(ref, c, 1)
	if err != nil {
		return fmt.Errorf("tell %s: %w", ref, err)
	}
	err = s.t.TransactPast(ctx, s.newID(), append([]types.TransactWriteItem{head}, rest...))
	var l *table.Lost
	switch {
	case err == nil:
		return nil
	case errors.As(err, &l) && l.Failed(0):
		err = aggregate.ErrNotFound
	case errors.As(err, &l) && !l.OnlyInTheWay():
		err = aggregate.ErrExists // also if an earlier try succeeded and its answer was lost
	}
	return fmt.Errorf("tell %s: %w", ref, err)
}

// DueReminders returns the rows by which people are reminded of what waits for them that are due at a time, those first
// that were due first. The index may be slightly stale. A row that can't be read is an error, and the next ones follow.
func (s *Store) DueReminders(ctx context.Context, at time.Time) iter.Seq2[tenancy.Reminding, error] {
	e := table.NewExpression()
	in := s.t.Find(e, "GSI2", tenancy.RemindersDue,
		e.Is("GSI2SK", "<", aggregate.TimeText(at)+"$")) // the sign after #, which follows the time
	in.Limit = aws.Int32(duePage)
	return func(yield func(tenancy.Reminding, error) bool) {
		for it, err := range table.Queried(ctx, s.t, in, asItem) {
			var r tenancy.Reminding
			if err == nil {
				err = table.Unpack(it, &r)
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// LookAgain has the next sweep see to it that people are looked up again for what waits in a tenant. It returns
// aggregate.ErrConflict if a sweep was faster.
func (s *Store) LookAgain(ctx context.Context, tenant string, now time.Time) error {
	was, err := savedOr(ctx, s, tenant, tenancy.Reminding{TenantID: tenant})
	if err != nil {
		return err
	}
	next := was
	next.LookAgain, next.DueAt = true, now
	return s.SaveReminding(ctx, next, was)
}

// SaveReminding commits next.Over(was). It returns aggregate.ErrConflict if the row is not as was.
func (s *Store) SaveReminding(ctx context.Context, next, was tenancy.Reminding) error {
	return s.changeOnce(ctx, next.Over(was), nil)
}
