package records

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

// Rows of browsers have the key WEB#<hash of a secret that the browser holds> and a TTL.
const (
	webSession = "SESSION"
	webSignIn  = "SIGNIN"
)

func webKey(secret, sort string) (pk, sk string) { return webPartition(HashOf(secret)), sort }

func webPartition(hash string) string { return "WEB#" + hash }

// Sessions reads and writes rows of browsers.
type Sessions struct{ t *table.Table }

// SessionsOf returns the sessions in a table.
func SessionsOf(t *table.Table) Sessions { return Sessions{t} }

// Session returns the session of a cookie. It returns aggregate.ErrNotFound when there is none or it has ended.
func (s Sessions) Session(ctx context.Context, cookie string, now time.Time) (Session, error) {
	var is Session
	pk, sk := webKey(cookie, webSession)
	if err := s.t.Get(ctx, pk, sk, &is); err != nil {
		return Session{}, fmt.Errorf("read a session: %w", err)
	}
	if !is.Valid(now) {
		return Session{}, fmt.Errorf("a session that is over: %w", aggregate.ErrNotFound)
	}
	return is, nil
}

// BeginSession saves a session under its cookie.
func (s Sessions) BeginSession(ctx context.Context, cookie string, x Session) error {
	pk, sk := webKey(cookie, webSession)
	return s.putWeb(ctx, pk, sk, "web_session", x, x.Ends())
}

// SawSession saves the person's name and role, as Slack and the tenant's row have just reported them. A session that
// has ended is not changed.
func (s Sessions) SawSession(ctx context.Context, cookie string, x Session) error {
	e := table.NewExpression()
	e.Set("name", x.Name)
	e.Set("admin", x.Admin)
	e.Set("asked_at", x.AskedAt)
	pk, sk := webKey(cookie, webSession)
	_, err := s.t.Update(ctx, table.Key(pk, sk), e, table.All(e.Exists()))
	return table.Wrapped(table.Unless(err, aggregate.ErrNotFound), "note whose session it is")
}

// BeginSignIn saves a sign-in under its state until Slack redirects the person back.
func (s Sessions) BeginSignIn(ctx context.Context, state string, x SignIn, now time.Time) error {
	pk, sk := webKey(state, webSignIn)
	return s.putWeb(ctx, pk, sk, "web_signin", x, now.Add(SignInLasts))
}

// TakeSignIn deletes and returns the sign-in of a state, so that only one call gets it. It returns
// aggregate.ErrNotFound when there is none or it is too old.
func (s Sessions) TakeSignIn(ctx context.Context, state string, now time.Time) (SignIn, error) {
	var is SignIn
	err := s.take(ctx, state, webSignIn, now, &is)
	return is, table.Wrapped(err, "take a sign-in")
}

// take deletes and reads the item of a state, so that only one caller gets it. It returns aggregate.ErrNotFound when
// there is none or it is too old.
func (s Sessions) take(ctx context.Context, state, sort string, now time.Time, into any) error {
	pk, sk := webKey(state, sort)
	k, e := table.Key(pk, sk), table.NewExpression()
	out, err := s.t.DB.DeleteItem(ctx, table.Filled(e, &dynamodb.DeleteItemInput{
		TableName: &s.t.Name, Key: k, ConditionExpression: table.All(e.Exists()), ReturnValues: types.ReturnValueAllOld,
	}))
	switch {
	case table.ConditionFailed(err) || err == nil && table.Expired(out.Attributes, now):
		return aggregate.ErrNotFound
	case err != nil:
		return err
	}
	return table.Unpack(out.Attributes, into)
}

// CountSignIn counts a sign-in from an address, and reports whether it is within this minute's limit. Beyond the limit
// it only reads.
func (s Sessions) CountSignIn(ctx context.Context, address string, now time.Time) (within bool, err error) {
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

func webItem(pk, sk, typ string, v any, until time.Time) (table.Item, error) {
	it, err := table.Pack(typ, pk, sk, v)
	if err == nil {
		it["delete_after"] = table.Number(int(until.Unix()))
	}
	return it, err
}

func (s Sessions) putWeb(ctx context.Context, pk, sk, typ string, v any, until time.Time) error {
	it, err := webItem(pk, sk, typ, v, until)
	if err != nil {
		return err
	}
	_, err = s.t.DB.PutItem(ctx, &dynamodb.PutItemInput{TableName: aws.String(s.t.Name), Item: it})
	return table.Wrapped(err, "put %s", typ)
}

// webConsent is the sort key of consents, in the partition of the hash of their state.
const webConsent = "OAUTH"

// BeginConsent saves a consent under its state until the vendor redirects the person back.
func (s Sessions) BeginConsent(ctx context.Context, state string, x Consent, now time.Time) error {
	pk, sk := webKey(state, webConsent)
	return s.putWeb(ctx, pk, sk, "web_consent", x, now.Add(ConsentLasts))
}

// TakeConsent deletes and returns the consent of a state, so that only one call gets it. It returns
// aggregate.ErrNotFound when there is none or it is too old.
func (s Sessions) TakeConsent(ctx context.Context, state string, now time.Time) (Consent, error) {
	var is Consent
	err := s.take(ctx, state, webConsent, now, &is)
	return is, table.Wrapped(err, "take a consent")
}
