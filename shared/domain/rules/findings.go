package rules

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/circulation"
)

// Finding is something about rules that can be saved which whoever saves them should know.
type Finding struct {
	Kind  FindingKind `json:"kind"`
	Rule  string      `json:"rule"`            // id
	By    string      `json:"by,omitempty"`    // of FindingCovered, id of the rule that takes its requests
	Stage int         `json:"stage,omitempty"` // number of the stage, from 1
	From  string      `json:"from,omitempty"`  // since which day; of FindingVacant, FindingMany and FindingOverlap
	Who   string      `json:"who,omitempty"`   // of FindingGone, the account; else what the rule names
}

// FindingKind says what was found.
type FindingKind string

const (
	// FindingCovered: an earlier rule takes all requests that this one would.
	FindingCovered FindingKind = "covered"
	// FindingUnorganised: it asks for something that only an organisation has, and none stands. Its condition is never
	// met, or its stage finds nobody.
	FindingUnorganised FindingKind = "unorganised"
	// FindingUnknown: a stage names a post or department that the organisation has on no day, so that what it takes is
	// refused. Without a stage it is the condition on the requester that names a department.
	FindingUnknown FindingKind = "unknown"
	// FindingUnnamed: a stage names a post that the organisation has on no day, though its department. Who stands above
	// is asked there, as at a vacant post, and again at their own stage.
	FindingUnnamed FindingKind = "unnamed"
	// FindingPassed: a stage would ask such a post in the place of who is away. It asks the next of its order.
	FindingPassed FindingKind = "passed"
	// FindingVacant: a stage finds fewer people than must stamp, whoever asks.
	FindingVacant FindingKind = "vacant"
	// FindingMany: a stage finds more people than it may have.
	FindingMany FindingKind = "many"
	// FindingGone: somebody whom the rule names may not stamp.
	FindingGone FindingKind = "gone"
	// FindingUntold: a post of readers is one that the organisation has on no day, so nobody is told.
	FindingUntold FindingKind = "untold"
	// FindingHands: without the stages that may be left out, too few different people can stamp. Such requests are
	// refused then.
	FindingHands FindingKind = "hands"
	// FindingOverlap: the people whom its stages find are so often the same that too few different ones can stamp. Such
	// requests are refused then.
	FindingOverlap FindingKind = "overlap"
	// FindingChannelOnly: all stages but the channel's may be left out. Writes outside are refused then.
	FindingChannelOnly FindingKind = "channel_only"
)

// Findings returns what should be known about the rules today and, if next isn't empty, on that day: the next one on
// which the organisation changes. Days are as in Facts.On. known says which tools write.
func (r *Rules) Findings(known []Known, d Directory, today, next string) (all []Finding) {
	for i := range r.Rules {
		rule := &r.Rules[i]
		if by := r.CoveredBy(i, known); by != nil {
			all = append(all, Finding{Kind: FindingCovered, Rule: rule.ID, By: by.ID})
		}
		if rule.When.Requester != nil && d.Org() == "" {
			all = append(all, Finding{Kind: FindingUnorganised, Rule: rule.ID})
		} else if rule.When.Requester != nil {
			for _, name := range rule.When.Requester.Unknown(d) {
				all = append(all, Finding{Kind: FindingUnknown, Rule: rule.ID, Who: name})
			}
		}
		of := rule.Route.findings(rule.ID, d, today, next)
		if r.CoveredBy(i, known) != nil { // nothing is refused that it doesn't get
			of = slices.DeleteFunc(of, func(f Finding) bool {
				return f.Kind == FindingUnorganised || f.Kind == FindingUnknown || f.Kind == FindingHands
			})
		}
		all = append(all, of...)
	}
	all = append(all, r.Last.reads().Route.findings(LastID, d, today, next)...)
	return append(all, r.Last.Writes.Route.findings(LastID, d, today, next)...)
}

// Emptied returns what an organisation, or its removal, makes vacant or unknown on some days: each condition and each
// stage once, with the first of these days. Stages of user groups aren't looked at, since Slack says who is in these.
func (r *Rules) Emptied(d Directory, days ...string) (all []Finding) {
	seen := map[Finding]bool{}
	for _, day := range days {
		for _, f := range r.Findings(nil, d, day, "") {
			once := f
			once.From = ""
			ofGroup := !slices.ContainsFunc(r.policies(f.Rule), func(p *Policy) bool {
				return f.Stage <= len(p.Stages) && f.Stage > 0 && slices.ContainsFunc(p.Stages[f.Stage-1].Sources(),
					func(s Stage) bool { return s.Who.Kind != WhoGroup })
			})
			switch f.Kind {
			case FindingUnknown, FindingUnnamed, FindingUnorganised:
				ofGroup = false
			case FindingVacant:
			default:
				continue
			}
			if !ofGroup && !seen[once] {
				seen[once], all = true, append(all, f)
			}
		}
	}
	return all
}

