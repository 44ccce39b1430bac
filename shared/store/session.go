package store

import (
	"context"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/table"
)

const (
	// SessionLasts is how long a session lasts.
	SessionLasts = 8 * time.Hour
	// askEvery is how often Slack is asked whether the person still belongs to the workspace, and the table whether they
	// signed out.
	askEvery = 2 * time.Minute
	// believed is how long the last answer is trusted while Slack does not answer.
	believed = 5 * time.Minute
	// SignInsPerMinute is how many sign-ins may begin from one network in a minute.
	SignInsPerMinute = 20
)

// Session is what the cookie of a signed-in browser says. It is signed, so that nobody else can write one, and no row
// has it. A stolen one shows what its person may see until the person signs out anywhere, leaves the workspace, or
// SessionLasts is over: using it makes it last no longer.
type Session struct {
	Tenant    string    `json:"tenant_id"`
	Team      string    `json:"team_id"`
	User      string    `json:"user"` // Slack user id
	Name      string    `json:"name"`
	CreatedAt time.Time `json:"created_at"`
	AskedAt   time.Time `json:"asked_at"` // when Slack last said that the person belongs to the workspace
}

// NewSession returns a new session.
func NewSession(tenant, team, user, name string, now time.Time) Session {
	now = now.UTC().Truncate(time.Millisecond)
	return Session{Tenant: tenant, Team: team, User: user, Name: name, CreatedAt: now, AskedAt: now}
}

// Ends returns when the session ends at the latest.
func (s Session) Ends() time.Time { return s.CreatedAt.Add(SessionLasts) }

// MustAsk reports whether it must be checked again that the person belongs to the workspace.
func (s Session) MustAsk(now time.Time) bool { return !now.Before(s.AskedAt.Add(askEvery)) }

// Believed reports whether the last answer is still trusted although nobody answers now.
func (s Session) Believed(now time.Time) bool { return now.Before(s.AskedAt.Add(believed)) }

// Signed returns the session's cookie, signed by a key derived from the secret by which Slack signs its calls: whoever
// has that can click for anybody already.
func (s Session) Signed(secret string) (string, error) {
	b, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	says := base64.RawURLEncoding.EncodeToString(b)
	return says + "." + signature(says, secret), nil
}

// OpenSession reads a session's cookie. It returns aggregate.ErrNotFound if the secret has not signed it, or if the
// session is over.
func OpenSession(cookie, secret string, now time.Time) (s Session, err error) {
	says, signed, _ := strings.Cut(cookie, ".")
	if secret == "" || !hmac.Equal([]byte(signature(says, secret)), []byte(signed)) {
		return s, fmt.Errorf("a cookie that nobody signed: %w", aggregate.ErrNotFound)
	}
	b, err := base64.RawURLEncoding.DecodeString(says)
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err == nil && !now.Before(s.Ends()) {
		err = fmt.Errorf("a session that is over: %w", aggregate.ErrNotFound)
	}
	return s, err
}

func signature(says, secret string) string {
	key, _ := hkdf.Key(sha256.New, []byte(secret), nil, "session of the console", sha256.Size) // a length that it has
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(says))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
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

// ConsentLasts is how long a person has to give consent at a vendor, or to sign in.
const ConsentLasts = 10 * time.Minute

// Consent is a consent that a browser began, as the table stores it until the vendor redirects the person back. It
// contains neither the state nor the verifier: the row's key is the state's hash, and the verifier is computed from the
// browser's cookie.
type Consent struct {
	Browser string `json:"browser"` // hash of the cookie of the browser that began it
	// whose administrator began it; empty: an installation or a sign-in, of nobody we know yet
	Tenant   string `json:"tenant_id,omitempty"`
	User     string `json:"user,omitempty"`
	Provider string `json:"provider"`
	Redirect string `json:"redirect"`
	// Of a sign-in: what Slack repeats, and where to go on.
	Nonce string `json:"nonce,omitempty"`
	Next  string `json:"next,omitempty"`
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
	return cookie != "" && hmac.Equal([]byte(c.Browser), []byte(aggregate.HashOf(cookie))) && c.Tenant == tenant &&
		c.User == user
}

// Verifier returns the secret that proves to the vendor that the code is redeemed by whoever asked for it (RFC 7636).
// It is computed from the cookie and the state, so it need not be stored.
func Verifier(cookie, state string) string {
	mac := hmac.New(sha256.New, []byte(cookie))
	mac.Write([]byte("verifier\x00" + state))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}

// Rows of browsers have the key WEB#<hash of a secret that the browser holds, or of a person> and a TTL.
const (
	webSignedOut = "SIGNED_OUT"
	webConsent   = "OAUTH" // in the partition of the hash of its state
)

func webKey(secret, sort string) (pk, sk string) { return "WEB#" + aggregate.HashOf(secret), sort }

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
