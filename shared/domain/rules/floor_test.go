package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// A rule below the floor isn't saved. One that can't write outside, or only moves less, isn't below it.
func TestTheFloor(t *testing.T) {
	two := rules.Floor{Stamps: 2, HandsFrom: &rules.Money{Value: "100000", Currency: "JPY"}}
	one := rules.Floor{Stamps: 1}
	hands := rules.Floor{Stamps: 1, HandsFrom: two.HandsFrom}
	alone := policy(0, people(1, rules.EmptyRefuse, "U1"))
	dollars := under(writing(), "100")
	dollars.Amount.Currency = "USD"
	for name, c := range map[string]struct {
		floor rules.Floor
		when  rules.Conditions
		route *rules.Policy
		field string
	}{
		"one stamp":               {one, writing(), alone, ""},
		"too few stamps":          {rules.Floor{Stamps: 2}, writing(), alone, "rules[0].route.stages"},
		"two stamps of one stage": {two, writing(), policy(2, people(2, rules.EmptyRefuse, "U1", "U2")), ""},
		"two stamps by one hand": {
			two, writing(), policy(1, people(2, rules.EmptyRefuse, "U1", "U2")), "rules[0].route.hands",
		},
		"the channel alone": {one, writing(), policy(0, channel()), "rules[0].route.stages"},
		"two channels": {
			one, rules.Conditions{}, policy(0, channel(), channel()), "rules[0].route.stages",
		},
		"the channel and another": {one, writing(), policy(0, channel(), people(1, rules.EmptyRefuse, "U1")), ""},
		"one hand":                {hands, writing(), alone, "rules[0].route.hands"},
		"two hands by default": {
			hands, writing(), policy(0, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U2")), "",
		},
		"one hand below the amount":        {hands, under(writing(), "100000"), alone, ""},
		"one hand, a bit above the amount": {hands, under(writing(), "100000.01"), alone, "rules[0].route.hands"},
		"one hand, from an amount":         {hands, from(writing(), "1"), alone, "rules[0].route.hands"},
		"one hand, in another currency":    {hands, dollars, alone, "rules[0].route.hands"},
		"only reads":                       {two, only(read), policy(0, channel()), ""},
		"some reads":                       {one, some(read), policy(0, channel()), "rules[0].route.stages"},
		"only reads and a write":           {one, only(read, dm), policy(0, channel()), "rules[0].route.stages"},
		"only a tool that nobody knows": {
			one, only(rules.Tool{Name: "list"}), policy(0, channel()), "rules[0].route.stages",
		},
		"no stages": {hands, writing(), policy(0), "rules[0].route.stages"},
		"a refusal": {two, writing(), nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := of(rules.Rule{ID: id(1), Name: "rule", When: c.when, Outcome: rules.Outcome{Route: c.route}})
			if r.Floor = c.floor; c.route == nil {
				r.Rules[0].Refuse = "No."
			}
			fields := fieldsOf(r.Problems(known))
			expect.Is(t, strings.Join(fields, " "), c.field)
		})
	}
}

// Who asks for a step's own approval holds the stamps that count for it against the floor.
func TestTheFloorOfARequest(t *testing.T) {
	f := rules.Floor{HandsFrom: &rules.Money{Value: "100000", Currency: "JPY"}}
	small, large := asked(writes(pay, yen("99999"))), asked(writes(pay, yen("100000")))
	unknown := asked(writes(pay, rules.Amount{}))
	for _, c := range []struct {
		f             *rules.Facts
		stamps, hands int
		allowed       bool
	}{
		{asked(reads()), 0, 0, true}, {asked(rules.Call{Tool: read, Access: aggregate.Read}), 0, 0, true},
		{small, 0, 0, false}, {small, 1, 1, true}, {large, 2, 1, false}, {large, 2, 2, true},
		{unknown, 1, 1, false}, {unknown, 2, 2, true},
	} {
		expect.Is(t, f.Allows(c.f, c.stamps, c.hands), c.allowed, "%+v", c)
	}
	f.Stamps = 2
	expect.That(t, !f.Allows(small, 1, 1) && f.Allows(small, 2, 1), "two stamps")
}