// findings returns what should be known about the stages of a rule.
func (p *Policy) findings(rule string, d Directory, today, next string) (all []Finding) {
	if p == nil {
		return nil
	}
	channels, skipped, stay, asked := 0, 0, []Stage{}, approving(p.Stages)
	for _, s := range asked {
		switch {
		case s.Empty.mayGo():
			skipped++
			continue
		case s.Who.Kind == WhoChannel:
			channels++
		}
		stay = append(stay, s)
	}
	all = p.untold(rule, d)
	sources, of := p.Sources()
	for i, s := range sources {
		at := Finding{Rule: rule, Stage: of[i] + 1}
		if s.Who.Kind == WhoChannel {
			continue
		}
		if s.Who.of(WhoManager, WhoPosition) && d.Org() == "" {
			at.Kind = FindingUnorganised
			all = append(all, at)
			continue
		}
		if at.Who = s.unknown(d); at.Who != "" {
			at.Kind = FindingUnknown
			all = append(all, at)
			continue
		}
		if at.Who = s.Who.unnamed(d); at.Who != "" {
			at.Kind = FindingUnnamed
			all = append(all, at)
			continue
		}
		for _, w := range s.Who.Instead {
			if what := w.unnamed(d); what != "" {
				all = append(all, Finding{Kind: FindingPassed, Rule: rule, Stage: at.Stage, Who: what})
			}
		}
		if !s.Who.Above() {
			all = append(all, s.findings(at, d, today, next)...)
		}
	}
	switch {
	case skipped == 0 || skipped == len(asked):
	case channels+skipped == len(asked):
		all = append(all, Finding{Kind: FindingChannelOnly, Rule: rule})
	case !p.reaches(stay, p.LeastHands(), byName):
		all = append(all, Finding{Kind: FindingHands, Rule: rule})
	}
	for _, day := range []string{today, next} {
		if day != "" && !p.reaches(p.Stages, p.LeastHands(), foundOn(d, day)) {
			return append(all, Finding{Kind: FindingOverlap, Rule: rule, From: day})
		}
	}
	return all
}

// untold returns the posts of readers of which nobody is told.
func (p *Policy) untold(rule string, d Directory) (all []Finding) {
	if p.Readers == nil {
		return nil
	}
	for _, post := range p.Readers.Posts {
		if what := post.unnamed(d); what != "" {
			all = append(all, Finding{Kind: FindingUntold, Rule: rule, Who: what})
		}
	}
	return all
}

// findings returns what should be known about whom a stage finds without knowing who asks.
func (s *Stage) findings(at Finding, d Directory, today, next string) (all []Finding) {
	for _, day := range []string{today, next} {
		if day == "" {
			continue
		}
		people := []circulation.Person{}
		r := resolving{facts: &Facts{On: day}, d: d}
		who := s.Who.find(r.facts, d)
		for _, p := range who {
			if r.mayStamp(s, p) && position(people, p) < 0 {
				people = append(people, p)
			}
		}
		for _, w := range s.Who.All() {
			for _, user := range w.People {
				if !r.mayStamp(s, d.Person(user)) {
					gone := at
					gone.Kind, gone.Who, gone.From = FindingGone, user, day
					all = append(all, gone)
				}
			}
		}
		found := at
		switch found.From = day; {
		case len(people) > MaxPeople || len(who) > mostFound:
			found.Kind = FindingMany
		case len(people)+r.others(s, people) < s.least():
			found.Kind = FindingVacant
		default:
			continue
		}
		return append(all, found)
	}
	return all
}

// String helps tests and logs.
func (f Finding) String() string {
	return fmt.Sprintf("%s rule=%s by=%s stage=%d from=%s who=%s", f.Kind, f.Rule, f.By, f.Stage, f.From, f.Who)
}

// asked returns how many sources are asked to approve, and how many stamps they need.
func (r *resolving) asked() (stages, stamps int) {
	for _, s := range r.stages {
		if s.LeftOut == "" && s.As == "" {
			stages, stamps = stages+1, stamps+s.Need
		}
	}
	return stages, stamps
}

// hands returns how many different people have to stamp.
func (r *resolving) hands() int {
	n := 0
	for _, s := range joined(r.stages, r.of) {
		if s.LeftOut != LeftTwice && s.As == "" {
			n++
		}
	}
	return r.policy.hands(n)
}

// enoughHands sees to it that as many different people can stamp as the route needs. Who stands above is added to the
// first stage that adds nobody to those of the stages before it, if it says so of people who are asked twice.
func (r *resolving) enoughHands() error {
	for {
		i, short := r.short()
		if !short {
			return nil
		}
		var all []circulation.Person
		for _, s := range r.stages {
			all = append(all, s.People...)
		}
		s := &r.stages[i]
		ups := s.LeftOut == "" && r.sources[i].Empty.Twice == ThenUp && len(s.People) < MaxPeople
		switch {
		case ups && r.up(i, all, true):
			s.Filled = LeftHands
		case len(r.stamping(all)) < len(all): // with the askers' stamps it might be enough
			return r.refuse(i, LeftAskers)
		default:
			return r.refuse(i, LeftHands)
		}
	}
}

