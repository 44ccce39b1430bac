// Package audit has the pages on what was done in a workspace: the audit log as a page and a file, the register of
// decisions and requests that have a number.
package audit

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/auditlog"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
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
	// Settings says changes of settings as their history does.
	Settings func(locale string, m *people.Members, details aggregate.JSON) map[string]auditlog.Changed
}

// Routes returns the log and its file; the register of the decisions that have a number, and its file.
func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET /console/audit", c.showAudit),
		web.ForAdministrators("GET /console/audit/file.csv", c.export),
		web.ForAdministrators("GET /console/register", c.list),
		web.ForAdministrators("GET /console/register/file.csv", c.file),
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
	Form     auditForm
	Ignored  string // which filters of the address are left out
	Filter   web.Filter
	Rows     []subject.Entry
	Newest   string // address of the first page, on a later page
	Older    string
	Narrowed bool
	Export   string // address of the file
}

func (c *Pages) showAudit(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	q, words := r.URL.Query(), v.Texts("audit")
	form, f, bad := auditFormOf(q, c.Now())
	bad.Stranger(r, c.Site, v, "who", &form.Actor)
	d := auditData{Form: form, Ignored: bad.Said(words),
		Export: strings.Replace(form.with("cursor", ""), auditPath, auditPath+"/file.csv", 1)}
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

// export sends the entries that the filter selects as a file for spreadsheets, the newest first.
func (c *Pages) export(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	form, f, bad := auditFormOf(r.URL.Query(), c.Now())
	if len(bad) > 0 {
		return aggregate.Problem{Field: fmt.Sprint(slices.Sorted(maps.Keys(bad))), Code: "selects nothing"}
	}
	var file bytes.Buffer
	table, err := auditlog.NewTable(v.Locale, &file)
	if err != nil {
		return err
	}
	filter := store.AuditFilter{From: f.From, To: f.To, Action: f.Action, Resource: f.Resource, Actor: form.Actor}
	rows := 0
	for cursor := ""; ; {
		page, err := c.Store.Audit(r.Context(), v.Tenant, filter, cursor, store.MaxPage)
		if err != nil {
			return err
		}
		if rows += len(page.Items); rows > auditlog.MaxRows {
			return web.ErrTooLong
		}
		for _, x := range page.Items {
			if err := table.Write(x); err != nil {
				return err
			}
		}
		if cursor = page.Next; cursor == "" {
			break
		}
	}
	if err := table.Flush(); err != nil {
		return err
	}
	return web.AttachZipped(w, r, web.KindCSV, "ringi-audit-"+tenancy.DayOf(c.Now())+".csv", file.Bytes())
}
