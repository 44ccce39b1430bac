package audit

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// soonAfter is for how long after a change of its rule a gate that opens is remarked on.
const soonAfter = 7 * 24 * time.Hour

// remarks say what whoever reads the register should look at, as far as the gate's row and the rules' history say it.
func (s *speaker) remarks(row *store.RegisteredTask) string {
	g, all := &row.Gate, s.ofAgent(row.Call)
	if !g.Ruled() {
		return strings.Join(all, s.words.Say("and"))
	}
	say := func(key string) { all = append(all, s.words.In("remarks", key)) }
	if s.changed(g) {
		say("changed")
	}
	return strings.Join(all, s.words.Say("and"))
}

// ofAgent says why an outside agent asked for a call, and how the same one ended before.
func (s *speaker) ofAgent(x *call.Call) (all []string) {
	if x == nil {
		return nil
	}
	if x.Reason != "" {
		all = append(all, s.words.In("remarks", "agent_reason", "why", card.OneLine(x.Reason)))
	}
	switch {
	case x.Was == nil:
	case x.Was.By != "":
		all = append(all, s.words.In("remarks", "again_rejected", "who", s.Person(x.Was.By), "why", card.OneLine(x.Was.Why)))
	default:
		all = append(all, s.words.In("remarks", "again"))
	}
	return all
}

// changes reads the rules' history, each revision once.
type changes struct {
	ctx    context.Context
	rows   web.Rows
	tenant string
	known  map[int]*tenancy.RulesKept // nil: it is not kept
	err    error
}

// recent reports whether the gate's rule changed within soonAfter before it opened, as far as the history is kept.
func (c *changes) recent(g *aggregate.Gate) bool {
	if g.AskedAt == nil {
		return false
	}
	for rev := g.Terms.Rule.Revision; rev > 0; rev-- {
		is := c.at(rev)
		if is == nil || g.AskedAt.Sub(is.UpdatedAt) > soonAfter {
			return false
		}
		was, now := rules.Rule{}, ruleOf(is, g.Terms.Rule.ID)
		if before := c.at(rev - 1); before != nil {
			was = ruleOf(before, g.Terms.Rule.ID)
		}
		if !reflect.DeepEqual(was, now) {
			return true
		}
	}
	return false
}

func ruleOf(x *tenancy.RulesKept, id string) rules.Rule {
	if r := x.Config(); r != nil {
		for _, rule := range r.Rules {
			if rule.ID == id {
				return rule
			}
		}
	}
	return rules.Rule{}
}

func (c *changes) at(rev int) *tenancy.RulesKept {
	if is, read := c.known[rev]; read || rev < 1 {
		return is
	}
	if c.known == nil {
		c.known = map[int]*tenancy.RulesKept{}
	}
	c.known[rev] = nil
	is, err := c.rows.RulesOf(c.ctx, c.tenant, rev)
	switch {
	case err == nil:
		c.known[rev] = &is
	case !errors.Is(err, aggregate.ErrNotFound):
		c.err = cmp.Or(c.err, err)
	}
	return c.known[rev]
}
