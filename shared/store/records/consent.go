package records

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// ConsentLasts is how long a person has to give consent at a vendor.
const ConsentLasts = 10 * time.Minute

// Consent is a consent that a browser began, as the table stores it until the vendor redirects the person back. It
// contains neither the state nor the verifier: the row's key is the state's hash, and the verifier is computed from the
// browser's cookie.
type Consent struct {
	Browser  string `json:"browser"`             // hash of the cookie of the browser that began it
	Tenant   string `json:"tenant_id,omitempty"` // whose administrator began it; empty: an installation, of nobody we know yet
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
