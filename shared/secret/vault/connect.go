package vault

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"golang.org/x/oauth2"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool/github"
)

// Connect seals a credential and saves it as the tenant's connection to a provider, replacing an earlier one, with
// integration.connected in the audit log. It returns aggregate.ErrConflict when somebody saved in between, and
// aggregate.Problem for an MCP server's credential without an address.
func (v Vault) Connect(ctx context.Context, tenant, provider string, c Credential, metadata aggregate.JSON,
	by aggregate.Actor) error {
	row, err := v.Row(ctx, tenant, provider)
	if err != nil {
		return fmt.Errorf("connect %s: %w", provider, err)
	}
	return v.ConnectOver(ctx, row, c, metadata, by)
}

// ConnectOver is Connect over a row that the caller has read to check whether connecting is allowed.
func (v Vault) ConnectOver(ctx context.Context, row tenancy.Integration, c Credential, metadata aggregate.JSON,
	by aggregate.Actor) error {
	if strings.HasPrefix(row.Provider, tenancy.ServerProvider) != (c.Address != "") {
		return aggregate.Problem{Field: "address", Code: "must be the server's, for an MCP server only"}
	}
	sealed, err := v.Envelope.SealCredential(ctx, row.TenantID, row.Provider, c)
	return v.connected(ctx, row, sealed, metadata, by, err)
}

// connected saves what was sealed as a connection, unless that has failed.
func (v Vault) connected(ctx context.Context, row tenancy.Integration, sealed string, metadata aggregate.JSON,
	by aggregate.Actor, err error) error {
	if err == nil {
		_, err = v.Rows.SaveIntegration(ctx, row.Fresh(sealed, metadata), by, v.Now())
	}
	if err != nil {
		return fmt.Errorf("connect %s: %w", row.Provider, err)
	}
	return nil
}

// Disconnect deletes a tenant's credential for a provider, with integration.disconnected in the audit log. At the
// vendor the token remains valid until it is revoked.
func (v Vault) Disconnect(ctx context.Context, tenant, provider string, by aggregate.Actor) error {
	row, err := v.Rows.Integration(ctx, tenant, provider)
	if err == nil {
		_, err = v.Rows.SaveIntegration(ctx, row.Ended(tenancy.Disconnected, tenancy.ByPerson), by, v.Now())
	}
	if err != nil {
		return fmt.Errorf("disconnect %s: %w", provider, err)
	}
	return nil
}

// Allow connects a provider for which tenants have no credential: Slack, whose token is the deployment's.
func (v Vault) Allow(ctx context.Context, tenant, provider string, by aggregate.Actor) error {
	row, err := v.Row(ctx, tenant, provider)
	return v.connected(ctx, row, "", "{}", by, err)
}

// Row returns the integration's row, or a new one if there is none.
func (v Vault) Row(ctx context.Context, tenant, provider string) (tenancy.Integration, error) {
	row, err := v.Rows.Integration(ctx, tenant, provider)
	if errors.Is(err, aggregate.ErrNotFound) {
		err = nil
	}
	row.TenantID, row.Provider = tenant, provider
	return row, err
}

// clientOf returns the provider name under which a client is sealed, so that it can't be opened as a credential of that
// provider.
func clientOf(provider string) string { return "client:" + provider }

// SealClient seals a tenant's client at a vendor into its row.
func (e Envelope) SealClient(ctx context.Context, x tenancy.VendorClient,
	c OAuthClient) (tenancy.VendorClient, error) {
	b, err := json.Marshal(map[string]string{"client_id": c.ID, "client_secret": c.Secret}) // a client hides itself
	if err != nil {
		return x, fmt.Errorf("seal the client at %s: %w", x.Provider, err)
	}
	x.ClientID = c.ID
	x.Sealed, err = e.Seal(ctx, x.TenantID, clientOf(x.Provider), b)
	return x, err
}

// OpenClient opens the client in a row.
func (e Envelope) OpenClient(ctx context.Context, x tenancy.VendorClient) (OAuthClient, error) {
	b, err := e.Open(ctx, x.TenantID, clientOf(x.Provider), x.Sealed)
	if err != nil {
		return OAuthClient{}, err
	}
	var c OAuthClient
	if json.Unmarshal(b, &c) != nil || c.ID == "" || c.ID != x.ClientID { // the error would quote the secret
		return OAuthClient{}, errors.New("open the client at " + x.Provider + ": it is not the row's")
	}
	return c, nil
}

