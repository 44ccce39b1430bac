package decide

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// office is a directory in which an organisation stands.
type office struct {
	ids
	departments map[string][]string // by account
	groups      map[string][]string
	persons     map[string]string // by account; others have the account as their key
}

func (office) Org() string { return "v1" }

func (o office) Person(user string) circulation.Person {
	if p := o.persons[user]; p != "" {
		return circulation.Person{User: user, Person: p}
	}
	return circulation.Person{User: user, Person: user}
}

func (o office) Members(group string) []string { return o.groups[group] }

func (o office) Here(p circulation.Person, _ string) bool            { return p.User != "LEFT" }
func (o office) Departments(p circulation.Person, _ string) []string { return o.departments[p.User] }

// asked is a request of Sato's in C1, for these steps.
func askersOf(steps ...task.Step) *Steps {
	a := &task.Aggregate{
		Head:    task.Head{Head: aggregate.Head{Requester: "SATO"}},
		Request: &task.Request{User: "SATO", Channel: "C1", ChannelType: "channel"},
	}
	now := time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC)
	calls, _ := CallsOf("T1", steps, nil)
	return &Steps{Task: a, Calls: calls, Settings: tenancy.Settings{Locale: "en"}, Now: now}
}

// in is a rule for these channels, or for all if there are none.
func in(o rules.Outcome, channels ...string) rules.Rule {
	r := rules.Rule{ID: "01KS00000000000000000000A" + string(rune('A'+len(channels))), Name: "rule", Outcome: o}
	if len(channels) > 0 {
		r.When.Places = &rules.Places{Channels: channels}
	}
	return r
}

func writing(r rules.Rule) rules.Rule {
	r.When.Tools = &rules.Tools{Use: rules.UseWriting}
	return r
}

func by(r rules.Rule, departments []string, groups ...string) rules.Rule {
	r.When.Requester = &rules.Requester{Departments: departments, Groups: groups}
	return r
}

func refuses(why string) rules.Outcome { return rules.Outcome{Refuse: why} }

func asks(empty rules.Empty, users ...string) rules.Outcome {
	return rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
		{Name: "desk", Who: rules.Who{Kind: rules.WhoPeople, People: users}, Need: 1, Empty: empty},
	}}}
}

func byChannel() rules.Outcome {
	all := rules.Stage{Name: "c", Who: rules.Who{Kind: rules.WhoChannel}, Need: 1}
	return rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{all}}}
}

// lonely is a directory in whose channels nobody is but the askers.
type lonely struct{ ids }

func (lonely) Empty(channel string, _ []circulation.Person, _ string) bool { return channel == "C1" }

func of(all ...rules.Rule) *rules.Rules {
	return &rules.Rules{Form: rules.Form, Rev: 3, Floor: rules.Floor{Stamps: 1}, Rules: all}
}

// strict are rules that refuse what none of these takes.
func strict(all ...rules.Rule) *rules.Rules {
	x := of(all...)
	x.Last = rules.Last{Reads: refuses("last"), Writes: refuses("last")}
	return x
}

// Where an organisation stands, accounts don't say who somebody is: nobody is found by ids alone.
func TestAnOrganisationIsAskedAboutEverybody(t *testing.T) {
	x := askersOf(task.Step{Tool: "list_employees", Access: aggregate.Read})
	r := of(in(asks(rules.EmptyRefuse, "TANAKA", "ITO2")))
	found := expect.Value(x.ByIDs(r))(t)
	expect.That(t, found.Opening != nil && len(found.Opening.Route.Stages[0].People) == 2, "%+v", found)
	x.Organised = true
	found = expect.Value(x.ByIDs(r))(t)
	expect.That(t, found.Opening == nil && found.LookUp != nil && found.LookUp.Name == "rule", "%+v", found)
	found = expect.Value(x.By(r, office{persons: map[string]string{"ITO2": "ITO"}}))(t)
	o := found.Opening
	expect.That(t, o != nil && o.Route.Org == "v1" && len(o.Route.Stages[0].People) == 2, "%+v", found)
	expect.Same(t, o.Askers, []circulation.Person{{User: "SATO", Person: "SATO"}, {User: "ITO", Person: "ITO"}})
}

// A gate keeps what the rules saw of it: the amount, if it is known, and the requester's department.
func TestAGateKeepsWhatTheRulesSaw(t *testing.T) {
	route := &rules.Policy{Stages: []rules.Stage{{Name: "desk", Need: 1, Empty: rules.EmptyRefuse,
		Who: rules.Who{Kind: rules.WhoPeople, People: []string{"TANAKA"}}}}}
	answer := rules.Answer{Outcome: rules.Outcome{Route: route}}
	for name, c := range map[string]struct {
		amount rules.Amount
		want   aggregate.Seen
	}{
		"an amount":      {rules.Amount{Value: "298000", Currency: "JPY"}, aggregate.Seen{Amount: "298000", Currency: "JPY"}},
		"nothing":        {rules.Nothing(), aggregate.Seen{Amount: "0"}},
		"an unknown one": {rules.Unknown(rules.WhyNotNumber), aggregate.Seen{Why: "not_number"}},
		"one not given":  {rules.Unknown(rules.WhyMissing), aggregate.Seen{Why: "missing"}},
	} {
		f := &rules.Facts{Kind: rules.KindSteps, Askers: []circulation.Person{{User: "SATO"}}, Department: "営業部",
			Calls: []rules.Call{{Access: aggregate.Read, Amount: c.amount}}}
		c.want.Department = "営業部"
		found, err := resolve(of(), answer, f, ids{})
		expect.That(t, err == nil && *found.Opening.Seen == c.want, "%s: %+v, %v", name, found.Opening, err)
		answer.Rule.ID, c.want.ByAmount = "by_amount", true
		x := rules.Rule{ID: answer.Rule.ID, When: rules.Conditions{Amount: &rules.Between{AtLeast: "1"}}}
		found, err = resolve(&rules.Rules{Rules: []rules.Rule{x}}, answer, f, ids{})
		expect.That(t, err == nil && *found.Opening.Seen == c.want, "%s by a rule: %+v, %v", name, found.Opening, err)
		answer.Rule.ID = ""
	}
}

