package audit

import (
	"cmp"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

// soonAfter is for how long after a change of its rule a gate that opens is remarked on.
const soonAfter = 7 * 24 * time.Hour

// remarks say what whoever reads the register should look at, as far as the gate's row and the rules' history say it.
func (s *speaker) remarks(g *aggregate.Gate) string {
	if !g.Ruled() {
		return ""
	}
	var all []string
	say := func(key string) { all = append(all, s.words.In("remarks", key)) }
	if s.changed(g) {
		say("changed")
	}
	st := circulation.Walk(g.Circulating())
	stages, successor := map[string][]int{}, false
	for _, act := range st.Stamps() {
		name := cmp.Or(act.Hand.Person, act.Hand.User)
		if !slices.Contains(stages[name], act.Stage) {
			stages[name] = append(stages[name], act.Stage)
		}
	}
	for _, act := range g.Acts {
		successor = successor || act.Kind == circulation.Stand
	}
	for _, of := range stages {
		if len(of) > 1 {
			say("same_person")
			break
		}
	}
	if successor {
		say("successor")
	}
	some := func(of func(x circulation.StageState) bool, key string) {
		if slices.ContainsFunc(st.Stages, of) {
			say(key)
		}
	}
	some(func(x circulation.StageState) bool { return x.LeftOut != "" }, "left_out")
	some(func(x circulation.StageState) bool {
		return x.LeftOut == rules.LeftVacant || x.Filled == rules.LeftVacant
	}, "vacant")
	some(func(x circulation.StageState) bool { return x.Filled == rules.LeftUnknown }, "unknown")
	return strings.Join(all, s.words.Say("and"))
}

// changes reads the rules' history, each revision once.
type changes struct {
	ctx    context.Context
	rows   web.Rows
	tenant string
	known  map[int]*tenancy.RulesKept // nil: it is not kept
	err    error
}

// recent reports whether the gate's rule was changed within soonAfter before the gate opened. Rules whose history isn't
// kept don't say.
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
