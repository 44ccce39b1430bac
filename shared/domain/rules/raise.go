package rules

import (
	"cmp"
	"fmt"
	"slices"

	"ringi/shared/domain/circulation"
)

// Raise is whom a stage's people may add after themselves, in a case that they judge: no rule says what is important.
type Raise struct {
	When string `json:"when"` // the case, as people read it
	Who  Who    `json:"who"`
}

func (s Stage) checkRaises(p *problems, at string) {
	p.unless(len(s.Raises) <= MaxRaises, at, "most", MaxRaises)
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
		for _, f := range r.raising(i, x.Who) {
			for _, who := range x.Who.placed(f, r.d) {
				found, why := r.raisedTo(i, who, f)
				none.LeftOut = cmp.Or(why, none.LeftOut)
				for _, p := range found {
					already := func(x circulation.Raise) bool { return x.To.Is(p) }
					switch {
					case r.asks(p):
						none.LeftOut = r.whoseOwn()
					case f != r.facts && r.below(p):
						none.LeftOut = LeftBelow
					case !r.able(s, p):
						none.LeftOut = LeftStanding
					case r.onRoute(p):
						none.When = "" // its stage says so
					case !slices.ContainsFunc(cases[n], already):
						cases[n] = append(cases[n], circulation.Raise{When: x.When, To: p})
					}
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

// raisedTo returns whom a stage's people may add, or why nobody. Of a manager it is the nearest who isn't one of them.
func (r *resolving) raisedTo(i int, w Who, f *Facts) (found []circulation.Person, why string) {
	found = w.find(f, r.d)
	for f != r.facts && w.Kind == WhoManager && len(found) > 0 && position(r.stages[i].People, found[0]) >= 0 {
		w.Level++
		found = w.find(f, r.d)
	}
	what := w.unnamed(r.d)
	over, known := w.over(r.d, f.On)
	switch {
	case len(found) > 0:
	case what != "":
		return nil, LeftUnknown
	case known && w.Kind == WhoPosition:
		return []circulation.Person{over}, ""
	default:
		why = w.noneFound(r.d)
	}
	return found, why
}

// relative reports whether it depends on above whom it is looked for.
func (w Who) relative() bool {
	return w.Kind == WhoManager || w.Kind == WhoPosition && w.Label == "" && (w.Placed || w.Department == "")
}

// raising returns the facts by which it is looked for whom a stage's people may add: those of the request, but where
// one is looked for above somebody and the stage's people don't stand above the requester, as if they asked.
func (r *resolving) raising(i int, w Who) (all []*Facts) {
	if !w.relative() {
		return []*Facts{r.facts}
	}
	line := false
	for _, p := range r.stamping(r.stages[i].People) {
		f := r.facts
		if !r.inLine(p, r.facts.Requester) {
			theirs := *f
			theirs.Requester, theirs.Departments = p, r.d.Departments(p, f.On)
			f = &theirs
		} else if line {
			continue
		} else {
			line = true
		}
		all = append(all, f)
	}
	return all
}

// inLine reports whether somebody stands above another.
func (r *resolving) inLine(p, of circulation.Person) (is bool) {
	above(r.d, of, r.facts.On, func(_ int, over circulation.Person) bool { is = over.Is(p); return !is })
	return is
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
