package rules_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// staff is a company: R below A, A below B, B below D, who is at the top. D heads sales.
func staff() *company {
	return &company{org: "v1", managers: map[string]string{"R": "A", "A": "B", "B": "D"},
		holders: map[string][]string{"": {"D"}}, over: map[string]string{"部長 of sales": "P"}, group: []string{"G", "H", "I"}}
}

// drawn writes a route as stages of people, needs and what was left out.
func drawn(route circulation.Route) string {
	var parts []string
	for _, s := range route.Stages {
		switch {
		case s.LeftOut != "":
			parts = append(parts, "-"+s.LeftOut)
		case s.Mode == circulation.ModeChannel:
			parts = append(parts, fmt.Sprintf("channel/%d", s.Need))
		default:
			parts = append(parts, fmt.Sprintf("%s/%d", strings.Join(usersOf(s.People), ","), s.Need))
		}
	}
	return fmt.Sprintf("%s hands %d", strings.Join(parts, " "), route.Hands)
}

// resolved writes what comes of a policy: the route, or why there is none.
func resolved(p *rules.Policy, f *rules.Facts, floor rules.Floor, d rules.Directory) string {
	route, err := p.Resolve(f, floor, d)
	var no *rules.Unresolved
	if errors.As(err, &no) {
		return fmt.Sprintf("refused %d %s", no.Stage, no.Why)
	}
	return drawn(route)
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

func stand(s rules.Employment, users ...string) change {
	return func(c *company, _ *rules.Facts) {
		c.standing = map[string]rules.Employment{}
		for _, u := range users {
			c.standing[u] = s
		}
	}
}

func gone(users ...string) change { return stand(rules.EmploymentNone, users...) }

func heads(users ...string) change {
	return func(c *company, _ *rules.Facts) { c.holders[""] = users }
}

// leftBeside has X, who has left, head sales with R, who asks. P and Q stand above X, others above R.
func leftBeside(users ...string) change {
	return func(c *company, f *rules.Facts) {
		heads(users...)(c, f)
		gone("X")(c, f)
		c.managers["X"], c.managers["P"] = "P", "Q"
	}
}

// two is a stage at which two must stamp.
func two(s rules.Stage) rules.Stage {
	s.Need = 2
	return s
}

// vacantRead has nobody who heads sales, and a request that only reads.
func vacantRead(c *company, f *rules.Facts) {
	c.holders[""], f.Calls = nil, []rules.Call{reads()}
}

// lowOver has nobody who heads sales, and L, who is below P, stand over a lower post there.
func lowOver(c *company, _ *rules.Facts) {
	c.holders[""], c.over["課長 of sales"], c.managers["L"] = nil, "L", "P"
}

// posts is head for several positions.
func posts(positions ...string) rules.Stage {
	s := head(up)
	s.Who.Positions = positions
	return s
}

// managers are pairs of somebody and their manager.
func managers(pairs ...string) change {
	return func(c *company, _ *rules.Facts) {
		c.managers = map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			c.managers[pairs[i]] = pairs[i+1]
		}
	}
}

// resolving is a policy, a change of staff or of the request of R, and what comes of it.
type resolving struct {
	policy *rules.Policy
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
			expect.Is(t, resolved(c.policy, f, rules.Floor{Stamps: 1}, d), c.want)
		})
	}
}

var up, skip, refuse = rules.EmptyUp, rules.EmptySkip, rules.EmptyRefuse

// twice leaves out only who is asked already.
var twice = rules.Empty{Vacant: rules.ThenRefuse, Own: rules.ThenRefuse, Twice: rules.ThenSkip}

