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
	for i, x := range s.Raises {
		field := fmt.Sprintf("%s[%d]", at, i)
		p.words(x.When, field+".when", MaxName)
		x.Who.checkOne(p, singly, field+".who")
	}
}

// raises returns whom a stage offers: each of those who are found and may stamp, who stands over a vacant post, or why
// nobody. Whom the route asks already isn't offered.
func (r *resolving) raises(i int) (offers []circulation.Raise) {
	s := &r.sources[i]
	for _, x := range s.Raises {
		none := circulation.Raise{When: x.When, LeftOut: LeftVacant}
		n := len(offers)
		for _, who := range x.Who.placed(r.facts, r.d) {
			found := who.find(r.facts, r.d)
			over, known := who.over(r.d, r.facts.On)
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
					offers = append(offers, circulation.Raise{When: x.When, To: p})
				}
			}
		}
		if len(offers) == n && none.When != "" {
			offers = append(offers, none)
		}
	}
	return offers[:min(len(offers), maxOffered)]
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
