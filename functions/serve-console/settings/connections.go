package settings

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/secret/vault"
)

// Connections is what the console needs to connect vendors.
type Connections struct {
	Vault vault.Vault
	// Outbound calls MCP servers and the authorization servers that they name.
	Outbound *http.Client
	// Bot returns the token of a tenant's bot.
	Bot func(ctx context.Context, tenant string) (string, error)
}

// connectionRoutes returns the pages of connections that need a session.
func (c *Pages) connectionRoutes() []web.Route {
	return []web.Route{
		web.ForMembers("POST /console/signout", c.signOut),
		web.ForAdministrators("GET /console/integrations", c.integrations),
		web.ForAdministrators("POST /console/integrations/connect", c.explained(web.Of(c.named, c.beginConsent))),
		web.ForAdministrators("GET /console/integrations/return", c.explained(c.endConsent)),
		web.ForAdministrators("POST /console/integrations/client", c.explained(web.Of(c.named, c.saveClient))),
		web.ForAdministrators("POST /console/integrations/token", c.explained(web.Of(c.named, c.saveToken))),
		web.ForAdministrators("POST /console/integrations/app", c.explained(c.saveApp)),
		web.ForAdministrators("POST /console/integrations/disconnect", web.Of(c.named, c.disconnect)),
	}
}

// vendors need an OAuth app of the workspace's own; GitHub, Slack and MCP servers don't.
var vendors = []string{"freee", "google"}

// integration is the row of a connection, without a status before somebody connected it, with what people read of it.
type integration struct {
	tenancy.Integration
	Name, About, Address, State string
	Reason                      string // the error and its remedy
	Connected                   bool
	By                          string
	Client                      string // the id of the workspace's app there
	WantsClient                 bool   // an OAuth client must be pasted first
	IsServer, IsSlack, IsGitHub bool
	Steps                       []string // how to register an app there
	AppID, Installation         string   // of a GitHub App
	Stops                       string   // without it
}

type integrationsData struct {
	All      []integration
	Redirect string // address that vendors redirect to
}

func (c *Pages) integrations(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	all, err := c.connections(r.Context(), v)
	if err != nil {
		return err
	}
	d := integrationsData{All: all, Redirect: returnAddress(r)}
	return c.Show(w, r, v, web.Document{Here: "integrations", Data: d}, "integrations")
}

func returnAddress(r *http.Request) string {
	return web.Address(r) + "/console/integrations/return"
}

