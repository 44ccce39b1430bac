package store

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/websession"
	"ringi/shared/store/table"
)

// Rows of browsers: WEB#<hash of a secret that the browser holds>. All have a TTL.
const (
	webSession = "SESSION"
	webSignIn  = "SIGNIN"
)

func webKey(secret, sort string) (pk, sk string) { return webPartition(websession.Hash(secret)), sort }

func webPartition(hash string) string { return "WEB#" + hash }

// WebSession is the session of a cookie. It returns aggregate.ErrNotFound when there is none, or it is over.
func (s *Store) WebSession(ctx context.Context, cookie string, now time.Time) (websession.Session, error) {
	var is websession.Session
	pk, sk := webKey(cookie, webSession)
	if err := s.t.Get(ctx, pk, sk, &is); err != nil {
		return websession.Session{}, fmt.Errorf("read a session: %w", err)
	}
	if !is.Valid(now) {
		return websession.Session{}, fmt.Errorf("a session that is over: %w", aggregate.ErrNotFound)
	}
	return is, nil
}

// BeginWebSession keeps a session under its cookie.
func (s *Store) BeginWebSession(ctx context.Context, cookie string, x websession.Session) error {
	pk, sk := webKey(cookie, webSession)
	return s.putWeb(ctx, pk, sk, "web_session", x, x.Ends())
}

// SawWebSession notes who the person of a session is, as Slack and the tenant's row just said. One that has ended stays so.
func (s *Store) SawWebSession(ctx context.Context, cookie string, x websession.Session) error {
	e := table.NewExpression()
	e.Set("name", x.Name)
	e.Set("admin", x.Admin)
	e.Set("asked_at", x.AskedAt)
	pk, sk := webKey(cookie, webSession)
	_, err := s.t.Update(ctx, table.Key(pk, sk), e, table.All(e.Exists()))
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return fmt.Errorf("note whose session it is: %w", err)
	}
	return nil
}

// BeginSignIn keeps a sign-in under its state until Slack sends the person back.
func (s *Store) BeginSignIn(ctx context.Context, state string, x websession.SignIn, now time.Time) error {
	pk, sk := webKey(state, webSignIn)
	return s.putWeb(ctx, pk, sk, "web_signin", x, now.Add(websession.SignInLasts))
}

// TakeSignIn is the sign-in of a state, which no other call gets again. It returns aggregate.ErrNotFound when there is
// none, or it is too old.
func (s *Store) TakeSignIn(ctx context.Context, state string, now time.Time) (websession.SignIn, error) {
	var is websession.SignIn
	pk, sk := webKey(state, webSignIn)
	it, err := s.taken(ctx, table.Key(pk, sk), now)
	if err != nil {
		return is, fmt.Errorf("take a sign-in: %w", err)
	}
	return is, table.Unpack(it, &is)
}

// taken deletes an item and returns it, to one caller only. It returns aggregate.ErrNotFound when there is none, or it is
// too old.
func (s *Store) taken(ctx context.Context, k table.Item, now time.Time) (table.Item, error) {
	e := table.NewExpression()
	out, err := s.t.DB.DeleteItem(ctx, table.Filled(e, &dynamodb.DeleteItemInput{
		TableName: &s.t.Name, Key: k, ConditionExpression: table.All(e.Exists()), ReturnValues: types.ReturnValueAllOld,
	}))
	switch {
	case table.ConditionFailed(err) || err == nil && table.Expired(out.Attributes, now):
		return nil, aggregate.ErrNotFound
	case err != nil:
		return nil, err
	}
	return out.Attributes, nil
}

// CountSignIn counts one that somebody begins from an address, and reports whether it is within the limit of this minute. What
// is beyond is looked up and not written.
func (s *Store) CountSignIn(ctx context.Context, address string, now time.Time) (within bool, err error) {
	pk, sk := webKey("address "+websession.Network(address), "MINUTE#"+now.UTC().Format("2006-01-02T15:04"))
	var is struct {
		N int `json:"n"`
	}
	if err := s.t.Get(ctx, pk, sk, &is); err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return false, fmt.Errorf("look sign-ins up: %w", err)
	}
	if is.N >= websession.SignInsPerMinute {
		return false, nil
	}
	e := table.NewExpression()
	e.Add("n", 1)
	e.Row("web_signins", now.Add(2*time.Minute))
	it, err := s.t.Update(ctx, table.Key(pk, sk), e, table.All(table.AnyOf(e.Lacks("n"), e.Is("n", "<", websession.SignInsPerMinute))))
	if errors.Is(err, table.ErrCondition) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("count sign-ins: %w", err)
	}
	return table.IntOf(it, "n") <= websession.SignInsPerMinute, nil
}

func webItem(pk, sk, typ string, v any, until time.Time) (table.Item, error) {
	it, err := table.Pack(typ, pk, sk, v)
	if err == nil {
		it["delete_after"] = table.Number(int(until.Unix()))
	}
	return it, err
}

func (s *Store) putWeb(ctx context.Context, pk, sk, typ string, v any, until time.Time) error {
	it, err := webItem(pk, sk, typ, v, until)
	if err != nil {
		return err
	}
	if _, err := s.t.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(s.t.Name), Item: it}); err != nil {
		return fmt.Errorf("put %s: %w", typ, err)
	}
	return nil
}
