package records

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"time"
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

// Session is a browser's session as the table stores it.
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

// New returns a new session.
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
	return now.Before(s.Ends()) && (s.Replaced == nil || now.Before(s.Replaced.Add(Grace)) || s.Awaits != nil && now.Before(s.Awaits.Add(Unseen)))
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

// Secret returns a new secret of at least 130 random bits.
func NewSecret() string { return rand.Text() }

// Hash returns the form in which the table stores a secret.
func HashOf(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
