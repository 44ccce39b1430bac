package rules

import (
	"slices"

	"ringi/shared/domain/circulation"
)

// Reasons for which a stage is left out of a route, who stands above takes places in it, or a request is refused.
const (
	LeftVacant    = "vacant"    // nobody is found
	LeftElsewhere = "elsewhere" // no post of whoever asks for, or above them, has the name
	LeftUnknown   = "unknown"   // the organisation has the post or department on no day: never left out
	LeftAbove     = "above"     // the organisation doesn't say who is above the requester: never left out
	LeftStanding  = "standing"  // too few of those who are found may stamp
	LeftBelow     = "below"     // whoever is found stands below whoever asks: only of whom a stage may add
	LeftAway      = "away"      // too few of those who are found are there, and nobody who is asked instead
	LeftOwn       = "own"       // without the requester, too few are found
	LeftAskers    = "askers"    // without the other askers, too few are found: never left out
	LeftTwice     = "twice"     // all who are found have to stamp at earlier stages
	LeftNone      = "none"      // a label says that no department is concerned
	LeftLater     = "later"     // the requester's own, and who stands above is asked at a later stage anyway
	LeftHands     = "hands"     // too few different people are found for those that the route needs: never left out
	LeftMany      = "many"      // more people are found than a stage may have
	LeftChannel   = "channel"   // only the channel would be asked about a write outside
	LeftHome      = "home"      // nobody else is in the channel, and there is no Home
	LeftFloor     = "floor"     // without stages that are left out, less is asked than the floor
	LeftBounds    = "bounds"    // the route is longer than a gate may be
)

// Unresolved says that a policy finds no route for a request, which is then refused.
type Unresolved struct {
	Stage int    // number of the stage because of which, from 1; 0: none, or the readers
	Name  string // of that stage
	Why   string // one of the reasons above
	What  string // of LeftUnknown, what the stage names
	// Need and Few are how many different people have to approve and how many can, of LeftHands.
	Need, Few int
	// Of is above whom nobody is found: of LeftAbove, and of LeftVacant where the stage asks a manager.
	Of circulation.Person
}

func (u *Unresolved) Error() string { return "no route: " + u.Why + " at stage " + u.Name }

// mostFound is of how many people it is looked at one by one whether they may stamp. A stage that finds more has too
// many.
const mostFound = 2 * MaxPeople

// resolving is a route that is being made.
type resolving struct {
	policy  *Policy
	facts   *Facts
	floor   Floor
	d       Directory
	sources []Stage
	at      []int // of each source, its place in the policy's
	of      []int // and its stage
	// What follows has an entry for each source.
	stages  []circulation.Stage
	found   [][]circulation.Person // whether they may stamp or not
	gone    [][]circulation.Person // who of them is away
	past    []circulation.Person   // who was reached past an asker who is not the requester
	climbed []int                  // who stands above was asked for these, since they are the requester's own
	later   []int                  // these are left to later ones
}

// Resolve returns the route of the policy for a request, on which at least as many different people as it needs can
// stamp. The requester is at none of its stages; another asker whom a stage finds is named there, and may not stamp. It
// returns *Unresolved if there is no route, or only one that asks less than the floor.
func (p *Policy) Resolve(f *Facts, floor Floor, d Directory) (circulation.Route, error) {
	if no := p.Unknown(d); no != nil {
		return circulation.Route{}, no
	}
	route, r, err := p.whole(f, floor, d)
	if err == nil && len(f.Askers) > 1 {
		err = r.asAlone()
	}
	if err != nil {
		return circulation.Route{}, err
	}
	return route, nil
}

// whole is Resolve as far as other askers don't matter.
func (p *Policy) whole(f *Facts, floor Floor, d Directory) (circulation.Route, *resolving, error) {
	route, r, err := p.resolve(f, floor, d, nil)
	if err == nil {
		route = r.ordered(route)
	}
	return route, r, err
}

