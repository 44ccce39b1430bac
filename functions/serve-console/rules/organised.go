package rules

import (
	"cmp"
	"errors"
	"log/slog"
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/organisation"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

// organised reads which organisation stands.
func (a *asked) organised() error {
	a.day = a.Today()
	is, err := a.Organisations.Standing(a.r.Context(), a.v.Tenant)
	if errors.Is(err, store.ErrUnreadable) {
		slog.ErrorContext(a.r.Context(), "the organisation can't be read", "tenant", a.v.Tenant, "err", err)
		a.unread = true
		return nil
	}
	if err != nil || is.Organisation == nil {
		return err
	}
	a.org = &decide.Organisation{Version: is.Version, People: is.Organisation, Accounts: is.Accounts}
	for _, chart := range a.charts() {
		for _, d := range chart.Departments() {
			if a.departments[d.Code] == "" {
				a.departments[d.Code] = cmp.Or(d.Name, d.Code)
			}
		}
	}
	return nil
}

// today is the day as of which people are looked up.
func (a *asked) today() string { return a.day.String() }

// next is the day on which the organisation changes next, empty if it doesn't.
func (a *asked) next() string {
	if a.org == nil {
		return ""
	}
	next, _ := a.org.People.NextChange(a.day)
	return next.String()
}

// charts are the organisation today and on its next day.
func (a *asked) charts() (all []*organisation.Chart) {
	if a.org == nil {
		return nil
	}
	all = append(all, a.org.People.Chart(a.day))
	if next, ok := a.org.People.NextChange(a.day); ok {
		all = append(all, a.org.People.Chart(next))
	}
	return all
}

// departmentBoxes are the departments that the organisation has today or on its next day, by code.
func (a *asked) departmentBoxes() (all []web.Box) {
	seen := map[string]bool{}
	for _, chart := range a.charts() {
		for _, d := range chart.Departments() {
			if seen[d.Code] {
				continue
			}
			seen[d.Code] = true
			var above []string
			for _, x := range chart.Path(d.Parent) {
				above = append(above, legible.OneLine(cmp.Or(x.Name, x.Code)))
			}
			slices.Reverse(above)
			all = append(all, coded(d.Code, a.department(d.Code), strings.Join(above, " › ")))
		}
	}
	return all
}

// between stands between a department's code and a position in the value of an input. Neither can have it.
const between = "\t"

func positionValue(department, position string) string {
	if department+position == "" {
		return ""
	}
	return department + between + position
}

// positionBoxes are the positions that somebody holds in a department today or on the organisation's next day, with
// who that is.
func (a *asked) positionBoxes() (all []web.Box) {
	at, holders := map[string]int{}, map[string][]string{}
	for _, chart := range a.charts() {
		for _, p := range chart.People() {
			for _, post := range chart.Posts(p.Number) {
				value := positionValue(post.Department, post.Position)
				if post.Position == "" {
					continue
				}
				if _, known := at[value]; !known {
					at[value] = len(all)
					all = append(all, coded(value, a.position(post.Department, post.Position), ""))
				}
				if name := legible.OneLine(p.Name); !slices.Contains(holders[value], name) {
					holders[value] = append(holders[value], name)
				}
			}
		}
	}
	for i := range all {
		own := func(s string) string { return s }
		all[i].Note = list(a.speaker, holders[all[i].Value], own, a.Say("middot"))
	}
	slices.SortStableFunc(all, func(x, y web.Box) int { return strings.Compare(x.Value, y.Value) })
	return all
}

// ofOrganisation chooses among boxes of the organisation: all of them if they are few, else those that are searched
// for. The value of a chosen one stays, also if the organisation has it no more.
func (a *asked) ofOrganisation(name, query string, chosen []string, all []web.Box,
	says func(value string) string) web.Chooser {
	c := web.Chooser{Name: name, Query: query, Few: len(all) <= web.MostFound}
	for _, value := range chosen {
		b := coded(value, says(value), "")
		if b.On = true; !slices.ContainsFunc(all, func(x web.Box) bool { return x.Value == value }) {
			b.Note = a.Say("not_organised")
		}
		c.Chosen = append(c.Chosen, b)
	}
	want := folded(query)
	if c.Searched = c.Few || want != ""; !c.Searched {
		return c
	}
	for _, b := range all {
		if slices.Contains(chosen, b.Value) || !strings.Contains(folded(b.Text+b.Value+b.Note), want) {
			continue
		}
		if c.More = len(c.Found) == web.MostFound; c.More {
			break
		}
		c.Found = append(c.Found, b)
	}
	return c
}

// folded is a text as it is compared with what somebody searches for.
func folded(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), "")) }

func (a *asked) departmentChooser(codes []string, query string) web.Chooser {
	return a.ofOrganisation("departments", query, codes, a.departmentBoxes(), a.department)
}

func (a *asked) positionChooser(name, value, query string, all []web.Box) web.Chooser {
	var chosen []string
	if value != "" {
		chosen = []string{value}
	}
	c := a.ofOrganisation(name, query, chosen, all, func(value string) string {
		department, position, _ := strings.Cut(value, between)
		return a.position(department, position)
	})
	c.One = true
	return c
}

// groupOptions are the workspace's user groups, and the one that is chosen.
func (a *asked) groupOptions(is string) (all []web.Choice) {
	if is == "" {
		all = append(all, web.Choice{Value: "", Text: a.Say("choose_group"), Chosen: true})
	}
	known := false
	if a.members != nil {
		for _, g := range a.members.Groups {
			if !g.Disabled {
				text := a.Say("group_option", "name", legible.OneLine(g.Name), "handle", legible.OneLine(g.Handle), "n", g.Count)
				all, known = append(all, web.Choice{Value: g.ID, Text: text, Chosen: g.ID == is}), known || g.ID == is
			}
		}
	}
	if is != "" && !known {
		text := a.person(is)
		if a.members != nil {
			text = a.Say("group_gone", "name", text)
		}
		all = append(all, web.Choice{Value: is, Text: text, Chosen: true})
	}
	return all
}
