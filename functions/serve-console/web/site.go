package web

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/store/exports"
	"ringi/shared/store/sums"
	"ringi/shared/store/tasks"
	"ringi/shared/store/websession"
	"ringi/shared/words/legible"
)

// Rows are what the pages show and change of the table.
type Rows struct {
	*tasks.Store
	websession.Sessions
	exports.Exports
	*sums.Counter
}

// RowsOf gives pages the rows of a store of all kinds.
func RowsOf(s *store.Store) Rows {
	return Rows{tasks.Of(s), websession.Of(s.Table()), exports.Of(s.Table()), sums.Of(s.Table(), s.Kinds())}
}

// Site is what every page stands on.
type Site struct {
	Store   Rows
	Results Results
	Slack   people.Directory
	People  *people.People
	Listing people.Listing // who may be chosen
	Roster  people.Roster
	Own     Deployment
	Now     func() time.Time

	names people.Names
}

// Results opens values that are too large for a row.
type Results interface {
	decide.Results
	Open(ctx context.Context, ref aggregate.Ref, b aggregate.Blob) (json.RawMessage, error)
}

// Deployment is the workspace that the deployment itself belongs to.
type Deployment interface {
	Own(ctx context.Context, tenant string) (bool, error)
	Tenant(ctx context.Context) (string, error)
	TenantAdmin(ctx context.Context) (string, error)
	MayInstall(ctx context.Context, team string) (bool, error)
}

// Page writes one page, or does one act and leads on. Its error becomes an error page.
type Page func(w http.ResponseWriter, r *http.Request, v *Viewer) error

// Route is a page for people who are signed in, with its pattern, as http.ServeMux has them.
type Route struct {
	Pattern        string
	Administrators bool // for them alone
	Serve          Page
}

// ForMembers is a page that any member of the workspace may open.
func ForMembers(pattern string, serve Page) Route { return Route{pattern, false, serve} }

// ForAdministrators is a page for administrators alone.
func ForAdministrators(pattern string, serve Page) Route { return Route{pattern, true, serve} }

// Names are how people are called, by their ids.
func (c *Site) Names(ctx context.Context, v *Viewer, ids ...string) map[string]string {
	return c.names.Of(ctx, c.Slack, v.Team, c.Now(), ids...)
}

// NoteDeployment notes which workspace is the deployment's own: all others are further ones.
func (c *Site) NoteDeployment(ctx context.Context) error {
	own, err := c.Own.Tenant(ctx)
	if err != nil || own == "" {
		return err
	}
	return c.Store.NoteDeployment(ctx, own, c.Now())
}

// WorkspaceName is the workspace's name, or its id when that can't be shown.
func WorkspaceName(team, called string) string {
	name := strings.Join(strings.Fields(legible.Visible(called)), " ")
	if !legible.Text(name) {
		return team
	}
	return legible.First(name, tenancy.MaxTenantName)
}

// Refuse logs an attempt that is not allowed, and who made it.
func Refuse(r *http.Request, v *Viewer, why string) {
	slog.WarnContext(
		r.Context(), "refused", "why", why, "method", r.Method, "path", r.URL.Path, "address", r.RemoteAddr, "tenant",
		v.Tenant, "user", v.User,
	)
}
