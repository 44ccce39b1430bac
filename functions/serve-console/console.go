package main

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/slack/people"
	"ringi/shared/slack/signin"
	"ringi/shared/store"
	"ringi/shared/store/contests"
	"ringi/shared/store/conversations"
	"ringi/shared/store/exports"
	"ringi/shared/store/sums"
	"ringi/shared/store/tasks"
	"ringi/shared/store/websession"
)

// Rows are what the pages show and change of the table.
type Rows struct {
	*tasks.Store
	websession.Sessions
	exports.Exports
	*sums.Counter
}

// RowsOf are those of a store of all kinds.
func RowsOf(s *store.Store) Rows {
	return Rows{tasks.Of(s), websession.Of(s.Table()), exports.Of(s.Table()), sums.Of(s.Table(), s.Kinds())}
}

// Console serves the pages.
type Console struct {
	Store    Rows
	Sessions *conversations.Store
	Contests *contests.Store
	Results  Results
	Slack    people.Directory
	People   *people.People
	Listing  people.Listing // who may be chosen
	Roster   people.Roster
	Servers  ServerTools
	SignIn   *signin.Slack
	Own      Deployment
	Exports  Exporter
	Begin    Beginner // of contests
	Links    Links    // to messages; nil: there are none
	Machine  string   // the pipeline's address; empty: no run is linked to
	Connect  Connections
	Outbound []string // addresses beside public ones where agents may be, as host:port
	Now      func() time.Time

	names people.Names
}

// Deployment is the workspace that the deployment itself belongs to.
type Deployment interface {
	Own(ctx context.Context, tenant string) (bool, error)
	Tenant(ctx context.Context) (string, error)
	TenantAdmin(ctx context.Context) (string, error)
	MayInstall(ctx context.Context, team string) (bool, error)
}

// access is who may open a page or act on it.
type access int

const (
	anyMember access = iota
	administrator
)

// page writes one page, or does one act and leads on. Its error becomes an error page.
type page func(w http.ResponseWriter, r *http.Request, v *viewer) error

// route is a page with its pattern, as http.ServeMux has them.
type route struct {
	pattern string
	access  access
	serve   page
}

// routes are all pages for people who are signed in.
func (c *Console) routes() []route {
	var all []route
	for _, topic := range [][]route{
		c.homeRoutes(),
		c.tasksRoutes(),
		c.approvalsRoutes(),
		c.settingsRoutes(),
		c.adminsRoutes(),
		c.toolsRoutes(),
		c.auditRoutes(),
		c.insightsRoutes(),
		c.storyRoutes(),
		c.agentsRoutes(),
		c.contestsRoutes(),
		c.integrationsRoutes(),
	} {
		all = append(all, topic...)
	}
	return all
}

// Handler serves everything below /console.
func (c *Console) Handler() http.Handler {
	mux := http.NewServeMux()
	for _, r := range c.routes() {
		mux.HandleFunc(r.pattern, c.signedIn(r))
	}
	c.openRoutes(mux)
	return web.Safe(mux)
}

// openRoutes are those that need no session.
func (c *Console) openRoutes(mux *http.ServeMux) {
	mux.HandleFunc("GET /console/signin", c.showSignIn)
	mux.HandleFunc("GET /console/signin/begin", c.beginSignIn)
	mux.HandleFunc("GET /console/signin/done", c.endSignIn)
	c.installRoutes(mux)
	mux.HandleFunc("GET /console/language/{locale}", c.switchLanguage)
	mux.HandleFunc("GET /console/assets/{name}", serveAsset)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		c.fail(w, r, &viewer{Locale: localeOf(r)}, errNoPage)
	})
}

// homeRoutes lead from the console's address to its first page, and out of it.
func (c *Console) homeRoutes() []route {
	return []route{
		{"GET /console", anyMember, c.home},
		{"GET /console/{$}", anyMember, c.home},
		{"POST /console/signout", anyMember, c.signOut},
	}
}

func (c *Console) home(w http.ResponseWriter, r *http.Request, v *viewer) error {
	data := homeData{}
	if v.Admin { // who is to decide first what nobody has decided
		s, err := c.Store.Settings(r.Context(), v.Tenant)
		if err != nil {
			return err
		}
		data.Unchosen = !s.SelfApprovalChosen
	}
	return c.show(w, r, v, document{Title: v.texts("layout").Say("console"), Data: data}, "home.html")
}

// homeData is what the first page shows beside the menu's entries.
type homeData struct {
	Unchosen bool // nobody has decided yet whether people approve their own requests
}

// refuse notes what was tried and not allowed, and by whom.
func refuse(r *http.Request, v *viewer, why string) {
	slog.WarnContext(r.Context(), "refused", "why", why, "method", r.Method, "path", r.URL.Path, "address", r.RemoteAddr, "tenant", v.Tenant, "user", v.User)
}