// Whom each kind of stage asks.
func TestWhomAStageAsks(t *testing.T) {
	others := group(2, refuse)
	others.Others = true
	resolveEach(t, map[string]resolving{
		"people, one of them":       {policy(0, people(1, refuse, "A", "X")), nil, "A,X/1 hands 1"},
		"people, all":               {policy(0, people(0, refuse, "A", "X")), nil, "A,X/2 hands 1"},
		"a group, two of them":      {policy(0, group(2, refuse)), nil, "G,H,I/2 hands 1"},
		"managers":                  {policy(0, manager(1, refuse), manager(3, refuse)), nil, "A/1 D/1 hands 2"},
		"a position":                {policy(0, head(refuse)), nil, "D/1 hands 1"},
		"the channel after another": {policy(0, people(1, refuse, "A"), channel()), nil, "A/1 channel/1 hands 2"},
		"an asker is named":         {policy(0, group(2, refuse)), alsoAsk("H"), "G,H,I/2 hands 1"},
		"all of them, an asker too": {policy(0, group(0, refuse)), alsoAsk("H"), "refused 1 askers"},
		"the requester is not asked": {
			policy(0, people(0, refuse, "R", "X")), func(_ *company, f *rules.Facts) { f.Askers = nil }, "X/1 hands 1",
		},
		"an asker who is named first": {
			policy(0, group(1, refuse)),
			func(_ *company, f *rules.Facts) { f.Askers = []circulation.Person{person("H"), f.Requester} }, "G,H,I/1 hands 1",
		},
		"an asker alone, named first": {
			policy(0, people(1, refuse, "H")),
			func(_ *company, f *rules.Facts) { f.Askers = []circulation.Person{person("H"), f.Requester} }, "refused 1 askers",
		},
		"only the requester": {
			policy(0, people(1, refuse, "R")), func(_ *company, f *rules.Facts) { f.Askers = nil }, "refused 1 own",
		},
		"a holder without an account": {policy(0, head(refuse)), heads("", "D"), "D/1 hands 1"},
		"who is gone is not asked":    {policy(0, group(0, refuse)), gone("G"), "H,I/2 hands 1"},
		"contractors are not asked": {
			policy(0, group(2, refuse)), stand(rules.EmploymentOther, "G", "H"), "refused 1 standing",
		},
		"unless the stage says so":     {policy(0, others), stand(rules.EmploymentOther, "G", "H"), "G,H,I/2 hands 1"},
		"who is gone isn't, even then": {policy(0, others), gone("G", "H"), "refused 1 standing"},
		"fewer than need is empty":     {policy(0, group(2, refuse)), alsoAsk("G", "H"), "refused 1 askers"},
		"nobody found":                 {policy(0, head(refuse)), heads(), "refused 1 vacant"},
		"nobody found, all": {
			policy(0, group(0, refuse)), func(c *company, _ *rules.Facts) { c.group = nil }, "refused 1 vacant",
		},
		"two accounts of one person": {
			policy(0, group(0, refuse)),
			func(c *company, _ *rules.Facts) { c.accounts = map[string]string{"G": "p1", "H": "p1"} }, "G,I/2 hands 1",
		},
		"an asker's other account": {
			policy(0, group(0, refuse)),
			func(c *company, f *rules.Facts) { c.accounts = map[string]string{"G": "pR"}; f.Requester.Person = "pR" },
			"H,I/2 hands 1",
		},
		"no row in the organisation": {
			policy(0, group(0, refuse)), func(c *company, _ *rules.Facts) { c.accounts = map[string]string{"G": ""} },
			"H,I/2 hands 1",
		},
	})
}