// short reports whether too few different people can stamp, and the stage because of which: the first that adds nobody,
// else one that was left out, else the last. Nothing is short where nobody is asked, or the route is too long for a
// gate.
func (r *resolving) short() (stage int, short bool) {
	need, best := r.hands(), 0
	if !walkable(r.route(len(r.stages), 1), r.facts) || walkable(r.route(len(r.stages), need), r.facts) {
		return 0, false
	}
	last, out := 0, -1
	for i, s := range r.stages {
		if s.As != "" {
			continue
		}
		if s.LeftOut != "" {
			out = i
			continue
		}
		last = i
		before := best
		for walkable(r.route(i+1, best+1), r.facts) {
			best++
		}
		if best == before {
			return i, true
		}
	}
	if out >= 0 {
		last = out
	}
	return last, true
}

// route returns the route of the first sources.
func (r *resolving) route(sources, hands int) circulation.Route {
	stages := joined(r.stages[:sources], r.of)
	return circulation.Route{Form: circulation.Form, Stages: stages, Hands: hands, Org: r.d.Org()}
}

// walkable reports whether a gate can be settled by this route: by as many different people as it needs, within the
// bounds of a gate. The fold that later counts the stamps says so.
func walkable(route circulation.Route, f *Facts) bool {
	g := circulation.Gate{Rule: &circulation.Rule{}, AskedAt: time.Unix(0, 0).UTC(), Hours: 1, AskedSum: "-",
		Route: &route, Askers: f.Askers}
	st := circulation.Walk(g)
	return st.Refused == nil
}

// finding returns whom a stage finds, and whether it may find others beside them when a route is made.
type finding func(s *Stage) (people []circulation.Person, others bool)

// byName finds whom stages name.
func byName(s *Stage) (people []circulation.Person, others bool) {
	for _, user := range s.Who.People {
		people = append(people, circulation.Person{User: user})
	}
	return people, s.Who.Kind != WhoPeople || s.Empty.has(ThenUp) || len(s.Who.Instead) > 0
}

// foundOn finds whom stages find on a day, as far as that doesn't hang on who asks.
func foundOn(d Directory, day string) finding {
	r := resolving{facts: &Facts{On: day}, d: d}
	return func(s *Stage) (people []circulation.Person, others bool) {
		if s.Who.Above() || s.Who.Kind == WhoChannel || s.Empty.has(ThenUp) || len(s.Who.Instead) > 0 {
			return byName(s)
		}
		for _, p := range s.Who.find(r.facts, d) {
			if r.mayStamp(s, p) {
				people = append(people, p)
			}
		}
		return people, false
	}
}

// reachable reports whether the people whom the policy names are enough for its hands. Stages that find people only
// when a route is made are taken to find others each time. It says nothing of stages that are wrong in other ways.
func (p *Policy) reachable() bool {
	return p.reaches(p.Stages, p.LeastHands(), byName)
}

// reaches reports whether the people whom these stages of the policy find are enough for so many hands. It says nothing
// of stages that find too few people for their own stamps.
func (p *Policy) reaches(of []Stage, hands int, find finding) bool {
	var stages []circulation.Stage
	sources, places := (&Policy{Stages: of}).Sources()
	for i, s := range sources {
		out := circulation.Stage{Mode: circulation.ModePeople, Need: s.least(), As: s.As}
		if s.Who.Kind == WhoChannel {
			out.Mode = circulation.ModeChannel
		}
		people, others := find(&s)
		out.People = people
		switch {
		case s.Need == 0 && others: // all of a group are taken to be as many as are needed
			out.Need = max(1, min(s.Share.of(s.Who.most()), hands))
		case s.Need == 0:
			out.Need = max(1, s.Share.of(len(people)))
		}
		if s.Who.Kind != WhoChannel && others {
			for j := range min(s.Who.most(), MaxPeople) {
				out.People = append(out.People, circulation.Person{User: fmt.Sprintf("found %d at %d", j, i)})
			}
		}
		stages = append(stages, out)
	}
	least := circulation.Route{Form: circulation.Form, Stages: joined(stages, places), Hands: 1}
	enough := least
	enough.Hands = hands
	return !walkable(least, &Facts{}) || walkable(enough, &Facts{})
}

// aboveFloor returns *Unresolved for a route that asks nobody, or less than the floor.
func (r *resolving) aboveFloor() error {
	people, left, why := 0, &Unresolved{Why: LeftFloor}, LeftVacant
	for i, s := range r.stages {
		switch {
		case s.LeftOut != "" && left.Stage == 0:
			left.Stage, left.Name, why = r.of[i]+1, s.Name, s.LeftOut
		case s.LeftOut == "" && s.As == "" && s.Mode == circulation.ModePeople:
			people++
		}
	}
	n, stamps := r.asked()
	switch {
	case n == 0:
		left.Why = why
		return left
	case r.facts.Writes() && people == 0:
		left.Why = LeftChannel
		return left
	case !r.floor.Allows(r.facts, stamps, r.hands()):
		return left
	}
	return nil
}
