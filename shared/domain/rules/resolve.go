package rules

import (
	"slices"

	"ringi/shared/domain/circulation"
)

// Reasons for which a stage is left out of a route, or a request refused because of it.
const (
	LeftVacant   = "vacant"   // nobody is found
	LeftAskers   = "askers"   // without the askers, too few are found
	LeftStanding = "standing" // too few of those who are found may stamp
	LeftHands    = "hands"    // it adds nobody to the different people that the route needs
	LeftMany     = "many"     // more people are found than a stage may have
	LeftChannel  = "channel"  // only the channel would be asked about a write outside
	LeftHome     = "home"     // nobody else is in the channel, and there is no Home
	LeftFloor    = "floor"    // without stages that are left out, less is asked than the floor
	LeftBounds   = "bounds"   // the route is longer than a gate may be
)

// Unresolved says that a policy finds no route for a request, which is then refused.
type Unresolved struct {
	Stage int    // number of the stage because of which, from 1; 0: none, or the readers
	Name  string // of that stage
	Why   string // one of the reasons above
}

func (u *Unresolved) Error() string { return "no route: " + u.Why + " at stage " + u.Name }

// mostFound is of how many people it is looked at one by one whether they may stamp. A stage that finds more has too
// many.
const mostFound = 2 * MaxPeople

// resolving is a route that is being made.
type resolving struct {
	policy *Policy
	facts  *Facts
	floor  Floor
	d      Directory
	stages []circulation.Stage
	found  [][]circulation.Person // of each stage, whether they may stamp or not
}

// Resolve returns the route of the policy for a request, on which at least as many different people as it needs can
// stamp, and none of the askers. It returns *Unresolved if there is none, or only one that asks less than the floor.
func (p *Policy) Resolve(f *Facts, floor Floor, d Directory) (circulation.Route, error) {
	r := &resolving{policy: p, facts: f, floor: floor, d: d}
	for i := range p.Stages {
		if err := r.stage(i); err != nil {
			return circulation.Route{}, err
		}
	}
	if err := r.enoughHands(); err != nil {
		return circulation.Route{}, err
	}
	if err := r.aboveFloor(); err != nil {
		return circulation.Route{}, err
	}
	route := r.route(r.stages, r.hands())
	var err error
	route.Readers, err = r.readers()
	if err == nil && !walkable(route, f) {
		err = &Unresolved{Why: LeftBounds}
	}
	if err != nil {
		return circulation.Route{}, err
	}
	return route, nil
}

// stage finds the people of one stage.
func (r *resolving) stage(i int) error {
	s := &r.policy.Stages[i]
	out := circulation.Stage{Name: s.Name, Mode: circulation.ModePeople, Need: s.Need}
	if s.Who.Kind == WhoChannel {
		return r.channel(i)
	}
	found := s.Who.find(r.facts, r.d)
	if len(found) > mostFound {
		return r.refuse(i, LeftMany)
	}
	out.People = r.mayStampOf(s, found)
	if out.Need == 0 {
		out.Need = max(len(out.People), 1)
	}
	r.stages, r.found = append(r.stages, out), append(r.found, found)
	switch {
	case len(out.People) > MaxPeople:
		return r.refuse(i, LeftMany)
	case len(out.People) < out.Need:
		return r.empty(i, r.whyFew(found))
	}
	return nil
}

// mayStamp reports whether somebody may stamp at a stage.
func (r *resolving) mayStamp(s *Stage, p circulation.Person) bool {
	standing := r.d.Standing(p, r.facts.On)
	return p.User != "" && (r.d.Org() == "" || p.Person != "") && position(r.facts.Askers, p) < 0 &&
		!r.facts.Requester.Is(p) && (standing == StandingEmployee || standing == StandingOther && s.Others)
}

func (r *resolving) whyFew(found []circulation.Person) string {
	asks := func(p circulation.Person) bool {
		return position(r.facts.Askers, p) >= 0 || r.facts.Requester.Is(p)
	}
	switch {
	case len(found) == 0:
		return LeftVacant
	case slices.ContainsFunc(found, asks):
		return LeftAskers
	}
	return LeftStanding
}

// empty does with a stage that has too few people what the policy says.
func (r *resolving) empty(i int, why string) error {
	out := &r.stages[i]
	switch r.policy.Stages[i].Empty {
	case EmptySkip:
		*out = circulation.Stage{Name: out.Name, Mode: out.Mode, LeftOut: why}
		return nil
	case EmptyUp:
		for len(out.People) < out.Need {
			if !r.up(i, out.People) {
				return r.refuse(i, why)
			}
		}
		return nil
	}
	return r.refuse(i, why)
}

// up adds to a stage the nearest who stands above and may stamp, except those in not. They stand above whom the stage
// found and may not ask, then above the requester: of a manager's stage, above that manager.
func (r *resolving) up(i int, not []circulation.Person) (added bool) {
	s, out, on := &r.policy.Stages[i], &r.stages[i], r.facts.On
	from, least := []circulation.Person{}, 0
	if s.Who.Kind == WhoManager {
		least = s.Who.Level
	} else {
		for _, p := range r.found[i] {
			if !r.mayStamp(s, p) {
				from = append(from, p)
			}
		}
	}
	for _, of := range append(from, r.facts.Requester) {
		above(r.d, of, on, func(level int, p circulation.Person) bool {
			if level > least && r.mayStamp(s, p) && position(not, p) < 0 {
				out.People, added = append(out.People, asManager(p, of, level, on)), true
			}
			return !added
		})
		if added {
			break
		}
	}
	return added
}

func (r *resolving) refuse(i int, why string) error {
	return &Unresolved{Stage: i + 1, Name: r.policy.Stages[i].Name, Why: why}
}

// readers returns who is told after the decision.
func (r *resolving) readers() (people []circulation.Person, err error) {
	if r.policy.Readers == nil {
		return nil, nil
	}
	lists := []Who{{Kind: WhoPeople, People: r.policy.Readers.People}}
	for _, group := range r.policy.Readers.Groups {
		lists = append(lists, Who{Kind: WhoGroup, Group: group})
	}
	for _, who := range lists {
		for _, p := range who.find(r.facts, r.d) {
			if p.User != "" && position(people, p) < 0 {
				people = append(people, p)
			}
		}
	}
	if len(people) > MaxPeople {
		return nil, &Unresolved{Why: LeftMany}
	}
	return people, nil
}
