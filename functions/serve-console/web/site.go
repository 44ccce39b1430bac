// Package web is the base of the console's pages: it has the security headers, the session and its viewer, the layout,
// the texts and the error pages, and lets people decide on a page what a card decides in Slack.
package web

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// Site has what every page needs.
type Site struct {
	Store   *store.TaskStore
	Results Results
	Slack   Slack
	People  *people.People
	Listing people.Listing // who may be chosen
	Roster  people.Roster
	Own     Deployment
	Links   *slackapi.Client // finds the addresses of messages
	Now     func() time.Time

	names  people.Names
	groups people.Requesters
}

// Slack is what the console asks.
type Slack interface {
	people.Directory
	people.Grouped
}

// Returned is what an agent was given of a call's result, "" if there is none.
func Returned(ctx context.Context, from Results, ref aggregate.Ref, result *aggregate.Blob) (string, error) {
	if result == nil {
		return "", nil
	}
	r, err := large.CallResult(ctx, from, ref, *result)
	if errors.Is(err, large.ErrExpired) {
		return "", nil
	}
	return Exactly(string(r.Value)), err
}

// Results opens values that are too large for a row.
type Results interface {
	card.Large
	large.Copier
	Files
}

// Files serves the files of requests, named by their hash.
type Files interface {
	Attached(ctx context.Context, ref aggregate.Ref, sum string) ([]byte, error)
	AttachedAddress(ctx context.Context, ref aggregate.Ref, sum, name string) (string, error)
}

// Deployment says which workspace is the deployment's own, and has the secret that signs sessions.
type Deployment interface {
	SigningSecret(ctx context.Context) (string, error)
	Serves(ctx context.Context, tenant string) (bool, error)
	TenantAdmin(ctx context.Context) (string, error)
}

// Page renders a page, or performs an act and redirects. Its error becomes an error page.
type Page func(w http.ResponseWriter, r *http.Request, v *Viewer) error

// Of makes a page of one that is about what read finds first. An error of read's is the page's.
func Of[T any](read func(*http.Request, *Viewer) (T, error),
	serve func(http.ResponseWriter, *http.Request, *Viewer, T) error) Page {
	return func(w http.ResponseWriter, r *http.Request, v *Viewer) error {
		x, err := read(r, v)
		if err != nil {
			return err
		}
		return serve(w, r, v, x)
	}
}

// Settings returns the settings of the viewer's workspace.
func (c *Site) Settings(r *http.Request, v *Viewer) (tenancy.Settings, error) {
	return c.Store.Settings(r.Context(), v.Tenant)
}

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

// Names returns the names of people and user groups by id.
func (c *Site) Names(ctx context.Context, v *Viewer, ids ...string) map[string]string {
	out := c.names.Of(ctx, c.Slack, v.Team, c.Now(), slices.DeleteFunc(slices.Clone(ids), aggregate.IsGroup)...)
	for _, id := range ids {
		if aggregate.IsGroup(id) {
			out[id], _ = c.groups.Handle(ctx, c.Slack, v.Team, id, c.Now())
		}
	}
	return out
}

// Called returns what people and user groups are called, by id: an id whose name is unknown is called so.
func (c *Site) Called(ctx context.Context, v *Viewer, ids ...string) func(id string) string {
	return Named(c.Names(ctx, v, ids...))
}

// Naming draws what has people in it: once to learn who they are, then with what they are called.
func (c *Site) Naming(ctx context.Context, v *Viewer, draw func(called func(id string) string)) {
	var ids []string
	draw(func(id string) string {
		ids = append(ids, id)
		return id
	})
	draw(c.Called(ctx, v, slices.Compact(slices.Sorted(slices.Values(ids)))...))
}

// Refused returns who of these people and user groups may not be chosen, by the rules that they break, and the
// workspace's members. It returns explain.ErrUnverified when Slack can't be asked.
func (c *Site) Refused(ctx context.Context, v *Viewer, users, groups []string) (map[string]string, people.Members,
	error) {
	m, err := c.Roster.Of(ctx, c.Listing, v.Team, c.Now())
	if err != nil {
		return nil, m, err
	}
	refused, err := m.Refused(ctx, c.Listing, users, groups)
	return refused, m, err
}

// Today returns the day in the tenants' zone.
func (c *Site) Today() tenancy.Date { return tenancy.DateOf(c.Now().In(tenancy.Zone())) }

// WorkspaceName returns the workspace's name, or its id if the name can't be shown.
func WorkspaceName(team, called string) string {
	name := strings.Join(strings.Fields(language.Visible(called)), " ")
	if !language.Legible(name) {
		return team
	}
	return language.First(name, tenancy.MaxTenantName)
}

// Refuse logs a forbidden attempt and who made it.
func Refuse(r *http.Request, v *Viewer, why string) {
	slog.WarnContext(r.Context(), "refused", "why", why, "method", r.Method, "path", r.URL.Path, "address", r.RemoteAddr,
		"tenant", v.Tenant, "user", v.User)
}

