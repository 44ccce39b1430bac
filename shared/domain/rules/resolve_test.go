package rules_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// staff is a company: R below A, A below B, B below D, who is at the top. D heads sales, over which P stands.
func staff() *company {
	return &company{org: "v1", managers: map[string]string{"R": "A", "A": "B", "B": "D"},
		holders: map[string][]string{"": {"D"}}, over: map[string]string{"部長 of sales": "P"}, group: []string{"G", "H", "I"}}
}

// drawn writes a route as stages of people and needs.
func drawn(route circulation.Route) string {
	var parts []string
	for _, s := range route.Stages {
		of := strings.Join(usersOf(s.People), ",")
		if s.Mode == circulation.ModeChannel {
			of = "channel"
		}
		for _, p := range s.Before {
			of += "+" + p.User
		}
		parts = append(parts, fmt.Sprintf("%s/%d", of, s.Need))
	}
	return strings.Join(parts, " ")
}

// resolved writes what comes of a policy: the route, or why there is none.
func resolved(p *rules.Outcome, f *rules.Facts, d rules.Directory) string {
	route, err := p.Resolve(f, d)
	if no, is := errors.AsType[*rules.Unresolved](err); is {
		return fmt.Sprintf("refused %d %s", no.Stage, no.Why)
	}
	return strings.Join(append([]string{drawn(route)}, route.LeftOut...), " without ")
}

// change changes a company and the facts of a request in it.
type change func(*company, *rules.Facts)

func alsoAsk(users ...string) change {
	return func(_ *company, f *rules.Facts) {
		for _, u := range users {
			f.Askers = append(f.Askers, person(u))
		}
	}
}

func barred(users ...string) change { return func(c *company, _ *rules.Facts) { c.barred = users } }

func heads(users ...string) change {
	return func(c *company, _ *rules.Facts) { c.holders[""] = users }
}

func members(users ...string) change { return func(c *company, _ *rules.Facts) { c.group = users } }

func unknown(names ...string) change { return func(c *company, _ *rules.Facts) { c.unknown = names } }

// managers are pairs of somebody and their manager.
func managers(pairs ...string) change {
	return func(c *company, _ *rules.Facts) {
		c.managers = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			c.managers[pairs[i]] = pairs[i+1]
		}
	}
}

func all(changes ...change) change {
	return func(c *company, f *rules.Facts) {
		for _, change := range changes {
			change(c, f)
		}
	}
}

// within has R in d1, which is in d2. Posts of other departments don't exist.
func within(holders map[string][]string, unknown ...string) change {
	return func(c *company, f *rules.Facts) {
		c.holders, c.unknown, f.Departments = holders, unknown, []string{"d1", "d2"}
	}
}

// resolving is a policy, a change of staff or of the request of R, and what comes of it.
type resolving struct {
	policy *rules.Outcome
	change change
	want   string
}

func resolveEach(t *testing.T, table map[string]resolving) {
	t.Helper()
	for name, c := range table {
		t.Run(name, func(t *testing.T) {
			d, f := staff(), asked(writes(pay, yen("1")))
			if c.change != nil {
				c.change(d, f)
			}
			expect.Is(t, resolved(c.policy, f, d), c.want)
		})
	}
}

