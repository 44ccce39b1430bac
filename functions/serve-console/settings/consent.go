package settings

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
)

// consentCookie ties a consent to the browser that began it.
const consentCookie = "ringi-consent"

// beginConsent shows a link to the vendor. It can't redirect: the Content Security Policy keeps forms to this site.
func (c *Pages) beginConsent(w http.ResponseWriter, r *http.Request, v *web.Viewer, x integration) error {
	ctx := r.Context()
	begun := store.Consent{Tenant: v.Tenant, User: v.User, Provider: x.Provider, Redirect: returnAddress(r)}
	p, client, err := c.vendor(ctx, v, x, &begun)
	if err != nil {
		return err
	}
	browser, state := store.NewSecret(), store.NewSecret()
	if err := c.begin(w, r, begun, browser, state); err != nil {
		return err
	}
	to := p.Ask(client, begun.Redirect, state, store.Verifier(browser, state))
	data := goData{integration: x, To: to, Host: hostOf(to)}
	if issuer := hostOf(begun.Issuer); issuer != data.Host {
		data.Issuer = issuer
	}
	d := web.Document{Title: v.Texts("integrations").Say("go_title"), Here: "integrations", Data: data}
	return c.Show(w, r, v, d, "integrations/go")
}

// begin keeps a consent under a state, tied to this browser.
func (c *Pages) begin(w http.ResponseWriter, r *http.Request, begun store.Consent, browser, state string) error {
	begun.Browser = aggregate.HashOf(browser)
	web.SetCookie(w, r, consentCookie, browser, store.ConsentLasts)
	return c.Store.BeginConsent(r.Context(), state, begun, c.Now())
}

// goData shows whose page the link leads to, so that people can compare the host with their address bar.
type goData struct {
	integration
	To     string
	Host   string // of that page
	Issuer string // host of the authorization server, if it differs
}

// hostOf returns an address's host, with the port unless it is the default; "" if the text is not an address.
func hostOf(address string) string {
	if u, err := url.Parse(address); err == nil {
		return u.Host
	}
	return ""
}

// vendor returns an integration's authorization server and our client there, and notes in begun what its end needs.
func (c *Pages) vendor(ctx context.Context, v *web.Viewer, x integration, begun *store.Consent) (vault.OAuthProvider,
	vault.OAuthClient, error) {
	switch {
	case slices.Contains(vendors, x.Provider):
		client, err := c.client(ctx, v, *begun)
		if errors.Is(err, aggregate.ErrNotFound) {
			err = connectFault{"no-client", http.StatusConflict, x.Provider}
		}
		return c.Connect.Vault.Providers[x.Provider], client, err
	case !x.IsServer || x.Address == "":
		return vault.OAuthProvider{}, vault.OAuthClient{}, aggregate.ErrNotFound
	}
	s, err := FindAuthServer(ctx, c.Connect.Outbound, x.Provider, x.Address)
	if err == nil {
		var client vault.OAuthClient
		if client, err = c.registered(ctx, v, s, begun.Redirect); err == nil {
			begun.Address, begun.TokenURL, begun.RevokeURL = x.Address, s.Provider.TokenURL, s.Provider.RevokeURL
			begun.Resource, begun.Issuer, begun.NamesIt = s.Provider.Resource, s.Issuer, s.NamesIt
			return s.Provider, client, nil
		}
	}
	slog.WarnContext(ctx, "no consent for an MCP server", "tenant", v.Tenant, "provider", x.Provider, "err", err)
	switch {
	case errors.Is(err, ErrNone):
		err = connectFault{"by-token", http.StatusConflict, x.Provider}
	case errors.Is(err, ErrNoRegistration):
		err = connectFault{"no-client", http.StatusConflict, x.Provider}
	case errors.Is(err, ErrUnfit):
		err = connectFault{"unfit", http.StatusBadGateway, x.Provider}
	}
	return vault.OAuthProvider{}, vault.OAuthClient{}, err
}

