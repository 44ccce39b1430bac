// Package audit has the pages on what was done in a workspace: the audit log and its export, the register of decisions
// and requests that have a number.
package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/outbound"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

const (
	// auditPage is the number of entries on a page.
	auditPage = 50
	// auditDays is how many days of the log a page reads unless the viewer asks for more.
	auditDays = 30
)

type Pages struct {
	*web.Site
	Exports Exporter
	// Settings says changes of settings as their history does.
	Settings func(locale string, m *people.Members, details aggregate.JSON) map[string]auditlog.Changed
}

// Routes returns the log and its exports; the register of the decisions and the requests that have a number, its file,
// and a sheet to print of each decision.
func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET /console/audit", c.showAudit),
		web.ForAdministrators("POST /console/audit/exports", c.beginExport),
		web.ForAdministrators("GET /console/audit/exports/{id}", web.Of(c.export, c.showExport)),
		web.ForAdministrators("GET /console/audit/exports/{id}/file", web.Of(c.export, c.fetchExport)),
		web.ForAdministrators("GET /console/register", c.list),
		web.ForAdministrators("GET /console/register/file.csv", c.file),
		web.ForAdministrators("GET /console/register/{number}", c.sheet),
		web.ForAdministrators("GET "+documentPath, c.sheet),
	}
}

// auditForm is the filter as the form holds it; both days are included.
type auditForm struct {
	Action, Actor, Resource, From, To string
}

// auditFormOf reads the filter. Without days it selects the last auditDays. What isn't known is reported and not used.
func auditFormOf(q url.Values, now time.Time) (auditForm, auditlog.Filter, web.BadFilter) {
	f := auditForm{Action: q.Get("action"), Actor: q.Get("actor"), Resource: q.Get("resource"), From: q.Get("from"),
		To: q.Get("to")}
	bad := web.BadFilter{}
	known := auditlog.WordsIn(language.All[0]).Actions()
	bad.Refuse("action", &f.Action, !slices.Contains(known, aggregate.Action(f.Action)))
	bad.Refuse("who", &f.Actor, auditlog.Filter{Actor: f.Actor}.Check() != nil)
	bad.Refuse("on", &f.Resource, auditlog.Filter{Resource: f.Resource}.Check() != nil)
	out := auditlog.Filter{Action: aggregate.Action(f.Action), Actor: f.Actor, Resource: f.Resource}
	out.From, out.To = bad.Days(&f.From, &f.To)
	if f.From+f.To == "" && (!q.Has("from") && !q.Has("to") || bad["from"] || bad["to"]) {
		f.From = tenancy.DayOf(now.AddDate(0, 0, -auditDays))
		out.From, _ = web.DayOf(f.From) // a day that was just written
	}
	return f, out, bad
}

const auditPath = "/console/audit"

func (f auditForm) narrowing(words web.Texts, actors []web.Choice) web.Filter {
	log, actions := auditlog.WordsIn(words.Locale()), []web.Choice(nil)
	for _, a := range log.Actions() {
		actions = append(actions, web.Choice{Value: string(a), Text: log.Action(a), Chosen: string(a) == f.Action})
	}
	return web.Filter{Path: auditPath, Submit: words.Say("filter"),
		Links: web.Cleared(auditPath, words.Say("clear"), true),
		Fields: []web.Field{web.Select("action", words.Say("action"), words.Say("any_action"), actions),
			web.Select("actor", words.Say("who"), words.Say("anybody"), actors),
			{Name: "resource", Label: words.Say("on"), Value: f.Resource, Most: 64}, web.Day("from", words.Say("from"), f.From),
			web.Day("to", words.Say("to"), f.To)}}
}

// with returns the address of the first page with one filter value replaced.
func (f auditForm) with(name, value string) string {
	q := url.Values{"action": {f.Action}, "actor": {f.Actor}, "resource": {f.Resource}, "from": {f.From}, "to": {f.To}}
	q.Set(name, value)
	return auditPath + "?" + q.Encode()
}

