// Package vault stores tenants' credentials for vendors sealed, each with its own data key, which KMS encrypts under
// the context {tenant_id, provider}. A sealed credential can only be opened for its own tenant and provider.
package vault

import (
	"cmp"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/outbound"
	"ringi/shared/runtime/secret"
)

// Rows stores integrations. It returns aggregate.ErrNotFound for a missing one and aggregate.ErrConflict when another
// writer was faster.
type Rows interface {
	Integration(ctx context.Context, tenant, provider string) (tenancy.Integration, error)
	SaveIntegration(ctx context.Context, x tenancy.Integration, by aggregate.Actor,
		now time.Time) (tenancy.Integration, error)
	RenewIntegration(ctx context.Context, x tenancy.Integration, now time.Time) (tenancy.Integration, error)
}

// Vault returns the tokens for tools' calls, and renews those that expire.
type Vault struct {
	Rows     Rows
	Envelope Envelope
	// Providers are the authorization servers by provider. Tokens of other providers can't be renewed.
	Providers map[string]OAuthProvider
	// Outbound calls authorization servers that MCP servers name. If it is nil they are never called.
	Outbound http.RoundTripper
	Now      func() time.Time
	NewID    func() string
}

// New makes a vault with the real clock.
func New(rows Rows, e Envelope, providers ...OAuthProvider) Vault {
	v := Vault{Rows: rows, Envelope: e, Providers: map[string]OAuthProvider{}, Now: time.Now, NewID: aggregate.NewID}
	for _, p := range providers {
		v.Providers[p.Name] = p
	}
	return v
}

// ForTools makes a vault that renews the tokens of the vendors whose tools Ringi has. allow are endpoints outside of
// the public internet that may be called.
func ForTools(cfg aws.Config, rows Rows, key boot.Credentials, vendors boot.Vendors, allow string) Vault {
	v := New(rows, EnvelopeAt(cfg, key.CredentialsKeyID),
		FreeeOAuth(vendors.FreeeTokenURL), GoogleOAuth(vendors.GoogleTokenURL))
	v.Outbound = outbound.Allowing(allow).Client().Transport
	return v
}

// Credential is the sealed content of an integration.
type Credential struct {
	secret.Hidden
	AccessToken string
	// The following fields are empty for a token that a person created by hand.
	RefreshToken string
	ExpiresAt    time.Time
	Client       OAuthClient // the client that the refresh token was issued to
	// Address is the only server to which the credential may be sent. It is empty for providers whose address tenants
	// can't choose.
	Address string
	// TokenURL and RevokeURL are of the authorization server that an MCP server named. Resource is the resource of its
	// tokens; empty means Address. All three are empty for tokens created by hand and for providers with known
	// addresses.
	TokenURL, RevokeURL, Resource string
}

// sealed is the JSON of a credential; it is encrypted before it is stored.
type sealed struct {
	AccessToken  string     `json:"access_token"`
	RefreshToken string     `json:"refresh_token,omitempty"`
	ExpiresAt    *time.Time `json:"expires_at,omitempty"`
	ClientID     string     `json:"client_id,omitempty"`
	ClientSecret string     `json:"client_secret,omitempty"`
	Address      string     `json:"address,omitempty"`
	TokenURL     string     `json:"token_url,omitempty"`
	RevokeURL    string     `json:"revoke_url,omitempty"`
	Resource     string     `json:"resource,omitempty"`
}

// CredentialOf makes a credential of an exchange's result.
func CredentialOf(t Token, c OAuthClient) Credential {
	return Credential{AccessToken: t.Access, RefreshToken: t.Refresh, ExpiresAt: t.ExpiresAt, Client: c}
}

func (c Credential) clear() ([]byte, error) {
	s := sealed{AccessToken: c.AccessToken, RefreshToken: c.RefreshToken, ClientID: c.Client.ID,
		ClientSecret: c.Client.Secret, Address: c.Address, TokenURL: c.TokenURL, RevokeURL: c.RevokeURL, Resource: c.Resource}
	if !c.ExpiresAt.IsZero() {
		at := c.ExpiresAt.UTC()
		s.ExpiresAt = &at
	}
	return json.Marshal(s)
}

// SealCredential returns the sealed text for an integration's row.
func (e Envelope) SealCredential(ctx context.Context, tenant, provider string, c Credential) (string, error) {
	s, err := e.sealer(ctx, tenant, provider)
	if err != nil {
		return "", err
	}
	return s.credential(c)
}