// Where a home is asked, the gate opens with the home's channel.
func TestAGateInDirectMessagesAsksTheHome(t *testing.T) {
	r := of(in(byChannel()))
	x := askersOf(task.Step{Tool: "list_employees", Access: aggregate.Read})
	x.Task.Request.ChannelType, x.Settings.DirectApprovers = "im", rules.Home{Channel: "CHOME"}
	expect.Same(t, x.ShownTo(r, ids{}), []string{"CHOME"})
	found := expect.Value(x.ByIDs(r))(t)
	expect.That(t, found.LookUp != nil && found.Opening == nil, "who is in a channel only Slack knows: %+v", found)
	found = expect.Value(x.By(r, ids{}))(t)
	expect.That(t, found.Opening != nil && found.Opening.Home == "CHOME", "%+v", found)
	x.Settings.DirectApprovers = rules.Home{Users: []string{"SATO", "TANAKA"}}
	found = expect.Value(x.By(r, ids{}))(t)
	o := found.Opening
	expect.That(t, o != nil && o.Home == "" && len(o.Route.Stages[0].People) == 1, "%+v", found)
	x.Settings.DirectApprovers = rules.Home{}
	found = expect.Value(x.By(r, ids{}))(t)
	expect.That(t, found.Refused != nil && found.Refused.Why == task.ReasonNoHome, "%+v", found)
	expect.That(t, x.ShownTo(of(in(asks(rules.EmptyRefuse, "TANAKA"))), ids{}) == nil, "named people need no home")
}

// inThread is what becomes of a write that a requester asks in a thread with words of these people.
// Whose words stand in the thread is no reason to leave out their stage, or to ask fewer people; the requester's own
// stage is left out if the policy says so.
// What an agent makes of a conversation is nobody's own alone: who spoke last has only said thanks.
func TestAThanksMakesNobodysStageTheirOwn(t *testing.T) {
	x := askersOf(task.Step{StepID: "step-1", Order: 1, Tool: "send_slack_dm", ToolVersion: "1", Access: "write",
		ToolInput: `{"to":"x"}`})
	x.Task.Head.Requester, x.Task.Request.User, x.Task.Request.EventID = "CFO", "CFO", task.OfferedIn("S1")
	cfo := in(asks(rules.EmptySkip, "CFO"))
	cfo.Outcome.Route.Stages = append(cfo.Outcome.Route.Stages, in(asks(rules.EmptyRefuse, "MORI")).Route.Stages...)
	cfo.Outcome.Route.Hands = 1
	found := expect.Value(x.By(of(writing(cfo)), ids{}))(t)
	expect.That(t, found.Refused != nil && found.Refused.Why == task.ReasonAskersRoute, "%+v", found)
}

// Nobody is forgotten where the words of very many led to a request: it is refused, and says how to go on.
// Where an organisation stands, an asker without a row there opens nothing: nobody knows whose second account it is.
// strangers is an office to which X belongs in no way.
type strangers struct{ office }

func (s strangers) Person(user string) circulation.Person {
	p := s.office.Person(user)
	if p.User == "X" {
		p.Person = ""
	}
	return p
}

func (s strangers) Here(p circulation.Person, on string) bool {
	return p.User != "AWAY" && s.office.Here(p, on)
}

func (s strangers) OnLeave(string, string, string) []circulation.Person {
	return []circulation.Person{{User: "AWAY"}}
}

func TestARequestOfAnUnknownKindIsToldSo(t *testing.T) {
	dear := in(asks(rules.EmptyRefuse, "TANAKA"), "C1")
	dear.When = rules.Conditions{Labels: []rules.Labelled{{Name: "費目", Is: rules.UseSome, List: []string{"交際費"}}}}
	for locale, want := range map[string]string{
		"ja": "「費目」が分からないため、承認する人を決められません。「費目」を書いて、もう一度依頼してください。",
		"en": "“費目” isn’t known, so it can’t be said who has to approve. Say what it is, and ask again.",
	} {
		x := askersOf()
		x.Settings.Locale = locale
		x.Calls = []rules.Call{{Access: aggregate.Write, Labels: map[string][]string{"費目": nil}}}
		found := expect.Value(x.ByIDs(of(dear, in(asks(rules.EmptyRefuse, "SUZUKI"), "C1"))))(t)
		expect.Must(t, found.Refused != nil, "%+v", found)
		expect.Same(t, *found.Refused, task.Refusal{Why: task.ReasonRuleRefuses, Detail: want,
			Rule: circulation.Rule{ID: dear.ID, Name: "rule", Revision: 3}})
		found = expect.Value(x.ByIDs(of(dear, in(asks(rules.EmptyRefuse, "TANAKA"), "C1"))))(t)
		expect.That(t, found.Opening != nil, "%+v", found)
	}
}

// leaving is an office in which LEFT may stamp no more.
type leaving struct{ office }

func (leaving) Employment(p circulation.Person, _ string) rules.Employment {
	if p.User == "LEFT" {
		return rules.EmploymentNone
	}
	return rules.EmploymentEmployee
}
