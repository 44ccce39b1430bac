package rules

import (
	"net/http"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/organisation"
	"ringi/shared/store"
)

// peopleData is who was looked for, on which day, and what holds for one of them.
type peopleData struct {
	Filter    web.Filter
	Query, On string
	BadDay    bool
	Found     []found
	More      bool
	Person    *personData
}

type found struct{ Number, Text string }

type personData struct {
	Name, Standing string
	Here           bool
	Facts          []fact
	Posts          []postData
	Above          []aboveData
}

// postData is a post with the departments above it, the topmost last.
type postData struct{ Kind, Position, Path string }

// aboveData is who stands above.
type aboveData struct{ Number, Name, Post, How, Accounts string }

// people shows where somebody stands on a day: departments, positions, who stands above them.
func (c *OrganisationPages) people(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	is, err := c.Organisations.Current(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	if is.Organisation == nil {
		return web.ErrNoPage
	}
	t, asked := texts{v.Texts("organisation")}, r.URL.Query()
	data := peopleData{Query: strings.TrimSpace(asked.Get("q")), On: strings.TrimSpace(asked.Get("on"))}
	on := c.Today()
	if data.On != "" {
		if on, err = organisation.ParseDate(data.On); err != nil {
			on, data.BadDay = c.Today(), true
		}
	}
	if !data.BadDay {
		data.On = on.String()
	}
	data.Filter = t.resolve(data.Query, data.On)
	number := asked.Get("number")
	if number == "" && data.Query != "" {
		all := search(is.Organisation, data.Query)
		data.More = len(all) > web.MostFound
		for _, p := range all[:min(len(all), web.MostFound)] {
			data.Found = append(data.Found, found{p.Number, t.person(p)})
		}
		if len(all) == 1 {
			number = all[0].Number
		}
	}
	if is.Organisation.Presence(number, on) != organisation.Stranger {
		data.Person, data.Found, data.More = c.person(r, v, t, is, number, on), nil, false
	}
	d := web.Document{Title: t.Say("people_title"), Here: "organisation", Data: data}
	if data.BadDay {
		d.Status = http.StatusUnprocessableEntity
	}
	return c.Show(w, r, v, d, "organisation/people")
}

func (t texts) resolve(query, day string) web.Filter {
	return web.Filter{Path: "/console/organisation/people", Search: true, Bare: true, Submit: t.Say("look_up"),
		Fields: []web.Field{
			{Name: "q", Label: t.Say("who"), Value: query, Example: t.Say("person_hint")},
			web.Day("on", t.Say("day_label"), day),
		}}
}

// search finds people of any day by number, a part of their name, or an address. Blanks in names don't matter.
func search(o *organisation.Organisation, text string) (all []organisation.Person) {
	want := folded(text)
	for _, p := range o.Everybody() {
		if strings.EqualFold(p.Number, want) || strings.Contains(folded(p.Name), want) ||
			slices.Contains(p.Mails, want) {
			all = append(all, p)
		}
	}
	return all
}

// person says where somebody stands on a day.
func (c *OrganisationPages) person(r *http.Request, v *web.Viewer, t texts, is store.StandingOrganisation,
	number string,
	on organisation.Date) *personData {
	chart := is.Organisation.Chart(on)
	p, here := chart.Person(number)
	out := &personData{Name: t.numbered(is.Organisation, on, number), Here: here,
		Standing: t.In("presence", is.Organisation.Presence(number, on))}
	above := chart.ManagersAbove(number, organisation.Employee, organisation.Contractor, organisation.Temporary)
	names := c.accountNames(r, v, is.Accounts, append([]string{number}, numbers(above)...))
	out.Facts = []fact{{t.Say("accounts_of"), names(number)}}
	if !here {
		return out
	}
	out.Facts = append([]fact{{t.Say("employment"), t.kind(p.Kind)},
		{t.Say("mail"), strings.Join(p.Mails, t.Say("and"))}}, out.Facts...)
	for _, post := range chart.Posts(number) {
		var path []string
		for _, d := range chart.Path(post.Department) {
			path = append(path, t.department(d))
		}
		out.Posts = append(out.Posts,
			postData{organisation.PostWord(post.Main, v.Locale), post.Position, strings.Join(path, " ← ")})
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

func numbers(all []organisation.Superior) (out []string) {
	for _, s := range all {
		out = append(out, s.Number)
	}
	return out
}

// accountNames returns what says which accounts people have.
func (c *OrganisationPages) accountNames(r *http.Request, v *web.Viewer, accounts *organisation.Accounts,
	people []string) func(number string) string {
	var ids []string
	for _, number := range people {
		for _, a := range accounts.ByNumber(number) {
			ids = append(ids, a.ID)
		}
	}
	t, names := texts{v.Texts("organisation")}, c.Names(r.Context(), v, ids...)
	return func(number string) string { return t.matched(accounts.ByNumber(number), t.accountOf(names)) }
}