func (s sealer) credential(c Credential) (string, error) {
	b, err := c.clear()
	if err != nil {
		return "", fmt.Errorf("seal a credential of %s: %w", s.provider, err)
	}
	return s.seal(b)
}

// find reads the tenant's row for a provider and opens its credential. It returns aggregate.ErrNotFound if there is
// none, and an ErrNotConnected with the reason if it has ended or is for another address.
func (v Vault) find(ctx context.Context, tenant, provider, address string) (tenancy.Integration, Credential, error) {
	row, err := v.Rows.Integration(ctx, tenant, provider)
	if err != nil {
		return row, Credential{}, fmt.Errorf("find the integration %s: %w", provider, err)
	}
	c, err := v.Open(ctx, row)
	if err == nil && c.Address != address {
		err = tenancy.ErrNotConnected{Provider: provider, Status: row.Status, Reason: tenancy.CredentialElsewhere}
	}
	if err != nil {
		return row, Credential{}, err
	}
	return row, c, nil
}

// Open opens the credential of a row. It returns tenancy.ErrNotConnected if the row has none any more.
func (v Vault) Open(ctx context.Context, row tenancy.Integration) (Credential, error) {
	if row.Status != tenancy.Connected {
		return Credential{}, unusable(row)
	}
	b, err := v.Envelope.Open(ctx, row.TenantID, row.Provider, row.Credentials)
	if err != nil {
		return Credential{}, err
	}
	var s sealed
	if json.Unmarshal(b, &s) != nil || s.AccessToken == "" { // the error would quote the credential
		return Credential{}, errors.New("open a credential of " + row.Provider + ": it holds no access_token")
	}
	c := Credential{
		AccessToken: s.AccessToken, RefreshToken: s.RefreshToken,
		Client:  OAuthClient{ID: s.ClientID, Secret: s.ClientSecret},
		Address: s.Address, TokenURL: s.TokenURL, RevokeURL: s.RevokeURL, Resource: s.Resource,
	}
	if s.ExpiresAt != nil {
		c.ExpiresAt = *s.ExpiresAt
	}
	return c, nil
}

// Server returns the authorization server of a provider's credential; false if it is unknown or must not be called.
func (v Vault) Server(provider string, c Credential) (OAuthProvider, bool) {
	if c.TokenURL == "" {
		p, known := v.Providers[provider]
		return p, known
	}
	return OAuthProvider{
		Name: provider, TokenURL: c.TokenURL, RevokeURL: c.RevokeURL, Resource: cmp.Or(c.Resource, c.Address), OneTime: true,
		Transport: v.Outbound,
	}, v.Outbound != nil
}

func unusable(row tenancy.Integration) error {
	return tenancy.ErrNotConnected{Provider: row.Provider, Status: row.Status, Reason: row.StatusReason}
}

// SlackToken returns the token of a tenant's bot: the tenant's own or the deployment's. Only the deployment's own
// workspace, as own reports, gets the latter, until Slack reports that the app was removed or the token revoked. For
// others SlackToken returns tenancy.ErrNotConnected.
func (v Vault) SlackToken(ctx context.Context, tenant, deployments string,
	own func(ctx context.Context, tenant string) (bool, error)) (string, error) {
	row, err := v.Rows.Integration(ctx, tenant, tenancy.SlackProvider)
	switch {
	case errors.Is(err, aggregate.ErrNotFound), err == nil && row.Status == tenancy.Connected && row.Credentials == "":
		ours, err := own(ctx, tenant)
		if err == nil && !ours {
			err = tenancy.ErrNotConnected{Provider: tenancy.SlackProvider, Status: tenancy.Disconnected}
		}
		if err != nil {
			return "", fmt.Errorf("the deployment's token: %w", err)
		}
		return deployments, nil
	case err != nil:
		return "", fmt.Errorf("find the integration slack: %w", err)
	}
	return v.Token(ctx, tenant, tenancy.SlackProvider)
}

// Bot returns the token of a tenant's own bot, which is in its row since the app was installed. It returns
// tenancy.ErrNotConnected if there is none, as in the deployment's own workspace.
func (v Vault) Bot(ctx context.Context, tenant string) (string, error) {
	return v.SlackToken(ctx, tenant, "", func(context.Context, string) (bool, error) { return false, nil })
}