// client returns the workspace's OAuth client for a consent, or aggregate.ErrNotFound if nobody pasted one. An MCP
// server's client may have been replaced since the consent began; it is refused unless it belongs to the authorization
// server that the consent began with.
func (c *Pages) client(ctx context.Context, v *web.Viewer, begun store.Consent) (vault.OAuthClient, error) {
	row, err := c.Store.VendorClient(ctx, v.Tenant, begun.Provider)
	if err != nil {
		return vault.OAuthClient{}, err
	}
	if row.Issuer != begun.Issuer {
		return vault.OAuthClient{}, connectFault{"mixed-up", http.StatusBadRequest, begun.Provider}
	}
	return c.Connect.Vault.Envelope.OpenClient(ctx, row)
}

// registered returns our client at an MCP server's authorization server: the pasted one, the one registered before, or
// a new one. If the MCP server names another authorization server later, that one gets a new client, never the earlier
// client's secret.
func (c *Pages) registered(ctx context.Context, v *web.Viewer, s AuthServer, redirect string,
) (vault.OAuthClient, error) {
	row, err := c.Store.VendorClient(ctx, v.Tenant, s.Provider.Name)
	switch {
	case errors.Is(err, aggregate.ErrNotFound):
	case err != nil:
		return vault.OAuthClient{}, err
	case row.Issuer == "": // pasted, for the one that the server names when it is first used
		pasted, err := c.Connect.Vault.Envelope.OpenClient(ctx, row)
		if err == nil {
			err = c.keepClient(ctx, v, tenancy.VendorClient{Provider: s.Provider.Name, Issuer: s.Issuer}, pasted.ID,
				pasted.Secret)
		}
		return pasted, err
	case row.Issuer == s.Issuer && (row.Redirect == "" || row.Redirect == redirect):
		return c.Connect.Vault.Envelope.OpenClient(ctx, row)
	}
	made, err := s.Register(ctx, c.Connect.Outbound, redirect)
	if err != nil {
		return vault.OAuthClient{}, err
	}
	return made, c.keepClient(ctx, v,
		tenancy.VendorClient{Provider: s.Provider.Name, Issuer: s.Issuer, Redirect: redirect}, made.ID, made.Secret)
}

// keepClient seals a client and replaces the saved one.
func (c *Pages) keepClient(ctx context.Context, v *web.Viewer, x tenancy.VendorClient, id, secret string) error {
	was, err := c.Store.VendorClient(ctx, v.Tenant, x.Provider)
	if err != nil && !errors.Is(err, aggregate.ErrNotFound) {
		return err
	}
	x.Meta, x.TenantID = was.Meta, v.Tenant
	x, err = c.Connect.Vault.Envelope.SealClient(ctx, x, vault.OAuthClient{ID: id, Secret: secret})
	if err == nil {
		_, err = c.Store.SaveVendorClient(ctx, x, v.Actor(), c.Now())
	}
	return err
}

// endConsent finishes a consent when the vendor redirects the browser back.
func (c *Pages) endConsent(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	ctx, q := r.Context(), r.URL.Query()
	begun, err := c.takeConsent(w, r, v)
	if err != nil {
		return err
	}
	code, err := vault.ConsentCode(q)
	if err != nil {
		slog.InfoContext(ctx, "no consent", "tenant", v.Tenant, "provider", begun.Provider, "err", err)
		return connectFault{"denied", http.StatusForbidden, begun.Provider}
	}
	client, err := c.client(ctx, v, begun)
	if err != nil {
		return err
	}
	held := vault.Credential{Client: client, Address: begun.Address, TokenURL: begun.TokenURL, RevokeURL: begun.RevokeURL,
		Resource: begun.Resource}
	p, known := c.Connect.Vault.Server(begun.Provider, held)
	if !known {
		return connectFault{"unfit", http.StatusBadGateway, begun.Provider}
	}
	browser := web.CookieOf(r, consentCookie)
	token, err := p.Exchange(ctx, client, begun.Redirect, code, store.Verifier(browser, q.Get("state")))
	if err != nil {
		slog.WarnContext(ctx, "a code was not exchanged", "tenant", v.Tenant, "provider", begun.Provider, "err", err)
		why := "silent"
		if e, ok := errors.AsType[*vault.OAuthError](err); ok && e.State == vault.TokenRefused {
			why = "refused"
		}
		return connectFault{why, http.StatusBadGateway, begun.Provider}
	}
	if token.Refresh == "" && slices.Contains(vendors, begun.Provider) {
		return connectFault{"no-refresh", http.StatusBadGateway, begun.Provider}
	}
	held.AccessToken, held.RefreshToken, held.ExpiresAt = token.Access, token.Refresh, token.ExpiresAt
	err = c.Connect.Vault.Connect(ctx, v.Tenant, begun.Provider, held, vault.About(token), v.Actor())
	if err != nil {
		return err
	}
	return c.Done(w, r, "/console/integrations", "connected")
}

