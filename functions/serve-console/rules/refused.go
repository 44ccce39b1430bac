package rules

import (
	"errors"
	"log/slog"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/explain"
	"ringi/shared/words/legible"
)

// mostResolved bounds how many routes the check before saving resolves: a company may have ten thousand people.
const mostResolved = 20_000

// asker is somebody who works for the tenant today and has an account.
type asker struct{ user, department string }

// refusedFor is why a rule refuses what some people ask, and who they are.
type refusedFor struct {
	why  rules.Unresolved
	whom []asker
}

// refusals says whom each of the rules would refuse today though it takes what they ask, such as a department without
// the post that is to approve. What refuses everybody alike is among the findings.
func (a *asked) refusals(x *rules.Rules) (out []string) {
	routes := slices.Clone(x.Rules)
	for _, at := range []string{reads, writes} {
		routes = append(routes, rules.Rule{ID: rules.LastID, Outcome: *lastOf(x, at)})
	}
	routes = slices.DeleteFunc(routes, func(r rules.Rule) bool { return r.Route == nil })
	all := a.askers()
	if len(routes) == 0 || len(all) == 0 {
		return nil
	}
	looked := all[:min(len(all), mostResolved/len(routes))]
	err := a.looked(func(d *decide.Directory) error {
		out = nil
		for i := range routes {
			r := &routes[i]
			p, none := untold(r.Route)
			out = append(out, a.refusedBy(x, r, p, none, looked, d)...)
			if names := r.Route.Labels(); len(names) > 0 {
				slices.Sort(names)
				out = append(out, a.Say("untried", "rule", a.ruleNamed(x, r.ID), "labels",
					web.Joined(slices.Compact(names), legible.OneLine, a.Say("middot"))))
			}
		}
		return nil
	})
	if errors.Is(err, explain.ErrUnverified) {
		slog.WarnContext(a.r.Context(), "nobody says whom rules refuse", "err", err)
		return nil
	}
	if more := len(all) - len(looked); more > 0 {
		out = append(out, a.Say("refused_more", "n", more))
	}
	return out
}

// askers are those who may ask today, by employee number.
func (a *asked) askers() (all []asker) {
	if a.org == nil {
		return nil
	}
	chart := a.org.People
	for _, p := range chart.People() {
		if accounts := a.org.Accounts.ByNumber(p.Number); len(accounts) > 0 {
			post, _ := chart.Main(p.Number)
			all = append(all, asker{accounts[0].ID, post.Department})
		}
	}
	return all
}

// untold returns what of a route can be looked at without knowing which departments labels say: all of it if they say
// none, by these values, but for the stages and readers whose label has no value for that.
func untold(p *rules.Policy) (*rules.Policy, map[string][]string) {
	is, none := *p, map[string][]string{}
	lacks := func(all []rules.Who) (lacks bool) {
		for _, w := range all {
			if lacks = lacks || w.Label != "" && w.None == ""; w.Label != "" && w.None != "" {
				none[w.Label] = append(none[w.Label], w.None)
			}
		}
		return lacks
	}
	is.Stages = slices.DeleteFunc(slices.Clone(p.Stages), func(s rules.Stage) bool {
		var all []rules.Who
		for _, x := range s.Sources() {
			all = append(all, x.Who.All()...)
		}
		return lacks(all)
	})
	if p.Readers != nil {
		told := *p.Readers
		told.Posts = slices.DeleteFunc(slices.Clone(told.Posts), func(w rules.Who) bool { return lacks([]rules.Who{w}) })
		is.Readers = &told
	}
	return &is, none
}

