package audit

import (
	"cmp"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/daily"
	"ringi/shared/explain/auditlog"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

const (
	// auditPage is how many entries a page has.
	auditPage = 50
	// auditDays is how far back the log is shown unless somebody asks for more: the page reads a month or two, not all.
	auditDays = 30
)

// Pages are the pages of the audit log.
type Pages struct {
	*web.Site
	Exports Exporter
}

// Routes are the page of the log, and the page of an export.
func (c *Pages) Routes() []web.Route {
	return []web.Route{
		web.ForAdministrators("GET /console/audit", c.showAudit),
		web.ForAdministrators("POST /console/audit/exports", c.beginExport),
		web.ForAdministrators("GET /console/audit/exports/{id}", c.showExport),
		web.ForAdministrators("GET /console/audit/exports/{id}/file", c.fetchExport),
	}
}

// auditForm is the filter as its form has it: days, both included.
type auditForm struct {
	Action, Actor, Resource, From, To string
	Problem                           string // which field won't do; the filter is as if it were empty
}

// auditFormOf reads a filter. A filter without days selects the last auditDays.
func auditFormOf(q url.Values, now time.Time) (auditForm, auditlog.Filter) {
	f := auditForm{
		Action: q.Get("action"), Actor: q.Get("actor"), Resource: q.Get("resource"), From: q.Get("from"), To: q.Get("to"),
	}
	if !q.Has("from") && !q.Has("to") {
		f.From = daily.Day(now.AddDate(0, 0, -auditDays))
	}
	filter, err := f.filter()
	if field := (aggregate.ErrField{}); errors.As(err, &field) {
		f.Problem = field.Field
	}
	return f, filter
}

// filter is what the form selects. It returns aggregate.ErrField.
func (f auditForm) filter() (auditlog.Filter, error) {
	out := auditlog.Filter{Action: aggregate.Action(f.Action), Actor: f.Actor, Resource: f.Resource}
	var err error
	if f.From != "" {
		if out.From, err = daily.Begins(f.From); err != nil {
			return auditlog.Filter{}, aggregate.ErrField{Field: "from", Limit: "must be a date"}
		}
	}
	if f.To != "" {
		last, err := daily.Begins(f.To)
		if err != nil {
			return auditlog.Filter{}, aggregate.ErrField{Field: "to", Limit: "must be a date"}
		}
		out.To = last.AddDate(0, 0, 1)
	}
	if err := out.Check(); err != nil {
		return auditlog.Filter{}, err
	}
	return out, nil
}

// with is the page's address with another value of the filter, at its first entries.
func (f auditForm) with(name, value string) string {
	q := url.Values{}
	for _, x := range [][2]string{{"action", f.Action}, {"actor", f.Actor}, {"resource", f.Resource}, {"from", f.From}, {"to", f.To}} {
		q.Set(x[0], x[1])
	}
	q.Set(name, value)
	return "/console/audit?" + q.Encode()
}

type auditData struct {
	Filter      auditForm
	Actions     []choice
	People      []choice // who may be filtered by: Ringi, the people of the workspace, and who stands on this page
	Rows        []auditRow
	Newest      string // where the log begins, on a later page
	Older       string
	ExportAbout string
}

// choice is an entry of a list to choose from.
type choice struct{ Value, Text string }

type auditRow struct {
	ID            string
	At            time.Time
	Who, ByWho    string // a name, and the page of what else they did
	WhoID         string // people choose their names themselves: also one like Ringi's
	What, Action  string
	On, Subject   string // what kind of thing, and which one where it has a name
	Task, Session string // ids, of what it belongs to
	Contest       string // address of the one that it belongs to
	ResourceID    string
	ByResource    string
	Details       []auditlog.Detail
}

func (c *Pages) showAudit(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	form, f := auditFormOf(r.URL.Query(), c.Now())
	words := v.Texts("audit")
	about := words.Say("export_about", "n", web.Count(auditlog.MaxRows))
	d := auditData{Filter: form, Actions: actionChoices(v.Locale), ExportAbout: about}
	d.People = c.actors(r, v, form.Actor, nil)
	doc := web.Document{Title: v.Texts("layout").Say("audit"), Here: "audit"}
	if form.Problem != "" {
		doc.Data, doc.Status = d, http.StatusBadRequest
		return c.Show(w, r, v, doc, "audit.html")
	}
	cursor := r.URL.Query().Get("cursor")
	filter := store.AuditFilter{From: f.From, To: f.To, Action: f.Action, Resource: f.Resource, Actor: f.Actor}
	page, err := c.Store.Audit(r.Context(), v.Tenant, filter, cursor, auditPage)
	if err != nil {
		return err
	}
	d.People = c.actors(r, v, form.Actor, c.fillAudit(r, v, &d, page.Items))
	if page.Next != "" {
		d.Older = form.with("cursor", page.Next)
	}
	if cursor != "" {
		d.Newest = form.with("cursor", "")
	}
	doc.Data = d
	return c.Show(w, r, v, doc, "audit.html")
}

// mostActors is how many people of the workspace the filter lists; any other who acted is chosen by their name in the
// log.
const mostActors = 500

// actors are whom the filter offers by name: Ringi first, then the workspace's people and those who are named already,
// by their names. While Slack lists nobody, the named ones are all.
func (c *Pages) actors(r *http.Request, v *web.Viewer, chosen string, named map[string]string) []choice {
	all := map[string]string{}
	if m, err := c.Roster.Of(slackapi.For(r.Context(), v.Tenant), c.Listing, v.Team, c.Now()); err == nil {
		for _, u := range m.People {
			if !u.Bot && len(all) < mostActors {
				all[u.ID] = card.OneLine(u.Name)
			}
		}
	} else {
		slog.WarnContext(r.Context(), "the filter offers nobody who is not on the page", "err", err)
	}
	for id, name := range named {
		all[id] = card.OneLine(name)
	}
	system := string(aggregate.ActorSystem)
	if _, there := all[chosen]; !there && chosen != "" && chosen != system {
		all[chosen] = chosen
	}
	ringi, called := auditlog.WordsIn(v.Locale).Ringi, map[string]int{}
	for _, name := range all {
		called[name]++
	}
	var out []choice
	for id, name := range all {
		if called[name] > 1 || name == ringi { // names are chosen by those who have them
			name += " (" + id + ")"
		}
		out = append(out, choice{id, cmp.Or(name, id)})
	}
	slices.SortFunc(
		out, func(a, b choice) int { return cmp.Or(cmp.Compare(a.Text, b.Text), cmp.Compare(a.Value, b.Value)) },
	)
	return slices.Insert(out, 0, choice{system, ringi})
}

// fillAudit makes entries readable, and returns the names of who acted.
func (c *Pages) fillAudit(
	r *http.Request, v *web.Viewer, d *auditData, entries []aggregate.AuditEntry,
) map[string]string {
	texts := auditlog.WordsIn(v.Locale)
	var ids []string
	for _, x := range entries {
		if x.ActorType != aggregate.ActorAgent { // Slack knows none of them
			ids = append(ids, x.ActorID)
		}
	}
	names := c.Names(slackapi.For(r.Context(), v.Tenant), v, append(ids, actorID(d.Filter.Actor))...)
	for _, x := range entries {
		row := auditRow{
			ID: x.ID, At: x.Timestamp, Who: texts.Ringi,
			ByWho: d.Filter.with("actor", cmp.Or(x.ActorID, string(x.ActorType))),
			What:  texts.Did(x), Action: string(x.Action), On: texts.Resource(x.ResourceType), Subject: texts.Subject(x),
			Task: x.AggregateID, ResourceID: x.ResourceID,
			ByResource: d.Filter.with("resource", cmp.Or(x.AggregateID, x.ResourceID)),
			Details:    texts.Details(x, func(id string) string { return names[id] }),
		}
		if conversation.ValidID(x.AggregateID) {
			row.Task, row.Session = "", x.AggregateID
		}
		if contest.ValidID(x.AggregateID) {
			row.Task, row.Contest = "", "/console/contests/"+x.AggregateID
		}
		if x.ActorID != "" {
			row.Who, row.WhoID = cmp.Or(names[x.ActorID], x.ActorID), x.ActorID
		}
		d.Rows = append(d.Rows, row)
	}
	return names
}

// actorID is the id of a filter's person, empty for Ringi itself.
func actorID(filter string) string {
	if filter == string(aggregate.ActorSystem) {
		return ""
	}
	return filter
}

// actionChoices are all actions, in the order of their words.
func actionChoices(locale string) (all []choice) {
	texts := auditlog.WordsIn(locale)
	for _, a := range texts.Actions() {
		all = append(all, choice{string(a), texts.Action(a)})
	}
	return all
}
