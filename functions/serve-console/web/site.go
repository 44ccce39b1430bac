package web

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/store/records"
	"ringi/shared/words/legible"
)

type Rows struct {
	*store.TaskStore
	records.Sessions
	records.Exports
	*store.Counter
}

func RowsOf(s *store.Store) Rows {
	return Rows{store.TasksOf(s), records.SessionsOf(s.Table()), records.ExportsOf(s.Table()),
		store.CounterOf(s.Table(), s.Kinds())}
}

// Site has what every page needs.
type Site struct {
	Store   Rows
	Results Results
	Slack   people.Directory
	People  *people.People
	Listing people.Listing // who may be chosen
	Roster  people.Roster
	Own     Deployment
	Now     func() time.Time
	// Organised says who an account is in the tenant's organisation.
	Organised func(ctx context.Context, tenant, account string) (tenancy.Employed, error)

	names people.Names
}

// Results opens values that are too large for a row.
type Results interface {
	decide.Results
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// Deployment says which workspace is the deployment's own.
type Deployment interface {
	Own(ctx context.Context, tenant string) (bool, error)
	Tenant(ctx context.Context) (string, error)
	TenantAdmin(ctx context.Context) (string, error)
	MayInstall(ctx context.Context, team string) (bool, error)
}

// Page renders a page, or performs an act and redirects. Its error becomes an error page.
type Page func(w http.ResponseWriter, r *http.Request, v *Viewer) error

// Route is a page for people who are signed in; Pattern is one of http.ServeMux.
type Route struct {
	Pattern        string
	Administrators bool // for them alone
	Serve          Page
	Files          bool // its forms may have up to MaxFile bytes, others MaxBody
}

// most returns the largest body of the route.
func (r Route) most() int64 {
	if r.Files {
		return MaxFile
	}
	return MaxBody
}

// ForMembers makes a page that any member of the workspace may open.
func ForMembers(pattern string, serve Page) Route { return Route{Pattern: pattern, Serve: serve} }

// ForAdministrators makes a page that only administrators may open.
func ForAdministrators(pattern string, serve Page) Route {
	return Route{Pattern: pattern, Administrators: true, Serve: serve}
}

// Names returns people's names by id.
func (c *Site) Names(ctx context.Context, v *Viewer, ids ...string) map[string]string {
	return c.names.Of(ctx, c.Slack, v.Team, c.Now(), ids...)
}

// Called returns what people are called, by id: an id whose name is unknown is called so.
func (c *Site) Called(ctx context.Context, v *Viewer, ids ...string) func(id string) string {
	names := c.Names(ctx, v, ids...)
	return func(id string) string { return cmp.Or(card.OneLine(names[id]), id) }
}

// Today returns the day in the tenants' zone.
func (c *Site) Today() organisation.Date { return organisation.DateOf(c.Now().In(tenancy.Zone())) }

// NoteDeployment saves which workspace is the deployment's own; all others are further tenants.
func (c *Site) NoteDeployment(ctx context.Context) error {
	own, err := c.Own.Tenant(ctx)
	if err != nil || own == "" {
		return err
	}
	return c.Store.NoteDeployment(ctx, own, c.Now())
}

// WorkspaceName returns the workspace's name, or its id if the name can't be shown.
func WorkspaceName(team, called string) string {
	name := strings.Join(strings.Fields(legible.Visible(called)), " ")
	if !legible.Text(name) {
		return team
	}
	return legible.First(name, tenancy.MaxTenantName)
}

// Refuse logs a forbidden attempt and who made it.
func Refuse(r *http.Request, v *Viewer, why string) {
	slog.WarnContext(
		r.Context(), "refused", "why", why, "method", r.Method, "path", r.URL.Path, "address", r.RemoteAddr, "tenant",
		v.Tenant, "user", v.User,
	)
}