// Case 20: what becomes of a stage that finds too few.
func TestAStageThatFindsTooFew(t *testing.T) {
	resolveEach(t, map[string]resolving{
		"up, past an asker":      {policy(0, manager(1, up)), alsoAsk("A"), "A,B/1 hands 1"},
		"up, past somebody gone": {policy(0, manager(1, up)), gone("A", "B"), "D/1 hands 1"},
		"up, at the top":         {policy(0, manager(3, up)), alsoAsk("D"), "refused 1 askers"},
		"up, above the top":      {policy(0, manager(4, up)), nil, "refused 1 vacant"},
		"no manager refuses":     {policy(0, manager(4, refuse)), nil, "refused 1 vacant"},
		"managers in a circle": {
			policy(0, manager(3, up)), managers("R", "A", "A", "B", "B", "A"), "refused 1 above",
		},
		"up in a circle through R": {policy(0, manager(2, up)), managers("R", "A", "A", "R"), "refused 1 above"},
		"one's own manager":        {policy(0, manager(1, up)), managers("R", "R"), "refused 1 above"},
		"skip, above the top": {
			policy(1, people(1, refuse, "A"), manager(4, skip)), nil, "A/1 -vacant hands 1",
		},
		"skip, where nobody knows who is above": {
			policy(1, people(1, refuse, "A"), manager(4, skip)), func(c *company, _ *rules.Facts) { c.lost = []string{"D"} },
			"refused 2 above",
		},
		"nobody knows who is above, and the manager stands": {
			policy(0, manager(3, skip)), func(c *company, _ *rules.Facts) { c.lost = []string{"D"} }, "D/1 hands 1",
		},
		"up from the one who asks": {policy(0, people(1, up, "B")), alsoAsk("B"), "B,D/1 hands 1"},
		"up over a vacant post":    {policy(0, head(up)), heads(), "P/1 hands 1"},
		"up over several vacant posts": {
			policy(0, posts("課長", "部長")), lowOver, "P/1 hands 1",
		},
		"up over several, in another order": {
			policy(0, posts("部長", "課長")), lowOver, "P/1 hands 1",
		},
		"up over several, of which nobody stands over one": {
			policy(0, posts("課長", "社長")), lowOver, "refused 1 vacant",
		},
		"up over it, above the holder": {
			policy(0, head(up)), func(c *company, f *rules.Facts) {
				gone("P")(c, f)
				heads()(c, f)
				c.managers["P"] = "Q"
			}, "Q/1 hands 1",
		},
		"up over a post that nobody stands over": {
			policy(0, head(up)), func(c *company, _ *rules.Facts) { c.holders, c.over = nil, nil }, "refused 1 vacant",
		},
		"up beside the requester, above who is gone": {policy(0, two(head(up))), leftBeside("R", "X"), "P,Q/2 hands 1"},
		"up above who is gone, beside the requester": {policy(0, two(head(up))), leftBeside("X", "R"), "P,Q/2 hands 1"},
		"up from a holder who is gone":               {policy(0, head(up)), heads("B"), "B/1 hands 1"},
		"up of a group whom nobody stands above": {
			policy(0, group(1, up)), func(c *company, _ *rules.Facts) { c.group = nil }, "refused 1 vacant",
		},
		"up fills the places": {
			policy(0, group(3, up)), func(c *company, f *rules.Facts) {
				gone("G", "H")(c, f)
				c.managers["G"], c.managers["A"] = "A", "B"
			}, "I,A,B/3 hands 1",
		},
		"up has too few": {
			policy(0, group(3, up)),
			func(c *company, f *rules.Facts) { c.group = nil; f.Askers = append(f.Askers, person("D")) }, "refused 1 vacant",
		},
		"skip":                            {policy(1, people(1, refuse, "A"), head(skip)), heads(), "A/1 -vacant hands 1"},
		"skip, of a policy of two stages": {policy(0, people(1, refuse, "A"), head(skip)), heads(), "refused 2 hands"},
		"skip, two of three remain": {
			policy(0, people(1, refuse, "A"), head(skip), group(1, refuse)), heads(), "A/1 -vacant G,H,I/1 hands 2",
		},
		"skip never leaves out askers": {policy(0, people(1, skip, "A"), people(1, refuse, "B")), alsoAsk("A"),
			"refused 1 askers"},
		"no stages":                     {policy(0), nil, "refused 0 vacant"},
		"skip twice leaves the channel": {policy(1, head(skip), head(skip), channel()), heads(), "refused 1 channel"},
		"skip leaves nobody":            {policy(0, head(skip)), heads(), "refused 1 vacant"},
		"skip leaves nobody for a read": {
			policy(0, head(skip)), vacantRead, "refused 1 vacant",
		},
		"skip leaves the channel": {policy(1, head(skip), channel()), heads(), "refused 1 channel"},
		"the channel alone, for a read": {
			policy(1, head(skip), channel()), vacantRead,
			"-vacant channel/1 hands 1",
		},
		"skip doesn't lower the hands": {policy(2, people(1, refuse, "A"), head(skip)), heads(), "refused 2 hands"},
	})
}