type auditData struct {
	Form        auditForm
	Ignored     string // which filters of the address are left out
	Filter      web.Filter
	Rows        []subject.Entry
	Newest      string // address of the first page, on a later page
	Older       string
	Narrowed    bool
	ExportAbout string
}

func (c *Pages) showAudit(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	q, words := r.URL.Query(), v.Texts("audit")
	form, f, bad := auditFormOf(q, c.Now())
	bad.Stranger(r, c.Site, v, "who", &form.Actor)
	d := auditData{Form: form, Ignored: bad.Said(words),
		ExportAbout: words.Say("export_about", "n", web.Count(auditlog.MaxRows))}
	filter := store.AuditFilter{From: f.From, To: f.To, Action: f.Action, Resource: f.Resource, Actor: form.Actor}
	page, err := c.Store.Audit(r.Context(), v.Tenant, filter, q.Get("cursor"), auditPage)
	if err != nil {
		return err
	}
	if page.Next != "" {
		d.Older = form.with("cursor", page.Next)
	}
	if q.Get("cursor") != "" {
		d.Newest = form.with("cursor", "")
	}
	named, err := c.fillAudit(r, v, &d, page.Items)
	if err != nil {
		return err
	}
	d.Narrowed = d.Ignored+form.Action+form.Actor+form.Resource+form.To != "" || q.Has("from")
	d.Filter = form.narrowing(words, c.actors(r, v, form.Actor, named))
	return c.Show(w, r, v, web.Document{Here: "audit", Data: &d}, "audit")
}

// mostActors bounds the people that the filter lists; any other actor is chosen by their name in the log.
const mostActors = 500

// actors returns the filter's options: Ringi first, then the workspace's people and the actors on this page, sorted by
// name. If Slack can't list the people, only the actors on this page are offered.
func (c *Pages) actors(r *http.Request, v *web.Viewer, chosen string, named map[string]string) []web.Choice {
	all := map[string]string{}
	if m, err := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now()); err == nil {
		for _, u := range m.People {
			if !u.Bot && len(all) < mostActors {
				all[u.ID] = u.Name
			}
		}
	} else {
		slog.WarnContext(r.Context(), "the filter offers nobody who is not on the page", "err", err)
	}
	maps.Copy(all, named)
	if _, there := all[chosen]; !there && chosen != "" {
		all[chosen] = chosen
	}
	system, ringi := string(aggregate.ActorSystem), auditlog.WordsIn(v.Locale).Ringi
	all[system] = ringi // which anyone may call themselves, too
	called := web.Named(all)
	delete(all, system)
	var out []web.Choice
	for id := range all {
		out = append(out, web.Choice{Value: id, Text: called(id), Chosen: id == chosen})
	}
	slices.SortFunc(out, web.Choice.Compare)
	return slices.Insert(out, 0, web.Choice{Value: system, Text: ringi, Chosen: chosen == system})
}