// ErrDenied: the person or the vendor refused access.
var ErrDenied = errors.New("the vendor did not give access")

// Ask returns the address where a person consents (OAuth's code flow with PKCE), which redirects back with state.
func (p OAuthProvider) Ask(c OAuthClient, redirect, state, verifier string) string {
	options := append(p.about(), oauth2.S256ChallengeOption(verifier))
	for name, value := range p.Params {
		options = append(options, oauth2.SetAuthURLParam(name, value))
	}
	return p.config(c, redirect).AuthCodeURL(state, options...)
}

// about names the resource of the tokens, if there is one.
func (p OAuthProvider) about() []oauth2.AuthCodeOption {
	if p.Resource == "" {
		return nil
	}
	return []oauth2.AuthCodeOption{oauth2.SetAuthURLParam("resource", p.Resource)}
}

// ConsentCode returns the code of a redirect. It returns ErrDenied, with the vendor's error code if that is
// well-formed, when access was refused.
func ConsentCode(returned url.Values) (string, error) {
	if returned.Get("error") == "" && returned.Get("code") != "" {
		return returned.Get("code"), nil
	}
	if why := returned.Get("error"); code.Get().MatchString(why) {
		return "", fmt.Errorf("%w: %s", ErrDenied, why)
	}
	return "", ErrDenied
}

// Exchange exchanges a code for a token with a single request. Its errors are *OAuthError.
func (p OAuthProvider) Exchange(ctx context.Context, c OAuthClient, redirect, code, verifier string) (Token, error) {
	return p.exchange(ctx, func(ctx context.Context) (*oauth2.Token, error) {
		return p.config(c, redirect).Exchange(ctx, code, append(p.about(), oauth2.VerifierOption(verifier))...)
	})
}

// sealedApp is the JSON of a GitHub App; it is encrypted before it is stored.
type sealedApp struct {
	ID           string `json:"app_id"`
	Installation string `json:"installation_id"`
	Key          string `json:"private_key"`
}

// ConnectApp seals a GitHub App's private key (PEM) and saves it as the tenant's connection to GitHub, replacing an
// earlier one, with integration.connected in the audit log. The App's numbers are in the row's metadata, the key
// nowhere but sealed. It returns an aggregate.Problem for values that are no App's, and aggregate.ErrConflict when
// somebody saved in between.
func (v Vault) ConnectApp(ctx context.Context, tenant, id, installation, key string, by aggregate.Actor) error {
	if _, err := github.NewApp(id, installation, key); err != nil {
		return err
	}
	row, err := v.Row(ctx, tenant, tenancy.GitHubProvider)
	var text []byte
	if err == nil {
		text, err = json.Marshal(sealedApp{id, installation, key})
	}
	sealed := ""
	if err == nil {
		sealed, err = v.Envelope.Seal(ctx, tenant, row.Provider, text)
	}
	about := aggregate.JSON(fmt.Sprintf(`{"app_id":%q,"installation_id":%q}`, id, installation))
	return v.connected(ctx, row, sealed, about, by, err)
}

// App returns the tenant's GitHub App. It returns aggregate.ErrNotFound when the tenant never connected GitHub, and
// tenancy.ErrNotConnected when the connection has ended.
func (v Vault) App(ctx context.Context, tenant string) (github.App, error) {
	row, err := v.Rows.Integration(ctx, tenant, tenancy.GitHubProvider)
	if err != nil {
		return github.App{}, fmt.Errorf("find the integration %s: %w", tenancy.GitHubProvider, err)
	}
	if row.Status != tenancy.Connected {
		return github.App{}, unusable(row)
	}
	b, err := v.Envelope.Open(ctx, row.TenantID, row.Provider, row.Credentials)
	if err != nil {
		return github.App{}, err
	}
	var s sealedApp
	if json.Unmarshal(b, &s) != nil { // the error would quote the key
		return github.App{}, errors.New("open the App at GitHub: it is not one")
	}
	return github.NewApp(s.ID, s.Installation, s.Key)
}
