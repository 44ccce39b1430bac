package rules_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

func ofPeople(need int, users ...string) rules.Source {
	return rules.Source{Who: rules.Who{Kind: rules.WhoPeople, People: users}, Need: need}
}

// beside asks others at the same time as a stage.
func beside(s rules.Stage, others ...rules.Source) rules.Stage {
	s.Beside = others
	return s
}

// share has a stage ask a part of whom it finds.
func share(s rules.Stage, of rules.Share) rules.Stage {
	s.Need, s.Share = 0, of
	return s
}

// noSkip asks who stands above where somebody is asked twice.
var noSkip = rules.Empty{Vacant: rules.ThenRefuse, Own: rules.ThenUp, Twice: rules.ThenUp}

func TestSeveralSourcesOfOneStage(t *testing.T) {
	both := beside(people(1, noSkip, "A", "X"), ofPeople(0, "Y", "Z"))
	resolveEach(t, map[string]resolving{
		"each with stamps of its own": {policy(0, both), nil, "A,X,Y,Z/3 hands 1"},
		"beside another stage":        {policy(0, both, people(1, refuse, "D")), nil, "A,X,Y,Z/3 D/1 hands 2"},
		"of three kinds": {policy(0, beside(manager(1, noSkip), ofPeople(1, "X"), rules.Source{Who: group(0,
			up).Who, Need: 2})), nil, "A,X,G,H,I/4 hands 1"},
		"one person in both": {policy(0, beside(people(1, noSkip, "A"), ofPeople(1, "A", "X"))), nil,
			"A,X/2 hands 1"},
		"nobody but them in the second": {policy(0, beside(people(1, noSkip, "A"), ofPeople(1, "A"))), nil, "A,B/2 hands 1"},
		"or it is refused": {policy(0, beside(people(1, refuse, "A"), ofPeople(1, "A"))), nil,
			"refused 1 twice"},
		"the requester is in one":      {policy(0, beside(people(1, noSkip, "X"), ofPeople(1, "R"))), nil, "X,A/2 hands 1"},
		"whose superior is in another": {policy(0, beside(people(1, noSkip, "A"), ofPeople(1, "R"))), nil, "A,B/2 hands 1"},
		"one source finds nobody": {policy(0, beside(people(1, refuse, "X"), ofPeople(1, "Q"))), gone("Q"),
			"refused 1 standing"},
		"the next stage asks them all": {policy(1, beside(people(1, refuse, "A"), ofPeople(1, "B")), people(0, skip, "A",
			"B")), nil, "A,B/2 -twice hands 1"},
		"the next stage asks another": {policy(1, beside(people(1, refuse, "A", "X"), ofPeople(1, "B")), people(0, skip,
			"A", "B")), nil, "A,X,B/2 A,B/2 hands 1"},
		"two hands of one stage": {policy(2, both), nil, "A,X,Y,Z/3 hands 2"},
		"more hands than stamps": {policy(3, beside(people(1, refuse, "A"), ofPeople(1, "B"))), nil,
			"refused 1 hands"},
	})
	route := expect.Value(policy(0, both).Resolve(asked(writes(pay, yen("1"))), rules.Floor{}, staff()))(t)
	expect.Same(t, route.Stages[0].Parts, []circulation.Part{{N: 2, Of: 1}, {N: 2, Of: 2}})
	expect.Is(t, policy(0, both).OfIDs(), false, "who stands above may be asked")
	alone := beside(people(1, refuse, "A"), rules.Source{Who: manager(1, refuse).Who, Need: 1})
	expect.Is(t, policy(0, alone).OfIDs(), false, "the manager isn't named")
}

// either has a stage ask any of whom these find beside its own.
func either(s rules.Stage, or ...rules.Who) rules.Stage {
	s.Who = rules.Who{Kind: rules.WhoAny, Any: append([]rules.Who{s.Who}, or...)}
	return s
}

