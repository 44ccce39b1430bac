package rules

import (
	"fmt"
	"slices"

	"ringi/shared/domain/circulation"
)

// Finding is something about rules that can be saved which whoever saves them should know.
type Finding struct {
	Kind  FindingKind `json:"kind"`
	Rule  string      `json:"rule"`            // id
	By    string      `json:"by,omitempty"`    // of FindingNever, id of the rule that takes its requests
	Stage int         `json:"stage,omitempty"` // number of the stage, from 1
	From  string      `json:"from,omitempty"`  // since which day; of FindingVacant, FindingMany and FindingOverlap
	Who   string      `json:"who,omitempty"`   // of FindingGone, the account; else what the rule names
}

// FindingKind says what was found.
type FindingKind string

const (
	// FindingNever: an earlier rule takes all requests that this one would.
	FindingNever FindingKind = "never"
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
	// FindingUnraised: such a post is one to which a stage's people may raise a matter. Nobody is offered.
	FindingUnraised FindingKind = "unraised"
	// FindingElsewhere: a stage asks for the nearest such post above the requester, and one department alone has it. For
	// everybody outside of it, who stands above is asked. It is found once for each post.
	FindingElsewhere FindingKind = "elsewhere"
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
// which the organisation changes. Days are as in Facts.On.
func (r *Rules) Findings(d Directory, today, next string) (all []Finding) {
	for i := range r.Rules {
		rule := &r.Rules[i]
		never := slices.IndexFunc(r.Rules[:i], func(x Rule) bool { return x.When.covers(&rule.When) })
		if never >= 0 {
			all = append(all, Finding{Kind: FindingNever, Rule: rule.ID, By: r.Rules[never].ID})
		}
		if rule.When.Requester != nil && d.Org() == "" {
			all = append(all, Finding{Kind: FindingUnorganised, Rule: rule.ID})
		} else if rule.When.Requester != nil {
			for _, name := range rule.When.Requester.Unknown(d) {
				all = append(all, Finding{Kind: FindingUnknown, Rule: rule.ID, Who: name})
			}
		}
		of := rule.Route.findings(rule.ID, d, today, next)
		if never >= 0 { // nothing is refused that it doesn't get
			of = slices.DeleteFunc(of, func(f Finding) bool {
				return f.Kind == FindingUnorganised || f.Kind == FindingUnknown || f.Kind == FindingHands
			})
		}
		all = append(all, of...)
	}
	all = append(all, r.Last.reads().Route.findings(LastID, d, today, next)...)
	all = append(all, r.Last.Writes.Route.findings(LastID, d, today, next)...)
	posts := map[string]bool{}
	return slices.DeleteFunc(all, func(f Finding) bool {
		again := f.Kind == FindingElsewhere && posts[f.Who]
		posts[f.Who] = posts[f.Who] || f.Kind == FindingElsewhere
		return again
	})
}

// Emptied returns what an organisation, or its removal, makes vacant or unknown on some days: each condition and each
// stage once, with the first of these days. Stages of user groups aren't looked at, since Slack says who is in these.
func (r *Rules) Emptied(d Directory, days ...string) (all []Finding) {
	seen := map[Finding]bool{}
	for _, day := range days {
		for _, f := range r.Findings(d, day, "") {
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
	channels, skipped, stay := 0, 0, []Stage{}
	for _, s := range p.Stages {
		switch {
		case s.Empty.mayGo(), s.mayConcernNone():
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
		first := i == 0 || of[i-1] != of[i]
		all = append(all, s.ofSource(Finding{Rule: rule, Stage: of[i] + 1}, first, d, today, next)...)
	}
	switch {
	case skipped == 0 || skipped == len(p.Stages):
	case channels+skipped == len(p.Stages):
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

// ofSource returns what should be known about a source, which is the first of its stage or not.
func (s Stage) ofSource(at Finding, first bool, d Directory, today, next string) (all []Finding) {
	found := func(kind FindingKind, who string) {
		all = append(all, Finding{Kind: kind, Rule: at.Rule, Stage: at.Stage, Who: who})
	}
	switch unknown, unnamed := s.unknown(d), s.Who.unnamed(d); {
	case s.Who.Kind == WhoChannel:
		return nil
	case s.Who.of(WhoManager, WhoPosition) && d.Org() == "":
		found(FindingUnorganised, "")
		return all
	case unknown != "":
		found(FindingUnknown, unknown)
		return all
	case unnamed != "":
		found(FindingUnnamed, unnamed)
		return all
	}
	for _, w := range s.Who.Each() {
		if w.Kind != WhoPosition || w.Department != "" || w.Label != "" {
			continue
		}
		if only := d.OnlyIn(w.Positions, today); only != "" {
			found(FindingElsewhere, w.Positions[0]+" ("+d.NameOf(only)+")")
		}
	}
	for _, w := range s.Who.Instead {
		if what := w.unnamed(d); what != "" {
			found(FindingPassed, what)
		}
	}
	for _, x := range s.Raises {
		if what := x.Who.unnamed(d); what != "" && first {
			found(FindingUnraised, what)
		}
	}
	if !s.Who.Above() {
		all = append(all, s.findings(at, d, today, next)...)
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
