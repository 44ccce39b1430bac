package store

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// StandIns returns all delegations by which a hand stands in for others, those that are over, too. hand is an account,
// or a key of the organisation where one stands. It makes one consistent query.
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
	return s.delegations(ctx, tenant, principal, "GSI1", tenancy.DelegatedBy)
}

// DelegationsBy returns the delegations by which an account stands in for others, those that are over, too, whether
// they name it or its person. It reads an index, which may be slightly stale: acts rely on what StandIns returns.
func (s *Store) DelegationsBy(ctx context.Context, tenant, account string) ([]tenancy.Delegation, error) {
	return s.delegations(ctx, tenant, account, "GSI3", tenancy.StandsInBy)
}

// StandInsBy is DelegationsBy, as decisions need them.
func (s *Store) StandInsBy(ctx context.Context, tenant, account string) (out []circulation.StandIn, err error) {
	all, err := s.DelegationsBy(ctx, tenant, account)
	for _, d := range all {
		out = append(out, d.StandIn())
	}
	return out, err
}

func (s *Store) delegations(ctx context.Context, tenant, of, index string,
	partition func(tenant, of string) string) (out []tenancy.Delegation, err error) {
	if !table.KeyPart(tenant) || !table.KeyPart(of) {
		return nil, fmt.Errorf("delegations of %.40q: %w", of, aggregate.ErrNotFound)
	}
	e := table.NewExpression()
	out, err = unexpired[tenancy.Delegation](ctx, s, table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, IndexName: &index,
		KeyConditionExpression: table.All(e.Is(index+"PK", "=", partition(tenant, of))),
	}))
	return out, table.Wrapped(err, "read the delegations of %s", of)
}

// Delegation reads the row with the keys of d, or returns aggregate.ErrNotFound.
func (s *Store) Delegation(ctx context.Context, d tenancy.Delegation) (tenancy.Delegation, error) {
	err := s.read(ctx, d.TenantID, &d)
	return d, err
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
	of, err := s.DelegationsOf(ctx, d.TenantID, tenancy.PersonKey(d.Principal))
	if err != nil {
		return d, err
	}
	var theirs []tenancy.Delegation
	if !d.Absence() {
		theirs, err = s.DelegationsTo(ctx, d.TenantID, tenancy.PersonKey(d.Hand))
	}
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

// DueDelegations returns the delegations of all tenants that began until a time though Begin hasn't noted it, or that
// were over and whose principals have not been told what was done, by when that was. It reads page by page an index,
// which may be slightly stale. An error may be one row's alone: more follow then.
func (s *Store) DueDelegations(ctx context.Context, at time.Time) iter.Seq2[tenancy.Delegation, error] {
	return dueRows[tenancy.Delegation](ctx, s, tenancy.DelegationsDue, at)
}

// dueRows returns the rows of a partition of GSI2 that is sorted by time and what follows #, up to a time.
func dueRows[T any](ctx context.Context, s *Store, partition string, at time.Time) iter.Seq2[T, error] {
	e := table.NewExpression()
	in := table.Filled(e, &dynamodb.QueryInput{
		TableName: &s.t.Name, IndexName: aws.String("GSI2"), Limit: aws.Int32(duePage),
		KeyConditionExpression: table.All(e.Is("GSI2PK", "=", partition),
			e.Is("GSI2SK", "<", aggregate.TimeText(at)+"$")), // the sign after #
	})
	return func(yield func(T, error) bool) {
		for it, err := range table.Queried(ctx, s.t, in, func(it table.Item) (table.Item, error) { return it, nil }) {
			var d T
			if err == nil {
				err = table.Unpack(it, &d)
			}
			if !yield(d, err) {
				return
			}
		}
	}
}

// Stood returns what was done by a delegation since its Since, the newest first.
func (s *Store) Stood(ctx context.Context, d tenancy.Delegation) ([]tenancy.Stood, error) {
	all, err := Listed[tenancy.Stood](ctx, s, d.TenantID, tenancy.StoodList, tenancy.PersonKey(d.Principal),
		tenancy.StoodFrom(d.Since), "", true, 0)
	return slices.DeleteFunc(all, func(x tenancy.Stood) bool { return x.Delegation != d.Key() }), err
}

// BeginDelegation commits Delegation.Begin. It returns aggregate.ErrConflict if the row has changed.
func (s *Store) BeginDelegation(ctx context.Context, d tenancy.Delegation) error {
	return s.changeBy(ctx, s.t.TransactPast, d.Begin(), nil, nil)
}

// ListDelegation commits Delegation.Listed with the notice that tells of it; nil: nothing was done. It returns
// aggregate.ErrConflict if the row has changed.
func (s *Store) ListDelegation(ctx context.Context, d tenancy.Delegation, now time.Time, told *Notice) error {
	var all []Notice
	if told != nil {
		all = append(all, *told)
	}
	return s.changeBy(ctx, s.t.TransactPast, d.Listed(now), all, nil)
}

// Tell adds rows to an aggregate without reading it first. Each row must be absent. The head gets a new revision, so
// that no decision made without these rows can be committed. c has no head because an expression updates it.
// last_change stays unchanged because a commit whose answer was lost is recognised by it. The rows count as written by
// the first commit.
//
// It returns ErrExists when one of the rows exists, and aggregate.ErrNotFound when there is no head or the aggregate is
// forgotten.
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
		err = ErrExists // also if an earlier try succeeded and its answer was lost
	}
	return fmt.Errorf("tell %s: %w", ref, err)
}
