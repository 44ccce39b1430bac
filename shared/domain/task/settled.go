package task

import (
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// ViaStamped is how the same rule finds whom it asks about a step.
const ViaStamped = "stamped the steps"

// Settled is how the steps of an attempt were settled under a rule. The same rule asks about one of them by one stamp
// of anybody on its Desk.
type Settled struct {
	Rule   circulation.Rule
	Desk   circulation.Stage // those for whom the steps' last stage was stamped
	Askers []circulation.Person
	Org    string // version of the organisation by whose keys they are known
	// Stamps and Hands are how many stamps the steps have, and of how many different people.
	Stamps, Hands int
}

// Settled returns how the steps of an attempt were settled; nil: without a rule.
func (a *Aggregate) Settled(e *Execution) *Settled {
	g := a.inForce(e).gate()
	if g.Terms.Rule == nil || g.Route == nil {
		return nil
	}
	s := &Settled{Rule: *g.Terms.Rule, Askers: slices.Clone(g.Askers), Org: g.Route.Org}
	for _, user := range a.askersOfAll() {
		if !slices.ContainsFunc(s.Askers, func(p circulation.Person) bool { return p.User == user }) {
			s.Askers = append(s.Askers, circulation.Person{User: user})
		}
	}
	st := circulation.Walk(g.Circulating())
	s.Stamps, s.Hands = len(st.Stamps()), st.Hands()
	for i := range st.Stages {
		stage := &st.Stages[i]
		if len(stage.Stamps) == 0 {
			continue
		}
		s.Desk = circulation.Stage{Name: stage.Name, Mode: circulation.ModePeople, Need: 1}
		for _, act := range stage.Stamps {
			p := act.Principal
			p.Via = ViaStamped
			s.Desk.People = append(s.Desk.People, p)
		}
	}
	return s
}

// Opening returns how a step's gate opens under the same rule, if these people of the desk are asked.
func (s *Settled) Opening(people []circulation.Person) aggregate.Opening {
	desk := s.Desk
	desk.People = people
	return aggregate.Opening{Rule: s.Rule, Askers: s.Askers, Route: circulation.Route{
		Form: circulation.Form, Hands: 1, Org: s.Org, Stages: []circulation.Stage{desk},
	}}
}
