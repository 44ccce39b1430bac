package rules

import (
	"cmp"
	"slices"

	"ringi/shared/domain/circulation"
)

// Source is another way in which a stage finds people. They are asked at the same time, for stamps of their own, and
// nobody stamps for two sources: whom two of them find counts for the first.
type Source struct {
	Who   Who   `json:"who"`
	Need  int   `json:"need"` // how many of them must stamp; 0: all, or as many as Share says
	Share Share `json:"share,omitempty"`
	// Secretary says that one of them records the stage's minutes: whom the stage finds also, it finds as that.
	Secretary bool `json:"secretary,omitempty"`
}

// Share is how many of a body must stamp. Its members count whether they may stamp or not, such as whoever asks.
type Share string

const (
	ShareMajority  Share = "majority"   // more than half
	ShareTwoThirds Share = "two_thirds" // two thirds or more
)

var shares = []Share{ShareMajority, ShareTwoThirds}

// of returns how many of n that is; without a share, all.
func (s Share) of(n int) int {
	switch s {
	case ShareMajority:
		return n/2 + 1
	case ShareTwoThirds:
		return (2*n + 2) / 3
	}
	return n
}

func (s Share) check(p *problems, need int, at string) {
	p.unless(s == "" || slices.Contains(shares, s), at+".share", "choice", choices(shares))
	p.unless(s == "" || need == 0, at+".share", "of_share")
}

// approves reports whether a stage's stamps count: those of a stage that is consulted don't, for hands and the floor.
func (s *Stage) approves() bool { return s.As != circulation.AsConsult }

// approving returns the stages that approve.
func approving(stages []Stage) []Stage {
	return slices.DeleteFunc(slices.Clone(stages), func(s Stage) bool { return !s.approves() })
}

// Sources returns a stage of each source, in their order.
func (s *Stage) Sources() []Stage {
	one := *s
	one.Beside, one.Records = nil, false
	all := []Stage{one}
	for _, x := range s.Beside {
		one.Who, one.Need, one.Share, one.Records = x.Who, x.Need, x.Share, x.Secretary
		all = append(all, one)
	}
	return all
}

// Sources returns all in which the policy finds people, as stages of their own, and the stage of each.
func (p *Policy) Sources() (all []Stage, of []int) {
	for i := range p.Stages {
		for _, s := range p.Stages[i].Sources() {
			all, of = append(all, s), append(of, i)
		}
	}
	return all, of
}

// Each returns those of which any is asked; else only itself.
func (w Who) Each() []Who {
	if w.Kind == WhoAny {
		return w.Any
	}
	return []Who{w}
}

// All returns also who is asked instead.
func (w Who) All() []Who {
	all := slices.Clone(w.Each())
	for _, x := range w.Instead {
		all = append(all, x.Each()...)
	}
	return all
}

// of reports whether it asks such people, among others.
func (w Who) of(kinds ...WhoKind) bool {
	return slices.ContainsFunc(w.Each(), func(x Who) bool { return slices.Contains(kinds, x.Kind) })
}

// joined returns the stages of a route of its first sources: what is asked side by side is one stage, in parts.
func joined(sources []circulation.Stage, of []int) (all []circulation.Stage) {
	for i, s := range sources {
		if i == 0 || of[i] != of[i-1] {
			all = append(all, s)
			continue
		}
		to := &all[len(all)-1]
		switch { // of a label's several departments: whoever stamps elsewhere isn't asked for this one, too
		case s.LeftOut != "":
			continue
		case to.LeftOut != "":
			*to = s
			continue
		}
		if len(to.Parts) == 0 {
			to.Parts = []circulation.Part{{N: len(to.People), Of: to.Need}}
		}
		to.Parts = append(to.Parts, circulation.Part{N: len(s.People), Of: s.Need})
		to.People, to.Over = slices.Concat(to.People, s.People), slices.Concat(to.Over, s.Over)
		to.Need, to.Filled = to.Need+s.Need, cmp.Or(to.Filled, s.Filled)
		if s.Secretary > 0 {
			to.Secretary = len(to.Parts)
		}
	}
	for i := range all {
		if len(all[i].Parts) == 0 { // of one part, anybody records them
			all[i].Secretary = 0
		}
	}
	return all
}

// secretaries returns whom a later source of the same stage finds to record its minutes.
func (r *resolving) secretaries(i int) (people []circulation.Person) {
	for j := i + 1; j < len(r.sources) && r.of[j] == r.of[i]; j++ {
		if s := &r.sources[j]; s.Records {
			people = append(people, r.stamping(r.named(s, s.Who.find(r.facts, r.d)))...)
		}
	}
	return people
}

// beside returns whom the sources before this one, of the same stage, ask.
func (r *resolving) beside(i int) (people []circulation.Person) {
	for j := range r.stages[:i] {
		if r.of[j] == r.of[i] {
			people = append(people, r.stages[j].People...)
		}
	}
	return people
}

// over returns who is asked after an objection at a stage: the nearest above each of its people who may stamp and isn't
// there themselves.
func (r *resolving) over(i int) (people []circulation.Person, err error) {
	s, out := &r.sources[i], &r.stages[i]
	if s.Dissent != circulation.ObjectionRaised || out.LeftOut != "" {
		return nil, nil
	}
	for _, of := range out.People {
		above(r.d, of, r.facts.On, func(level int, p circulation.Person) bool {
			is := r.mayStamp(s, p) && position(out.People, p) < 0
			if is && position(people, p) < 0 {
				people = append(people, asManager(p, of, level, r.facts.On))
			}
			return !is
		})
	}
	if len(people) == 0 {
		no := r.refuse(i, LeftAbove)
		no.Of, err = out.People[0], no
	}
	return people, err
}

// once reports whether a stage asks nobody again who stamps at an earlier one after an objection, as it says of those
// asked twice: all its people may be asked there. With their own hand they stamp as strictly as here, but for minutes.
// See twice for askers and renamed posts.
func (r *resolving) once(i int) bool {
	out, over := &r.stages[i], []circulation.Person(nil)
	if r.sources[i].Empty.Twice != ThenSkip || out.LeftOut != "" || out.Filled == LeftUnknown || out.As != "" ||
		out.Minutes || out.Need != len(out.People) || r.whoseOwn() == LeftAskers ||
		i > 0 && r.of[i-1] == r.of[i] || i+1 < len(r.of) && r.of[i+1] == r.of[i] {
		return false
	}
	for j := range r.stages[:i] {
		if r.stages[j].Filled != LeftUnknown {
			over = append(over, r.stages[j].Over...)
		}
	}
	return !slices.ContainsFunc(out.People, func(p circulation.Person) bool { return position(over, p) < 0 })
}

// named returns how many of the stages ask others than the channel.
func named(stages []Stage) (n int) {
	for _, s := range stages {
		if s.Who.Kind != WhoChannel {
			n++
		}
	}
	return n
}

// leastStamps returns the fewest stamps of these stages.
func leastStamps(stages []Stage) (n int) {
	for _, s := range stages {
		n += s.least()
	}
	return n
}

// mayConcernNone reports whether labels may say of all its sources that no department is concerned.
func (s *Stage) mayConcernNone() bool {
	return !slices.ContainsFunc(s.Sources(), func(x Stage) bool { return x.Who.None == "" })
}

// most returns the most people whom a stage may find.
func (w Who) most() int {
	switch w.Kind {
	case WhoPeople:
		return len(w.People)
	case WhoGroup, WhoPosition:
		return MaxPeople
	case WhoAny:
		n := 0
		for _, x := range w.Any {
			n += x.most()
		}
		return min(n, MaxPeople)
	}
	return 1
}