// Whom each kind of stage asks.
func TestWhomAStageAsks(t *testing.T) {
	direct := func(_ *company, f *rules.Facts) { f.Place = rules.Place{Direct: true} }
	lonely := func(c *company, _ *rules.Facts) { c.empty = []string{"C1"} }
	read := func(_ *company, f *rules.Facts) { f.Calls = []rules.Call{reads()} }
	resolveEach(t, map[string]resolving{
		"people, one of them":        {policy(people(1, "A", "X")), nil, "A,X/1"},
		"people, all":                {policy(people(0, "A", "X")), nil, "A,X/2"},
		"a group, two of them":       {policy(group(2)), nil, "G,H,I/2"},
		"managers":                   {policy(superior(1), superior(2)), nil, "A/1 B/1"},
		"a position":                 {policy(head()), nil, "D/1"},
		"either of several, one":     {policy(either(1, people(1, "X"), superior(2), head())), nil, "X,B,D/1"},
		"either of several, all":     {policy(either(0, people(1, "X", "D"), head())), nil, "X,D/2"},
		"the channel after another":  {policy(people(1, "A"), channel()), nil, "A/1 channel/1"},
		"the channel alone, a read":  {policy(channel()), read, "channel/1"},
		"the channel alone, a write": {policy(channel()), nil, "refused 0 channel"},
		"in direct messages":         {policy(people(1, "A"), channel()), direct, "refused 2 alone"},
		"where nobody else is":       {policy(channel()), all(read, lonely), "refused 1 alone"},
		"people in direct messages":  {policy(people(1, "A")), direct, "A/1"},
		"an asker isn't asked":       {policy(group(2)), alsoAsk("H"), "G,I/2"},
		"nor is the requester": {policy(people(0, "R", "X")), func(_ *company, f *rules.Facts) { f.Askers = nil },
			"X/1"},
		"who is gone isn't asked":     {policy(group(0)), barred("G"), "H,I/2"},
		"a holder without an account": {policy(head()), heads("", "D"), "D/1"},
		"the nearest position": {policy(nearest("課長")), within(map[string][]string{"課長 of d1": {"A"}, "課長 of d2": {"B"}}),
			"A/1"},
		"the nearest that there is": {
			policy(nearest("課長")), within(map[string][]string{"課長 of d2": {"B"}}, "課長 of d1"), "B/1",
		},
	})
}

// Who stands above takes the place of whoever is missing. Where nobody does, the request is refused with the reason.
func TestAStageThatFindsTooFew(t *testing.T) {
	over := func(pairs ...string) change {
		return func(c *company, _ *rules.Facts) {
			c.over = map[string]string{}
			for i := 0; i < len(pairs); i += 2 {
				c.over[pairs[i]] = pairs[i+1]
			}
		}
	}
	resolveEach(t, map[string]resolving{
		"past an asker":        {policy(superior(1)), alsoAsk("A"), "B/1"},
		"past somebody gone":   {policy(superior(1)), barred("A", "B"), "D/1"},
		"nobody above the top": {policy(superior(1)), managers(), "refused 1 vacant"},
		"the highest there is": {policy(superior(2)), managers("R", "A"), "A/1"},
		"the top asks too":     {policy(superior(2)), all(managers("R", "A"), alsoAsk("A")), "refused 1 own"},
		"managers in a circle": {policy(superior(2)), managers("R", "A", "A", "R"), "refused 1 above"},
		"one's own manager":    {policy(superior(1)), managers("R", "R"), "refused 1 above"},
		"nobody knows who is above": {policy(superior(2)),
			all(managers("R", "A"), func(c *company, _ *rules.Facts) { c.lost = []string{"A"} }), "refused 1 above"},
		"and the manager stands": {policy(superior(1)),
			all(managers("R", "A"), func(c *company, _ *rules.Facts) { c.lost = []string{"A"} }), "A/1"},
		"above one who asks":           {policy(people(1, "B")), alsoAsk("B"), "D/1"},
		"above two, as many as needed": {policy(people(2, "A", "B")), barred("A"), "B,D/2"},
		"over a vacant post":           {policy(head()), heads(), "P/1"},
		"over the requester's own":     {policy(head()), heads("R"), "P/1"},
		"above who stands over it":     {policy(head()), all(heads(), barred("P"), managers("P", "Q")), "Q/1"},
		"nobody stands over it":        {policy(head()), all(heads(), over()), "refused 1 vacant"},
		"nor over who may not":         {policy(head()), all(over(), barred("D")), "refused 1 standing"},
		"nor over who asks":            {policy(head()), all(over(), heads("R")), "refused 1 own"},
		"of a group":                   {policy(group(3)), all(barred("G", "H"), managers("G", "A", "A", "B")), "I,A,B/3"},
		"of an empty group":            {policy(group(1)), members(), "refused 1 vacant"},
		"of whom all ask":              {policy(group(1)), alsoAsk("G", "H", "I"), "refused 1 own"},
		"a nearest post that is vacant": {policy(nearest("課長")), all(within(map[string][]string{"": {}}),
			over("課長 of d1", "Q")), "Q/1"},
		"a post that no department has": {policy(nearest("課長")), all(within(nil, "課長 of d1", "課長 of d2"),
			over("課長 of d1", "Q")), "Q/1"},
		"an unknown post":              {policy(nearest("課長")), within(nil, "課長 of "), "refused 1 unknown"},
		"a post of a department, none": {policy(people(1, "A"), head()), unknown("部長 of sales"), "refused 2 unknown"},
		"an unknown department":        {policy(head()), unknown("sales"), "refused 1 unknown"},
		"either, where one is vacant":  {policy(either(2, head(), superior(1))), heads(), "A,P/2"},
		"no stages":                    {policy(), nil, "refused 0 channel"},
	})
}

