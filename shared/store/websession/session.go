// Package websession is about who is signed in to the console: what a browser holds, what the table holds of it, and
// when either ends. The table has hashes only: whoever reads it can't sign in with what they read.
package websession

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"time"
)

const (
	// Lasts is how long somebody stays signed in.
	Lasts = 8 * time.Hour
	// rotateAfter is the age at which a cookie is replaced by a new one.
	rotateAfter = 15 * time.Minute
	// Grace is how long a cookie that was replaced is still taken: a browser asks for several things at once.
	Grace = time.Minute
	// Unseen is how long it is taken while nobody came with one that replaced it: the answer that brought that may be
	// lost.
	Unseen = time.Hour
	// askEvery is how often Slack and the tenant's row are asked who the person is by now.
	askEvery = 2 * time.Minute
	// believed is how long the last answer counts while Slack does not say.
	believed = 5 * time.Minute
	// SignInLasts is how long a person has for signing in.
	SignInLasts = 10 * time.Minute
	// SignInsPerMinute is how many sign-ins may be begun from a network in a minute.
	SignInsPerMinute = 20
)

// Session is one browser's, as the table has it.
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
	// Of a cookie that was replaced: when that last happened, by which cookie, and since when nobody has come with a
	// replacement.
	Replaced *time.Time `json:"replaced_at,omitempty"`
	Next     string     `json:"next,omitempty"` // hash
	Awaits   *time.Time `json:"awaits_next_since,omitempty"`
	// Before is the hash of the cookie that this one replaced, until somebody comes with this one.
	Before string `json:"before,omitempty"`
	// Previous is that hash as long as the session lasts: signing out ends both.
	Previous string `json:"previous,omitempty"`
}

// New is a session that begins.
func New(tenant, team, user, name string, admin bool, now time.Time) Session {
	return Session{
		Tenant: tenant, Team: team, User: user, Name: name, Admin: admin, Form: Secret(),
		CreatedAt: now, RotatedAt: now, AskedAt: now,
	}
}

// Ends is when the session is over whatever happens.
func (s Session) Ends() time.Time { return s.CreatedAt.Add(Lasts) }

// Valid reports whether the session's cookie is accepted.
func (s Session) Valid(now time.Time) bool {
	return now.Before(s.Ends()) && (s.Replaced == nil || now.Before(s.Replaced.Add(Grace)) || s.Awaits != nil && now.Before(s.Awaits.Add(Unseen)))
}

// MustRotate reports whether the cookie is due for a new one. One that was replaced is due again when the browser still
// has it after the grace: the new one did not arrive.
func (s Session) MustRotate(now time.Time) bool {
	if s.Replaced != nil {
		return s.Awaits != nil && !now.Before(s.Replaced.Add(Grace))
	}
	return !now.Before(s.RotatedAt.Add(rotateAfter))
}

// Rotated is the session under its next cookie, which takes the place of the one with this hash.
func (s Session) Rotated(before string, now time.Time) Session {
	s.RotatedAt, s.Before, s.Previous = now, before, before
	s.Replaced, s.Next, s.Awaits = nil, "", nil
	return s
}

// MustAsk reports whether it is to be asked again who the person is.
func (s Session) MustAsk(now time.Time) bool { return !now.Before(s.AskedAt.Add(askEvery)) }

// Believed reports whether the last answer still counts although nobody answers now.
func (s Session) Believed(now time.Time) bool { return now.Before(s.AskedAt.Add(believed)) }

// FormIs reports whether a form carries the session's token.
func (s Session) FormIs(token string) bool {
	return s.Form != "" && hmac.Equal([]byte(s.Form), []byte(token))
}

// SignIn is one that was begun, as the table has it until Slack sends the person back.
type SignIn struct {
	Browser string `json:"browser"` // hash of the cookie of the browser that began it
	Nonce   string `json:"nonce"`
	Next    string `json:"next"` // where to go on
}

// By reports whether the browser with this cookie began it.
func (s SignIn) By(cookie string) bool {
	return cookie != "" && hmac.Equal([]byte(s.Browser), []byte(Hash(cookie)))
}

// Network is what an address is counted as: an IPv6 address by its first 64 bits, of which one household has all (RFC
// 6177).
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

// Secret is a new secret of 130 random bits or more.
func Secret() string { return rand.Text() }

// Hash is the form in which the table keeps a secret.
func Hash(secret string) string {
	sum := sha256.Sum256([]byte(secret))
	return hex.EncodeToString(sum[:])
}