func TestAStageMayAskAnyOfSeveral(t *testing.T) {
	of := func(users ...string) rules.Who { return rules.Who{Kind: rules.WhoPeople, People: users} }
	vacant := func(c *company, _ *rules.Facts) { c.holders = nil }
	unknown := func(c *company, _ *rules.Facts) { c.unknown = []string{"部長 of sales"} }
	both := either(head(noSkip), of("X"))
	both.Need = 1
	resolveEach(t, map[string]resolving{
		"one of both":                {policy(0, both), nil, "D,X/1 hands 1"},
		"all of both":                {policy(0, either(people(0, refuse, "X"), of("Y", "Z"))), nil, "X,Y,Z/3 hands 1"},
		"whom both find, once":       {policy(0, either(people(1, refuse, "X"), of("Y", "X"))), nil, "X,Y/1 hands 1"},
		"a manager or a group":       {policy(0, either(manager(2, refuse), group(1, refuse).Who)), nil, "B,G,H,I/1 hands 1"},
		"one is vacant":              {policy(0, both), vacant, "X/1 hands 1"},
		"one is the requester's":     {policy(0, either(people(1, refuse, "R"), of("X"))), nil, "X/1 hands 1"},
		"both are, who stands above": {policy(0, either(people(1, noSkip, "R"), of("R"))), nil, "A/1 hands 1"},
		"both are, or it is refused": {policy(0, either(people(1, refuse, "R"), of("R"))), nil, "refused 1 own"},
		"above a post too":           {policy(0, either(head(up), of("R"))), vacant, "P/1 hands 1"},
		"the same people again":      {policy(0, people(0, refuse, "X"), either(people(1, skip, "X"), of("X"))), nil, "X/1 -twice hands 1"},
		"others, too": {policy(0, people(0, refuse, "X"), either(people(1, skip, "X"), of("Y"))), nil,
			"X/1 X,Y/1 hands 2"},
		"an unknown post": {policy(0, both), unknown, "refused 1 unknown"},
		"beside others": {policy(0, beside(either(people(1, refuse, "X"), of("Y")), rules.Source{Need: 1,
			Who: either(people(1, refuse, "A"), of("B")).Who})), nil, "X,Y,A,B/2 hands 1"},
	})
	expect.Is(t, policy(0, either(people(1, refuse, "X"), group(1, refuse).Who)).OfIDs(), false, "a group isn't named")
}

// A share of a body follows its members. Those of them count, too, who may not stamp.
func TestAShareOfABody(t *testing.T) {
	most, thirds := share(group(0, refuse), rules.ShareMajority), share(group(0, refuse), rules.ShareTwoThirds)
	members := func(users ...string) change { return func(c *company, _ *rules.Facts) { c.group = users } }
	resolveEach(t, map[string]resolving{
		"more than half of three":  {policy(0, most), nil, "G,H,I/2 hands 1"},
		"more than half of four":   {policy(0, most), members("G", "H", "I", "J"), "G,H,I,J/3 hands 1"},
		"more than half of one":    {policy(0, most), members("G"), "G/1 hands 1"},
		"two thirds of three":      {policy(0, thirds), nil, "G,H,I/2 hands 1"},
		"two thirds of four":       {policy(0, thirds), members("G", "H", "I", "J"), "G,H,I,J/3 hands 1"},
		"two thirds of five":       {policy(0, thirds), members("G", "H", "I", "J", "K"), "G,H,I,J,K/4 hands 1"},
		"whoever asks is a member": {policy(0, most), members("G", "H", "R"), "G,H/2 hands 1"},
		"too few besides":          {policy(0, most), members("G", "R"), "refused 1 own"},
		"who stands above instead": {policy(0, share(group(0, up), rules.ShareMajority)), members("G", "R"),
			"G,A/2 hands 1"},
		"a guest is a member": {policy(0, most), stand(rules.EmploymentNone, "G"), "H,I/2 hands 1"},
		"too many guests":     {policy(0, most), stand(rules.EmploymentNone, "G", "H"), "refused 1 standing"},
		"nobody":              {policy(0, most), members(), "refused 1 vacant"},
		"of named people": {policy(0, share(people(0, refuse, "A", "B", "D"), rules.ShareMajority)), nil,
			"A,B,D/2 hands 1"},
		"beside others": {policy(0, beside(people(1, noSkip, "X"), rules.Source{Who: most.Who, Share: most.Share})), nil,
			"X,G,H,I/3 hands 1"},
		"one member's two accounts": {policy(0, most), func(c *company, _ *rules.Facts) {
			c.accounts = map[string]string{"H": "pG"}
		}, "G,I/2 hands 1"},
	})
	saved(t, of(rule(1, writing(), most, thirds)))
	three := share(people(0, refuse, "U1", "U2", "U3"), rules.ShareTwoThirds)
	for hands, wrong := range map[int][]string{2: nil, 3: {"rules[0].route.hands"}} { // two of them are all who must stamp
		r := of(rule(1, writing(), three))
		r.Rules[0].Route.Hands = hands
		expect.Same(t, fieldsOf(r.Problems(known)), wrong)
	}
}

