package store

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/table"
)

// change commits a tenant's change in one transaction, or returns err, the error of the decision that made it. An empty
// change writes nothing. Waiting cards that show the changed settings are redrawn, at most a hundred tasks.
//
// When a row is not as a write expected, it returns that write's error, or aggregate.ErrConflict if the write has none.
func (s *Store) change(ctx context.Context, c tenancy.Change, err error) error {
	return s.changeBy(ctx, s.t.TransactPast, c, nil, err)
}

// changeOnce is change without retries: whileConflict retries it.
func (s *Store) changeOnce(ctx context.Context, c tenancy.Change, err error) error {
	return s.changeBy(ctx, s.t.Transact, c, nil, err)
}

// Notice is an aggregate that tells somebody of a tenant's change. It is created in the same transaction.
type Notice struct {
	Ref    aggregate.Ref
	Change aggregate.Change
}

func (s *Store) changeBy(ctx context.Context,
	transact func(ctx context.Context, token string, items []types.TransactWriteItem) error, c tenancy.Change,
	told []Notice, err error) error {
	if err != nil || len(c.Writes) == 0 {
		return err
	}
	_, what, _ := c.Writes[0].Row.Place()
	failed := func(err error) error { return fmt.Errorf("save %s of %.40q: %w", what, c.Tenant, err) }
	if !table.KeyPart(c.Tenant) {
		return failed(aggregate.ErrNotFound)
	}
	var items []types.TransactWriteItem
	for _, w := range c.Writes {
		it, err := s.write(w)
		if err != nil {
			return failed(err)
		}
		items = append(items, it)
	}
	logged, err := s.logged(s.entries(c.Audit))
	if err != nil {
		return failed(err)
	}
	items = append(items, logged...)
	for _, n := range told {
		more, err := s.creating(n.Ref, s.numbered(n.Change))
		if err != nil {
			return failed(err)
		}
		items = append(items, more...)
	}
	if err := transact(ctx, s.newID(), items); err != nil {
		return failed(err)
	}
	if c.Redraw {
		s.redrawWaiting(ctx, c.Tenant, c.Owes)
	}
	return nil
}

func (s *Store) write(w tenancy.Write) (types.TransactWriteItem, error) {
	pk, sk, typ := w.Row.Place()
	if w.Set == nil && !w.Delete {
		it, err := table.Pack(typ, pk, sk, w.Row)
		if x, has := w.Row.(aggregate.Indexed); has && err == nil {
			for _, i := range x.Indexes(nil) {
				table.Index(it, i.N, i.PK, i.SK)
			}
		}
		return s.t.Put(it, w.Over), err
	}
	e := table.NewExpression()
	conditions := []string{e.Exists()}
	for _, name := range slices.Sorted(maps.Keys(w.If)) {
		if w.If[name] == nil {
			conditions = append(conditions, e.Lacks(name))
		} else {
			conditions = append(conditions, e.Is(name, "=", w.If[name]))
		}
	}
	if w.Delete {
		return types.TransactWriteItem{Delete: table.Filled(e, &types.Delete{
			TableName: &s.t.Name, Key: table.Key(pk, sk), ConditionExpression: table.All(conditions...),
		})}, nil
	}
	for _, name := range slices.Sorted(maps.Keys(w.Set)) {
		e.Set(name, w.Set[name])
	}
	return s.t.Move(table.Key(pk, sk), e, conditions...), nil
}

// whileConflict repeats try for up to two seconds while it returns aggregate.ErrConflict.
func whileConflict(ctx context.Context, try func() error) error {
	return table.Repeat(ctx, try, func(err error) bool { return errors.Is(err, aggregate.ErrConflict) })
}

// read reads a row from the keys that into returns. It returns aggregate.ErrNotFound when there is none.
func (s *Store) read(ctx context.Context, tenant string, into tenancy.Row) error {
	pk, sk, _ := into.Place()
	if !table.KeyPart(tenant) {
		return fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	return table.Wrapped(s.t.Get(ctx, pk, sk, into), "read %s of %s", sk, tenant)
}
