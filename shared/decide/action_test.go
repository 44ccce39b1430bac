package decide

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// settledBy are steps that these people stamped at the last stage, by the rule that in makes.
func settledBy(people ...circulation.Person) *task.Settled {
	return &task.Settled{Rule: circulation.Rule{ID: in(rules.Outcome{}).ID, Name: "old", Revision: 1},
		Desk:   circulation.Stage{Name: "desk", Mode: circulation.ModePeople, Need: 1, People: people},
		Askers: []circulation.Person{{User: "SATO"}, {User: "BEFORE"}}}
}

func account(user string) circulation.Person {
	return circulation.Person{User: user, Via: task.ViaStamped}
}

// staff is an office in which only these people may stamp.
type staff struct {
	office
	may []string
}

func (s staff) MayStamp(user string) bool { return slices.Contains(s.may, user) }

// The rule by which steps were settled asks once more about one of them, if it still takes the request.
func TestTheSameRuleAsksWhoStampedTheSteps(t *testing.T) {
	head := of(in(asks("HEAD")))
	tanaka, kato := account("TANAKA"), account("KATO")
	for name, c := range map[string]struct {
		settled *task.Settled
		rules   *rules.Rules
		d       rules.Directory
		want    string
	}{
		"it asks who stamped":        {settledBy(tanaka, kato), head, ids{}, "TANAKA KATO"},
		"steps are asked about anew": {nil, head, ids{}, "HEAD"},
		"another rule takes it":      {settledBy(tanaka), of(in(asks("HEAD"), "C1")), ids{}, "HEAD"},
		"the rule refuses by now":    {settledBy(tanaka), of(in(refuses("no"))), ids{}, "no"},
		"an asker is not asked":      {settledBy(account("ITO"), kato), head, ids{}, "KATO"},
		"only askers stamped":        {settledBy(account("ITO")), head, ids{}, "HEAD"},
		"who stamped may still":      {settledBy(tanaka), head, staff{may: []string{"TANAKA", "HEAD"}}, "TANAKA"},
		"who stamped may no more":    {settledBy(tanaka), head, staff{may: []string{"HEAD"}}, "HEAD"},
	} {
		x := askersOf()
		x.Calls, x.Settled = []rules.Call{{Access: aggregate.Write}}, c.settled
		found := expect.Value(x.By(c.rules, c.d))(t)
		var got []string
		if o := found.Opening; o != nil {
			for _, p := range o.Route.Stages[0].People {
				got = append(got, p.User)
			}
			expect.That(t, o.Rule.Revision == 3, "%s: %+v", name, o)
		} else {
			got = []string{found.Refused.Detail}
		}
		expect.Is(t, strings.Join(got, " "), c.want, name)
	}
}

// Those whose own request the steps were count as askers still.
func TestTheSameRuleKeepsTheAskersOfTheSteps(t *testing.T) {
	x := askersOf()
	x.Settled = settledBy(account("TANAKA"))
	found := expect.Value(x.By(of(in(asks("HEAD"))), ids{}))(t)
	expect.Same(t, found.Opening.Askers, []circulation.Person{{User: "SATO"}, {User: "ITO"}, {User: "BEFORE"}})
}