// Nobody stamps twice. Whoever has to stamp at an earlier stage counts at a later one, which is left out if nobody else
// is needed.
func TestNobodyStampsTwice(t *testing.T) {
	resolveEach(t, map[string]resolving{
		"the same person": {policy(people(1, "A"), superior(1), people(1, "B")), nil,
			"A/1 B/1 without stage superior"},
		"of two, one has stamped":    {policy(people(1, "A"), people(2, "A", "B")), nil, "A/1 B+A/1"},
		"of two, one is needed":      {policy(people(1, "A"), people(1, "A", "B")), nil, "A/1 without stage people"},
		"who might have":             {policy(people(1, "A", "B"), people(1, "A")), nil, "A,B/1 A/1"},
		"and all of them":            {policy(people(1, "A", "B"), people(0, "A", "B")), nil, "refused 0 people"},
		"who stands above stamped":   {policy(people(1, "P"), head()), heads(), "P/1 without stage position"},
		"who fills an earlier stage": {policy(head(), people(1, "P")), heads(), "P/1 without stage people"},
		"three stages of two people": {policy(people(1, "A", "B"), people(1, "B", "A"), people(1, "A", "B")), nil,
			"refused 0 people"},
		"the channel has another": {policy(people(1, "A"), channel(), channel()), nil, "A/1 channel/1 channel/1"},
	})
}

// Each person is kept with how they were found, and the route with the organisation's version.
func TestARouteSaysHowItsPeopleWereFound(t *testing.T) {
	p := policy(people(1, "X"), group(1), superior(2), head())
	p.Tells = "C9"
	d, f := staff(), asked(writes(pay, yen("1")))
	d.barred = []string{"B"}
	d.group = []string{"G", "Y", "R", ""}
	d.holders[""] = nil
	route := expect.Value(p.Resolve(f, d))(t)
	via := func(user, how string) circulation.Person { return circulation.Person{User: user, Via: how} }
	stage := func(name string, people ...circulation.Person) circulation.Stage {
		return circulation.Stage{Name: "stage " + name, Mode: circulation.ModePeople, Need: 1, People: people}
	}
	expect.Same(t, route.Stages, []circulation.Stage{
		stage("people", via("X", "named by the rule")),
		stage("group", via("G", "group @S1"), via("Y", "group @S1")),
		stage("superior", via("D", "manager 1 of B")),
		stage("position", via("P", "over 部長 of sales")),
	})
	expect.Is(t, route.Tells, "C9", "is told at the end")
}

// A refusal says what the organisation doesn't have, and above whom nobody stands.
func TestARefusalSaysWhatIsMissing(t *testing.T) {
	d, f := staff(), asked(writes(pay, yen("1")))
	d.unknown = []string{"部長 of sales"}
	_, err := policy(people(1, "A"), head()).Resolve(f, d)
	no, _ := errors.AsType[*rules.Unresolved](err)
	expect.That(t, no.Name == "stage position" && no.What == "部長 (sales)", "%+v", no)
	d.managers, d.lost = map[string]string{"R": "A"}, []string{"A"}
	_, err = policy(superior(2)).Resolve(f, d)
	no, _ = errors.AsType[*rules.Unresolved](err)
	expect.That(t, no.Why == rules.LeftAbove && no.Of == "A", "%+v", no)
}

// unlinked has two managers between R and A who have no accounts.
type unlinked struct{ *company }

func (unlinked) Above(string) ([]string, bool) { return []string{"", "", "A"}, true }

func TestManagersWithoutAccountsArePassed(t *testing.T) {
	f := asked(writes(pay, yen("1")))
	expect.Is(t, resolved(policy(superior(1)), f, unlinked{staff()}), "A/1")
}

