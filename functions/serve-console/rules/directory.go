package rules

import (
	"slices"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/rules"
	"ringi/shared/words/legible"
)

// mostAsked bounds what Slack is asked one by one: people who are not listed where a workspace has more than a list,
// and who is in user groups. users.info may be called about 100 times a minute (Tier 4), usergroups.users.list 20
// times (Tier 2).
const mostAsked = 50

// looked calls do until its directory knows all that do asks of it, and returns the last call's error. It returns
// explain.ErrUnverified when Slack can't say.
func (a *asked) looked(do func(d *decide.Directory) error) error {
	in := decide.Places{Slack: a.Slack, Known: &a.known, Listed: &a.members, Team: a.v.Team, Organisation: a.org,
		Now: a.Now(), Most: mostAsked}
	return in.Resolve(a.r.Context(), do)
}

// mostOptions bounds what a select offers of posts and departments: of more somebody looks for one.
const mostOptions = 300

// options are whom stages may ask, and who may be a condition; of too many those that somebody looks for.
func (a *asked) options(find string) (who, by []web.Choice) {
	sought := legible.Folded(find)
	offered := func(values []string, most int) (all []web.Choice) {
		for _, value := range values {
			c := web.Choice{Value: value, Text: a.source(value)}
			if len(values) <= most || find != "" && strings.Contains(legible.Folded(c.Text), sought) {
				all = append(all, c)
			}
		}
		return all
	}
	var posts, departments, users []string
	if a.org != nil {
		who = offered([]string{"superior:1", "superior:2"}, mostOptions)
		posts, departments = a.posts()
	}
	for _, u := range a.members.People {
		if a.members.Rule(u) == "" {
			users = append(users, "user:"+u.ID)
		}
	}
	groups, persons := a.groupOptions(), offered(users, web.MostToChoose)
	who = slices.Concat(who, offered(posts, mostOptions), groups,
		[]web.Choice{{Value: "channel:", Text: a.Say("of_channel")}}, persons)
	return who, slices.Concat(offered(prefixed("department:", departments), mostOptions), groups, persons)
}

// posts are the posts of the organisation that may be asked, and its departments.
func (a *asked) posts() (posts, departments []string) {
	departments = a.org.AllDepartments()
	for _, d := range departments {
		posts = append(posts, "post:"+d+between)
	}
	for _, p := range a.org.All() {
		if p.Position != "" {
			posts = append(posts, "post:"+between+p.Position, "post:"+p.Department+between+p.Position)
		}
	}
	slices.Sort(posts)
	return slices.Compact(posts), departments
}

// groupOptions are the workspace's user groups.
func (a *asked) groupOptions() (all []web.Choice) {
	for _, g := range a.members.Groups {
		if !g.Disabled {
			all = append(all, web.Choice{Value: "group:" + g.ID, Text: a.source("group:" + g.ID)})
		}
	}
	return all
}

// channelOptions are direct messages and the viewer's channels.
func (a *asked) channelOptions() []web.Choice {
	var all []web.Choice
	for id := range a.channels {
		all = append(all, web.Choice{Value: id, Text: a.channel(id)})
	}
	slices.SortFunc(all, web.Choice.Compare)
	return append([]web.Choice{{Value: rules.Direct, Text: a.channel(rules.Direct)}}, all...)
}

// toolOptions are the tools that requests may call.
func (a *asked) toolOptions() (all []web.Choice) {
	for _, t := range a.tools {
		if t.Allowed {
			note := a.Say("tool_reads")
			if t.Writes() {
				note = a.Say("tool_writes")
			}
			all = append(all, web.Choice{Value: t.Tool.String(), Text: legible.OneLine(t.Title) + " " + note})
		}
	}
	return all
}
