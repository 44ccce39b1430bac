package task

import (
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// tally is what stands of a gate, counted in another way than Walk does.
type tally struct {
	owed, present int
	settled       bool
}

// seat is a stage of the route, or one that came to it: where it comes, and of which stage an objection raised it.
type seat struct {
	circulation.Stage
	number, raised int
	path           []int
	// What stands: hands by principal, and objections.
	stamps map[string]string
	no     map[string]bool
}

func (s *seat) counts() bool { return len(s.path) == 1 && s.As != circulation.AsConsult }

// seats returns a gate's stages in the order in which they are asked.
func seats(g *aggregate.Gate) (all []*seat) {
	put := func(s circulation.Stage, path []int, raised int) {
		all = append(all, &seat{Stage: s, number: len(all) + 1, raised: raised, path: path, stamps: map[string]string{},
			no: map[string]bool{}})
	}
	for i, s := range g.Route.Stages {
		put(s, []int{i}, 0)
	}
	under := func(act circulation.Act, people []circulation.Person, as circulation.As, raised int) {
		path := slices.Clone(all[act.Stage-1].path)
		put(circulation.Stage{People: people, Need: 1, As: as}, append(path, len(all)), raised)
	}
	for _, act := range g.Acts {
		of := all[act.Stage-1]
		up := func(s *seat) bool { return s.raised == act.Stage }
		switch {
		case act.Kind == circulation.Add:
			under(act, []circulation.Person{*act.To}, act.As, 0)
		case act.Kind == circulation.Dissent && of.Dissent == circulation.ObjectionRaised &&
			!slices.ContainsFunc(all, up) && of.Over[0].User != requester:
			under(act, of.Over, "", act.Stage)
		}
	}
	slices.SortFunc(all, func(a, b *seat) int { return slices.Compare(a.path, b.path) })
	return all
}

// take counts one act at its stage; asked are its people, and what they say counts only from the gate's own words.
func (s *seat) take(act circulation.Act, asked map[string]bool, sum string) {
	given := func(hand string) bool {
		for _, by := range s.stamps {
			if by == hand {
				return true
			}
		}
		return false
	}
	says := act.Kind == circulation.Stamp || act.Kind == circulation.Dissent && s.As == circulation.AsConsult
	switch {
	case act.Kind == circulation.Stand:
		delete(asked, act.For.User)
		asked[act.To.User] = true
	case says && asked[act.Principal.User] && act.Hand.User != requester && act.Hash == sum &&
		s.stamps[act.Principal.User] == "" && !given(act.Hand.User):
		s.stamps[act.Principal.User] = act.Hand.User
		s.no[act.Principal.User] = act.Kind == circulation.Dissent
	case act.Kind == circulation.TakeBack:
		delete(s.stamps, act.Principal.User)
		delete(s.no, act.Principal.User)
	}
}

func (s *seat) objected() bool {
	for _, no := range s.no {
		if no {
			return true
		}
	}
	return false
}

// counted counts what stands, without what doesn't count: of an asker, of somebody whom the stage doesn't ask, or a
// second time.
func counted(g *aggregate.Gate) (n tally) {
	all, hands := seats(g), map[string]bool{}
	for _, s := range all {
		asked := map[string]bool{}
		for _, p := range s.People {
			asked[p.User] = p.User != requester
		}
		for _, act := range g.Acts {
			if act.Stage == s.number {
				s.take(act, asked, g.AskedSum)
			}
		}
		for _, hand := range s.stamps {
			hands[hand] = hands[hand] || s.counts()
		}
	}
	for _, s := range all {
		raises := func(x *seat) bool { return x.number == s.raised && x.objected() }
		closed := s.raised > 0 && !slices.ContainsFunc(all, raises)
		if missing := max(0, s.Need-len(s.stamps)); missing > 0 && !closed {
			n.owed += missing
			if n.present == 0 {
				n.present = s.number
			}
		}
	}
	stamped := 0
	for _, counts := range hands {
		if counts {
			stamped++
		}
	}
	n.settled = n.owed == 0 && stamped >= g.Route.Hands
	return n
}
