package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Tell adds rows to an aggregate that nobody has read: each is put if it is absent, and the head gets a new rev, so
// that whatever reads the rows afterwards meets them. c has no head, since the head is moved by an expression, and
// last_change stays: a commit whose answer was lost is recognised by it. The rows count as written by the first commit.
//
// It returns ErrExists when one of the rows is there, and aggregate.ErrNotFound when there is no head, or one that is
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
	head := s.t.Move(table.Key(pk, aggregate.HeadKey), e, e.Exists(), kept)
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
		err = ErrExists // also when an earlier try went through and its answer was lost
	}
	return fmt.Errorf("tell %s: %w", ref, err)
}
