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

// Sources returns a stage of each source, in their order.
func (s *Stage) Sources() []Stage {
	one := *s
	one.Beside = nil
	all := []Stage{one}
	for _, x := range s.Beside {
		one.Who, one.Need, one.Share = x.Who, x.Need, x.Share
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
		to.People = slices.Concat(to.People, s.People)
		to.Need, to.Filled = to.Need+s.Need, cmp.Or(to.Filled, s.Filled)
	}
	return all
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
