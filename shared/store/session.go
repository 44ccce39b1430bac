package store

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/netip"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
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

// HashOf returns the form in which the table stores a secret.
func HashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}

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
	return cookie != "" && hmac.Equal([]byte(c.Browser), []byte(HashOf(cookie))) && c.Tenant == tenant && c.User == user
}

// Verifier returns the secret that proves to the vendor that the code is redeemed by whoever asked for it (RFC 7636).
// It is computed from the cookie and the state, so it need not be stored.
func Verifier(cookie, state string) string {
	mac := hmac.New(sha256.New, []byte(cookie))
	mac.Write([]byte("verifier\x00" + state))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