// Case 3: a number of different people that the policy's own names can't reach isn't saved.
func TestHandsThatNobodyCanReach(t *testing.T) {
	for name, c := range map[string]struct {
		route *rules.Policy
		ok    bool
	}{
		"one person twice": {
			policy(2, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1")), false,
		},
		"one person twice, by default": {
			policy(0, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1")), false,
		},
		"one hand is enough": {
			policy(1, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1")), true,
		},
		"somebody above": {policy(2, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyUp, "U1")), true},
		"left out, then one": {
			policy(0, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptySkip, "U1")), true,
		},
		"left out, but two asked": {
			policy(2, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptySkip, "U1")), false,
		},
		"a group may have another": {policy(2, people(1, rules.EmptyRefuse, "U1"), group(1, rules.EmptyRefuse)), true},
		"the channel has another":  {policy(2, people(1, rules.EmptyRefuse, "U1"), channel()), true},
		"three of two": {
			policy(3, people(1, rules.EmptyRefuse, "U1", "U2"), people(2, rules.EmptyRefuse, "U1", "U2")), false,
		},
		"two of one stamp":        {policy(2, people(1, rules.EmptyRefuse, "U1", "U2")), false},
		"two of all of a group":   {policy(2, group(0, rules.EmptyRefuse)), true},
		"all of a group, and one": {policy(51, group(0, rules.EmptyRefuse)), false},
		"the channel has one other": {
			policy(3, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1"), channel()), false,
		},
		"a group has one other": {
			policy(3, people(1, rules.EmptyRefuse, "U1"), people(1, rules.EmptyRefuse, "U1"), group(1, rules.EmptyRefuse)),
			false,
		},
		"all of three": {
			policy(3, people(1, rules.EmptyRefuse, "U1"), people(0, rules.EmptyRefuse, "U1", "U2", "U3")), true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := of(rules.Rule{ID: id(1), Name: "rule", When: writing(), Outcome: rules.Outcome{Route: c.route}})
			expect.Is(t, r.Validate(known) == nil, c.ok)
		})
	}
}

// superiors stand above A; R, who is between them, asks.
const superiors = "M:manager 1 of A as of 2026-11-22 P:manager 3 of A as of 2026-11-22"

const byRule = ":named by the rule"

// At every kind of desk: the asker's second account, who is a guest or has left, and who works for another company are
// not asked. The place is filled by who stands above, or the request is refused; a contractor is asked only where the
// stage says so, and a second account of somebody who is asked isn't a second person.
func TestWhoMayNotStampIsAtNoDesk(t *testing.T) {
	desks := map[string]func(who string, empty rules.Empty) rules.Stage{
		"people":   func(who string, empty rules.Empty) rules.Stage { return people(1, empty, who) },
		"a group":  func(_ string, empty rules.Empty) rules.Stage { return group(1, empty) },
		"manager":  func(_ string, empty rules.Empty) rules.Stage { return manager(1, empty) },
		"position": func(_ string, empty rules.Empty) rules.Stage { return head(empty) },
	}
	states := map[string]func(d *company, who string){
		"the asker's second account": func(d *company, who string) { d.accounts[who] = "pR" },
		"a guest, or gone":           func(d *company, who string) { d.standing[who] = rules.EmploymentNone },
		"of another company":         func(d *company, who string) { d.standing[who] = rules.EmploymentOther },
	}
	for desk, at := range desks {
		for state, make := range states {
			for _, empty := range []rules.Empty{up, skip, refuse} {
				for _, others := range []bool{false, true} {
					const who = "A" // R's manager, the group's only member, and the position's holder
					d := staff()
					d.group, d.holders = []string{who}, map[string][]string{"": {who}}
					d.accounts, d.standing = map[string]string{}, map[string]rules.Employment{}
					make(d, who)
					f := asked(writes(pay, yen("1")))
					f.Requester, f.Askers = d.Person("R"), nil
					f.Askers = append(f.Askers, f.Requester)
					s := at(who, empty)
					s.Others = others
					route, err := policy(1, s, people(1, refuse, "X")).Resolve(f, rules.Floor{Stamps: 1}, d)
					asks := err == nil && slices.Contains(usersOf(route.Stages[0].People), who)
					may := others && state == "of another company"
					expect.That(t, asks == may, "%s, %s, %s, others %t: %s, %v", desk, state, empty, others, drawn(route), err)
					expect.That(t, empty != refuse || may || err != nil, "%s, %s: nobody is asked, and it opens", desk, state)
				}
			}
		}
	}
	d := staff()
	d.accounts, d.group = map[string]string{"H": "pG"}, []string{"G", "H"}
	f := asked(writes(pay, yen("1")))
	f.Requester = d.Person("R")
	_, err := policy(1, group(2, refuse)).Resolve(f, rules.Floor{Stamps: 1}, d)
	expect.That(t, err != nil, "two accounts are two people: %s", fmt.Sprint(err))
}

