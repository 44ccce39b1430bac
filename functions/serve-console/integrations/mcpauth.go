package integrations

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"ringi/shared/secret/vault"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// within bounds the discovery and the registration.
const within = 10 * time.Second

var (
	// ErrNone: the server names no authorization server. It may still accept a token that a person made.
	ErrNone = errors.New("the server names no authorization server")
	// ErrUnfit: using the authorization server that the MCP server names would be unsafe.
	ErrUnfit = errors.New("the authorization server can't be used")
	// ErrNoRegistration: the authorization server lets only people register clients.
	ErrNoRegistration = errors.New("the authorization server registers no clients by itself")
)

type AuthServer struct {
	Provider vault.OAuthProvider
	Issuer   string
	NamesIt  bool // its redirects name the issuer (RFC 9207)

	registers string
	secrets   bool // clients must have a secret
}

// Find asks the MCP server at an address for its authorization server, and that server for its endpoints. The caller's
// client must refuse private addresses. provider is the name of the integration.
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
		secrets: len(meta.TokenEndpointAuthMethodsSupported) > 0 && !slices.Contains(
			meta.TokenEndpointAuthMethodsSupported, "none",
		),
		Provider: vault.OAuthProvider{
			Name: provider, AuthURL: meta.AuthorizationEndpoint, TokenURL: meta.TokenEndpoint,
			RevokeURL: meta.RevocationEndpoint,
			Resource:  resource.Resource, OneTime: true, Scopes: scopes, Transport: client.Transport,
		},
	}
	if slices.Contains(meta.ScopesSupported, "offline_access") && !slices.Contains(scopes, "offline_access") {
		s.Provider.Scopes = append(slices.Clone(scopes), "offline_access")
	}
	return s, nil
}

// find returns the server's metadata and the scopes it wants. It looks where the server's 401 answer points, then in
// the well-known places.
func find(
	ctx context.Context, client *http.Client, address string,
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

// Register registers a client with this redirect address. It returns ErrNoRegistration if only people can register
// clients.
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
	made, err := oauthex.RegisterClient(ctx, s.registers, &oauthex.ClientRegistrationMetadata{
		ClientName: "Ringi", RedirectURIs: []string{redirect}, TokenEndpointAuthMethod: method,
		GrantTypes: []string{"authorization_code", "refresh_token"}, ResponseTypes: []string{"code"},
		Scope: strings.Join(s.Provider.Scopes, " "),
	}, client)
	if err != nil { // not wrapped: it may quote the answer, which has the secret
		return vault.OAuthClient{}, fmt.Errorf("%w: it did not register us", ErrUnfit)
	}
	return vault.OAuthClient{ID: made.ClientID, Secret: made.ClientSecret}, nil
}
