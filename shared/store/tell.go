package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

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
