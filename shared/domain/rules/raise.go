package rules

import (
	"fmt"

	"ringi/shared/domain/circulation"
)

// Raise is whom a stage's people may add after themselves, in a case that they judge: no rule says what is important.
type Raise struct {
	When string `json:"when"` // the case, as people read it
	Who  Who    `json:"who"`
}

func (s Stage) checkRaises(p *problems, at string) {
	p.unless(len(s.Raises) <= MaxRaises, at, "most", MaxRaises)
	p.unless(len(s.Raises) == 0 || s.approves(), at, "of_approval")
	named := 0
	for i, x := range s.Raises {
		named += len(x.Who.People)
		field := fmt.Sprintf("%s[%d]", at, i)
		p.words(x.When, field+".when", MaxName)
		x.Who.checkOne(p, singly, field+".who")
	}
	p.unless(named <= maxOffered, at, "most", maxOffered)
}

// raises returns whom a stage offers: each of those who are found and may stamp, who stands over a vacant post, or why
// nobody. Whom the route asks already isn't offered.
func (r *resolving) raises(i int) (offers []circulation.Raise) {
	s := &r.sources[i]
	cases := make([][]circulation.Raise, len(s.Raises))
	for n, x := range s.Raises {
		none := circulation.Raise{When: x.When, LeftOut: LeftVacant}
		for _, who := range x.Who.placed(r.facts, r.d) {
			found := who.find(r.facts, r.d)
			over, known := who.over(r.d, r.facts.On)
			none.LeftOut = who.noneFound(r.d)
			switch what := who.unnamed(r.d); {
			case len(found) > 0:
			case what != "":
				none.LeftOut = LeftUnknown
			case known && who.Kind == WhoPosition:
				found = append(found, over)
			}
			for _, p := range found {
				switch {
				case r.asks(p):
					none.LeftOut = r.whoseOwn()
				case !r.able(s, p):
					none.LeftOut = LeftStanding
				case r.onRoute(p):
					none.When = "" // its stage says so
				default:
					cases[n] = append(cases[n], circulation.Raise{When: x.When, To: p})
				}
			}
		}
		if cases[n] == nil && none.When != "" {
			cases[n] = append(cases[n], none)
		}
	}
	return offered(cases)
}

// offered returns of each case as many as a form has room for, and says of which there are more.
func offered(cases [][]circulation.Raise) (offers []circulation.Raise) {
	all, most := maxOffered+1, maxOffered+1
	for all > maxOffered {
		all, most = 0, most-1
		for _, of := range cases {
			all += min(len(of), most)
		}
	}
	for _, of := range cases {
		offers = append(offers, of[:min(len(of), most)]...)
		if len(of) > most {
			offers = append(offers, circulation.Raise{When: of[0].When, LeftOut: LeftMany})
		}
	}
	return offers
}

// onRoute reports whether a stage asks somebody.
func (r *resolving) onRoute(p circulation.Person) bool {
	for _, s := range r.stages {
		if position(s.People, p) >= 0 {
			return true
		}
	}
	return false
}
