package console

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/functions/serve-console/settings"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/language"
)

const (
	auditPath = "/console/audit"
	// auditPage is the number of entries on a page.
	auditPage = 50
	// auditDays is how many days of the log a page reads unless the viewer asks for more.
	auditDays = 30
)

// auditForm is the filter as the form holds it; both days are included.
type auditForm struct{ Action, Resource, From, To string }

// auditFormOf reads the filter. Without days it selects the last auditDays.
func auditFormOf(q url.Values, now time.Time) (f auditForm, out store.AuditFilter, err error) {
	f = auditForm{Action: q.Get("action"), Resource: q.Get("resource"), From: q.Get("from"), To: q.Get("to")}
	if f.From+f.To == "" && !q.Has("from") && !q.Has("to") {
		f.From = tenancy.DayOf(now.AddDate(0, 0, -auditDays))
	}
	out = store.AuditFilter{Action: aggregate.Action(f.Action), Resource: f.Resource}
	out.From, out.To, err = web.Days(f.From, f.To)
	known := explain.LogWordsIn(language.All[0]).Actions()
	return f, out, cmp.Or(err, web.Known("action", f.Action, slices.Contains(known, out.Action)),
		web.Known("resource", f.Resource, explain.MayBeResource(f.Resource)))
}

func (f auditForm) filter(words web.Texts) web.Filter {
	log, actions := explain.LogWordsIn(words.Locale()), []web.Choice(nil)
	for _, a := range log.Actions() {
		actions = append(actions, web.Choice{Value: string(a), Text: log.Action(a), Chosen: string(a) == f.Action})
	}
	out := web.Filter{Path: auditPath, Submit: words.Say("filter"), Clear: words.Say("clear"), Fields: []web.Field{
		web.Select("action", words.Say("action"), words.Say("any_action"), actions),
		web.Day("from", words.Say("from"), f.From), web.Day("to", words.Say("to"), f.To)}}
	if f.Resource != "" {
		out.Hidden = []web.Field{{Name: "resource", Value: f.Resource}}
	}
	return out
}

// at returns the address of the page at a cursor.
func (f auditForm) at(cursor string) string {
	return auditPath + "?" + url.Values{"action": {f.Action}, "resource": {f.Resource}, "from": {f.From}, "to": {f.To},
		"cursor": {cursor}}.Encode()
}

type auditData struct {
	web.List
	Groups []group
	Month  string // whose file is offered
	Year   int    // the fiscal year whose register is
}

// group is what was done one after another about one request, conversation, call or contest, or about the workspace.
type group struct {
	Path, On, Whose string
	Rows            []web.Entry
}

// headed has an only entry say what a heading says of several.
func (g group) headed(words web.Texts) {
	switch row := &g.Rows[0]; {
	case len(g.Rows) > 1:
	case g.Path == "":
		row.On = cmp.Or(row.On, words.Say("workspace"))
	default:
		if row.Path, row.On = g.Path, g.On; !row.Asked { // else By says whose it is
			row.Whose = g.Whose
		}
	}
}

func (c *Console) showAudit(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	q := r.URL.Query()
	form, filter, err := auditFormOf(q, c.Now())
	if err != nil {
		return err
	}
	page, err := c.Store.Audit(r.Context(), v.Tenant, filter, q.Get("cursor"), auditPage)
	if err != nil {
		return err
	}
	d := auditData{Month: tenancy.DayOf(c.Now())[:len(monthForm)], Year: tenancy.DefaultSettings().FiscalYear(c.Now())}
	d.Paged(q.Get("cursor"), page.Next, form.at)
	d.Narrowed, d.Filter = form.Action+form.Resource+form.To != "" || q.Has("from"), form.filter(v.Texts("audit"))
	if err := c.fill(r.Context(), v, &d, page.Items); err != nil {
		return err
	}
	return c.Show(w, r, v, web.Document{Here: "audit", Data: &d}, "audit")
}