func TestARouteHasItsBounds(t *testing.T) {
	d, f := staff(), asked(writes(pay, yen("1")))
	d.group = many("U%d", 51)
	expect.Is(t, resolved(policy(people(1, "A"), group(1)), f, d), "refused 2 many")
	// Of a hundred members it is asked who may stamp; whoever resolves would have to ask Slack about each of more.
	d.group = many("U%d", 100)
	d.barred = d.group[1:]
	expect.Is(t, resolved(policy(group(0)), f, d), "U0/1")
	d.group = append(d.group, "U100")
	expect.Is(t, resolved(policy(group(0)), f, d), "refused 1 many")

	most := saved(t, of(rule(1, writing(), group(49), people(1, "U1"))))
	most.Rules[0].Stages[1].People, most.Rules[0].Stages[1].Need = []string{"U1", "U2"}, 2
	expect.Same(t, fieldsOf(most.Problems(known)), []string{"rules[0].stages"})
}

// What may write outside asks others than the channel.
func TestTheChannelAloneApprovesNoWrites(t *testing.T) {
	for name, c := range map[string]struct {
		when  rules.Conditions
		route *rules.Outcome
		saved bool
	}{
		"the channel alone":             {writing(), policy(channel()), false},
		"two channels":                  {rules.Conditions{}, policy(channel(), channel()), false},
		"the channel and another":       {writing(), policy(channel(), people(1, "U1")), true},
		"only reads":                    {only(read), policy(channel()), true},
		"some reads":                    {some(read), policy(channel()), false},
		"only reads and a write":        {only(read, dm), policy(channel()), false},
		"only a tool that nobody knows": {only(rules.Tool{Name: "list"}), policy(channel()), false},
	} {
		fields := fieldsOf(of(rule(1, c.when, c.route.Stages...)).Problems(known))
		expect.Is(t, len(fields) == 0, c.saved, "%s: %v", name, fields)
	}
}

// labelled is a call whose 費目 has these values; without one it isn't known.
func labelled(values ...string) rules.Call {
	c := writes(pay, yen("1"))
	c.Labels = map[string][]string{"費目": values}
	return c
}

func kinds(list ...string) rules.Conditions {
	return rules.Conditions{Labels: map[string][]string{"費目": list}}
}

// A rule takes what its list names. What nobody knows, what no rule lists and what is only partly meant is refused,
// with the label's name, by the first rule that could take it.
func TestRulesByLabels(t *testing.T) {
	r := of(rule(1, kinds("旅費", "交際費"), people(1, "A")), rule(2, kinds("契約"), people(1, "B")),
		rule(3, rules.Conditions{}, people(1, "D")))
	for name, c := range map[string]struct {
		calls []rules.Call
		rule  string
		takes bool
	}{
		"a listed value":           {[]rules.Call{labelled("旅費")}, id(1), true},
		"two of them":              {[]rules.Call{labelled("旅費", "交際費")}, id(1), true},
		"of two calls":             {[]rules.Call{labelled("旅費"), labelled("交際費")}, id(1), true},
		"beside a call without it": {[]rules.Call{labelled("旅費"), writes(dm, rules.Nothing())}, id(1), true},
		"of another rule":          {[]rules.Call{labelled("契約")}, id(2), true},
		"no call has it":           {[]rules.Call{writes(pay, yen("1"))}, id(3), true},
		"unknown":                  {[]rules.Call{labelled()}, id(1), false},
		"unknown of one call":      {[]rules.Call{labelled("契約"), labelled()}, id(1), false},
		"unlisted":                 {[]rules.Call{labelled("雑費")}, id(1), false},
		"written otherwise":        {[]rules.Call{labelled("旅費 ")}, id(1), false},
		"of two rules":             {[]rules.Call{labelled("旅費", "契約")}, id(1), false},
	} {
		a := r.Match(asked(c.calls...))
		expect.That(t, a.Rule.ID == c.rule && a.Refused != c.takes, "%s: %+v", name, a)
		expect.Is(t, a.Unlabelled, map[bool]string{false: "費目"}[c.takes], name)
	}
	// A rule that doesn't take it anyway refuses nothing.
	elsewhere := kinds("旅費")
	elsewhere.Channels = []string{rules.Direct}
	a := of(rule(1, elsewhere, people(1, "A")), rule(2, rules.Conditions{}, people(1, "B"))).Match(asked(labelled()))
	expect.That(t, a.Rule.ID == id(2) && !a.Refused, "%+v", a)
}

