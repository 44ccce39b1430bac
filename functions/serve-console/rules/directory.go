package rules

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
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

// groupsKept is how long a process keeps who is in a user group.
const groupsKept = 10 * time.Minute

// looked calls do until its directory knows all that do asks of it, and returns the last call's error. It returns
// explain.ErrUnverified when Slack can't say.
func (a *asked) looked(do func(d *decide.Directory) error) error {
	s := people.NewAnswers(&a.members)
	d, ctx, left := decide.NewDirectory(a.org, s), a.r.Context(), mostAsked
	return d.Settle(func() error { return do(d) }, func() (some bool, err error) {
		n := s.Lacking()
		if n == 0 {
			return false, nil
		}
		if left -= n; left < 0 {
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
	return a.grouped.Ask(a.v.Team+" "+id, a.Now(), groupsKept, func() ([]string, error) {
		members, err := a.Slack.UsergroupMembers(ctx, id)
		if slackapi.Code(err) == slackapi.CodeNoSuchGroup {
			err = nil
		}
		return members, err
	})
}

// mostOptions bounds what a select offers of posts and departments: of more somebody looks for one.
const mostOptions = 300

// options are whom stages may ask, and who may be a condition; of too many those that somebody looks for.
func (a *asked) options(find string) (who, by []web.Choice) {
	offered := func(values []string, most int) (all []web.Choice) {
		for _, value := range values {
			c := web.Choice{Value: value, Text: a.source(value)}
			if len(values) <= most || find != "" && strings.Contains(legible.Folded(c.Text), legible.Folded(find)) {
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
	seen := map[string]bool{}
	add := func(department, position string) {
		value := "post:" + department + between + position
		if !seen[value] {
			posts, seen[value] = append(posts, value), true
		}
	}
	for _, p := range a.org.People.People() {
		for _, post := range a.org.People.Posts(p.Number) {
			if post.Position != "" {
				add("", post.Position)
				add(post.Department, post.Position)
			}
		}
	}
	for _, d := range a.org.People.Departments() {
		departments = append(departments, d.Code)
		add(d.Code, "")
	}
	slices.Sort(posts)
	return posts, departments
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