// Case 3: one person at several stages is one hand.
func TestDifferentHands(t *testing.T) {
	resolveEach(t, map[string]resolving{
		"one person at two stages": {
			policy(0, people(1, refuse, "A"), people(1, refuse, "A")), nil, "refused 2 hands",
		},
		"one person twice, left out": {
			policy(0, people(1, refuse, "A"), people(1, skip, "A")), nil, "A/1 -twice hands 1",
		},
		"one person twice, up": {policy(0, manager(1, up), people(1, up, "A")), nil, "A/1 B/1 hands 2"},
		"a stage that is left out is not short": {
			policy(2, head(skip), people(1, refuse, "A"), people(1, refuse, "A")), heads(), "refused 3 hands",
		},
		"the first is left out": {policy(2, head(skip), people(1, refuse, "A")), heads(), "refused 1 hands"},
		"one hand is enough": {
			policy(1, people(1, refuse, "A"), people(1, refuse, "A")), nil, "A/1 A/1 hands 1",
		},
		"one person twice, another too": {
			policy(0, people(1, refuse, "A"), people(1, refuse, "A"), people(1, refuse, "B")), nil, "A/1 A/1 B/1 hands 2",
		},
		"three hands of two people": {
			policy(3, people(1, refuse, "A"), people(1, refuse, "B"), people(1, refuse, "A", "B")), nil, "refused 3 hands",
		},
		"three hands by matching": {
			policy(3, people(1, refuse, "A", "B"), people(1, refuse, "A"), people(1, refuse, "A", "B", "X")), nil,
			"A,B/1 A/1 A,B,X/1 hands 3",
		},
		"nobody above is another": {
			policy(3, manager(1, up), manager(2, up), people(1, up, "A", "B")), alsoAsk("D"), "refused 3 twice",
		},
		"more hands than stamps": {
			policy(3, people(1, refuse, "A", "B"), people(1, up, "A", "B")), nil, "refused 2 hands",
		},
		"the stage that is short is said": {
			policy(0, people(1, refuse, "A"), people(1, refuse, "A"), people(1, skip, "A")), nil, "refused 2 hands",
		},
	})
}

// Each person is kept with how they were found, and the route with the organisation's version.
func TestARouteSaysHowItsPeopleWereFound(t *testing.T) {
	p := policy(0, people(1, rules.EmptyUp, "X"), group(1, rules.EmptyUp), manager(2, rules.EmptyUp),
		head(rules.EmptyRefuse))
	p.Readers = &rules.Readers{People: []string{"R", "X"}, Groups: []string{"S1"}}
	d, f := staff(), asked(writes(pay, yen("1")))
	d.standing = map[string]rules.Employment{"B": rules.EmploymentNone}
	d.group = []string{"G", "X", "R", ""}
	route := expect.Value(p.Resolve(f, rules.Floor{}, d))(t)
	via := func(user, how string) circulation.Person {
		return circulation.Person{User: user, Person: "p" + user, Via: how}
	}
	stage := func(name string, people ...circulation.Person) circulation.Stage {
		return circulation.Stage{Name: "stage " + name, Mode: circulation.ModePeople, Need: 1, People: people}
	}
	above := stage("manager", via("D", "manager 3 of R as of 2026-11-22"))
	above.Filled = rules.LeftStanding
	expect.Same(t, route, circulation.Route{
		Form: circulation.Form, Hands: 2, Org: "v1",
		Stages: []circulation.Stage{
			stage("people", via("X", "named by the rule")),
			stage("group", via("G", "group @S1"), via("X", "group @S1")),
			above,
			stage("position", via("D", "部長 of sales as of 2026-11-22")),
		},
		Readers: []circulation.Person{via("R", "named by the rule"), via("X", "named by the rule"), via("G", "group @S1")},
	})
}