// fill turns entries into groups. The page stays in the order of time.
func (c *Console) fill(ctx context.Context, v *web.Viewer, d *auditData, entries []aggregate.AuditEntry) error {
	var ids, of []string
	for _, x := range entries {
		if x.AggregateID != "" { // it is about a row
			of = append(of, x.AggregateID)
		}
		if id := x.FoundBy(); x.ActorType != aggregate.ActorAgent && id != string(x.ActorType) { // Slack doesn't know agents
			ids = append(ids, id)
		}
	}
	at := func(id string) store.Place {
		ref := store.RefOf(v.Tenant, id)
		if contest.ValidID(id) {
			ref = contest.Ref(v.Tenant, id)
		}
		return store.Place{Ref: ref, Key: strings.ToUpper(ref.Kind)}
	}
	asker := func(x titled) string { return strings.TrimPrefix(x.By, task.By(v.Tenant, "")) }
	rows, err := store.RowsAt[titled](ctx, c.Store.KindStore.Store, web.Each(of, at))
	if err != nil {
		return err
	}
	for p, x := range rows {
		if ids = append(ids, task.Mentioned(x.Title)...); p.Key == task.TaskKey {
			ids = append(ids, asker(x))
		}
	}
	by := web.Reader{ChannelOf: c.ChannelsOf(ctx, v, aggregate.Origin{}, "")}
	words, log := v.Texts("audit"), explain.LogWordsIn(v.Locale)
	names, err := c.keysNamed(ctx, v.Tenant, entries, log.Resource("key"))
	if err != nil {
		return err
	}
	maps.Copy(names, c.Names(ctx, v, ids...))
	called := func(id string) string { return language.ForeignLine(cmp.Or(names[id], by.ChannelOf(id))) }
	members := sync.OnceValue(func() *people.Members {
		m, _ := c.Roster.Of(ctx, c.Listing, v.Team, c.Now()) // without names, the ids are shown
		return &m
	})
	log.Told = func(details aggregate.JSON) map[string]explain.LogChange {
		return settings.Told(v.Locale, members(), details)
	}
	for i, row := range web.EntriesOf(entries, log, called, called) {
		x := entries[i]
		if id := x.FoundBy(); id != string(x.ActorType) {
			row.By, row.ByID, row.Asked = called(id), language.OneLine(id), id != x.ActorID
		}
		if i == 0 || x.AggregateID != entries[i-1].AggregateID {
			d.Groups = append(d.Groups, group{})
		}
		g := &d.Groups[len(d.Groups)-1]
		p := at(x.AggregateID)
		is := rows[p]
		if x.AggregateID != "" {
			g.Path = "/console/" + p.Ref.Kind + "s/" + x.AggregateID
			g.On = cmp.Or(language.ForeignLine(by.Named(is.Title, called)), log.Resource(p.Ref.Kind))
			if is.Tool != "" {
				g.On += ": " + language.ForeignLine(is.Tool)
			}
		}
		if who := asker(is); who != "" && p.Key == task.TaskKey {
			g.Whose = words.Say("whose", "who", called(who))
		}
		g.Rows = append(g.Rows, row)
	}
	for _, g := range d.Groups {
		g.headed(words)
	}
	return nil
}

// titled says what a request, a conversation or a contest is called, or which tool a call calls. It has no more: of
// the rows' other fields some have one name and several types.
type titled struct {
	Title string `json:"title"`
	Tool  string `json:"tool"`
	By    string `json:"GSI3PK"` // who asked for a request: see task.By
}

// keysNamed returns the names of the tenant's keys by their ids, if one of them is an entry's actor.
func (c *Console) keysNamed(ctx context.Context, tenant string, entries []aggregate.AuditEntry, key string) (
	map[string]string, error) {
	names := map[string]string{}
	if !slices.ContainsFunc(entries, func(x aggregate.AuditEntry) bool {
		return x.ActorType == aggregate.ActorAgent && call.ValidID(x.AggregateID)
	}) {
		return names, nil
	}
	keys, err := c.Store.Keys(ctx, tenant)
	for _, k := range keys {
		names[k.ID] = key + ": " + language.ForeignLine(k.Name)
	}
	return names, err
}

// monthForm is how an address names a month.
const monthForm = "2006-01"