func TestStagesThatCantBeSaved(t *testing.T) {
	const at = "rules[0].route.stages[0]"
	with := func(s rules.Stage, change func(*rules.Stage)) rules.Stage { change(&s); return s }
	many := slices.Repeat([]rules.Source{ofPeople(1, "U2")}, rules.MaxBeside+1)
	one := people(1, refuse, "U1")
	for name, c := range map[string]struct {
		stage rules.Stage
		field string
	}{
		"too many sources":        {beside(one, many...), at + ".beside"},
		"a source of nobody":      {beside(one, ofPeople(0)), at + ".beside[0].who.people"},
		"any of one":              {either(one), at + ".who.any"},
		"any of too many":         {either(one, slices.Repeat([]rules.Who{one.Who}, rules.MaxAny)...), at + ".who.any"},
		"the channel or others":   {either(one, channel().Who), at + ".who.any[1].kind"},
		"any of any":              {either(one, either(one, one.Who).Who), at + ".who.any[1].kind"},
		"or nobody":               {either(one, ofPeople(0).Who), at + ".who.any[1].people"},
		"more stamps than both":   {either(people(3, refuse, "U1"), ofPeople(1, "U2").Who), at + ".need"},
		"more stamps than people": {beside(one, ofPeople(2, "U2")), at + ".beside[0].need"},
		"the channel beside":      {beside(one, rules.Source{Who: channel().Who, Need: 1}), at + ".beside[0].who.kind"},
		"beside the channel":      {beside(channel(), ofPeople(1, "U2")), at + ".beside"},
		"what may be left out":    {beside(people(1, twice, "U1"), ofPeople(1, "U2")), at + ".empty"},
		"nobody stands in in one": {with(channel(), func(s *rules.Stage) { s.NoStandIns = true }), at + ".no_stand_ins"},
		"a share and a number":    {with(one, func(s *rules.Stage) { s.Share = rules.ShareMajority }), at + ".share"},
		"another share":           {share(one, "half"), at + ".share"},
		"a share of the channel": {with(channel(), func(s *rules.Stage) { s.Share = rules.ShareMajority }),
			at + ".share"},
		"a share beside a number": {beside(one, rules.Source{Who: ofPeople(1, "U2").Who, Need: 1,
			Share: rules.ShareMajority}), at + ".beside[0].share"},
	} {
		stages := []rules.Stage{c.stage}
		if c.stage.Who.Kind == rules.WhoChannel {
			stages = append(stages, people(1, refuse, "U3"))
		}
		expect.Same(t, fieldsOf(of(rule(1, writing(), stages...)).Problems(known)), []string{c.field})
		t.Log(name)
	}
	saved(t, of(rule(1, writing(), beside(people(1, up, "U2"), ofPeople(0, "U3", "U4")))))
}

// Whoever looks at rules before they are saved learns of each source.
func TestFindingsOfSources(t *testing.T) {
	d := staff()
	d.unknown, d.group = []string{"課長 of "}, []string{"G"}
	r := of(rule(1, rules.Conditions{}, beside(people(1, up, "A"), rules.Source{Who: group(2, up).Who, Need: 2}),
		stage(rules.Who{Kind: rules.WhoPosition, Positions: []string{"課長"}}, 1, refuse),
		stage(rules.Who{Kind: rules.WhoPosition, Positions: []string{"係長"}}, 1, refuse)))
	expect.Is(t, fmt.Sprint(r.Findings(d, today, "")), fmt.Sprint([]rules.Finding{
		{Kind: rules.FindingVacant, Rule: id(1), Stage: 1, From: today},
		{Kind: rules.FindingUnknown, Rule: id(1), Stage: 2, Who: "課長"}}))
}