func (c *Pages) connections(ctx context.Context, v *web.Viewer) ([]integration, error) {
	rows, err := c.Store.Integrations(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	clients, err := c.Store.VendorClients(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	settings, err := c.Store.Settings(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	standing := map[string]tenancy.Integration{}
	providers, addresses := append(slices.Clone(vendors), tenancy.GitHubProvider, tenancy.SlackProvider),
		map[string]string{}
	for _, s := range settings.MCPServers {
		providers, addresses[s.Provider()] = append(providers, s.Provider()), s.URL
	}
	people := make([]string, 0, len(rows))
	for _, row := range rows {
		standing[row.Provider], people = row, append(people, row.ConnectedBy)
		if !slices.Contains(providers, row.Provider) && row.Status == tenancy.Connected { // removed from the settings
			providers = append(providers, row.Provider)
		}
	}
	names := c.Names(ctx, v, people...)
	return web.Each(providers, func(provider string) integration {
		row := standing[provider]
		row.Provider = provider
		x := integrationOf(v.Texts("integrations"), row, addresses[provider])
		if i := slices.IndexFunc(clients, func(of tenancy.VendorClient) bool { return of.Provider == provider }); i >= 0 {
			x.Client = clients[i].ClientID
		}
		x.WantsClient, x.By = slices.Contains(vendors, provider) && x.Client == "", names[row.ConnectedBy]
		return x
	}), nil
}

// integrationOf says how a connection stands.
func integrationOf(words web.Texts, row tenancy.Integration, address string) integration {
	is := row.Provider
	x := integration{Integration: row, Name: explain.Provider(is).Called(words.Locale()), About: words.In("abouts", is),
		Address: address, State: words.In("states", row.Status), Reason: words.In("reasons", row.StatusReason),
		Connected: row.Status == tenancy.Connected, IsSlack: is == tenancy.SlackProvider,
		IsServer: strings.HasPrefix(is, tenancy.ServerProvider), IsGitHub: is == tenancy.GitHubProvider,
		Steps: words.List("registering", is), Stops: words.In("stops", is)}
	if x.IsServer {
		x.Name = words.Say("server") + " " + strings.TrimPrefix(is, tenancy.ServerProvider)
		x.About, x.Stops = words.Say("server_about"), words.In("stops", "mcp")
	}
	switch {
	case row.Status == "" && x.IsSlack: // by the deployment's token
		x.Connected, x.State, x.Reason = true, words.In("states", tenancy.Connected), words.Say("deployments")
	case row.Status == "":
		x.State = words.Say("never")
	case x.IsServer && x.Connected && address == "":
		x.Reason = words.Say("unnamed")
	case x.IsGitHub && x.Connected:
		x.AppID, x.Installation = appOf(row)
	}
	return x
}

// named returns the integration that a form or an address names, or aggregate.ErrNotFound if the workspace can't have
// it.
func (c *Pages) named(r *http.Request, v *web.Viewer) (integration, error) {
	all, err := c.connections(r.Context(), v)
	for _, x := range all {
		if x.Provider == r.FormValue("provider") {
			return x, nil
		}
	}
	return integration{}, cmp.Or(err, aggregate.ErrNotFound)
}

// Limits of pasted texts, in bytes.
const (
	maxClientSecret = 1 << 10
	maxServerToken  = 16 << 10
)

func (c *Pages) saveClient(w http.ResponseWriter, r *http.Request, v *web.Viewer, x integration) error {
	id, secret := strings.TrimSpace(r.PostFormValue("client_id")), strings.TrimSpace(r.PostFormValue("client_secret"))
	if x.IsSlack || x.IsGitHub || id == "" || len(id) > 512 || len(secret) > maxClientSecret || secret == "" &&
		!x.IsServer {
		return connectFault{"client", http.StatusBadRequest, x.Provider}
	}
	if err := c.keepClient(r.Context(), v, tenancy.VendorClient{Provider: x.Provider}, id, secret); err != nil {
		return err
	}
	return c.Done(w, r, "/console/integrations#"+url.QueryEscape(x.Provider), "client-saved")
}

// saveToken connects an MCP server with a token that somebody pasted.
func (c *Pages) saveToken(w http.ResponseWriter, r *http.Request, v *web.Viewer, x integration) error {
	token := strings.TrimSpace(r.PostFormValue("token"))
	if !x.IsServer || x.Address == "" || token == "" || len(token) > maxServerToken || strings.ContainsAny(token, "\r\n") {
		return connectFault{"token", http.StatusBadRequest, x.Provider}
	}
	if r.PostForm.Has("address") &&
		r.PostFormValue("address") != x.Address { // the settings name another since the page was shown
		return aggregate.ErrConflict
	}
	err := c.Connect.Vault.Connect(r.Context(), v.Tenant, x.Provider,
		vault.Credential{AccessToken: token, Address: x.Address}, "{}", v.Actor())
	if err != nil {
		return err
	}
	return c.Done(w, r, "/console/integrations", "connected")
}

// connectFault says why connecting or disconnecting failed. It never quotes the vendor.
type connectFault struct {
	why      string
	status   int
	provider string
}

func (e connectFault) Error() string { return e.provider + " is not connected: " + e.why }

// explained makes a page of one whose connectFault is shown, with whether anything changed.
func (c *Pages) explained(serve web.Page) web.Page {
	return func(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
		err := serve(w, r, v)
		f, ok := errors.AsType[connectFault](err)
		if !ok {
			return err
		}
		web.Refuse(r, v, err.Error())
		words := v.Texts("integrations")
		d := web.Document{Title: words.Say("not_connected"), Here: "integrations", Status: f.status,
			Data: words.In("faults", f.why)}
		return c.Show(w, r, v, d, "integrations/fault")
	}
}

func (c *Pages) saveApp(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	typed := func(name string) string { return strings.TrimSpace(r.PostFormValue(name)) }
	err := c.Connect.Vault.ConnectApp(r.Context(), v.Tenant, typed("app_id"), typed("installation_id"),
		typed("private_key")+"\n", v.Actor())
	if wrong, ok := errors.AsType[aggregate.Problem](err); ok {
		return connectFault{wrong.Field, http.StatusBadRequest, tenancy.GitHubProvider}
	}
	if err != nil {
		return err
	}
	return c.Done(w, r, "/console/integrations#"+tenancy.GitHubProvider, "connected")
}

// appOf returns the numbers of the GitHub App that a row connects.
func appOf(row tenancy.Integration) (id, installation string) {
	var about struct {
		ID           string `json:"app_id"`
		Installation string `json:"installation_id"`
	}
	_ = json.Unmarshal([]byte(row.Metadata), &about) // without numbers the fields stay empty
	return about.ID, about.Installation
}