// takeConsent returns the consent that this browser and this person began under the state in the address. It deletes
// the consent first, so that a state works only once, whoever brings it.
func (c *Pages) takeConsent(w http.ResponseWriter, r *http.Request, v *web.Viewer) (store.Consent, error) {
	q := r.URL.Query()
	begun, err := c.Store.TakeConsent(r.Context(), q.Get("state"), c.Now())
	web.SetCookie(w, r, consentCookie, "", -1)
	switch {
	case errors.Is(err, aggregate.ErrNotFound):
		return begun, connectFault{"stale", http.StatusBadRequest, "a vendor"}
	case err != nil:
		return begun, err
	case !begun.By(web.CookieOf(r, consentCookie), v.Tenant, v.User):
		return begun, connectFault{"stale", http.StatusBadRequest, begun.Provider}
	case begun.Issuer != "" && (begun.NamesIt || q.Has("iss")) && !hmac.Equal([]byte(q.Get("iss")), []byte(begun.Issuer)):
		return begun, connectFault{"mixed-up", http.StatusBadRequest, begun.Provider} // RFC 9207
	}
	return begun, nil
}

const within = 10 * time.Second // bounds the discovery and the registration

var (
	// ErrNone: the server names no authorization server. It may still accept a token that a person made.
	ErrNone = errors.New("the server names no authorization server")
	// ErrUnfit: using the authorization server that the MCP server names would be unsafe.
	ErrUnfit = errors.New("the authorization server can't be used")
	// ErrNoRegistration: the authorization server lets only people register clients.
	ErrNoRegistration = errors.New("the authorization server registers no clients by itself")
)

// AuthServer is an MCP server's: https://modelcontextprotocol.io/specification/2025-11-25/basic/authorization.
type AuthServer struct {
	Provider vault.OAuthProvider
	Issuer   string
	NamesIt  bool // its redirects name the issuer (RFC 9207)

	registers string
	secrets   bool // clients must have a secret
}

// FindAuthServer asks the MCP server at an address for its authorization server, and that server for its endpoints. The
// caller's client must refuse private addresses. provider is the name of the integration.
func FindAuthServer(ctx context.Context, client *http.Client, provider, address string) (AuthServer, error) {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	resource, scopes, err := find(ctx, client, address)
	if err != nil {
		return AuthServer{}, err
	}
	issuer := resource.AuthorizationServers[0]
	meta, err := auth.GetAuthServerMetadata(ctx, issuer, client)
	switch {
	case err != nil:
		return AuthServer{}, fmt.Errorf("%w: %.200q", ErrUnfit, err)
	case meta == nil:
		return AuthServer{}, ErrNone
	case !slices.Contains(meta.CodeChallengeMethodsSupported, "S256"):
		return AuthServer{}, fmt.Errorf("%w: it does not take S256", ErrUnfit)
	}
	for _, at := range []string{meta.AuthorizationEndpoint, meta.TokenEndpoint} {
		if u, err := url.Parse(at); err != nil || u.Host == "" || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
			return AuthServer{}, fmt.Errorf("%w: an address of it is none", ErrUnfit)
		}
	}
	s := AuthServer{
		Issuer: meta.Issuer, NamesIt: meta.AuthorizationResponseIssParameterSupported,
		registers: meta.RegistrationEndpoint,
		secrets: len(meta.TokenEndpointAuthMethodsSupported) > 0 && !slices.Contains(meta.TokenEndpointAuthMethodsSupported,
			"none"),
		Provider: vault.OAuthProvider{Name: provider, AuthURL: meta.AuthorizationEndpoint, TokenURL: meta.TokenEndpoint,
			RevokeURL: meta.RevocationEndpoint, Resource: resource.Resource, OneTime: true, Scopes: scopes,
			Transport: client.Transport},
	}
	if slices.Contains(meta.ScopesSupported, "offline_access") && !slices.Contains(scopes, "offline_access") {
		s.Provider.Scopes = append(slices.Clone(scopes), "offline_access")
	}
	return s, nil
}

