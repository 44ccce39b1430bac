package rules

import (
	"cmp"
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/organisation"
	"ringi/shared/store"
)

// found is somebody with where they work.
type found struct{ Number, Text, Posts string }

type personData struct {
	Name  string
	Facts []fact
	Posts web.Table
	Above []aboveData
}

// aboveData is who stands above.
type aboveData struct{ Number, Name, Post, How, Accounts string }

// people fills in who works here, or whom somebody looks for; of one person, where they stand.
func (c *OrganisationPages) people(r *http.Request, v *web.Viewer, t texts, is store.StandingOrganisation,
	d *pageData) {
	asked, o, all := r.URL.Query(), is.Organisation, is.Organisation.People()
	query := strings.TrimSpace(asked.Get("q"))
	number, bad := asked.Get("number"), web.BadFilter{}
	_, here := o.Person(number)
	bad.Refuse("who", &number, number != "" && !here)
	d.Ignored = bad.Said(t.Texts)
	if query != "" {
		if all = o.Search(query); len(all) == 1 {
			number = all[0].Number
		}
	}
	const path = "/console/organisation"
	d.Filter = web.Filter{Path: path, Search: true, Bare: true, Submit: t.Say("search"),
		Links:  web.Cleared(path, t.Say("everybody"), query+number != ""),
		Fields: []web.Field{{Name: "q", Label: t.Say("who"), Value: query, Example: t.Say("person_hint")}}}
	if p, here := o.Person(number); here {
		d.Person = c.person(r, v, t, is, p)
		return
	}
	d.More = max(0, len(all)-web.MostFound)
	for _, p := range all[:len(all)-d.More] {
		d.People = append(d.People, found{p.Number, t.person(p), t.posts(o, p.Number)})
	}
}

// person says where somebody stands.
func (c *OrganisationPages) person(r *http.Request, v *web.Viewer, t texts, is store.StandingOrganisation,
	p organisation.Person) *personData {
	o := is.Organisation
	out := &personData{Name: t.person(p)}
	above, _ := o.Above(p.Number)
	var ids []string
	for _, s := range append(slices.Clone(above), organisation.Superior{Number: p.Number}) {
		for _, a := range is.Accounts.ByNumber(s.Number) {
			ids = append(ids, a.ID)
		}
	}
	called := t.accountOf(c.Names(r.Context(), v, ids...))
	names := func(number string) string { return t.matched(is.Accounts.ByNumber(number), called) }
	out.Facts = []fact{{t.Say("employment"), t.kind(p.Kind)}, {t.Say("mail"), strings.Join(p.Mails, t.Say("and"))},
		{t.Say("accounts_of"), names(p.Number)}}
	out.Posts.Columns = t.Columns("post", "position", "path")
	for _, post := range o.Posts(p.Number) {
		out.Posts.Rows = append(out.Posts.Rows, []string{organisation.PostWord(post.Main, v.Locale),
			cmp.Or(post.Position, t.Say("no_position")), web.Joined(o.Path(post.Department), t.department, " ← ")})
	}
	for _, s := range above {
		who, _ := o.Person(s.Number)
		how := t.In("how", s.How, "department", o.NameOf(s.Department))
		if who.Kind != organisation.Employee {
			how += " " + t.Say("passed_over", "kind", t.kind(who.Kind))
		}
		out.Above = append(out.Above, aboveData{s.Number, t.person(who), t.posts(o, s.Number), how, names(s.Number)})
	}
	return out
}