// resolve is whole with some sources left to later ones, in the order in which the rule has them.
func (p *Policy) resolve(f *Facts, floor Floor, d Directory, later []int) (circulation.Route, *resolving, error) {
	r := &resolving{policy: p, facts: f, floor: floor, d: d, later: later}
	sources, of := p.Sources()
	r.sources, r.at = placed(sources, f, d)
	for _, at := range r.at {
		r.of = append(r.of, of[at])
	}
	for i := range r.sources {
		if err := r.stage(i); err != nil {
			return circulation.Route{}, nil, err
		}
	}
	if err := r.enoughHands(); err != nil {
		return circulation.Route{}, nil, err
	}
	if err := r.aboveFloor(); err != nil {
		return circulation.Route{}, nil, err
	}
	for i := range r.stages {
		if r.stages[i].LeftOut == "" {
			r.stages[i].Raises = r.raises(i)
		}
	}
	route := r.route(len(r.stages), r.hands())
	var err error
	route.Readers, err = r.readers()
	if err == nil && !walkable(route, f) {
		err = &Unresolved{Why: LeftBounds}
	}
	return route, r, err
}

// asAlone returns an error if the requester alone would have no route, or one that asks more of a source: others' words
// open none, and drop nobody whom it finds itself and who must stamp.
func (r *resolving) asAlone() error {
	own := *r.facts
	own.Askers = []circulation.Person{own.Requester}
	_, alone, err := r.policy.whole(&own, r.floor, r.d)
	if err != nil {
		return err
	}
	dropped := func(p circulation.Person) bool {
		return !slices.ContainsFunc(r.stages, func(s circulation.Stage) bool {
			return position(s.People, p) >= 0 && len(r.stamping(s.People)) <= s.Need
		})
	}
	for i, was := range alone.stages {
		is := &r.stages[i]
		if was.LeftOut == "" && (is.LeftOut != "" || is.Need < was.Need) {
			return r.refuse(i, LeftAskers)
		}
		found := was.Filled == "" && was.Need == len(was.People) && is.Filled != FilledInstead
		if found && slices.ContainsFunc(r.stamping(was.People), dropped) {
			return r.refuse(i, LeftAskers)
		}
	}
	return nil
}

// stage finds the people of one stage.
func (r *resolving) stage(i int) error {
	s := &r.sources[i]
	out := circulation.Stage{Name: s.Name, Mode: circulation.ModePeople, Need: s.Need,
		NoStandIns: s.NoStandIns}
	if s.Who.Kind == WhoChannel {
		return r.channel(i)
	}
	if what := s.Who.misnamed(r.d); what != "" {
		return r.unknown(i, what)
	}
	found := s.Who.find(r.facts, r.d)
	if len(found) > mostFound {
		return r.refuse(i, LeftMany)
	}
	r.stages, r.found, r.gone = append(r.stages, out), append(r.found, found), append(r.gone, r.away(s, found))
	switch {
	case s.Who.Nobody:
		r.leaveOut(i, LeftNone)
		return nil
	case slices.Contains(r.later, i):
		r.leaveOut(i, LeftLater)
		return nil
	}
	beside, named := r.beside(i), r.named(s, found)
	out.People = but(named, beside)
	switch {
	case s.Share != "":
		out.Need = max(s.Share.of(different(found)), 1)
	case out.Need == 0: // all of them, also those who turn out to ask
		out.Need = max(len(out.People), 1)
	}
	if s.Who.labelled() {
		out.People, out.Need = r.spared(i, out.People, out.Need)
	}
	r.stages[i] = out
	if len(out.People) > MaxPeople {
		return r.refuse(i, LeftMany)
	}
	if err := r.enough(i, named); err != nil {
		return err
	}
	return r.twice(i)
}

