package contest_test

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
)

// day holds a day's counters after the changes of one contest.
type day map[string]aggregate.MicroUSD

func (d day) applied(a *contest.Aggregate, c aggregate.Change) *contest.Aggregate {
	for _, n := range c.Counts {
		d[n.Key] += aggregate.MicroUSD(n.By)
	}
	return applied(a, c)
}

func TestTheDayCountsAContestAloneByItsBudgetUntilItIsClosed(t *testing.T) {
	const key = "SPENT#2026-11-05"
	for name, tt := range map[string]struct {
		cost, counted aggregate.MicroUSD
		before        func(*contest.Aggregate, time.Time) (aggregate.Change, error)
		later         time.Duration
		ordered       bool
	}{
		"what it didn't spend is given back":   {cost: 300_000, counted: 300_000},
		"also when it cost nothing":            {cost: 0, counted: 0},
		"what is beyond its budget is counted": {cost: 1_200_000, counted: 1_200_000},
		"all of it":                            {cost: 1_000_000, counted: 1_000_000},
		"on the day on which it began":         {cost: 300_000, counted: 300_000, later: 24 * time.Hour},
		"after it was cancelled": {cost: 300_000, counted: 300_000, before: func(a *contest.Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Cancel(aggregate.System(), contest.ReasonCancelled, now)
		}},
		"of one that was asked for, whoever asked counts": {cost: 300_000, ordered: true},
	} {
		t.Run(name, func(t *testing.T) {
			d, o := day{}, order("a")
			if !tt.ordered {
				o.For, o.ForRow = nil, ""
			}
			a := d.applied(&contest.Aggregate{}, expect.Value(contest.Begin(o, began))(t))
			if reserved := d[key]; !tt.ordered && reserved != o.Budget || tt.ordered && reserved != 0 {
				t.Fatalf("reserved %s", reserved)
			}
			now := began.Add(time.Second + tt.later)
			if tt.before != nil {
				a = d.applied(a, expect.Value(tt.before(a, now))(t))
			}
			_, begin, err := a.BeginTeam(1, now)
			expect.NoError(t, err)
			team := applied(&contest.Work{}, begin)
			team.Add(&aggregate.Use{Usage: aggregate.Usage{ID: "x", Calls: 1, Cost: tt.cost}})
			team = applied(team, expect.Value(team.End(contest.PartialFailure, "", "", now))(t))
			a = d.applied(a, expect.Value(a.Close(1, []contest.Standing{expect.Value(team.Standing())(t)}, aggregate.Blob{}, now))(t))
			if d[key] != tt.counted || len(d) > 1 || a.Contest.Reserved != 0 {
				t.Errorf("the days count %v, %s is reserved", d, a.Contest.Reserved)
			}
		})
	}
}

// If no summary of a contest could be made, its full budget stays counted towards the day until somebody runs it again
// by hand.
func TestAContestThatWasGivenUpKeepsWhatItReserved(t *testing.T) {
	d, o := day{}, order("a")
	o.For, o.ForRow = nil, ""
	a := d.applied(&contest.Aggregate{}, expect.Value(contest.Begin(o, began))(t))
	for a.Contest.SettledAt == nil {
		a = d.applied(a, expect.Value(a.RestartRun(a.Head.Run, began))(t))
	}
	expect.That(t, d["SPENT#2026-11-05"] == o.Budget, "given up: %v", d)
	a = d.applied(a, expect.Value(a.Rerun(true, began))(t))
	_, begin, err := a.BeginTeam(1, began)
	expect.NoError(t, err)
	team := applied(&contest.Work{}, begin)
	team = applied(team, expect.Value(team.End(contest.PartialFailure, "", "", began))(t))
	d.applied(a, expect.Value(a.Close(a.Head.Run, []contest.Standing{expect.Value(team.Standing())(t)}, aggregate.Blob{}, began))(t))
	expect.That(t, d["SPENT#2026-11-05"] == 0, "run again: %v", d)
}
