package rules

import (
	"context"
	"fmt"
	"slices"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/rules"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// workspace is what Slack has said about accounts and user groups. It notes what it must still be asked, and answers
// for the time being that a user group has nobody, and that an account is a full member's.
type workspace struct {
	members *people.Members // nil: Slack doesn't list them
	full    map[string]bool
	groups  map[string][]string
	lacks   struct{ users, groups []string }
}

func note(list *[]string, id string) {
	if !slices.Contains(*list, id) {
		*list = append(*list, id)
	}
}

// Full reports whether an account is a full member's. Who isn't in a whole list is none.
func (s *workspace) Full(user string) bool {
	full, known := s.full[user]
	if known {
		return full
	}
	if s.members != nil {
		u, listed := s.members.Person(user)
		if listed || !s.members.More {
			s.full[user] = listed && s.members.Rule(u) == ""
			return s.full[user]
		}
	}
	note(&s.lacks.users, user)
	return true
}

// Members returns who is in a user group; one that is gone or disabled has nobody.
func (s *workspace) Members(id string) []string {
	if s.members != nil {
		if g, listed := s.members.Group(id); !listed || g.Disabled {
			return nil
		}
	}
	members, known := s.groups[id]
	if !known {
		note(&s.lacks.groups, id)
	}
	return members
}

func (s *workspace) Handle(id string) string {
	if s.members != nil {
		if g, listed := s.members.Group(id); listed && g.Handle != "" {
			return "@" + g.Handle
		}
	}
	return id
}

// InChannel knows nobody: the page doesn't ask who is in channels.
func (s *workspace) InChannel(string) (members []string, all bool) { return nil, false }

// mostAsked bounds what Slack is asked one by one: people who are not listed where a workspace has more than a list,
// and who is in user groups. users.info may be called about 100 times a minute (Tier 4), usergroups.users.list 20
// times (Tier 2), of which each answer is kept.
const mostAsked = 50

// grouped is how long a process keeps who is in a user group.
const grouped = 10 * time.Minute

// looked calls do until its directory knows all that do asks of it, and returns the last call's error. It returns
// errorclass.ErrUnverified when Slack can't say, or the organisation can't be read.
func (a *asked) looked(do func(d *decide.Directory) error) error {
	s := &workspace{members: a.members, full: map[string]bool{}, groups: map[string][]string{}}
	if a.unread {
		return fmt.Errorf("%w: the organisation can't be read", explain.ErrUnverified)
	}
	for left := mostAsked; ; {
		s.lacks.users, s.lacks.groups = nil, nil
		err := do(decide.Of(a.org, s))
		n := len(s.lacks.users) + len(s.lacks.groups)
		if n == 0 {
			return err
		}
		if left -= n; left < 0 || a.members == nil {
			return fmt.Errorf("%w: rules need %d answers of Slack's", explain.ErrUnverified, n)
		}
		if err := a.askSlack(a.r.Context(), s); err != nil {
			return fmt.Errorf("%w: %w", explain.ErrUnverified, err)
		}
	}
}

// askSlack asks what is lacking: who is in user groups first, because the other questions may be about them.
func (a *asked) askSlack(ctx context.Context, s *workspace) error {
	for _, id := range s.lacks.groups {
		members, err := a.grouped.Ask(a.v.Team+" "+id, a.Now(), grouped, func() ([]string, error) {
			members, err := a.Slack.UsergroupMembers(ctx, id)
			if slackapi.Code(err) == slackapi.CodeNoSuchGroup {
				err = nil
			}
			return members, err
		})
		if err != nil {
			return fmt.Errorf("ask who is in user group %s: %w", id, err)
		}
		s.groups[id] = members
	}
	if len(s.lacks.groups) > 0 {
		return nil
	}
	refused, err := s.members.Refused(ctx, a.Listing, s.lacks.users, nil)
	for _, id := range s.lacks.users {
		s.full[id] = refused[id] == ""
	}
	return err
}

// readersOf returns the accounts that are told after decisions.
func readersOf(x *rules.Rules) (ids []string) {
	outcomes := []rules.Outcome{x.Last.Reads, x.Last.Writes}
	for i := range x.Rules {
		outcomes = append(outcomes, x.Rules[i].Outcome)
	}
	for _, o := range outcomes {
		if o.Route != nil && o.Route.Readers != nil {
			ids = append(ids, o.Route.Readers.People...)
		}
	}
	return ids
}
