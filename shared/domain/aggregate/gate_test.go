package aggregate_test

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestWhatSettlesARoute(t *testing.T) {
	gone := time.Unix(1, 0)
	by := func(who string, stage, desk int) aggregate.Stamp {
		return aggregate.Stamp{By: who, Stage: stage, Desk: desk}
	}
	desk := func(need int, people ...string) aggregate.Desk {
		return aggregate.Desk{People: people, Need: need, Mode: aggregate.DeskStamp}
	}
	reading := aggregate.Desk{People: []string{"E"}, Mode: aggregate.DeskRead}
	two := []aggregate.Stage{{Desks: []aggregate.Desk{desk(0, "A", "B"), reading}}, {Desks: []aggregate.Desk{desk(1, "C", "D")}}}
	for name, c := range map[string]struct {
		route  []aggregate.Stage
		stamps []aggregate.Stamp
		want   bool
	}{
		"today's form without a stamp":         {nil, nil, false},
		"today's form with one":                {nil, []aggregate.Stamp{by("A", 0, 0)}, true},
		"today's form with a withdrawn one":    {nil, []aggregate.Stamp{{By: "A", Withdrawn: &gone}}, false},
		"one of all who are needed":            {two, []aggregate.Stamp{by("A", 0, 0), by("C", 1, 0)}, false},
		"a hand and its principal are one":     {two, []aggregate.Stamp{by("A", 0, 0), {By: "X", OnBehalfOf: "A"}, by("C", 1, 0)}, false},
		"all of one stage, none of the next":   {two, []aggregate.Stamp{by("A", 0, 0), by("B", 0, 0)}, false},
		"all who are needed, nobody who reads": {two, []aggregate.Stamp{by("A", 0, 0), by("B", 0, 0), by("D", 1, 0)}, true},
	} {
		expect.Is(t, aggregate.Settled(c.route, c.stamps), c.want, "%s", name)
	}
}