// Readable returns the tenant's settings if the viewer may read the subject: as ReadableAt says, or since they are
// on the route of one of its gates, stand in now for somebody who is on the route, or answer for
// the key of a call.
func (c *Site) Readable(ctx context.Context, v *Viewer, a decide.Subject) (s tenancy.Settings, err error) {
	if err := a.Readable(c.Now()); err != nil {
		return s, err
	}
	s, err = c.ReadableAt(ctx, v, a.Origin())
	of, has := a.(interface {
		SomeGate(is func(g *aggregate.Gate) bool) bool
	})
	if err == nil || !has {
		return s, err
	}
	keyed, is := a.(interface{ AnsweredBy(user string) bool })
	on := is && keyed.AnsweredBy(v.User) ||
		of.SomeGate(func(g *aggregate.Gate) bool { return g.OnRoute(v.User, nil) })
	if !on {
		instead, failed := c.StandIns(ctx, v)
		if failed != nil {
			return s, failed
		}
		on = of.SomeGate(func(g *aggregate.Gate) bool { return instead.OnRoute(g, a.Askers()...) })
	}
	if on {
		return c.Store.Settings(ctx, v.Tenant)
	}
	return s, err
}

// StandIns reads by what the viewer stands in for others now.
func (c *Site) StandIns(ctx context.Context, v *Viewer) (decide.StandIns, error) {
	return decide.StandInsOf(ctx, c.Store, v.Tenant, v.User, c.Now())
}

// ReadableAt returns the tenant's settings if the viewer may read what was requested there: administrators, the
// requester, members of the channel, and people who may decide about it. For others it returns aggregate.ErrNotFound.
func (c *Site) ReadableAt(ctx context.Context, v *Viewer, o aggregate.Origin) (s tenancy.Settings, err error) {
	if s, err = c.Store.Settings(ctx, v.Tenant); err != nil {
		return s, err
	}
	if v.Admin || o.User == v.User {
		return s, nil
	}
	reach, err := c.People.Reach(ctx, v.Team, v.User, s)
	switch {
	case reach.Sees(o) || reach.Decides(o):
		return s, nil
	case err != nil:
		return s, err
	}
	return s, fmt.Errorf("of a channel that the viewer is not in: %w", aggregate.ErrNotFound)
}

// ChannelsOf returns what a request's channel and the homes of its gates are called. Of those that the viewer isn't in
// the request's channel is unnamed, another is its id.
func (c *Site) ChannelsOf(ctx context.Context, v *Viewer, o aggregate.Origin, unnamed string) func(id string) string {
	sight, err := c.People.Sight(ctx, v.Team, v.User)
	if err != nil {
		slog.WarnContext(ctx, "channels stay without their names", "err", err)
	}
	names := sight.Channels()
	return func(id string) string {
		if id == o.Channel {
			return cmp.Or(ChannelName(names, id), unnamed)
		}
		return cmp.Or(ChannelName(names, id), id)
	}
}

// fault is an error with the status and the key of the text of the page that says it.
type fault struct {
	text    string
	status  int
	says    string
	refused bool // somebody tried a forbidden act: logged
}

func (f *fault) Error() string { return f.text }

// Errors that refuse a request, besides those that explain knows.
var (
	ErrNoPage         = &fault{"no such page", http.StatusNotFound, "no_page", false}
	ErrNoID           = &fault{"an id that nothing can have", http.StatusNotFound, "not_found", true}
	ErrExpired        = &fault{"deleted after its retention time", http.StatusNotFound, "expired", false}
	ErrDeletable      = &fault{"a conversation that is deleted or not theirs", http.StatusNotFound, "deletable", true}
	ErrAdminsOnly     = &fault{"for administrators", http.StatusForbidden, "admins_only", true}
	ErrSignedOut      = &fault{"nobody is signed in", http.StatusUnauthorized, "signed_out", true}
	ErrBadForm        = &fault{"a form with an act of no page", http.StatusBadRequest, "bad_input", true}
	ErrTooMany        = &fault{"too many sign-ins", http.StatusTooManyRequests, "too_many", true}
	ErrStaleSignIn    = &fault{"no sign-in of this browser's is under way", http.StatusBadRequest, "stale_sign_in", true}
	ErrDenied         = &fault{"the person did not allow it", http.StatusForbidden, "denied", false}
	ErrOtherWorkspace = &fault{"not the deployment's workspace", http.StatusForbidden, "other_workspace", true}
	ErrNoAdmin        = &fault{"the Slack secret names no administrator", http.StatusServiceUnavailable, "no_admin", false}
	ErrTooLong        = &fault{"more than a file may have", http.StatusRequestEntityTooLarge, "too_long", false}
	ErrNoClient       = &fault{"the Slack secret has no client", http.StatusServiceUnavailable, "no_client", false}
	// ErrNotOfUs: the person is a guest, has left, or belongs to another workspace.
	ErrNotOfUs = &fault{"not a member of the workspace", http.StatusForbidden, "not_of_us", true}
)

