package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
)

// Tell adds rows to an aggregate that nobody has read: each is put if it is absent, and the head gets a new rev, so that
// whatever reads the rows afterwards meets them. c has no head, since the head is moved by an expression, and last_change
// stays: a commit whose answer was lost is recognised by it. The rows count as written by the first commit.
//
// It returns ErrExists when one of the rows is there, and aggregate.ErrNotFound when there is no head, or one that is forgotten.
func (s *Store) Tell(ctx context.Context, ref aggregate.Ref, c aggregate.Change) error {
	pk, err := s.partition(ref)
	if err != nil {
		return err
	}
	e := newExpression()
	e.add("rev", 1)
	e.due(ref.ID, c.Now.Add(dueAfterCommit))
	head := types.TransactWriteItem{Update: filled(e, &types.Update{
		TableName: &s.table, Key: key(pk, aggregate.HeadKey), UpdateExpression: e.update(),
		ConditionExpression: all(e.exists(), anyOf(e.lacks("forgotten_at"), e.is("forgotten_at", ">", c.Now))),
	})}
	rest, err := s.actions(ref, c, 1)
	if err != nil {
		return fmt.Errorf("tell %s: %w", ref, err)
	}
	err = s.transactPast(ctx, s.newID(), append([]types.TransactWriteItem{head}, rest...))
	var l *lost
	switch {
	case err == nil:
		return nil
	case errors.As(err, &l) && l.failed(0):
		err = aggregate.ErrNotFound
	case errors.As(err, &l) && !l.onlyInTheWay():
		err = ErrExists // also when an earlier try went through and its answer was lost
	}
	return fmt.Errorf("tell %s: %w", ref, err)
}
