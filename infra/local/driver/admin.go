package driver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/outbound"
	"ringi/shared/secret/vault"
	"ringi/shared/store"
	"ringi/shared/tool/mcp"
)

func rows(s *stack.Stack) *store.TaskStore {
	return store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
}

func credentials(s *stack.Stack) vault.Vault {
	return vault.New(rows(s), vault.EnvelopeAt(s.AWS, s.KeyID))
}

// administrator is the first of the sandbox's workspace.
var administrator = aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}

// setup is the actor who prepares a stack. Changing settings or connecting a provider needs an actor, and the audit log
// must not name a person who did neither.
func setup() aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Bot}
}

// Connect connects the workspace to every vendor with sealed tokens, as the console's pages do after consent, and
// records that the app is installed. People can enter the console before their first request.
func Connect(ctx context.Context, s *stack.Stack, team string) error {
	tenant := aggregate.TenantID(team)
	own := tenancy.Tenant{ID: tenant, Name: team, TeamID: team, Admins: []string{webapi.Suzuki}}
	if _, err := rows(s).Bootstrap(ctx, own, time.Now()); err != nil {
		return err
	}
	if err := nameServer(ctx, s, tenant); err != nil {
		return err
	}
	v := credentials(s)
	if err := v.ConnectApp(ctx, tenant, vendors.AppID, vendors.Installation, s.Vendors.GitHub.Key,
		setup()); err != nil {
		return err
	}
	for _, provider := range []string{"freee", "google"} {
		c, token := s.Vendors.Client(provider), s.Vendors.Grant(provider)
		// People need this client when they connect the vendor again.
		x, err := v.Envelope.SealClient(ctx, tenancy.VendorClient{TenantID: tenant, Provider: provider}, c)
		if err == nil {
			_, err = rows(s).SaveVendorClient(ctx, x, setup(), time.Now())
		}
		if err != nil && !errors.Is(err, aggregate.ErrConflict) { // it is already registered
			return fmt.Errorf("register with %s: %w", provider, err)
		}
		if err := v.Connect(ctx, tenant, provider, vault.CredentialOf(token, c), vault.About(token), setup()); err != nil {
			return err
		}
	}
	return v.Allow(ctx, tenant, tenancy.SlackProvider, setup())
}

// Desk is a person at the console, whose cookie was signed without signing in.
type Desk struct {
	T      T
	S      *stack.Stack
	cookie string
}

func SitDown(t T, s *stack.Stack, user string) Desk {
	t.Helper()
	team := s.Sandbox.TeamID()
	x := store.NewSession(aggregate.TenantID(team), team, user, user, time.Now())
	return Desk{T: t, S: s, cookie: expect.Value(x.Signed(s.SigningSecret))(t)}
}

func (d Desk) Get(path string) (status int, page string) {
	d.T.Helper()
	return d.do(http.MethodGet, path, "")
}

// Act decides on the current action of a conversation, as the form of its page does.
func (d Desk) Act(of *Dialogue, act, reason string) (status int, page string) {
	d.T.Helper()
	return d.Ready(of, act, reason)()
}

// Ready fills in the form of Act. The function that it returns sends the form.
func (d Desk) Ready(of *Dialogue, act, reason string) func() (status int, page string) {
	d.T.Helper()
	form := url.Values{"act": {act}, "reason": {reason}}
	if x := of.Load().Current(); x != nil {
		form.Set("id", x.ActionID)
		form.Set("hash", x.Payload.Hash())
	}
	path := of.Page() + "/act"
	return func() (int, string) { return d.Post(path, form) }
}

func (d Desk) Post(path string, form url.Values) (status int, page string) {
	d.T.Helper()
	return d.do(http.MethodPost, path, form.Encode())
}

// do sends a request, up to five times while the answer is 503.
func (d Desk) do(method, path, form string) (status int, page string) {
	d.T.Helper()
	for range 5 {
		if status, page = d.once(method, path, form); status != http.StatusServiceUnavailable {
			break
		}
		d.T.Logf("%s %s was not done in time", method, path)
	}
	return status, page
}

func (d Desk) once(method, path, form string) (status int, page string) {
	d.T.Helper()
	r := expect.Value(http.NewRequestWithContext(d.T.Context(), method, d.S.URL+path, strings.NewReader(form)))(d.T)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", d.S.URL)
	}
	r.AddCookie(&http.Cookie{Name: "ringi", Value: d.cookie})
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res := expect.Value(client.Do(r))(d.T)
	defer res.Body.Close()
	return res.StatusCode, string(expect.Value(io.ReadAll(res.Body))(d.T))
}

