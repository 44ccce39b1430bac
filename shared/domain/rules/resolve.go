package rules

import (
	"cmp"
	"slices"
	"time"

	"ringi/shared/domain/circulation"
)

// Reasons for which a request is refused.
const (
	LeftVacant   = "vacant"   // nobody is found, nor stands above
	LeftUnknown  = "unknown"  // the organisation doesn't have the post or department
	LeftAbove    = "above"    // the organisation doesn't say who is above the requester
	LeftStanding = "standing" // too few of those who are found may stamp, and nobody stands above
	LeftOwn      = "own"      // without who asks, too few are found, and nobody stands above
	LeftMany     = "many"     // more people are found than a stage may have
	LeftChannel  = "channel"  // only the channel would be asked about a write outside
	LeftAlone    = "alone"    // the channel is asked, and nobody else is there
	LeftPeople   = "people"   // too few different people are found for all stages, or more stamps than a gate may have
)

// Unresolved says that a rule finds no route for a request, which is then refused.
type Unresolved struct {
	Stage int    // number of the stage because of which, from 1; 0: none
	Name  string // of that stage
	Why   string // one of the reasons above
	What  string // of LeftUnknown, what the stage names
	// Of is above whom nobody is found: of LeftAbove, and of LeftVacant where the stage asks a manager.
	Of string
}

func (u *Unresolved) Error() string { return "no route: " + u.Why + " at stage " + u.Name }

// mostFound is of how many people it is looked at one by one whether they may stamp. A stage that finds more has too
// many.
const mostFound = 2 * MaxPeople

// resolving is a route that is being made.
type resolving struct {
	facts  *Facts
	d      Directory
	stages []circulation.Stage
	out    []string             // stages that are left out
	sure   []circulation.Person // who has to stamp at a stage before
}

// Resolve returns the route of the stages for a request. No asker is at any of its stages. It returns *Unresolved if
// there is no route.
func (o *Outcome) Resolve(f *Facts, d Directory) (circulation.Route, error) {
	r := &resolving{facts: f, d: d}
	named := false
	for i := range o.Stages {
		s := &o.Stages[i]
		named = named || !s.Channel
		if err := r.stage(s); err != nil {
			err.Stage, err.Name = i+1, s.Name
			return circulation.Route{}, err
		}
	}
	if f.Writes() && !named {
		return circulation.Route{}, &Unresolved{Why: LeftChannel}
	}
	route := circulation.Route{Form: circulation.Form, Stages: r.stages, Tells: o.Tells, LeftOut: r.out}
	st := circulation.Walk(circulation.Gate{Rule: &circulation.Rule{}, AskedAt: time.Unix(0, 0).UTC(), Hours: 1,
		AskedSum: "-", Route: &route, Askers: f.Askers}) // as the stamps are counted later
	if st.Refused != nil {
		return circulation.Route{}, &Unresolved{Why: LeftPeople}
	}
	return route, nil
}

// stage finds the people of one stage. Who has to stamp at an earlier one counts there and isn't asked again.
func (r *resolving) stage(s *Stage) *Unresolved {
	if s.Channel {
		if r.facts.Alone(r.d) {
			return &Unresolved{Why: LeftAlone}
		}
		r.stages = append(r.stages, circulation.Stage{Name: s.Name, Mode: circulation.ModeChannel, Need: 1})
		return nil
	}
	if what := s.unknown(r.d); what != "" {
		return &Unresolved{Why: LeftUnknown, What: what}
	}
	who := s.near(r.facts, r.d)
	found := who.find(r.facts, r.d)
	if len(found) > mostFound {
		return &Unresolved{Why: LeftMany}
	}
	all := r.stamping(found)
	need := max(s.Need, 1)
	if s.Need == 0 {
		need = max(len(all), 1)
	}
	if len(all) < need {
		all = r.filled(&who, all, need)
	}
	if len(all) > MaxPeople {
		return &Unresolved{Why: LeftMany}
	}
	if len(all) < need {
		return r.few(&who, found)
	}
	st := circulation.Stage{Name: s.Name, Mode: circulation.ModePeople, Need: need}
	for _, p := range all {
		if among(r.sure, p) {
			st.Before, st.Need = append(st.Before, p), st.Need-1
		} else {
			st.People = append(st.People, p)
		}
	}
	if st.Need <= 0 {
		r.out = append(r.out, s.Name)
		return nil
	}
	if st.Need == len(st.People) {
		r.sure = append(r.sure, st.People...)
	}
	r.stages = append(r.stages, st)
	return nil
}

// mayStamp reports whether somebody may stamp along the route.
func (r *resolving) mayStamp(p circulation.Person) bool {
	return p.User != "" && !r.asks(p) && r.d.MayStamp(p.User)
}

// asks reports whether somebody is the requester or another asker.
func (r *resolving) asks(p circulation.Person) bool {
	return p.User == r.facts.Requester || among(r.facts.Askers, p)
}

// stamping returns those who may stamp, each once.
func (r *resolving) stamping(found []circulation.Person) (people []circulation.Person) {
	for _, p := range found {
		if !among(people, p) && r.mayStamp(p) {
			people = append(people, p)
		}
	}
	return people
}

// filled adds the nearest who stand above and may stamp, until there are as many as needed: over the post that is
// asked, whoever holds it, and above those who were found otherwise and can't take a place.
func (r *resolving) filled(who *Who, people []circulation.Person, need int) []circulation.Person {
	add := func(person, via string) {
		if len(people) >= need {
			return
		}
		if p := (circulation.Person{User: r.d.Account(person), Via: via}); !among(people, p) && r.mayStamp(p) {
			people = append(people, p)
		}
	}
	climb := func(of string, chain []string) {
		for i, person := range chain {
			add(person, managerOf(of, i+1))
		}
	}
	for _, p := range who.named(r.d) {
		if len(people) < need && !r.mayStamp(p) {
			chain, _ := r.d.Above(p.User)
			climb(p.User, chain)
		}
	}
	if who.Department != "" && len(people) < need { // who stands above its holder may stand below the post
		if over := r.d.Over(who.Department, who.Position); len(over) > 0 {
			add(over[0], "over "+who.titled())
			climb(r.d.Account(over[0]), over[1:])
		}
	}
	if above, level := who.superiors(r.facts, r.d); level > 0 {
		climb(r.d.Account(above[0]), above[1:])
	}
	return people
}

// few says why too few people are found.
func (r *resolving) few(who *Who, found []circulation.Person) *Unresolved {
	no := &Unresolved{Why: LeftStanding}
	switch {
	case len(found) == 0 && who.lost(r.facts, r.d):
		no.Why = LeftAbove
	case len(found) == 0:
		no.Why = LeftVacant
	case slices.ContainsFunc(found, r.asks):
		no.Why = LeftOwn
	}
	if who.Superior > 0 && (no.Why == LeftAbove || no.Why == LeftVacant) {
		no.Of = r.facts.Requester
		if chain, _ := r.d.Above(no.Of); len(chain) > 0 {
			no.Of = cmp.Or(r.d.Account(chain[len(chain)-1]), no.Of)
		}
	}
	return no
}
