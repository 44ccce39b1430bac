package rules

import (
	"context"
	"fmt"
	"maps"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/slack/people"
)

// directory is Slack's list of people, as rules ask it while no organisation stands. It knows of no groups: nothing
// that the page offers asks for one.
type directory struct {
	refused map[string]tenancy.Rule // by id, who may not stamp
}

func (d directory) Handle(group string) string { return group }

// directoryOf asks Slack about everybody whom the rules name, and these people. It returns errorclass.ErrUnverified
// when Slack can't say.
func directoryOf(ctx context.Context, m people.Members, slack people.Users, x *rules.Rules, also ...string) (
	d directory, err error) {
	unlisted, seen, asked := map[string]tenancy.Rule{}, map[string]bool{}, 0
	var ids []string
	for _, id := range append(also, namedBy(x)...) {
		if seen[id] {
			continue
		}
		seen[id] = true
		_, listed := m.Person(id)
		switch {
		case !listed && !m.More:
			unlisted[id] = people.RuleOutsider
			continue
		case !listed:
			asked++
		}
		ids = append(ids, id)
	}
	if asked > mostAsked {
		return d, fmt.Errorf("%w: the rules name %d people who are not listed", errorclass.ErrUnverified, asked)
	}
	if d.refused, err = m.Refused(ctx, slack, ids, nil); err == nil {
		maps.Copy(d.refused, unlisted)
	}
	return d, err
}

// mostAsked bounds the people about whom Slack is asked one by one: those who are not listed where a workspace has more
// people than a list. users.info may be called about 100 times a minute (Tier 4).
const mostAsked = 50

// namedBy returns the accounts that rules name.
func namedBy(x *rules.Rules) (ids []string) {
	each(x, func(p *rules.Policy) {
		for _, s := range p.Stages {
			ids = append(ids, s.Who.People...)
		}
		if p.Readers != nil {
			ids = append(ids, p.Readers.People...)
		}
	})
	return ids
}

// each calls do with every policy of the rules.
func each(x *rules.Rules, do func(*rules.Policy)) {
	outcomes := []rules.Outcome{x.Last.Reads, x.Last.Writes}
	for i := range x.Rules {
		outcomes = append(outcomes, x.Rules[i].Outcome)
	}
	for _, o := range outcomes {
		if o.Route != nil {
			do(o.Route)
		}
	}
}

func (d directory) Org() string { return "" }

func (d directory) Person(user string) circulation.Person { return circulation.Person{User: user} }

func (d directory) Standing(p circulation.Person, _ string) rules.Standing {
	if d.refused[p.User] != "" {
		return rules.StandingNone
	}
	return rules.StandingEmployee
}

func (d directory) Members(string) []string { return nil }

func (d directory) Manager(circulation.Person, string) (p circulation.Person, ok bool) {
	return p, false
}

func (d directory) Holders(string, string, string) []circulation.Person { return nil }