// refusedBy says whom one rule refuses by its route, or what of it can be looked at if labels have these values.
func (a *asked) refusedBy(x *rules.Rules, r *rules.Rule, p *rules.Policy, labels map[string][]string, all []asker,
	d *decide.Directory) (out []string) {
	part := len(p.Stages) < len(r.Route.Stages)
	if part && len(p.Stages) == 0 {
		return nil
	}
	alone := &rules.Rules{Form: x.Form, Rules: []rules.Rule{{ID: r.ID, Outcome: rules.Outcome{Route: r.Route},
		When: rules.Conditions{Requester: r.When.Requester}}}}
	var takes []asker
	var refused []refusedFor
	for _, who := range all {
		f := &rules.Facts{Kind: rules.KindSteps, Rule: r.ID, On: a.today(), Calls: []rules.Call{{Access: aggregate.Read,
			Amount: rules.Nothing(), Labels: labels}}}
		decide.AskedBy(f, alone, d, who.user)
		f.Askers = []circulation.Person{f.Requester}
		if found := alone.Match(f); found.Rule.ID != r.ID || found.Last || found.Refused {
			continue
		}
		takes = append(takes, who)
		_, err := p.Resolve(f, rules.Floor{}, d)
		no, is := errors.AsType[*rules.Unresolved](err)
		if !is || !byAsker(p, no) || part && no.Why == rules.LeftHands { // more hands may be in the rest
			continue
		}
		why := rules.Unresolved{Stage: no.Stage, Name: no.Name, Why: no.Why, Need: no.Need, Few: no.Few}
		i := slices.IndexFunc(refused, func(x refusedFor) bool { return x.why == why })
		if i < 0 {
			i, refused = len(refused), append(refused, refusedFor{why: why})
		}
		refused[i].whom = append(refused[i].whom, who)
	}
	for _, by := range refused {
		why := a.unresolved(&by.why)
		if name := legible.OneLine(by.why.Name); name != "" {
			why = name + ": " + why
		}
		said := a.Say("refused_today", "rule", a.ruleNamed(x, r.ID), "who", a.whom(by.whom, takes), "why", why)
		if len(labels) > 0 {
			said += a.Say("refused_none")
		}
		out = append(out, said)
	}
	return out
}

// below says of somebody who stands below the requester of a trial that they do: a post named with its department may.
func (a *asked) below(f *rules.Facts, dir *decide.Directory) func(p circulation.Person) string {
	return func(p circulation.Person) string {
		seen := []circulation.Person{p}
		for over, ok := dir.Manager(p, f.On); ok && !slices.ContainsFunc(seen, over.Is); over, ok = dir.Manager(over, f.On) {
			if over.Is(f.Requester) {
				return a.Say("middot") + a.In("whys", rules.LeftBelow)
			}
			seen = append(seen, over)
		}
		return ""
	}
}

// unresolved says why a policy finds no route.
func (a *asked) unresolved(no *rules.Unresolved) string {
	return a.In("whys", no.Why, "what", legible.OneLine(no.What), "need", no.Need, "few", no.Few)
}

// byAsker reports whether a refusal hangs on who asks.
func byAsker(p *rules.Policy, no *rules.Unresolved) bool {
	switch no.Why {
	case rules.LeftOwn, rules.LeftAbove, rules.LeftElsewhere, rules.LeftHands:
		return true
	case rules.LeftVacant, rules.LeftStanding, rules.LeftTwice, rules.LeftAway:
		return no.Stage > 0 && slices.ContainsFunc(p.Stages[no.Stage-1].Sources(), func(s rules.Stage) bool {
			return s.Who.Above()
		})
	}
	return false
}

// whom names people: a department of which the rule takes nobody else by its name.
func (a *asked) whom(refused, takes []asker) string {
	if len(refused) == len(takes) {
		return a.Say("refused_all")
	}
	count := func(all []asker, department string) (n int) {
		for _, x := range all {
			if x.department == department {
				n++
			}
		}
		return n
	}
	var names []string
	for _, x := range refused {
		name := a.Say("refused_person", "who", a.person(x.user))
		if n := count(takes, x.department); x.department != "" && n > 1 && n == count(refused, x.department) {
			name = a.Say("refused_department", "department", a.department(x.department))
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return list(a.speaker, names, func(name string) string { return name }, a.Say("middot"))
}
