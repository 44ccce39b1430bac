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
	one := func(desks ...aggregate.Desk) []aggregate.Stage { return []aggregate.Stage{{Desks: desks}} }
	sides := append(one(desk(1, "A"), desk(1, "A")), one(desk(1, "A"), desk(1, "A"))...)
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
		"one desk of a stage, not the other":   {sides, []aggregate.Stamp{by("A", 0, 0), by("A", 1, 0), by("A", 1, 1)}, false},
		"a person at each of their desks":      {sides, []aggregate.Stamp{by("A", 0, 0), by("A", 0, 1), by("A", 1, 0), by("A", 1, 1)}, true},
		"a desk without people":                {one(desk(0)), []aggregate.Stamp{by("A", 0, 0)}, false},
		"a desk that needs fewer than nobody":  {one(desk(-1, "A")), nil, false},
		"a desk that lists a person twice":     {one(desk(2, "A", "A", "B")), []aggregate.Stamp{by("A", 0, 0)}, false},
		"one who is not at the desk":           {one(desk(1, "A")), []aggregate.Stamp{by("B", 0, 0)}, false},
		"a stamp of nobody":                    {one(desk(1, "")), []aggregate.Stamp{by("", 0, 0)}, false},
		"a desk of an unknown mode":            {one(desk(1, "A"), aggregate.Desk{People: []string{"B"}, Mode: "other"}), []aggregate.Stamp{by("A", 0, 0)}, false},
		"a stage that only reads":              {one(reading), []aggregate.Stamp{by("E", 0, 0)}, false},
		"all who are needed, nobody who reads": {two, []aggregate.Stamp{by("A", 0, 0), by("B", 0, 0), by("D", 1, 0)}, true},
	} {
		expect.Is(t, aggregate.Settled(c.route, c.stamps), c.want, "%s", name)
	}
}
