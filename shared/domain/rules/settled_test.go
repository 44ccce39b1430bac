package rules_test

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// different returns the most different people who can stamp a route, by trying every choice. A channel has somebody
// else.
func different(route circulation.Route, at int, hands map[string]bool) int {
	if at == len(route.Stages) {
		return len(hands)
	}
	s := route.Stages[at]
	if s.LeftOut != "" {
		return different(route, at+1, hands)
	}
	if s.Mode == circulation.ModeChannel {
		return 1 + different(route, at+1, hands)
	}
	best := -1
	for choice := range 1 << len(s.People) {
		more, n := map[string]bool{}, 0
		for h := range hands {
			more[h] = true
		}
		for i, p := range s.People {
			if choice>>i&1 == 1 {
				more[cmp.Or(p.Person, p.User)], n = true, n+1
			}
		}
		if n == s.Need {
			best = max(best, different(route, at+1, more))
		}
	}
	return best
}

// Every route can be settled by as many different people as it needs, none of them an asker, and is not below the
// floor.
func TestARouteCanBeSettledByOthersThanItsAskers(t *testing.T) {
	opened := 0
	rapid.Check(t, func(t *rapid.T) {
		d := drawnCompany(t)
		floor := rules.Floor{Stamps: rapid.IntRange(1, 2).Draw(t, "floor")}
		floor.HandsFrom = &rules.Money{Value: "20", Currency: "JPY"}
		for range 10 {
			f, p := drawnAsk(t, d), drawnPolicy(t)
			route, err := p.Resolve(f, floor, d)
			again, err2 := p.Resolve(f, floor, d)
			expect.Same(t, again, route)
			expect.Is(t, fmt.Sprint(err), fmt.Sprint(err2))
			if err == nil {
				opened++
				checkRoute(t, p, f, floor, d, route)
				checkThread(t, p, f, floor, d, route)
				continue
			}
			var no *rules.Unresolved
			expect.That(t, errors.As(err, &no) && no.Why != "" && no.Stage <= len(p.Stages), "%v", err)
		}
	})
	t.Logf("%d routes were opened", opened)
	expect.That(t, opened > 100 || testing.Short(), "only %d routes were opened", opened) // short: few tries
}

// checkThread checks that askers beside the requester took no stage away, and lowered nothing: without them the same
// stages ask for as many stamps by as many hands.
func checkThread(t *rapid.T, p *rules.Policy, f *rules.Facts, floor rules.Floor, d *company, route circulation.Route) {
	own := *f
	own.Askers = []circulation.Person{f.Requester}
	alone, err := p.Resolve(&own, floor, d)
	if err != nil {
		t.Fatalf("with others' words %s, and without them %v", drawn(route), err)
	}
	expect.That(t, route.Hands >= alone.Hands, "%s, and without others' words %s", drawn(route), drawn(alone))
	for i, s := range route.Stages {
		was := alone.Stages[i]
		expect.That(t, (s.LeftOut == "" || s.LeftOut == was.LeftOut) && s.Need >= was.Need, "%s, and without others' words %s", drawn(route), drawn(alone))
	}
}

func checkRoute(t *rapid.T, p *rules.Policy, f *rules.Facts, floor rules.Floor, d *company, route circulation.Route) {
	stamps, people := 0, 0
	for i, s := range route.Stages {
		stamps += s.Need
		expect.That(t, (s.LeftOut != "") == (s.Need == 0), "%+v", s)
		e := p.Stages[i].Empty
		then := map[string]rules.Then{rules.LeftVacant: e.Vacant, rules.LeftStanding: e.Vacant, rules.LeftOwn: e.Own,
			rules.LeftTwice: e.Twice, "": rules.ThenSkip}[s.LeftOut]
		expect.That(t, then == rules.ThenSkip, "left out without the policy's word: %+v", s)
		if s.LeftOut == "" && s.Mode == circulation.ModePeople {
			people++
			expect.That(t, len(s.People) >= s.Need && s.Need >= p.Stages[i].Need, "%+v", s)
		}
		keys := map[string]bool{}
		for _, x := range s.People {
			expect.That(t, !x.Is(f.Requester), "the requester %s is asked", x.User)
			expect.That(t, d.Standing(x, today) == rules.StandingEmployee, "%+v may not stamp", x)
			expect.That(t, x.Via != "" && (d.org == "" || x.Person != ""), "%+v", x)
			key := cmp.Or(x.Person, x.User)
			expect.That(t, !keys[key], "%s is there twice", key)
			keys[key] = true
		}
	}
	stamping := route
	stamping.Stages = slices.Clone(route.Stages)
	for i := range stamping.Stages {
		stamping.Stages[i].People = slices.DeleteFunc(slices.Clone(route.Stages[i].People), func(x circulation.Person) bool {
			return slices.ContainsFunc(f.Askers, x.Is)
		})
	}
	expect.That(t, different(stamping, 0, nil) >= route.Hands, "%s", drawn(route))
	expect.That(t, p.Hands == 0 || route.Hands == p.Hands, "%s of a policy of %d", drawn(route), p.Hands)
	expect.That(t, stamps > 0 && floor.Allows(f, stamps, route.Hands), "%s is below the floor", drawn(route))
	expect.That(t, people > 0 || !f.Writes(), "only the channel is asked: %s", drawn(route))
}

// Who is at a stage only because an asker stood between stamps at their own stage, too: what an asker says in a thread
// makes no stage a second time.
func TestWhoIsReachedPastAnAskerStampsAtTheirOwnStageToo(t *testing.T) {
	d := &company{org: "v1", managers: map[string]string{"B": "R", "R": "A", "A": "D"}, group: []string{"B"}}
	p := &rules.Policy{Stages: []rules.Stage{
		{Name: "two", Who: rules.Who{Kind: rules.WhoGroup, Group: "S1"}, Need: 2,
			Empty: rules.Empty{Vacant: rules.ThenUp, Own: rules.ThenUp, Twice: rules.ThenUp}},
		{Name: "manager", Who: rules.Who{Kind: rules.WhoManager, Level: 2}, Need: 1,
			Empty: rules.Empty{Vacant: rules.ThenUp, Own: rules.ThenUp, Twice: rules.ThenSkip}},
	}}
	for askers, want := range map[string]string{"R": "B,A/2 D/1 hands 2", "RA": "B,D/2 D/1 hands 2"} {
		f := asked()
		f.Requester, f.Askers = d.Person("R"), nil
		for _, who := range askers {
			f.Askers = append(f.Askers, d.Person(string(who)))
		}
		expect.Is(t, drawn(expect.Value(p.Resolve(f, rules.Floor{Stamps: 1}, d))(t)), want)
	}
}