// unlinked has two managers between R and A who have no accounts.
type unlinked struct{ *company }

func (unlinked) Manager(p circulation.Person, _ string) (circulation.Person, bool) {
	next := map[string]circulation.Person{"pR": {Person: "p1"}, "p1": {Person: "p2"}, "p2": {User: "A", Person: "pA"}}
	m, ok := next[p.Person]
	return m, ok
}

func TestManagersWithoutAccountsArePassed(t *testing.T) {
	f := asked(writes(pay, yen("1")))
	f.Requester.Person = "pR"
	expect.Is(t, resolved(policy(0, manager(1, up)), f, rules.Floor{}, unlinked{staff()}), "A/1 hands 1")
}

func TestARouteOfIDs(t *testing.T) {
	p := policy(0, people(1, skip, "A"))
	p.Readers = &rules.Readers{People: []string{"X"}}
	expect.That(t, p.OfIDs() && policy(0, people(1, refuse, "A")).OfIDs(), "people")
	for _, s := range []rules.Stage{channel(), people(1, up, "A"), group(1, refuse), manager(1, refuse), head(refuse)} {
		expect.That(t, !policy(0, people(1, refuse, "A"), s).OfIDs(), "%+v", s)
	}
	p.Readers.Posts = []rules.Who{posts("部長").Who}
	expect.That(t, !p.OfIDs(), "who holds a post is looked up")
	p.Readers.Posts, p.Readers.Groups = nil, []string{"S1"}
	expect.That(t, !p.OfIDs(), "readers of a group")
}

func TestARouteHasItsBounds(t *testing.T) {
	d, f := staff(), asked(writes(pay, yen("1")))
	d.group = nil
	for i := range 51 {
		d.group = append(d.group, fmt.Sprint("U", i))
	}
	for _, empty := range []rules.Empty{rules.EmptyUp, rules.EmptySkip, rules.EmptyRefuse} {
		p := policy(0, people(1, rules.EmptyRefuse, "A"), group(1, empty))
		expect.Is(t, resolved(p, f, rules.Floor{}, d), "refused 2 many")
	}
	read := policy(0, people(1, rules.EmptyRefuse, "A"))
	read.Readers = &rules.Readers{Groups: []string{"S1"}}
	expect.Is(t, resolved(read, f, rules.Floor{}, d), "refused 0 many")
	d.group = d.group[:50]
	expect.Is(t, resolved(read, f, rules.Floor{}, d), "A/1 hands 1")
	expect.Is(t, resolved(policy(51, group(0, refuse), group(0, refuse)), f, rules.Floor{}, d), "refused 2 hands")
	hundred := policy(0, group(0, rules.EmptyRefuse), group(0, rules.EmptyRefuse))
	expect.Has(t, resolved(hundred, f, rules.Floor{}, d), "U49/50 hands 2")
	hundred.Stages = append(hundred.Stages, people(1, rules.EmptyUp, "A"))
	expect.Is(t, resolved(hundred, f, rules.Floor{}, d), "refused 0 bounds")

	most := of(rule(1, writing(), group(50, rules.EmptyUp), group(50, rules.EmptyUp)))
	saved(t, most)
	most.Rules[0].Route.Stages = append(most.Rules[0].Route.Stages, people(1, rules.EmptyUp, "U1"))
	expect.Same(t, fieldsOf(most.Problems(known)), []string{"rules[0].route.stages"})
}