// export sends the entries of a month as a file for spreadsheets, the newest first.
func (c *Console) export(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	month := cmp.Or(r.URL.Query().Get("month"), tenancy.DayOf(c.Now())[:len(monthForm)])
	from, err := time.ParseInLocation(monthForm, month, tenancy.Zone())
	if err != nil {
		return aggregate.Problem{Field: "month", Code: "must be a month"}
	}
	words := explain.LogWordsIn(v.Locale)
	all, err := c.logged(r.Context(), v, store.AuditFilter{From: from, To: from.AddDate(0, 1, 0)}, mostExported)
	switch {
	case err != nil:
		return err
	case len(all) >= mostExported:
		return web.ErrTooLong
	}
	rows := append([][]string{words.Columns[:]}, web.Each(all, words.Row)...)
	return web.AttachCSV(w, r, "ringi-audit-"+month+".csv", rows)
}

// logged returns the entries of the log that a filter selects, those of further pages unless there are most by then.
func (c *Console) logged(ctx context.Context, v *web.Viewer, of store.AuditFilter, most int) (
	all []aggregate.AuditEntry, err error) {
	for cursor, more := "", true; more; more = cursor != "" && len(all) < most {
		page, err := c.Store.Audit(ctx, v.Tenant, of, cursor, store.MaxPage)
		if err != nil {
			return nil, err
		}
		all, cursor = append(all, page.Items...), page.Next
	}
	return all, nil
}

// mostExported is the most entries of one file: an answer of Lambda's has at most 6 MB, and half a minute.
const mostExported = 20_000

// mostFigured bounds how many entries of an action the figures count.
const mostFigured = 5000

// decisions are the actions by which people decide so.
func decisions(verbs ...aggregate.Action) (all []aggregate.Action) {
	for _, kind := range []aggregate.Action{"prompt.", "process.", "step.", "action."} {
		all = append(all, web.Each(verbs, func(verb aggregate.Action) aggregate.Action { return kind + verb })...)
	}
	return all
}

// figures shows what the log of the last auditDays comes to, and what models cost this month.
func (c *Console) figures(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words, waited := v.Texts("audit"), []time.Duration(nil)
	var no []aggregate.Action
	for _, kind := range circulation.Kinds {
		if kind.Ends {
			no = append(no, aggregate.Action(kind.Entry))
		}
	}
	all, from := []web.Number(nil), c.Now().AddDate(0, 0, -auditDays)
	for _, x := range []struct {
		name string
		of   []aggregate.Action
	}{
		{"asked", []aggregate.Action{task.AuditTaskCreated}},
		{"approved", decisions("approved")},
		{"rejected", decisions(no...)},
		{"executed", []aggregate.Action{task.AuditExecutionCompleted}},
		{"failed", []aggregate.Action{task.AuditExecutionFailed}},
	} {
		n := 0
		for _, action := range x.of {
			entries, err := c.logged(r.Context(), v, store.AuditFilter{Action: action, From: from}, mostFigured)
			if err != nil {
				return err
			}
			for _, e := range entries {
				if e.ActorType == aggregate.ActorSystem && len(x.of) > 1 { // nobody decided
					continue
				}
				var about struct {
					AskedAt time.Time `json:"asked_at"`
				}
				if n++; json.Unmarshal([]byte(e.Details), &about) == nil && !about.AskedAt.IsZero() {
					waited = append(waited, e.Timestamp.Sub(about.AskedAt))
				}
			}
		}
		all = append(all, web.Number{Name: words.In("figures", x.name), Text: web.Count(int64(n))})
	}
	sums, err := c.Store.Spent(r.Context(), v.Tenant, c.Now())
	if err != nil {
		return err
	}
	if slices.Sort(waited); len(waited) > 0 {
		median := explain.Length(v.Locale, waited[len(waited)/2])
		all = append(all, web.Number{Name: words.In("figures", "waited"), Text: median})
	}
	all = append(all, web.Number{Name: words.In("figures", "cost"), Text: "$" + sums.Month.String()})
	title := v.Texts("layout").In("menu_pages", "figures") + ": " + tenancy.DayOf(from) + " – " + tenancy.DayOf(c.Now())
	return c.Show(w, r, v, web.Document{Title: title, Here: "figures", Data: all}, "audit/figures")
}
