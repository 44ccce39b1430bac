package decide

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// settledBy are steps that these people stamped at the last stage, by the rule that in makes.
func settledBy(stamps, hands int, people ...circulation.Person) *task.Settled {
	return &task.Settled{Rule: circulation.Rule{ID: in(rules.Outcome{}).ID, Name: "old", Revision: 1},
		Desk:   circulation.Stage{Name: "desk", Mode: circulation.ModePeople, Need: 1, People: people},
		Askers: []circulation.Person{{User: "SATO"}, {User: "BEFORE"}}, Stamps: stamps, Hands: hands}
}

func account(user string) circulation.Person {
	return circulation.Person{User: user, Via: task.ViaStamped}
}

// staff is an office in which only these people may stamp, as this.
type staff struct {
	office
	as map[string]rules.Employment
}

func (s staff) Employment(p circulation.Person, _ string) rules.Employment { return s.as[p.User] }

// The rule by which steps were settled asks once more about one of them, if it still takes the request.
func TestTheSameRuleAsksWhoStampedTheSteps(t *testing.T) {
	refuse := rules.EmptyRefuse
	head := of(in(asks(refuse, "HEAD")))
	tanaka, kato := account("TANAKA"), account("KATO")
	others := in(asks(refuse, "HEAD"))
	others.Outcome.Route.Stages[0].Others = true
	twice := of(in(asks(refuse, "HEAD", "CHIEF")))
	twice.Floor.Stamps = 2
	hands := of(in(asks(refuse, "HEAD")))
	hands.Floor.HandsFrom = &rules.Money{Value: "100", Currency: "JPY"}
	works := func(as rules.Employment) staff {
		return staff{as: map[string]rules.Employment{"TANAKA": as, "HEAD": rules.EmploymentEmployee}}
	}
	for name, c := range map[string]struct {
		settled *task.Settled
		rules   *rules.Rules
		d       Seats
		want    string
	}{
		"it asks who stamped":                {settledBy(1, 1, tanaka, kato), head, ids{}, "TANAKA KATO"},
		"steps are asked about anew":         {nil, head, ids{}, "HEAD"},
		"another rule takes it":              {settledBy(1, 1, tanaka), of(in(asks(refuse, "HEAD"), "C1")), ids{}, "HEAD"},
		"the rule refuses by now":            {settledBy(1, 1, tanaka), of(in(refuses("no"))), ids{}, "no"},
		"an asker is not asked":              {settledBy(1, 1, account("ITO"), kato), head, ids{}, "KATO"},
		"only askers stamped":                {settledBy(1, 1, account("ITO")), head, ids{}, "HEAD"},
		"the floor asks more stamps":         {settledBy(1, 1, tanaka), twice, ids{}, "below"},
		"the floor's stamps were given":      {settledBy(2, 1, tanaka), twice, ids{}, "TANAKA"},
		"the floor asks two hands":           {settledBy(2, 1, tanaka), hands, ids{}, "below"},
		"two hands stamped":                  {settledBy(2, 2, tanaka), hands, ids{}, "TANAKA"},
		"who stamped is an employee":         {settledBy(1, 1, tanaka), head, works("employee"), "TANAKA"},
		"who stamped is none any more":       {settledBy(1, 1, tanaka), head, works(""), "HEAD"},
		"who stamped works for another firm": {settledBy(1, 1, tanaka), head, works("other"), "HEAD"},
		"and the rule lets such people":      {settledBy(1, 1, tanaka), of(others), works("other"), "TANAKA"},
	} {
		x := askersOf()
		x.Calls, x.Settled = []rules.Call{{Access: aggregate.Write}}, c.settled
		found := expect.Value(x.By(c.rules, c.d))(t)
		var got []string
		if o := found.Opening; o != nil {
			for _, p := range o.Route.Stages[0].People {
				got = append(got, p.User)
			}
			expect.That(t, o.Rule.Revision == 3 && (c.d.Org() == "") == (o.Route.Org == ""), "%s: %+v", name, o)
		} else if got = []string{found.Refused.Detail}; found.Refused.Lacks == rules.LeftFloor {
			got = []string{"below"}
		}
		expect.Is(t, strings.Join(got, " "), c.want, name)
	}
}

// Those whose own request the steps were count as askers still.
func TestTheSameRuleKeepsTheAskersOfTheSteps(t *testing.T) {
	x := askersOf()
	x.Settled = settledBy(1, 1, account("TANAKA"))
	found := expect.Value(x.ByIDs(of(in(asks(rules.EmptyRefuse, "HEAD")))))(t)
	expect.Same(t, found.Opening.Askers, []circulation.Person{{User: "SATO"}, {User: "ITO"}, {User: "BEFORE"}})
}

// What a row can't have is left out, and may be anything then.
func TestARowHasOnlySoMuchOfCalls(t *testing.T) {
	long := []rules.Call{{Destinations: []string{strings.Repeat("x", mostKept)}, Amount: rules.Nothing()}}
	kept := Kept(long)
	expect.That(t, kept[0].Destinations == nil && kept[0].Amount.Known() && long[0].Destinations != nil, "%+v", kept)
	short := []rules.Call{{Destinations: []string{"x"}}}
	expect.Same(t, Kept(short), short)
}
