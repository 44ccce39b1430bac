package websession

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"time"
)

// ConsentLasts is how long a person has for giving consent at a vendor.
const ConsentLasts = 10 * time.Minute

// Consent is one that a browser began, as the table has it until the vendor sends the person back. Neither the state
// nor the verifier is in it: the one is the row's key, hashed, the other follows from what the browser holds.
type Consent struct {
	Browser  string `json:"browser"`             // hash of the cookie of the browser that began it
	Tenant   string `json:"tenant_id,omitempty"` // whose administrator began it; empty: an installation, of nobody we know yet
	User     string `json:"user,omitempty"`
	Provider string `json:"provider"`
	Redirect string `json:"redirect"`
	// Of an MCP server: where it is, and the authorization server that it named.
	Address   string `json:"address,omitempty"`
	TokenURL  string `json:"token_url,omitempty"`
	RevokeURL string `json:"revoke_url,omitempty"`
	Resource  string `json:"resource,omitempty"`
	Issuer    string `json:"issuer,omitempty"`
	NamesIt   bool   `json:"names_it,omitempty"` // it says in the return who it is (RFC 9207)
}

// By reports whether the browser with this cookie, in which this person is signed in, began it.
func (c Consent) By(cookie, tenant, user string) bool {
	return cookie != "" && hmac.Equal([]byte(c.Browser), []byte(Hash(cookie))) && c.Tenant == tenant && c.User == user
}

// Verifier is the secret that proves to the vendor that who brings the code is who asked (RFC 7636). It is made of what
// the browser holds and of the state, so that it needs to be kept nowhere.
func Verifier(cookie, state string) string {
	mac := hmac.New(sha256.New, []byte(cookie))
	mac.Write([]byte("verifier\x00" + state))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
}
