package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ringi/infra/bench/recorder"
	"ringi/infra/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/template"
	"ringi/shared/domain/contest"
)

// Contests are what a contest costs, of so many teams that play all of so many rounds.
type Contests struct {
	Teams, Rounds int
	Pipeline
}

// measureContests plays contests one after another, after one that starts processes.
func measureContests(ctx context.Context, n int) (*Contests, error) {
	rec := recorder.New(1)
	s, err := open(ctx, rec, webapi.Rates{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rec.Attach(&recorder.Meter{Endpoint: s.AWSEndpoint, Indexes: indexes(s.Template.Tables[0])})
	c := &Contests{Teams: 3, Rounds: 2}
	for _, many := range []int{1, n} {
		for range many {
			if err := driver.Try(ctx, func(t driver.T) { c.play(t, s) }); err != nil {
				return nil, err
			}
		}
		calls, err := whenQuiet(ctx, rec)
		if err != nil {
			return nil, err
		}
		c.Functions = usage(calls, many)
	}
	// Each call of RunRound is followed by a choice; a team ends in a state of its own, and so do all teams and the contest.
	c.Transitions = round(2*c.Functions["RunRoundFunction"].Invocations + float64(c.Teams) + 3)
	return c, nil
}

// play is one contest from its head to its summary.
func (c *Contests) play(t driver.T, s *stack.Stack) {
	all, ref := driver.Compete(t, s, "経費精算の手順を決めて", c.Teams, c.Rounds)
	if a := driver.SummedUp(t, all, ref); a.Summary.Status != contest.SummaryCompleted {
		t.Fatalf("the contest ended as %+v", a.Summary)
	}
}

func (m *Measured) contestRows(t *table) {
	c := m.Contest
	if c == nil {
		return
	}
	t.part(fmt.Sprintf("One contest, %d teams of a leader and a member, %d rounds each, two metrics: calls and capacity", c.Teams, c.Rounds), "of the contest", "of a round")
	for _, name := range slices.Sorted(maps.Keys(c.Functions)) {
		if name == sweeper || name == updater {
			continue
		}
		of := ""
		if name == "RunRoundFunction" {
			of = inShort(c.Functions[name].by(c.Teams * c.Rounds))
		}
		t.row(template.Folder(name)+", in a contest", inShort(c.Functions[name]), of)
	}
	t.row("all functions, in a contest", inShort(c.Total()), "")
	t.row("rows that a contest writes by kind", byKind(c.Pipeline), "")
	t.row("state transitions of the contest's run", num(c.Transitions), "")
}

// by is a share of a usage.
func (u Usage) by(n int) Usage {
	out := Usage{Invocations: u.Invocations / float64(n), Calls: map[string]float64{}, Read: u.Read / float64(n), Write: u.Write / float64(n), Index: u.Index / float64(n)}
	for name, calls := range u.Calls {
		out.Calls[name] = calls / float64(n)
	}
	return out
}