// enough sees to it that enough people may stamp at a stage that names these, or leaves it out.
func (r *resolving) enough(i int, named []circulation.Person) error {
	s, out := &r.sources[i], &r.stages[i]
	here := but(out.People, r.gone[i])
	if len(r.stamping(here)) >= out.Need {
		out.Filled = filledBy(here)
		return nil
	}
	why := r.whyFew(s, r.found[i], out.Need)
	switch {
	case len(r.stamping(out.People)) >= out.Need:
		why = LeftAway
	case len(r.stamping(named)) >= out.Need && len(out.People) < out.Need:
		why = LeftTwice
	}
	out.People = here
	if why == LeftAway || why == LeftVacant || why == LeftElsewhere || why == LeftStanding {
		if enough, err := r.instead(i, here); enough || err != nil {
			return err
		}
	}
	return r.empty(i, why)
}

// but returns those of some people who aren't among others.
func but(people, others []circulation.Person) []circulation.Person {
	return slices.DeleteFunc(slices.Clone(people), func(p circulation.Person) bool { return position(others, p) >= 0 })
}

// different returns how many different people these are.
func different(people []circulation.Person) (n int) {
	for i, p := range people {
		if position(people[:i], p) < 0 {
			n++
		}
	}
	return n
}

// able reports whether somebody may stamp at a stage, whoever asks.
func (r *resolving) able(s *Stage, p circulation.Person) bool {
	standing := r.d.Employment(p, r.facts.On)
	return p.User != "" && (r.d.Org() == "" || p.Person != "") &&
		(standing == EmploymentEmployee || standing == EmploymentOther && s.Others)
}

// asks reports whether somebody is one of the askers.
func (r *resolving) asks(p circulation.Person) bool {
	return r.facts.Requester.Is(p) || position(r.facts.Askers, p) >= 0
}

// mayStamp reports whether somebody may stamp at a stage.
func (r *resolving) mayStamp(s *Stage, p circulation.Person) bool { return !r.asks(p) && r.able(s, p) }

// named returns those whom a stage names, each once: who may stamp, and who may only not because they are askers beside
// the requester.
func (r *resolving) named(s *Stage, found []circulation.Person) (people []circulation.Person) {
	for _, p := range found {
		if !r.facts.Requester.Is(p) && r.able(s, p) && position(people, p) < 0 {
			people = append(people, p)
		}
	}
	return people
}

// stamping returns those of a stage's people who are no askers.
func (r *resolving) stamping(people []circulation.Person) []circulation.Person {
	return slices.DeleteFunc(slices.Clone(people), r.asks)
}

func (r *resolving) refuse(i int, why string) *Unresolved {
	no := &Unresolved{Stage: r.of[i] + 1, Name: r.sources[i].Name, Why: why}
	switch {
	case why == LeftUnknown:
		no.What = r.sources[i].Who.unnamed(r.d)
	case r.sources[i].Who.Kind == WhoManager && (why == LeftAbove || why == LeftVacant):
		no.Of = highest(r.facts, r.d)
	}
	return no
}

// unknown refuses because of what a source, or whom it asks instead, names and the organisation doesn't have.
func (r *resolving) unknown(i int, what string) *Unresolved {
	return &Unresolved{Stage: r.of[i] + 1, Name: r.sources[i].Name, Why: LeftUnknown, What: what}
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
	for _, post := range r.policy.Readers.Posts {
		lists = append(lists, post.placed(r.facts, r.d)...)
	}
	for _, who := range lists {
		if what := who.misnamed(r.d); what != "" {
			return nil, &Unresolved{Why: LeftUnknown, What: what}
		}
		for _, p := range who.find(r.facts, r.d) {
			own := who.Kind == WhoPosition && r.facts.Requester.Is(p)
			if p.User != "" && !own && position(people, p) < 0 {
				people = append(people, p)
			}
		}
	}
	if len(people) > MaxPeople {
		return nil, &Unresolved{Why: LeftMany}
	}
	return people, nil
}