// fillAudit turns entries into rows and returns the actors' names by id.
func (c *Pages) fillAudit(r *http.Request, v *web.Viewer, d *auditData,
	entries []aggregate.AuditEntry) (map[string]string, error) {
	var ids, of []string
	for _, x := range entries {
		of = append(of, x.AggregateID)
		if id := x.FoundBy(); x.ActorType != aggregate.ActorAgent && id != string(x.ActorType) { // Slack doesn't know agents
			ids = append(ids, id)
		}
	}
	if d.Form.Actor != string(aggregate.ActorSystem) {
		ids = append(ids, d.Form.Actor)
	}
	of = slices.DeleteFunc(of, func(id string) bool { return !aggregate.ValidID(id) }) // no request's
	requests, err := c.Store.Titled(r.Context(), v.Tenant, of...)
	if err != nil {
		return nil, err
	}
	for _, x := range requests {
		ids = append(ids, x.Requester())
	}
	calls, err := c.callsOf(r.Context(), v.Tenant, entries)
	if err != nil {
		return nil, err
	}
	names := c.Names(r.Context(), v, ids...)
	words, log := v.Texts("audit"), auditlog.WordsIn(v.Locale)
	keys, err := c.keysNamed(r.Context(), v.Tenant, entries, log.Resource("key"))
	if err != nil {
		return nil, err
	}
	maps.Copy(keys, names)
	names = keys
	called := func(id string) string { return cmp.Or(names[id], id) }
	members := sync.OnceValue(func() *people.Members {
		m, _ := c.Roster.Of(r.Context(), c.Listing, v.Team, c.Now()) // without names, the ids are shown
		return &m
	})
	log.Told = func(details aggregate.JSON) map[string]auditlog.Changed {
		return c.Settings(v.Locale, members(), details)
	}
	d.Rows = subject.EntriesOf(entries, log, called, called)
	for i, x := range entries {
		row := &d.Rows[i]
		row.Like = []web.Link{{Path: d.Form.with("actor", x.FoundBy()), Text: words.Say("theirs")},
			{Path: d.Form.with("resource", cmp.Or(x.AggregateID, x.ResourceID)), Text: words.Say("all")}}
		switch of := x.AggregateID; {
		case conversation.ValidID(of):
			row.Path, row.On = "/console/sessions/"+of, log.Resource("session")
		case call.ValidID(of):
			row.Path, row.On = "/console/calls/"+of, log.Resource("call")
			if x := calls[callAt(v.Tenant, of)]; x.Tool != "" {
				row.On = strings.TrimSpace(row.On + ": " + card.OneLine(log.Tool(x.Tool)) + " " + x.DecisionNumber)
			}
		case contest.ValidID(of):
			row.Path, row.On = "/console/contests/"+of, log.Resource("contest")
		case of != "":
			row.Path, row.On = "/console/tasks/"+of, log.Resource("task")
			if t, there := requests[of]; there {
				row.On, row.Whose = cmp.Or(card.OneLine(t.Title), row.On), words.Say("whose", "who", called(t.Requester()))
			}
		}
		if id := x.FoundBy(); id != string(x.ActorType) {
			row.By, row.ByID, row.Asked = called(id), id, id != x.ActorID
		}
	}
	return names, nil
}

func callAt(tenant, id string) store.Place {
	return store.Place{Ref: call.RefOf(tenant, id), Key: call.Key}
}

// callsOf returns the calls that entries are about.
func (c *Pages) callsOf(ctx context.Context, tenant string, entries []aggregate.AuditEntry) (
	map[store.Place]call.Call, error) {
	var places []store.Place
	for _, x := range entries {
		if at := callAt(tenant, x.AggregateID); call.ValidID(x.AggregateID) && !slices.Contains(places, at) {
			places = append(places, at)
		}
	}
	return store.RowsAt[call.Call](ctx, c.Store.KindStore.Store, places)
}

// keysNamed returns the names of the tenant's keys by their ids, if one of them is an entry's actor.
func (c *Pages) keysNamed(ctx context.Context, tenant string, entries []aggregate.AuditEntry, key string) (
	map[string]string, error) {
	names := map[string]string{}
	if !slices.ContainsFunc(entries, func(x aggregate.AuditEntry) bool {
		return x.ActorType == aggregate.ActorAgent && call.ValidID(x.AggregateID)
	}) {
		return names, nil
	}
	keys, err := c.Store.Keys(ctx, tenant)
	for _, k := range keys {
		names[k.ID] = key + ": " + card.OneLine(k.Name)
	}
	return names, err
}

// Exporter starts exports of the audit log and links to the finished files.
type Exporter interface {
	Begin(ctx context.Context, tenant, export string) error
	Link(ctx context.Context, x auditlog.Export) (string, error)
}