// nameServer adds the MCP server to a tenant's settings and stores its secret. Its tools stay off until somebody allows
// them.
func nameServer(ctx context.Context, s *stack.Stack, tenant string) error {
	server := tenancy.MCPServer{Name: vendors.RoomsServer, URL: s.VendorsURL + vendors.RoomsPath}
	token := vault.Credential{AccessToken: s.Vendors.RoomsToken, Address: server.URL}
	if err := credentials(s).Connect(ctx, tenant, server.Provider(), token, "{}", setup()); err != nil {
		return err
	}
	x, err := rows(s).Settings(ctx, tenant)
	if err != nil || slices.Contains(x.MCPServers, server) {
		return err
	}
	x.MCPServers, x.Sources = append(x.MCPServers, server), append(x.Sources, s.Vendors.Shop())
	_, err = rows(s).SaveSettings(ctx, tenant, x, setup(), time.Now())
	return err
}

func MCPAdmin(s *stack.Stack) mcp.Admin {
	reach := outbound.Dialer{Allow: []string{s.VendorsHost()}}
	return mcp.Admin{Rows: rows(s), Credentials: credentials(s), Client: mcp.Client{HTTP: reach.Client()}, Now: time.Now}
}

// LetRead lets members of contests call one of the MCP server's tools, as an administrator can at the console.
func LetRead(ctx context.Context, s *stack.Stack, tenant string) error {
	x, err := listed(ctx, s, tenant, vendors.HouseRules)
	if err != nil || x.Hash == "" || x.Contests {
		return err
	}
	d := MCPAdmin(s)
	if err := d.Allow(ctx, tenant, x.Name, x.Hash, aggregate.Read, setup()); err != nil {
		return fmt.Errorf("allow %s: %w", x.Name, err)
	}
	return d.ForContests(ctx, tenant, x.Name, x.Hash, true, setup())
}

// listed returns one of the MCP server's tools, without a hash if the server has none of the name.
func listed(ctx context.Context, s *stack.Stack, tenant, name string) (mcp.Listed, error) {
	all, err := MCPAdmin(s).Tools(ctx, tenant, vendors.RoomsServer)
	if err != nil {
		return mcp.Listed{}, fmt.Errorf("list the tools of %s: %w", vendors.RoomsServer, err)
	}
	if i := slices.IndexFunc(all, func(x mcp.Listed) bool { return x.Name == name }); i >= 0 {
		return all[i], nil
	}
	return mcp.Listed{}, nil
}

// ConnectOrdering allows the tool that orders from suppliers, and marks what an order costs and from whom it is. So
// rules by amount have something to meet, and cards say it in people's words.
func ConnectOrdering(ctx context.Context, s *stack.Stack, tenant string) error {
	x, err := listed(ctx, s, tenant, vendors.PlaceOrder)
	if err != nil || x.Hash == "" || x.State == mcp.On {
		return err
	}
	if err := MCPAdmin(s).Allow(ctx, tenant, x.Name, x.Hash, aggregate.Write, setup()); err != nil {
		return fmt.Errorf("allow %s: %w", x.Name, err)
	}
	p, _, err := rows(s).ToolPermission(ctx, tenant, x.Name)
	if err != nil {
		return fmt.Errorf("mark %s: %w", x.Name, err)
	}
	p.Mark = &rules.Mark{
		Version: p.Pin.Version(), How: rules.HowProduct, Pointers: []string{"/items/*/quantity", "/items/*/unit_price"},
		CurrencyAt: "/currency",
	}
	_, err = rows(s).SaveToolPermission(ctx, p, setup(), time.Now())
	return err
}

// Key makes an outside agent's key, for which Sato answers and with which it asks in #人事, and returns its secret.
func Key(t T, s *stack.Stack, name string, tools ...string) string {
	t.Helper()
	team := s.Sandbox.TeamID()
	_, secret, err := rows(s).CreateKey(t.Context(), tenancy.Key{TenantID: aggregate.TenantID(team), Team: team,
		Name: name, Answers: webapi.Sato, Tools: tools, Channel: webapi.HR, QuotaDay: 1000,
		ExpiresAt: time.Now().AddDate(0, 1, 0)}, administrator, time.Now())
	expect.NoError(t, err)
	return secret
}

// Circulate saves rules of circulation for a test, and ends them after it.
func Circulate(t *testing.T, s *stack.Stack, all ...rules.Rule) {
	t.Helper()
	SaveRules(t, s, all...)
	t.Cleanup(func() { SaveRules(t, s) })
}

// SaveRules saves rules of circulation in the place of all that stand; none ends them.
func SaveRules(t T, s *stack.Stack, all ...rules.Rule) {
	t.Helper()
	tenant := aggregate.TenantID(s.Sandbox.TeamID())
	_, rev, err := rows(s).Rules(context.Background(), tenant)
	expect.NoError(t, err)
	var x *rules.Rules
	if all != nil {
		x = &rules.Rules{Rules: all}
	}
	_, _, err = rows(s).SaveRules(context.Background(), tenant, x, rev, nil, administrator, time.Now())
	expect.NoError(t, err)
}
