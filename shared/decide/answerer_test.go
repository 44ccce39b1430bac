package decide

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/call"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
)

type keyed struct {
	delegating
	a *call.Aggregate
}

func (s *keyed) Load(context.Context, aggregate.Ref) (aggregate.Aggregate, error) { return s.a, nil }
func (s *keyed) DecideFrom(_ context.Context, a aggregate.Aggregate,
	decide aggregate.Decision[aggregate.Aggregate]) (aggregate.Aggregate, error) {
	c, err := decide(a)
	if err == nil && !c.Empty() {
		s.a = s.a.After(c).(*call.Aggregate)
	}
	return s.a, err
}

// keyedCall is a call that asker's key asked for, which one person is asked to stamp.
func keyedCall(t *testing.T, asker, asks string) (s *keyed, maker Maker, who func(string) circulation.Person) {
	t.Helper()
	d := &drawn{now: noon()}
	who = func(user string) circulation.Person { return circulation.Person{User: user} }
	k := tenancy.Key{ID: "k1", TenantID: "T", Team: "T1", Name: "agent", Answers: asker, Channel: "CMINE",
		Tools: []string{"Bash"}, QuotaDay: 9, ExpiresAt: noon().AddDate(0, 1, 0)}
	x := call.Proposal{Key: k, Content: call.Content{Key: "k1", Answers: asker, Tool: "Bash", Elsewhere: true,
		Called: conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Write}},
		Terms: aggregate.Terms{ApprovalRequired: true, DecideBy: new(noon().Add(time.Hour)), ApprovalHours: 24}}
	members := expect.Value(call.Members([]byte(`{"command":"rm x"}`)))(t)
	var err error
	x.Content.Arguments, x.Effect, err = call.Digest(members, nil)
	expect.NoError(t, err)
	o := aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "rule", Revision: 1},
		Askers: []circulation.Person{who(asker)},
		Route: circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{{Name: "one",
			Mode: circulation.ModePeople, Need: 1, People: []circulation.Person{who(asks)}}}}}
	x.LooksUp = true
	c := expect.Value(x.Ask(noon()))(t)
	s = &keyed{a: (&call.Aggregate{}).After(c).(*call.Aggregate)}
	c = expect.Value(s.a.Route(s.a.Head.Run, call.Routed{Opening: &o, Terms: x.Terms}, noon()))(t)
	s.a = s.a.After(c).(*call.Aggregate)
	return s, Maker{Store: s, People: &people.People{Slack: member{}, Now: d.clock}, Now: d.clock},
		who
}

// stoodIn returns what became of a stamp that hand gave for principal by a delegation that setBy set, on such a call.
func stoodIn(t *testing.T, asker, principal, hand, setBy string) error {
	t.Helper()
	s, maker, who := keyedCall(t, asker, principal)
	in := circulation.StandIn{Hand: who(hand), Principal: who(principal), SetBy: circulation.Person{User: setBy},
		Begins: noon().Add(-time.Hour), Ends: noon().Add(time.Hour)}
	in.Key, in.Rev = in.Hand.User+"#"+in.Principal.User+"#2026-11-25", 1
	s.all = []circulation.StandIn{in}
	click := Click{Want: people.Want{User: hand}, Ref: s.a.Ref(), ID: s.a.Head.CallID, Stage: 1}
	return maker.Decide(t.Context(), click, Approve).Err
}

// Who answers for a key chooses nobody who stamps its calls for somebody else.
func TestWhoAnswersForAKeyChoosesNoStandIn(t *testing.T) {
	for name, c := range map[string]struct {
		asker, principal, hand, setBy string
		may                           bool
	}{
		"set by the asker":     {"U1", "U2", "U3", "U1", false},
		"set by the principal": {"U1", "U2", "U3", "U2", true},
	} {
		err := stoodIn(t, c.asker, c.principal, c.hand, c.setBy)
		expect.That(t, (err == nil) == c.may, "%s: %v", name, err)
	}
}

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