// exportAudit calls the Lambda function that writes the files, and signs links to its bucket.
type exportAudit struct {
	function *outbound.Function
	bucket   *large.Bucket
}

// Function returns the function with that name, which writes into that bucket.
func Function(cfg aws.Config, name, in string) Exporter {
	return exportAudit{outbound.FunctionAt(cfg, name), large.BucketAt(cfg, in)}
}

// Begin invokes the function asynchronously; it returns before the file is written.
func (e exportAudit) Begin(ctx context.Context, tenant, export string) error {
	err := e.function.Begin(ctx, map[string]string{"tenant": tenant, "export": export})
	if err != nil {
		return fmt.Errorf("begin export %s: %w", export, err)
	}
	return nil
}

// Link returns an address that serves the file without a session for auditlog.LinkLasts.
func (e exportAudit) Link(ctx context.Context, x auditlog.Export) (string, error) {
	as := large.Served{Disposition: `attachment; filename="` + x.Name() + `"`}
	link, err := e.bucket.AddressAs(ctx, x.Key, as, auditlog.LinkLasts)
	if err != nil {
		return "", fmt.Errorf("link to export %s: %w", x.ID, err)
	}
	return link, nil
}

func (c *Pages) beginExport(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	_, filter, bad := auditFormOf(r.PostForm, c.Now())
	if len(bad) > 0 {
		return aggregate.ErrField{Field: fmt.Sprint(slices.Sorted(maps.Keys(bad))), Limit: "selects nothing"}
	}
	now := c.Now()
	x, err := auditlog.New(aggregate.NewID(), v.Tenant, v.User, auditlog.Form(r.PostFormValue("as")), filter, v.Locale,
		now)
	if err != nil {
		return err
	}
	if err = c.Store.BeginExport(r.Context(), x, now); err != nil {
		return err
	}
	if err = c.Exports.Begin(r.Context(), v.Tenant, x.ID); err != nil {
		return errors.Join(err, c.Store.FailExport(r.Context(), x, auditlog.Broken, now))
	}
	http.Redirect(w, r, "/console/audit/exports/"+x.ID, http.StatusSeeOther)
	return nil
}

type exportData struct {
	auditlog.Export
	Path string
	Open bool   // somebody works on it
	Note string // how long the link is valid, and how long the file is stored
}

func (c *Pages) export(r *http.Request, v *web.Viewer) (auditlog.Export, error) {
	return c.Store.Export(r.Context(), v.Tenant, r.PathValue("id"))
}

func (c *Pages) showExport(w http.ResponseWriter, r *http.Request, v *web.Viewer, x auditlog.Export) error {
	words := v.Texts("export")
	x = x.Seen(c.Now())
	d := exportData{Export: x, Path: "/console/audit/exports/" + x.ID, Open: x.Open(c.Now()),
		Note: words.Say("link_note", "minutes", int(auditlog.LinkLasts.Minutes()), "hours", int(auditlog.Kept.Hours()))}
	return c.Show(w, r, v, web.Document{Title: words.Say("title"), Here: "audit", Data: d}, "audit/export")
}

// fetchExport redirects to a short-lived link. Anyone who has the link can fetch the file, so it first asks the store
// whether the viewer is still an administrator.
func (c *Pages) fetchExport(w http.ResponseWriter, r *http.Request, v *web.Viewer, x auditlog.Export) error {
	if err := c.StillAdmin(r.Context(), v); err != nil {
		return err
	}
	if x.Status != auditlog.Done || !x.Own() {
		return fmt.Errorf("export %s is %s: %w", x.ID, x.Status, aggregate.ErrNotFound)
	}
	link, err := c.Exports.Link(r.Context(), x)
	if err != nil {
		return err
	}
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("Referrer-Policy", "no-referrer")
	http.Redirect(w, r, link, http.StatusSeeOther)
	return nil
}
