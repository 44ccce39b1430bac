package rules

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/organisation"
	"ringi/shared/explain"
	"ringi/shared/store"
)

// found is somebody with where they work.
type found struct{ Number, Text, Posts string }

type personData struct {
	Name, Standing string
	Here           bool
	Facts          []fact
	Posts          explain.Table
	Above          []aboveData
}

// aboveData is who stands above.
type aboveData struct{ Number, Name, Post, How, Accounts string }

// people fills in who works here on a day, or whom somebody looks for; of one person, where they stand.
func (c *OrganisationPages) people(r *http.Request, v *web.Viewer, t texts, is store.StandingOrganisation,
	d *pageData) {
	asked, o, on := r.URL.Query(), is.Organisation, c.Today()
	query, day := strings.TrimSpace(asked.Get("q")), strings.TrimSpace(asked.Get("on"))
	number, bad := asked.Get("number"), web.BadFilter{}
	given, err := organisation.ParseDate(day)
	if bad.Refuse("day_label", &day, err != nil); day != "" {
		on = given
	}
	bad.Refuse("who", &number, o.Presence(number, on) == organisation.Stranger)
	d.On, d.Ignored = on.String(), bad.Said(t.Texts)
	chart := o.Chart(on)
	all := chart.People()
	if query != "" {
		if all = o.Search(query); len(all) == 1 {
			number = all[0].Number
		}
	}
	const path = "/console/organisation"
	d.Filter = web.Filter{Path: path, Search: true, Bare: true, Submit: t.Say("search"),
		Links: web.Cleared(path, t.Say("everybody"), query+number != ""),
		Fields: []web.Field{{Name: "q", Label: t.Say("who"), Value: query, Example: t.Say("person_hint")},
			web.Day("on", t.Say("day_label"), cmp.Or(day, d.On))}}
	if o.Presence(number, on) != organisation.Stranger {
		d.Person = c.person(r, v, t, is, number, on)
		return
	}
	all = slices.SortedStableFunc(slices.Values(all), organisation.ByNumber)
	d.More = max(0, len(all)-web.MostFound)
	for _, p := range all[:len(all)-d.More] {
		d.People = append(d.People, found{p.Number, t.person(p), t.posts(chart, p.Number)})
	}
}

// person says where somebody stands on a day.
func (c *OrganisationPages) person(r *http.Request, v *web.Viewer, t texts, is store.StandingOrganisation,
	number string, on organisation.Date) *personData {
	chart := is.Organisation.Chart(on)
	p, here := chart.Person(number)
	out := &personData{Name: t.numbered(is.Organisation, on, number), Here: here,
		Standing: t.In("presence", is.Organisation.Presence(number, on))}
	above := chart.ManagersAbove(number, organisation.Employee, organisation.Contractor, organisation.Temporary)
	var ids []string
	for _, s := range append(slices.Clone(above), organisation.Superior{Number: number}) {
		for _, a := range is.Accounts.ByNumber(s.Number) {
			ids = append(ids, a.ID)
		}
	}
	called := t.accountOf(c.Names(r.Context(), v, ids...))
	names := func(number string) string { return t.matched(is.Accounts.ByNumber(number), called) }
	out.Facts = []fact{{t.Say("accounts_of"), names(number)}}
	if !here {
		return out
	}
	out.Facts = append([]fact{{t.Say("employment"), t.kind(p.Kind)},
		{t.Say("mail"), strings.Join(p.Mails, t.Say("and"))}}, out.Facts...)
	out.Posts.Columns = t.Columns("post", "position", "path")
	for _, post := range chart.Posts(number) {
		out.Posts.Rows = append(out.Posts.Rows, []string{organisation.PostWord(post.Main, v.Locale),
			cmp.Or(post.Position, t.Say("no_position")), web.Joined(chart.Path(post.Department), t.department, " ← ")})
	}
	for _, s := range above {
		who, _ := chart.Person(s.Number)
		how := t.In("how", s.How, "department", t.departmentOf(chart, s.Department))
		if who.Kind != organisation.Employee {
			how += " " + t.Say("passed_over", "kind", t.kind(who.Kind))
		}
		out.Above = append(out.Above,
			aboveData{s.Number, t.person(who), t.posts(chart, s.Number), how, names(s.Number)})
	}
	return out
}
