package driver

import (
	"encoding/json"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// Compete begins a contest that belongs to no task, with the demo model. Its teams are team-1, team-2 and so on, each of
// a leader and a member; each plays all of its rounds. The store has no bucket, so all of its data must be in rows.
func Compete(t T, s *stack.Stack, prompt string, teams, rounds int) (*store.ContestStore, aggregate.Ref) {
	t.Helper()
	all := store.ContestsOf(store.New(dynamodb.NewFromConfig(s.AWS), s.TableName, store.Kinds()...), nil)
	o := contest.Order{
		Execution: contest.NewID(), Tenant: aggregate.TenantID(s.Sandbox.TeamID()), Prompt: prompt, Locale: "ja", MaxRounds: rounds, MinRounds: rounds,
		TeamTimeoutSeconds: 600, Budget: aggregate.USD(1), By: aggregate.System(),
	}
	config := teamconfig.Contest{Judgment: teamconfig.Judgment{Model: "demo"}, Evaluator: teamconfig.Evaluator{
		Metrics: []teamconfig.Metric{{Name: "Coverage", Model: "demo", Weight: 0.5}, {Name: "Relevance", Model: "demo", Weight: 0.5}},
	}}
	for i := range teams {
		e := contest.Entry{TeamID: fmt.Sprint("team-", i+1), TeamName: fmt.Sprint("チーム ", i+1)}
		o.Teams = append(o.Teams, e)
		config.Teams = append(config.Teams, teamconfig.Team{TeamID: e.TeamID, TeamName: e.TeamName, MaxConcurrentMembers: 1, Leader: teamconfig.Leader{Model: "demo"}, Members: []teamconfig.Member{
			{AgentName: "analyst", AgentType: "plain", ToolDescription: "調べます", Model: "demo"},
		}})
	}
	text := expect.Value(json.Marshal(config))(t)
	o.Config = aggregate.Blob{Bytes: len(text), JSON: aggregate.JSON(text)}
	expect.NoError(t, all.Begin(t.Context(), o))
	return all, contest.Ref(o.Tenant, o.Execution)
}

func SummedUp(t T, all *store.ContestStore, ref aggregate.Ref) (a *contest.Aggregate) {
	t.Helper()
	expect.Eventually(t, "the contest is summed up", func() bool {
		var err error
		a, err = all.Load(t.Context(), ref)
		return err == nil && a.Summary != nil
	})
	return a
}
