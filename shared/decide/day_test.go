package decide

import (
	"testing"
	"time"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// changing is an organisation whose head changes with the fiscal year.
type changing struct{ office }

func (changing) Manager(_ circulation.Person, on string) (circulation.Person, bool) {
	if on < "2027-04-01" {
		return circulation.Person{User: "OLD", Person: "OLD"}, true
	}
	return circulation.Person{User: "NEW", Person: "NEW"}, true
}

func (changing) Standing(circulation.Person, string) rules.Standing { return rules.StandingEmployee }

// Who is asked is decided by the day in the tenant's zone, to the second, of the time at which it is asked.
func TestARouteIsThatOfTheDayInTheTenantsZone(t *testing.T) {
	r := &rules.Rules{Form: rules.Form, Rules: []rules.Rule{in(rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{{
		Name: "head", Who: rules.Who{Kind: rules.WhoManager, Level: 1}, Need: 1, Empty: rules.EmptyRefuse}}}})}}
	for _, c := range []struct {
		now  time.Time
		want string
	}{
		{time.Date(2027, 3, 31, 14, 59, 59, 999_999_999, time.UTC), "OLD"}, // 23:59:59 in Japan
		{time.Date(2027, 3, 31, 15, 0, 0, 0, time.UTC), "NEW"},             // 0:00:00
		{time.Date(2027, 3, 31, 23, 59, 59, 0, time.FixedZone("JST", 9*60*60)), "OLD"},
		{time.Date(2027, 3, 31, 10, 0, 0, 0, time.FixedZone("America", -5*60*60)), "NEW"},
	} {
		steps := askersOf()
		steps.Now, steps.Organised = c.now, true
		found := expect.Value(steps.By(r, changing{}))(t)
		expect.Must(t, found.Opening != nil, "%s: %+v", c.now, found)
		expect.Is(t, found.Opening.Route.Stages[0].People[0].User, c.want, "steps at "+c.now.String())
		x := action(agent.ShellCommand)
		x.Now, x.Organised = c.now, true
		of := expect.Value(x.By(r, changing{}))(t)
		expect.Must(t, of.Opening != nil, "%s: %+v", c.now, of)
		expect.Is(t, of.Opening.Route.Stages[0].People[0].User, c.want, "an action at "+c.now.String())
	}
}