// Where nobody but the askers is, a channel's stage asks the home: a channel or one of a list of people.
func TestAChannelsStageAsksTheHomeWhereNobodyElseIs(t *testing.T) {
	here, alone, direct := rules.Place{Channel: "C1"}, rules.Place{Channel: "CALONE"}, rules.Place{Direct: true}
	channelHome, people := rules.Home{Channel: "CHOME"}, rules.Home{Users: []string{"R", "A", "B", "A"}}
	for name, c := range map[string]struct {
		at         rules.Place
		home       rules.Home
		want, asks string
	}{
		"its own channel":                     {here, rules.Home{}, "channel/1 hands 1", ""},
		"its own channel, whatever the home":  {here, channelHome, "channel/1 hands 1", ""},
		"direct messages without a home":      {direct, rules.Home{}, "refused 1 home", ""},
		"a lonely channel without a home":     {alone, rules.Home{}, "refused 1 home", ""},
		"a channel for direct messages":       {direct, channelHome, "channel/1 hands 1", "CHOME"},
		"a channel for a lonely channel":      {alone, channelHome, "channel/1 hands 1", "CHOME"},
		"a home in which nobody else is":      {direct, rules.Home{Channel: "CALONE"}, "refused 1 own", ""},
		"one of a list that is no asker":      {direct, people, "A,B/1 hands 1", ""},
		"a list of whom only askers are left": {direct, rules.Home{Users: []string{"R"}}, "refused 1 own", ""},
	} {
		f, d := asked(reads()), staff()
		f.Place, f.Home, d.empty = c.at, c.home, []string{"CALONE"}
		p := policy(0, channel())
		expect.Is(t, resolved(p, f, rules.Floor{}, d), c.want, name)
		if route, err := p.Resolve(f, rules.Floor{}, d); err == nil {
			expect.Is(t, f.HomeOf(&route, d), c.asks, name)
		}
	}
	route := circulation.Route{Stages: []circulation.Stage{{Mode: circulation.ModePeople}}}
	f := asked(reads())
	f.Place, f.Home = direct, channelHome
	expect.Is(t, f.HomeOf(&route, staff()), "", "named people need no home")
}

// Case 20: what is left after stages are left out is never below the floor.
func TestARouteBelowTheFloorIsNotOpened(t *testing.T) {
	vacant := staff()
	vacant.holders = nil
	p := policy(1, people(1, rules.EmptyRefuse, "A"), head(rules.EmptySkip))
	hands := rules.Floor{Stamps: 1, HandsFrom: &rules.Money{Value: "100", Currency: "JPY"}}
	expect.Is(t, resolved(p, asked(writes(pay, yen("99"))), hands, vacant), "A/1 -vacant hands 1")
	expect.Is(t, resolved(p, asked(writes(pay, yen("100"))), hands, vacant), "refused 2 floor")
	expect.Is(t, resolved(p, asked(writes(pay, rules.Amount{})), hands, vacant), "refused 2 floor")
	p.Hands = 2
	expect.Is(t, resolved(p, asked(writes(pay, yen("100"))), hands, staff()), "A/1 D/1 hands 2")
	p.Hands = 1
	expect.Is(t, resolved(p, asked(writes(pay, yen("1"))), rules.Floor{Stamps: 2}, vacant), "refused 2 floor")
	expect.Is(t, resolved(p, asked(reads()), rules.Floor{Stamps: 2}, vacant), "A/1 -vacant hands 1")
	p.Stages = append(p.Stages, head(rules.EmptySkip))
	expect.Is(t, resolved(p, asked(writes(pay, yen("1"))), rules.Floor{Stamps: 2}, vacant), "refused 2 floor")
	alone := policy(0, people(1, rules.EmptyRefuse, "A"))
	expect.Is(t, resolved(alone, asked(writes(pay, yen("100"))), hands, staff()), "refused 0 floor")
}

// Of a hundred members it is asked who may stamp; whoever resolves would have to ask Slack about each of more.
func TestALargeGroupIsNotLookedAtOneByOne(t *testing.T) {
	d, p := staff(), policy(0, group(1, rules.EmptySkip))
	d.group, d.standing = many("U%d", 100), map[string]rules.Employment{}
	for _, user := range d.group[1:] {
		d.standing[user] = rules.EmploymentNone
	}
	expect.Is(t, resolved(p, asked(reads()), rules.Floor{}, d), "U0/1 hands 1")
	d.group = append(d.group, "U100")
	expect.Is(t, resolved(p, asked(reads()), rules.Floor{}, d), "refused 1 many")
	all := of(rule(2, rules.Conditions{}, p.Stages...)).Findings(d, today, "")
	expect.That(t, len(all) > 0 && all[0] == found(rules.FindingMany, 1, today), "%v", all)
}