// find returns the server's metadata and scopes: from where its 401 answer points, or from the well-known places.
func find(ctx context.Context, client *http.Client, address string,
) (*oauthex.ProtectedResourceMetadata, []string, error) {
	at, scopes := challenge(ctx, client, address)
	places := wellKnown(address)
	if at != "" {
		places = append([]place{{at, address}}, places...)
	}
	for _, p := range places {
		meta, err := oauthex.GetProtectedResourceMetadata(ctx, p.at, p.resource, client)
		if err != nil || meta == nil || len(meta.AuthorizationServers) == 0 {
			continue
		}
		if len(scopes) == 0 {
			scopes = meta.ScopesSupported
		}
		return meta, scopes, nil
	}
	return nil, nil, ErrNone
}

// challenge returns what the server's 401 answer to a call without a token says.
func challenge(ctx context.Context, client *http.Client, address string) (at string, scopes []string) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return "", nil
	}
	r.Header.Set("Accept", "application/json, text/event-stream")
	res, err := client.Do(r)
	if err != nil {
		return "", nil
	}
	res.Body.Close()
	all, err := oauthex.ParseWWWAuthenticate(res.Header.Values("WWW-Authenticate"))
	if err != nil {
		return "", nil
	}
	for _, c := range all {
		if c.Scheme == "bearer" {
			return c.Params["resource_metadata"], strings.Fields(c.Params["scope"])
		}
	}
	return "", nil
}

// place is a possible address of the metadata, and the resource that the metadata must name.
type place struct{ at, resource string }

// wellKnown returns the addresses of RFC 9728: first for the server's path, then for its host.
func wellKnown(address string) []place {
	u, err := url.Parse(address)
	if err != nil {
		return nil
	}
	const known = "/.well-known/oauth-protected-resource"
	root := &url.URL{Scheme: u.Scheme, Host: u.Host}
	out := []place{{root.String() + known, root.String()}}
	if path := strings.TrimLeft(u.Path, "/"); path != "" {
		out = append([]place{{root.String() + known + "/" + path, address}}, out...)
	}
	return out
}

// Register registers a client with a redirect address. It returns ErrNoRegistration if only people can do that.
func (s AuthServer) Register(ctx context.Context, client *http.Client, redirect string) (vault.OAuthClient, error) {
	if s.registers == "" {
		return vault.OAuthClient{}, ErrNoRegistration
	}
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	method := "none"
	if s.secrets {
		method = "client_secret_post"
	}
	made, err := oauthex.RegisterClient(ctx, s.registers, &oauthex.ClientRegistrationMetadata{ClientName: "Ringi",
		RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: method,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		Scope: strings.Join(s.Provider.Scopes, " ")}, client)
	if err != nil { // not wrapped: it may quote the answer, which has the secret
		return vault.OAuthClient{}, fmt.Errorf("%w: it did not register us", ErrUnfit)
	}
	return vault.OAuthClient{ID: made.ClientID, Secret: made.ClientSecret}, nil
}
