package rules_test

import (
	"fmt"
	"slices"
	"testing"

	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

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
		"a guest, or gone":           func(d *company, who string) { d.standing[who] = rules.StandingNone },
		"of another company":         func(d *company, who string) { d.standing[who] = rules.StandingOther },
	}
	for desk, at := range desks {
		for state, make := range states {
			for _, empty := range []rules.Empty{up, skip, refuse} {
				for _, others := range []bool{false, true} {
					const who = "A" // R's manager, the group's only member, and the position's holder
					d := staff()
					d.group, d.holders = []string{who}, map[string][]string{"": {who}}
					d.accounts, d.standing = map[string]string{}, map[string]rules.Standing{}
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
