package records

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// RotateSession saves the given session under a new cookie. The old cookie becomes invalid soon after the new one is
// used; until then it may be replaced again. It returns aggregate.ErrConflict when the old cookie was replaced since
// the session was read, or is gone.
func (s Sessions) RotateSession(ctx context.Context, old, cookie string, x Session, now time.Time) error {
	pk, sk := webKey(cookie, webSession)
	it, err := webItem(pk, sk, "web_session", x.Rotated(HashOf(old), now), x.Ends())
	if err != nil {
		return err
	}
	e := table.NewExpression()
	as := e.Lacks("replaced_at")
	if x.Replaced != nil {
		as = table.Both(e.Is("next", "=", x.Next), e.Has("awaits_next_since"))
	} else {
		e.Set("awaits_next_since", now)
	}
	e.Set("replaced_at", now)
	e.Set("next", HashOf(cookie))
	pk, _ = webKey(old, webSession)
	err = s.t.TransactPast(ctx, aggregate.NewID(), []types.TransactWriteItem{
		{Put: &types.Put{TableName: &s.t.Name, Item: it}}, s.webUpdate(pk, e, e.Exists(), as),
	})
	return table.Wrapped(err, "replace a cookie")
}

// CameSession records that a cookie was used, so that the previous one becomes invalid. If the previous cookie was
// since replaced by another one, two parties use the session and one is not the person: it ends the session under all
// its cookies and returns aggregate.ErrNotFound.
func (s Sessions) CameSession(ctx context.Context, cookie string, x Session) error {
	own, before := table.NewExpression(), table.NewExpression()
	own.Remove("before")
	before.Remove("awaits_next_since")
	hash := HashOf(cookie)
	err := s.t.TransactPast(ctx, aggregate.NewID(), []types.TransactWriteItem{
		s.webUpdate(webPartition(hash), own, own.Exists()),
		s.webUpdate(webPartition(x.Before), before, before.Exists(), before.Is("next", "=", hash)),
	})
	var l *table.Lost
	if errors.As(err, &l) && !l.OnlyInTheWay() {
		return errors.Join(fmt.Errorf("a cookie beside another: %w", aggregate.ErrNotFound), s.endWeb(ctx, x.Before), s.endWeb(ctx, hash))
	}
	return table.Wrapped(err, "note that a cookie came")
}

func (s Sessions) webUpdate(pk string, e *table.Expression, conditions ...string) types.TransactWriteItem {
	return s.t.Move(table.Key(pk, webSession), e, conditions...)
}

// EndSession deletes a session under this cookie, its replacements, and its predecessor, which is still valid for a
// minute. Ending a session that doesn't exist is no error.
func (s Sessions) EndSession(ctx context.Context, cookie string) error {
	hash := HashOf(cookie)
	var is Session
	err := s.t.Get(ctx, webPartition(hash), webSession, &is)
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil
	}
	if err == nil && is.Previous != "" {
		err = s.deleteWeb(ctx, is.Previous)
	}
	if err != nil {
		return fmt.Errorf("end a session under the cookie before: %w", err)
	}
	return s.endWeb(ctx, hash)
}

// endWeb deletes the newest cookie first, so that after a failure the remaining rows still lead to all cookies.
func (s Sessions) endWeb(ctx context.Context, hash string) error {
	var is Session
	err := s.t.Get(ctx, webPartition(hash), webSession, &is)
	if errors.Is(err, aggregate.ErrNotFound) {
		return nil
	}
	if err == nil && is.Next != "" {
		err = s.endWeb(ctx, is.Next)
	}
	if err == nil {
		err = s.deleteWeb(ctx, hash)
	}
	return table.Wrapped(err, "end a session")
}

func (s Sessions) deleteWeb(ctx context.Context, hash string) error {
	_, err := s.t.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.t.Name, Key: table.Key(webPartition(hash), webSession)})
	return err
}
