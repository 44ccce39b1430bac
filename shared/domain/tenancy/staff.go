package tenancy

import (
	"cmp"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
)

// Staff is who is employed on a day; the zero value: no organisation stands.
type Staff struct {
	Chart    *organisation.Chart
	Accounts *organisation.Accounts
}

// StaffOf returns who is employed at a time by an organisation; nil: none stands.
func StaffOf(o *organisation.Organisation, accounts *organisation.Accounts, at time.Time) Staff {
	if o == nil {
		return Staff{}
	}
	return Staff{o.Chart(organisation.DateOf(at.In(Zone()))), accounts}
}

// Number returns an account's key in the organisation, or "".
func (s Staff) Number(account string) string {
	if s.Accounts == nil {
		return ""
	}
	number, _ := s.Accounts.Number(account)
	return number
}

// Fit returns those of an account's delegations that name it as the gate's route tells people apart, and where that has
// an organisation, says what the organisation of the day has against them: a hand who is no employee, or who stands
// below anybody who asks. askers are such beside the gate's: nobody stands in for them, nor they for others, and what
// they set for others is unfit. Delegations whose principals are not in the organisation are left out. Whoever lists,
// tells or asks a stand-in goes by it, as acts do.
func (s Staff) Fit(g *aggregate.Gate, account string, all []circulation.StandIn,
	askers ...string) (out []circulation.StandIn) {
	hand := s.Number(account)
	key, asks := g.HandKey(g.Hand(account, hand)), s.asking(g, askers)
	for _, x := range all {
		x.SetBy.Person = s.numberOn(g, x.SetBy.User)
		if key == "" || PersonKey(x.Hand) != key || slices.ContainsFunc(asks, func(p circulation.Person) bool {
			return p.Is(x.Hand) || p.Is(x.Principal)
		}) {
			continue
		}
		if x.Chosen(asks) {
			x.Unfit = circulation.LackOthers
		}
		out = append(out, x)
	}
	switch {
	case !g.Organised() || len(out) == 0:
		return out
	case s.Chart == nil:
		return nil
	}
	lacks := s.lacks(g, hand, asks)
	out = slices.DeleteFunc(out, func(x circulation.StandIn) bool {
		_, here := s.Chart.Person(x.Principal.Person)
		return !here
	})
	for i := range out {
		out[i].Unfit = cmp.Or(out[i].Unfit, lacks)
	}
	return out
}

// asking returns those of some askers who are none of the gate's, as its route tells people apart.
func (s Staff) asking(g *aggregate.Gate, askers []string) (out []circulation.Person) {
	for _, user := range askers {
		p := circulation.Person{User: user, Person: s.numberOn(g, user)}
		if g == nil || !slices.ContainsFunc(g.Askers, p.Is) {
			out = append(out, p)
		}
	}
	return out
}

// numberOn is Number where a gate's route has an organisation, else "".
func (s Staff) numberOn(g *aggregate.Gate, account string) string {
	if !g.Organised() {
		return ""
	}
	return s.Number(account)
}

// lacks returns what a hand lacks to stand in for anybody on a gate whose route has an organisation. askers are such
// beside the gate's.
func (s Staff) lacks(g *aggregate.Gate, hand string, askers []circulation.Person) circulation.Lack {
	asks := slices.Concat(g.Askers, askers)
	below := func(p circulation.Person) bool {
		if p.Person == "" {
			p.Person = s.Number(p.User)
		}
		return p.Person != "" && s.Chart.Below(hand, p.Person)
	}
	switch is, here := s.Chart.Person(hand); {
	case !here || is.Kind != organisation.Employee:
		return circulation.LackEmployee
	case slices.ContainsFunc(asks, below):
		return circulation.LackBelow
	}
	return ""
}