// The values of a label are texts, numbers as they are written, or lists of these. One that isn't known leaves all
// unknown.
func TestTheValuesOfALabel(t *testing.T) {
	const arguments = `{"to":"C1","cc":["a","b"],"items":[{"kind":"x"},{"kind":"y"}],"n":8.0,
		"ref":{"$ref":"step-1.result.id"},"empty":"","none":[],"null":null,"flag":true,"mixed":["a",true]}`
	for pointer, want := range map[string][]string{"/to": {"C1"}, "/cc": {"a", "b"}, "/cc/*": {"a", "b"},
		"/items/*/kind": {"x", "y"}, "/n": {"8.0"}, "/ref": nil, "/empty": nil, "/none": nil, "/null": nil, "/flag": nil,
		"/mixed": nil, "/gone": nil, "/items/*": nil} {
		m := &rules.Mark{Version: "v1", LabelledBy: []rules.Label{{Name: "費目", Pointer: pointer}}}
		got := m.LabelsOf("v1", arguments)
		_, has := got["費目"]
		expect.That(t, has && strings.Join(got["費目"], "|") == strings.Join(want, "|"), "%s: %v", pointer, got)
		expect.Is(t, len(m.LabelsOf("v2", arguments)["費目"]), 0, "another version")
	}
	expect.Is(t, len((*rules.Mark)(nil).LabelsOf("v1", aggregate.JSON("{}"))), 0)
}

// Who asks is met by account, by department or by group. Where nobody knows the department, a rule for one refuses, as
// it does where the organisation doesn't have it.
func TestRulesByWhoAsks(t *testing.T) {
	of3 := of(rule(1, rules.Conditions{People: []string{"R"}, Departments: []string{"sales"}},
		people(1, "A")), rule(2, rules.Conditions{Groups: []string{"S9"}}, people(1, "A")),
		rule(3, rules.Conditions{}, people(1, "B")))
	for name, c := range map[string]struct {
		user                string
		departments, groups []string
		unknown             []string
		rule                string
		unsure              bool
	}{
		"by account":            {"R", nil, nil, nil, id(1), false},
		"by department":         {"X", []string{"x", "sales"}, nil, nil, id(1), false},
		"of another department": {"X", []string{"x"}, nil, nil, id(3), false},
		"by group":              {"X", []string{"x"}, []string{"S9"}, nil, id(2), false},
		"nobody knows":          {"X", nil, nil, nil, id(1), true},
		"unknown":               {"X", []string{"x"}, nil, []string{"sales"}, id(1), true},
	} {
		f := asked(writes(pay, yen("1")))
		f.Requester, f.Askers = c.user, nil
		f.Organised, f.Departments, f.Groups, f.Unknown = true, c.departments, c.groups, c.unknown
		a := of3.Match(f)
		expect.That(t, a.Rule.ID == c.rule && a.Unsure == c.unsure && a.Refused == c.unsure, "%s: %+v", name, a)
	}
}

func TestWhichWriteIsToldFirst(t *testing.T) {
	money, none, unknown := yen("5"), rules.Nothing(), rules.Unknown(rules.WhyUnmarked)
	for name, c := range map[string]struct {
		acts    []rules.Act
		amounts []rules.Amount
		lead    int
		sum     rules.Amount
	}{
		"none":                {nil, nil, -1, none},
		"what moves money":    {[]rules.Act{"message", "", "order"}, []rules.Amount{none, none, money}, 2, money},
		"what is no message":  {[]rules.Act{"message", "sheet"}, []rules.Amount{none, none}, 1, none},
		"a message":           {[]rules.Act{"message", "message"}, []rules.Amount{none, none}, 0, none},
		"money, known or not": {[]rules.Act{"", "order"}, []rules.Amount{unknown, money}, 1, unknown},
	} {
		lead, sum := rules.Lead(c.acts, c.amounts)
		expect.That(t, lead == c.lead && sum == c.sum, "%s: %d, %+v", name, lead, sum)
	}
}
