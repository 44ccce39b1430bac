package records

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"net/netip"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

const (
	// Lasts is how long a session lasts.
	SessionLasts = 8 * time.Hour
	// rotateAfter is the age at which a cookie is replaced by a new one.
	rotateAfter = 15 * time.Minute
	// Grace is how long a replaced cookie is still accepted, because a browser sends requests in parallel.
	Grace = time.Minute
	// Unseen is how long a replaced cookie is accepted while its replacement has not been used: the response that set
	// it may have been lost.
	Unseen = time.Hour
	// askEvery is how often Slack and the tenant's row are asked for the person's current role.
	askEvery = 2 * time.Minute
	// believed is how long the last answer is trusted while Slack does not answer.
	believed = 5 * time.Minute
	// SignInLasts is how long a person has to sign in.
	SignInLasts = 10 * time.Minute
	// SignInsPerMinute is how many sign-ins may begin from one network in a minute.
	SignInsPerMinute = 20
)

// Session is a browser's session as the table stores it: with hashes only, so nobody can sign in with the table's
// content.
type Session struct {
	Tenant    string    `json:"tenant_id"`
	Team      string    `json:"team_id"`
	User      string    `json:"user"` // Slack user id
	Name      string    `json:"name"`
	Admin     bool      `json:"admin"`
	Form      string    `json:"form"` // what its forms carry
	CreatedAt time.Time `json:"created_at"`
	RotatedAt time.Time `json:"rotated_at"`
	AskedAt   time.Time `json:"asked_at"` // when Slack last said that the person belongs to the workspace
	// For a replaced cookie: when it was last replaced, by which cookie, and since when no replacement has been used.
	Replaced *time.Time `json:"replaced_at,omitempty"`
	Next     string     `json:"next,omitempty"` // hash
	Awaits   *time.Time `json:"awaits_next_since,omitempty"`
	// Before is the hash of the cookie that this one replaced, until this one is used.
	Before string `json:"before,omitempty"`
	// Previous is the same hash for the whole session: signing out ends both cookies.
	Previous string `json:"previous,omitempty"`
}

// NewSession returns a new session.
func NewSession(tenant, team, user, name string, admin bool, now time.Time) Session {
	return Session{
		Tenant: tenant, Team: team, User: user, Name: name, Admin: admin, Form: NewSecret(),
		CreatedAt: now, RotatedAt: now, AskedAt: now,
	}
}

// Ends returns when the session ends at the latest.
func (s Session) Ends() time.Time { return s.CreatedAt.Add(SessionLasts) }

// Valid reports whether the session's cookie is accepted.
func (s Session) Valid(now time.Time) bool {
	return now.Before(s.Ends()) && (s.Replaced == nil || now.Before(s.Replaced.Add(Grace)) || s.Awaits != nil &&
		now.Before(s.Awaits.Add(Unseen)))
}

// MustRotate reports whether the cookie is to be replaced. A replaced cookie that is still used after Grace is replaced
// again: the browser did not get the new one.
func (s Session) MustRotate(now time.Time) bool {
	if s.Replaced != nil {
		return s.Awaits != nil && !now.Before(s.Replaced.Add(Grace))
	}
	return !now.Before(s.RotatedAt.Add(rotateAfter))
}

// Rotated returns the session under its next cookie; before is the hash of the current one.
func (s Session) Rotated(before string, now time.Time) Session {
	s.RotatedAt, s.Before, s.Previous = now, before, before
	s.Replaced, s.Next, s.Awaits = nil, "", nil
	return s
}

// MustAsk reports whether the person's role must be checked again.
func (s Session) MustAsk(now time.Time) bool { return !now.Before(s.AskedAt.Add(askEvery)) }

// Believed reports whether the last answer is still trusted although nobody answers now.
func (s Session) Believed(now time.Time) bool { return now.Before(s.AskedAt.Add(believed)) }

// FormIs reports whether a form has the session's token.
func (s Session) FormIs(token string) bool {
	return s.Form != "" && hmac.Equal([]byte(s.Form), []byte(token))
}

// SignIn is a sign-in that has begun, as the table stores it until Slack redirects the person back.
type SignIn struct {
	Browser string `json:"browser"` // hash of the cookie of the browser that began it
	Nonce   string `json:"nonce"`
	Next    string `json:"next"` // where to go on
}

// By reports whether the browser with this cookie began the sign-in.
func (s SignIn) By(cookie string) bool {
	return cookie != "" && hmac.Equal([]byte(s.Browser), []byte(HashOf(cookie)))
}

// Network returns the unit by which addresses are counted: the first 64 bits of an IPv6 address, because one household
// has all of them (RFC 6177), or a whole IPv4 address.
func Network(address string) string {
	ip, err := netip.ParseAddr(address)
	if err != nil {
		return address
	}
	if ip = ip.Unmap().WithZone(""); ip.Is4() {
		return ip.String()
	}
	return netip.PrefixFrom(ip, 64).Masked().String()
}

// NewSecret returns a new secret of at least 130 random bits.
func NewSecret() string { return rand.Text() }

// HashOf returns the form in which the table stores a secret.
func HashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

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
		return errors.Join(fmt.Errorf("a cookie beside another: %w", aggregate.ErrNotFound), s.endWeb(ctx, x.Before),
			s.endWeb(ctx, hash))
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
	_, err := s.t.DB.DeleteItem(ctx, &dynamodb.DeleteItemInput{TableName: &s.t.Name,
		Key: table.Key(webPartition(hash), webSession)})
	return err
}

// ConsentLasts is how long a person has to give consent at a vendor.
const ConsentLasts = 10 * time.Minute

// Consent is a consent that a browser began, as the table stores it until the vendor redirects the person back. It
// contains neither the state nor the verifier: the row's key is the state's hash, and the verifier is computed from the
// browser's cookie.
type Consent struct {
	Browser string `json:"browser"` // hash of the cookie of the browser that began it
	// whose administrator began it; empty: an installation, of nobody we know yet
	Tenant   string `json:"tenant_id,omitempty"`
	User     string `json:"user,omitempty"`
	Provider string `json:"provider"`
	Redirect string `json:"redirect"`
	// For MCP servers: the server's address and the authorization server that it named.
	Address   string `json:"address,omitempty"`
	TokenURL  string `json:"token_url,omitempty"`
	RevokeURL string `json:"revoke_url,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Issuer    string `json:"issuer,omitempty"`
	NamesIt   bool   `json:"names_it,omitempty"` // it says in the return who it is (RFC 9207)
}

// By reports whether the browser with this cookie began the consent, and this person is signed in there.
func (c Consent) By(cookie, tenant, user string) bool {
	return cookie != "" && hmac.Equal([]byte(c.Browser), []byte(HashOf(cookie))) && c.Tenant == tenant && c.User == user
}

// Verifier returns the secret that proves to the vendor that the code is redeemed by whoever asked for it (RFC 7636).
// It is computed from the cookie and the state, so it need not be stored.
func Verifier(cookie, state string) string {
	mac := hmac.New(sha256.New, []byte(cookie))
	mac.Write([]byte("verifier\x00" + state))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