// FaultOf returns the status for an error, the key of its text, and whether it is logged as refused.
func FaultOf(err error) (status int, says string, refused bool) {
	f, is := errors.AsType[*fault](err)
	field, of := errors.AsType[aggregate.Problem](err)
	switch {
	case of && field.Field == "cursor":
		return http.StatusBadRequest, "bad_cursor", true
	case is:
		return f.status, f.says, f.refused
	case errors.Is(err, slackapi.ErrSignInRefused):
		return http.StatusForbidden, "sign_in_refused", true
	}
	switch class := explain.ClassOf(err); class {
	case explain.NotFound:
		return http.StatusNotFound, "not_found", true
	case explain.NotAllowed:
		return http.StatusForbidden, "not_allowed", true
	case explain.Field, explain.MalformedForm, explain.BadInput:
		return http.StatusBadRequest, "bad_input", false
	case explain.Unverified, explain.Unavailable, explain.Unconfirmed, explain.ModelUnavailable:
		return http.StatusServiceUnavailable, "unavailable", false
	case explain.Conflict, explain.Changed, explain.Superseded, explain.Full:
		return http.StatusConflict, "conflict", false
	default:
		if class.Refusal() { // impossible in the subject's current state
			return http.StatusConflict, "conflict", false
		}
	}
	return http.StatusInternalServerError, "internal", false
}

// Fail answers with a page that explains the error.
func (c *Site) Fail(w http.ResponseWriter, r *http.Request, v *Viewer, err error) {
	status, says, refused := FaultOf(err)
	switch {
	case refused:
		Refuse(r, v, err.Error())
	case status >= http.StatusInternalServerError:
		slog.ErrorContext(r.Context(), "a page failed", "path", r.URL.Path, "tenant", v.Tenant, "err", err)
	}
	texts := v.Texts("fault")
	data := struct{ Text, Again string }{Text: texts.In("text", says)}
	if status == http.StatusServiceUnavailable && r.Method == http.MethodGet && v.User != "" {
		data.Again = r.URL.RequestURI()
	}
	d := Document{Title: texts.In("title", says), Data: data, Status: status}
	if err := c.Show(w, r, v, d, "home/fault"); err != nil {
		slog.ErrorContext(r.Context(), "an error page failed", "err", err)
		http.Error(w, d.Title, status)
	}
}

// KnownTool is a tool that requests may call, as rules see it.
type KnownTool struct {
	rules.Known
	ID, Title string // by which the settings know it; what people call it
	Allowed   bool   // now; Ringi's own tools are known even if they are off
	Labels    []rules.Label
	Free      bool // its calls move no money, as rules see them whatever the arguments are
}

// Writes reports whether calls of the tool write.
func (k KnownTool) Writes() bool { return k.Access != aggregate.Read }

// KnownTools returns Ringi's own tools and those of MCP servers that are on.
func (c *Site) KnownTools(ctx context.Context, v *Viewer) (all []KnownTool, err error) {
	settings, err := c.Store.Settings(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	rows, err := c.Store.ToolPermissions(ctx, v.Tenant)
	if err != nil {
		return nil, err
	}
	tools, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	for _, s := range tools.Planned().All() {
		own := tenancy.Standing(rows, v.Tenant, s.Name)
		if s.Name == tenancy.DecideTool { // its mark is made from the form
			own.Mark = (&task.Matter{}).Steps(v.Locale, s.Version())[0].Mark
		}
		all = append(all, knownAs(own, s.Access, s.Title(v.Locale), own.Allowed))
	}
	for _, p := range rows {
		if s, on := tool.Pinned(p, settings.MCPServers); on { // any server may choose any title
			all = append(all, knownAs(p, s.Access, strings.TrimSpace(p.Pin.Title+" ("+p.ToolName+")"), true))
		}
	}
	return all, nil
}

func knownAs(p tenancy.ToolPermission, access aggregate.Access, title string, allowed bool) KnownTool {
	var labels []rules.Label
	if m := p.Marked(""); m != nil {
		labels = m.LabelledBy
	}
	version := "1" // of one of Ringi's own tools without a mark any will do
	if p.Mark != nil {
		version = p.Mark.Version
	}
	free := p.ToolName != tenancy.DecideTool && p.Call(version, access, "{}", p.Mark).Amount == rules.Nothing()
	return KnownTool{rules.Known{Tool: p.Tool(), Access: access}, p.ToolName, title, allowed, labels, free}
}

// KnownToRules returns tools as rules need them.
func KnownToRules(all []KnownTool) []rules.Known {
	return Each(all, func(x KnownTool) rules.Known { return x.Known })
}
