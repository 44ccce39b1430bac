package rules_test

import (
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

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