// What says nothing new is written, and hashed, as it always was.
func TestWhatSaysNothingNewIsWrittenAsBefore(t *testing.T) {
	text := func(v any) string { return string(expect.Value(json.Marshal(v))(t)) }
	expect.Is(t, text(rule(1, from(some(pay), "1"), head(up))), `{"id":"01JD0000000000000000000001","name":"rule 1",`+
		`"when":{"tools":{"use":"some","list":[{"address":"https://rooms.example.com/mcp","name":"pay"}]},`+
		`"amount":{"at_least":"1","currency":"JPY"}},"route":{"stages":[{"name":"stage position","who":{"kind":"position",`+
		`"positions":["部長"],"department":"sales"},"need":0,"empty":{"vacant":"up","own":"up","twice":"up"}}]}}`)
	expect.Is(t, text(to("/a")), `{"version":"v1","destinations":["/a"]}`)
	route := expect.Value(policy(0, people(1, up, "A")).Resolve(asked(reads()), rules.Floor{}, staff()))(t)
	expect.Is(t, circulation.AskedText(&circulation.Rule{ID: "R"}, &route, "x"),
		`[["x"],{"id":"R","name":"","revision":0},`+
			`{"form":8,"stages":[{"name":"stage people","mode":"people","people":[{"user":"A","person":"pA",`+
			`"via":"named by the rule"}],"need":1}],"hands":1,"org":"v1"}]`)
}

// A stage that asks more of its people than the one before isn't left out because they stamped there.
func TestAStageOfMoreWeightIsAskedAgain(t *testing.T) {
	first, again := people(2, rules.EmptySkip, "A", "B"), people(2, rules.EmptySkip, "A", "B")
	again.NoStandIns = true
	f := asked(writes(pay, yen("1")))
	route, err := policy(0, first, again).Resolve(f, rules.Floor{Stamps: 1}, staff())
	expect.That(t, err == nil && route.Stages[1].LeftOut == "", "%v %s", err, drawn(route))
	expect.Is(t, policy(0, first, again).LeastHands(), 2)
}

// Whoever holds a post is told, also the nearest above the requester; of a vacant one nobody, nor who asks.
func TestReadersByPost(t *testing.T) {
	p := policy(0, people(1, refuse, "A"))
	nearest := rules.Who{Kind: rules.WhoPosition, Positions: []string{"課長", "室長"}}
	for name, c := range map[string]struct {
		post    rules.Who
		holders []string
		high    []string
		want    string
	}{
		"of a department": {head(up).Who, []string{"D"}, nil, "D:部長 of sales as of " + today},
		"the nearest":     {nearest, []string{"P"}, nil, "P:課長 of d2 as of " + today},
		"which they hold": {nearest, []string{"R"}, nil, ""},
		"above it":        {nearest, []string{"P"}, []string{"R"}, ""},
		"vacant":          {head(up).Who, nil, nil, ""},
	} {
		d, f := staff(), asked(writes(pay, yen("1")))
		d.holders[""], d.high, d.unknown = c.holders, c.high, []string{"課長 of d1", "室長 of d1", "室長 of d2"}
		f.Requester.Person, f.Askers[0].Person, f.Organised, f.Departments = "pR", "pR", true, []string{"d1", "d2"}
		p.Readers = &rules.Readers{Posts: []rules.Who{c.post}}
		var got []string
		for _, x := range expect.Value(p.Resolve(f, rules.Floor{}, d))(t).Readers {
			got = append(got, x.User+":"+x.Via)
		}
		expect.Is(t, strings.Join(got, " "), c.want, name)
	}
	d := staff()
	d.unknown = []string{"部長 of sales"}
	p.Readers = &rules.Readers{Posts: []rules.Who{head(up).Who, nearest}}
	r := of(rule(1, rules.Conditions{}))
	r.Rules[0].Route = p
	expect.Same(t, r.Findings(d, today, ""), []rules.Finding{{Kind: rules.FindingUntold, Rule: id(1), Who: "部長 (営業部)"}})
}
