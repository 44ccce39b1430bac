package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/bench/recorder"
	"ringi/infra/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/template"
	"ringi/shared/aggregate"
	"ringi/shared/contest"
	"ringi/shared/contests"
	registered "ringi/shared/kinds"
	"ringi/shared/store"
	"ringi/shared/teamconfig"
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

// play is one contest with the demo's model, from its head to its summary. Each leader asks one member, two metrics are scored.
func (c *Contests) play(t driver.T, s *stack.Stack) {
	all := contests.Of(store.New(dynamodb.NewFromConfig(s.AWS), s.TableName, registered.All()...), nil)
	o := contest.Order{
		Execution: contest.NewID(), Tenant: aggregate.TenantID(s.Sandbox.TeamID()), Prompt: "経費精算の手順を決めて", Locale: "ja", MaxRounds: c.Rounds, MinRounds: c.Rounds,
		TeamTimeoutSeconds: 300, Budget: aggregate.USD(1), By: aggregate.System(),
	}
	config := teamconfig.Contest{Judgment: teamconfig.Judgment{Model: "demo"}, Evaluator: teamconfig.Evaluator{
		DefaultModel: "demo", Metrics: []teamconfig.Metric{{Name: "Coverage", Weight: 0.5}, {Name: "Relevance", Weight: 0.5}},
	}}
	for i := range c.Teams {
		e := contest.Entry{TeamID: fmt.Sprint("team-", i+1), TeamName: fmt.Sprint("チーム ", i+1)}
		o.Teams = append(o.Teams, e)
		config.Teams = append(config.Teams, teamconfig.Team{TeamID: e.TeamID, TeamName: e.TeamName, MaxConcurrentMembers: 1, Leader: teamconfig.Leader{Model: "demo"}, Members: []teamconfig.Member{
			{AgentName: "analyst", AgentType: "plain", ToolDescription: "調べます", Model: "demo"},
		}})
	}
	text, err := json.Marshal(config)
	if err != nil {
		t.Fatal(err)
	}
	o.Config = aggregate.Blob{Bytes: len(text), JSON: aggregate.JSON(text)}
	if err := all.Begin(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	driver.Eventually(t, "the contest is summed up", func() bool {
		a, err := all.Load(t.Context(), contest.Ref(o.Tenant, o.Execution))
		if err != nil || a.Summary == nil {
			return false
		}
		if a.Summary.Status != contest.SummaryCompleted {
			t.Fatalf("the contest ended as %+v", a.Summary)
		}
		return true
	})
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