// Company returns the id of the freee company that a person chose, empty if none was chosen or freee is not connected.
func (v Vault) Company(ctx context.Context, tenant string) (string, error) {
	row, err := v.Rows.Integration(ctx, tenant, "freee")
	if errors.Is(err, aggregate.ErrNotFound) {
		return "", nil
	}
	var about struct {
		CompanyID string `json:"company_id"`
	}
	if err == nil {
		err = json.Unmarshal([]byte(row.Metadata), &about)
	}
	if err != nil {
		return "", fmt.Errorf("find freee's company: %w", err)
	}
	return about.CompanyID, nil
}

// About returns the unencrypted metadata of a token for its connection's row.
func About(t Token) aggregate.JSON {
	if t.CompanyID == "" {
		return "{}"
	}
	return aggregate.JSON(`{"company_id":"` + t.CompanyID + `"}`)
}

// Envelope seals with a KMS key.
type Envelope struct {
	KMS   KMS
	KeyID string
}

// version begins every sealed text: v1.<wrapped data key>.<nonce and ciphertext>,
// both base64url without padding.
const version = "v1"

// ErrLocked: KMS refused the key or could not be reached.
var ErrLocked = errors.New("the key that seals credentials cannot be used")

// ErrSealed is a text that is not sealed, is damaged, or belongs to another tenant or provider.
var ErrSealed = errors.New("cannot be opened: not sealed for this tenant and provider")

// Seal encrypts a secret so that only Open with the same tenant and provider can read it.
func (e Envelope) Seal(ctx context.Context, tenant, provider string, secret []byte) (string, error) {
	s, err := e.sealer(ctx, tenant, provider)
	if err != nil {
		return "", err
	}
	return s.seal(secret)
}

// sealer seals one secret with a data key that it already has, so that sealing itself needs no call.
type sealer struct {
	tenant, provider string
	wrapped          []byte
	box              cipher.AEAD
}

// sealer asks KMS for a data key.
func (e Envelope) sealer(ctx context.Context, tenant, provider string) (sealer, error) {
	key, wrapped, err := e.KMS.GenerateDataKey(ctx, e.KeyID, about(tenant, provider))
	if err != nil {
		return sealer{}, fmt.Errorf("seal a credential of %s: %w: %w", provider, ErrLocked, err)
	}
	defer clear(key)
	box, err := gcm(key)
	if err != nil {
		return sealer{}, fmt.Errorf("seal a credential of %s: %w", provider, err)
	}
	return sealer{tenant, provider, wrapped, box}, nil
}

func (s sealer) seal(secret []byte) (string, error) {
	nonce := make([]byte, s.box.NonceSize())
	if _, err := rand.Read(nonce); err != nil {
		return "", fmt.Errorf("seal a credential of %s: %w", s.provider, err)
	}
	text := s.box.Seal(nonce, nonce, secret, bound(s.tenant, s.provider))
	return strings.Join([]string{version, encode(s.wrapped), encode(text)}, "."), nil
}

// Open decrypts a sealed text. It returns ErrSealed when the text is not this tenant's and provider's.
func (e Envelope) Open(ctx context.Context, tenant, provider, text string) ([]byte, error) {
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] != version {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	wrapped, err1 := base64.RawURLEncoding.DecodeString(parts[1])
	sealed, err2 := base64.RawURLEncoding.DecodeString(parts[2])
	if err1 != nil || err2 != nil || len(wrapped) == 0 {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	key, err := e.KMS.Decrypt(ctx, e.KeyID, wrapped, about(tenant, provider))
	if notOurs(err) {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	if err != nil {
		return nil, fmt.Errorf("open a credential of %s: %w: %w", provider, ErrLocked, err)
	}
	defer clear(key)
	box, err := gcm(key)
	if err != nil {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, err)
	}
	if len(sealed) < box.NonceSize() {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	secret, err := box.Open(nil, sealed[:box.NonceSize()], sealed[box.NonceSize():], bound(tenant, provider))
	if err != nil {
		return nil, fmt.Errorf("open a credential of %s: %w", provider, ErrSealed)
	}
	return secret, nil
}

// about returns the encryption context. CloudTrail logs it, so it contains only ids.
func about(tenant, provider string) map[string]string {
	return map[string]string{"tenant_id": tenant, "provider": provider}
}

// bound returns the encryption's additional data, which ties a ciphertext to its tenant and provider.
func bound(tenant, provider string) []byte {
	return []byte(version + "\x00" + tenant + "\x00" + provider)
}

func gcm(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

func encode(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }
