package rules

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/legible"
)

// mostAsked bounds what Slack is asked one by one: people who are not listed where a workspace has more than a list,
// and who is in user groups. users.info may be called about 100 times a minute (Tier 4), usergroups.users.list 20
// times (Tier 2), of which each answer is kept.
const mostAsked = 50

// grouped is how long a process keeps who is in a user group.
const grouped = 10 * time.Minute

// looked calls do until its directory knows all that do asks of it, and returns the last call's error. It returns
// explain.ErrUnverified when Slack can't say, or the organisation can't be read.
func (a *asked) looked(do func(d *decide.Directory) error) error {
	s := people.NewAnswers(a.members)
	if a.unread {
		return fmt.Errorf("%w: the organisation can't be read", explain.ErrUnverified)
	}
	d, ctx, left := decide.NewDirectory(a.org, s), a.r.Context(), mostAsked
	return d.Settle(func() error { return do(d) }, func() (some bool, err error) {
		n := s.Lacking()
		if n == 0 {
			return false, nil
		}
		if left -= n; left < 0 || a.members == nil {
			return true, fmt.Errorf("%w: rules need %d answers of Slack's", explain.ErrUnverified, n)
		}
		if err := s.Ask(ctx, a.Listing, a.membersOf); err != nil {
			return true, fmt.Errorf("%w: %w", explain.ErrUnverified, err)
		}
		return true, nil
	})
}

// membersOf asks who is in a user group, or has an answer of the last minutes. One that is gone has nobody.
func (a *asked) membersOf(ctx context.Context, id string) ([]string, error) {
	return a.grouped.Ask(a.v.Team+" "+id, a.Now(), grouped, func() ([]string, error) {
		members, err := a.Slack.UsergroupMembers(ctx, id)
		if slackapi.Code(err) == slackapi.CodeNoSuchGroup {
			err = nil
		}
		return members, err
	})
}

func (a *asked) organised() error {
	is, unread, err := standing(a.r.Context(), a.Organisations, a.v.Tenant)
	a.unread, a.org = unread, decide.Standing(is)
	if err != nil || a.org == nil {
		return err
	}
	for _, d := range a.org.People.Departments() {
		a.departments[d.Code] = cmp.Or(d.Name, d.Code)
	}
	web.Distinct(a.departments)
	return nil
}

// departmentBoxes are the departments of the organisation, by code.
func (a *asked) departmentBoxes() (all []web.Box) {
	if a.org == nil {
		return nil
	}
	for _, d := range a.org.People.Departments() {
		above := web.Each(a.org.People.Path(d.Parent), func(x organisation.Department) string {
			return legible.OneLine(cmp.Or(x.Name, x.Code))
		})
		slices.Reverse(above)
		all = append(all, web.Box{Value: d.Code, Text: a.department(d.Code), Note: strings.Join(above, " › ")})
	}
	return all
}

// between stands between a department's code and a position in the value of an input. Neither can have it.
const between = "\t"

func positionValue(department, position string) string { return department + between + position }

// postOf reads what positionValue made.
func postOf(value string) rules.Who {
	department, position, _ := strings.Cut(value, between)
	return rules.Who{Kind: rules.WhoPosition, Department: department, Position: position}
}

// positionBoxes are the positions that somebody holds in a department, with who that is, and each position above
// whoever asks.
func (a *asked) positionBoxes() (all []web.Box) {
	if a.org == nil {
		return nil
	}
	at, holders, positions := map[string]int{}, map[string][]string{}, map[string]string{}
	for _, p := range a.org.People.People() {
		for _, post := range a.org.People.Posts(p.Number) {
			if post.Position == "" {
				continue
			}
			value := positionValue(post.Department, post.Position)
			if _, known := at[value]; !known {
				at[value], positions[value] = len(all), post.Position
				all = append(all, web.Box{Value: value, Text: a.position(post.Department, post.Position)})
			}
			holders[value] = append(holders[value], legible.OneLine(p.Name))
		}
	}
	for _, name := range slices.Compact(slices.Sorted(maps.Values(positions))) {
		all = append(all, web.Box{Value: positionValue("", name), Text: a.position("", name)})
	}
	for i := range all {
		all[i].Note = list(a.speaker, holders[all[i].Value], legible.OneLine, a.Say("middot"))
	}
	slices.SortStableFunc(all, func(x, y web.Box) int { return strings.Compare(x.Value, y.Value) })
	return all
}

// ofOrganisation chooses among boxes of the organisation.
func (a *asked) ofOrganisation(name, query string, chosen []string, all []web.Box,
	says func(value string) string) web.Chooser {
	c := web.Chooser{Name: name, Query: query, Few: len(all) <= web.MostFound}
	note := ""
	if a.org != nil {
		note = a.Say("not_organised")
	}
	return choose(c, chosen, all, func(value string) web.Box {
		return web.Box{Value: value, Text: says(value), Note: note}
	})
}

func (a *asked) positionChooser(name string, values []string, query string, all []web.Box) web.Chooser {
	return a.ofOrganisation(name, query, values, all, func(value string) string {
		post := postOf(value)
		return a.position(post.Department, post.Position)
	})
}

// groupChooser chooses among the workspace's user groups.
func (a *asked) groupChooser(name string, ids []string, sent url.Values) web.Chooser {
	var all []web.Box
	if a.members != nil {
		for _, g := range a.members.Groups {
			if !g.Disabled {
				note := a.Say("group_note", "handle", legible.OneLine(g.Handle), "n", g.Count)
				all = append(all, web.Box{Value: g.ID, Text: a.person(g.ID), Note: note})
			}
		}
	}
	c := web.Chooser{Name: name, Query: sent.Get("find." + name), Few: len(all) <= web.MostFound}
	return choose(c, ids, all, func(id string) web.Box {
		return web.Box{Value: id, Text: a.person(id), Note: a.Say("unlisted")}
	})
}
