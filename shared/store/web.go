package store

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

// Rows of browsers have the key WEB#<hash of a secret that the browser holds, or of a person> and a TTL.
const (
	webSignedOut = "SIGNED_OUT"
	webConsent   = "OAUTH" // in the partition of the hash of its state
)

func webKey(secret, sort string) (pk, sk string) { return "WEB#" + HashOf(secret), sort }

// signedOut is the row of a person who signed out.
type signedOut struct {
	At time.Time `json:"at"`
}

func signedOutKey(x Session) (pk, sk string) {
	return webKey("person "+x.Tenant+" "+x.User, webSignedOut)
}

// SignOut ends all sessions of a session's person that began before now.
func (s *Store) SignOut(ctx context.Context, x Session, now time.Time) error {
	pk, sk := signedOutKey(x)
	return s.putWeb(ctx, pk, sk, "web_signed_out", signedOut{now}, now.Add(SessionLasts))
}

// SignedOut reports whether a session's person has signed out since it began.
func (s *Store) SignedOut(ctx context.Context, x Session) (bool, error) {
	var is signedOut
	pk, sk := signedOutKey(x)
	if err := s.t.Get(ctx, pk, sk, &is); err != nil {
		return false, table.Wrapped(table.Unless(err, aggregate.ErrNotFound), "look a sign-out up")
	}
	return !x.CreatedAt.After(is.At), nil
}

// CountSignIn counts a sign-in from an address, and reports whether it is within this minute's limit. Beyond the limit
// it only reads.
func (s *Store) CountSignIn(ctx context.Context, address string, now time.Time) (within bool, err error) {
	pk, sk := webKey("address "+Network(address), "MINUTE#"+now.UTC().Format("2006-01-02T15:04"))
	var is struct {
		N int `json:"n"`
	}
	if err := s.t.Get(ctx, pk, sk, &is); err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return false, fmt.Errorf("look sign-ins up: %w", err)
	}
	if is.N >= SignInsPerMinute {
		return false, nil
	}
	e := table.NewExpression()
	e.Add("n", 1)
	e.Row("web_signins", now.Add(2*time.Minute))
	it, err := s.t.Update(ctx, table.Key(pk, sk), e, table.All(table.AnyOf(e.Lacks("n"),
		e.Is("n", "<", SignInsPerMinute))))
	if errors.Is(err, table.ErrCondition) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("count sign-ins: %w", err)
	}
	return table.IntOf(it, "n") <= SignInsPerMinute, nil
}

func (s *Store) putWeb(ctx context.Context, pk, sk, typ string, v any, until time.Time) error {
	it, err := table.Pack(typ, pk, sk, v)
	if err != nil {
		return err
	}
	it["delete_after"] = table.Number(int(until.Unix()))
	_, err = s.t.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: &s.t.Name, Item: it})
	return table.Wrapped(err, "put %s", typ)
}

// BeginConsent saves a consent under its state until the vendor redirects the person back.
func (s *Store) BeginConsent(ctx context.Context, state string, x Consent, now time.Time) error {
	pk, sk := webKey(state, webConsent)
	return s.putWeb(ctx, pk, sk, "web_consent", x, now.Add(ConsentLasts))
}

// TakeConsent deletes and returns the consent of a state, so that only one call gets it. It returns
// aggregate.ErrNotFound when there is none or it is too old.
func (s *Store) TakeConsent(ctx context.Context, state string, now time.Time) (is Consent, err error) {
	pk, sk := webKey(state, webConsent)
	k, e := table.Key(pk, sk), table.NewExpression()
	out, err := s.t.DB.DeleteItem(ctx, table.Filled(e, &dynamodb.DeleteItemInput{
		TableName: &s.t.Name, Key: k, ConditionExpression: table.All(e.Exists()), ReturnValues: types.ReturnValueAllOld,
	}))
	switch {
	case table.ConditionFailed(err) || err == nil && table.Expired(out.Attributes, now):
		err = aggregate.ErrNotFound
	case err == nil:
		err = table.Unpack(out.Attributes, &is)
	}
	return is, table.Wrapped(err, "take a consent")
}
