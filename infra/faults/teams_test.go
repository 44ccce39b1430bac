package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// parallelTeams is how many teams play at once: ten at night.
func parallelTeams() int {
	if expect.Long() {
		return 10
	}
	return 3
}

// parallel begins a contest of so many teams with faults from disturb.
func (b *harness) parallel(t *testing.T, rounds int, prompt string, disturb func(*trace)) *scenarioRun {
	t.Helper()
	id, tenant := contest.NewID(), aggregate.TenantID(b.Sandbox.TeamID())
	d := &scenarioRun{harness: b, trace: newTrace(), mark: id}
	d.Request = &driver.Request{T: t, S: b.Stack, Ref: contest.Ref(tenant, id), Timeout: 5 * time.Minute,
		Poll: 200 * time.Millisecond}
	disturb(d.trace)
	b.injector.knows(id, d.trace)
	order := contest.Order{Execution: id, Tenant: tenant, Prompt: "経費精算の差し戻しを減らす方針を書いてください。 " + prompt,
		Locale: "ja", MaxRounds: rounds, TeamTimeoutSeconds: 900, Budget: aggregate.USD(1),
		For: task.RefOf(tenant, aggregate.NewID()), ForRow: task.PromptKey(1)}
	config := teamconfig.Contest{TeamTimeoutSeconds: 900, MaxRounds: rounds}
	config.Evaluator = teamconfig.Evaluator{Metrics: []teamconfig.Metric{{Name: "Coverage", Model: "demo", Weight: 0.5},
		{Name: "Relevance", Model: "demo", Weight: 0.5}}}
	for i := range parallelTeams() {
		x := teamconfig.Team{TeamID: fmt.Sprintf("team-%02d", i), TeamName: fmt.Sprint("Team ", i), MaxConcurrentMembers: 2,
			Leader: teamconfig.Leader{Model: "demo"}}
		x.Members = []teamconfig.Member{{AgentName: "analyst", AgentType: string(contest.Plain), ToolDescription: "analyses",
			Model: "demo"}}
		config.Teams = append(config.Teams, x)
		order.Teams = append(order.Teams, contest.Entry{TeamID: x.TeamID, TeamName: x.TeamName})
	}
	text := expect.Value(json.Marshal(config))(t)
	order.Config = aggregate.Blob{Bytes: len(text), JSON: aggregate.JSON(text)}
	expect.NoError(t, storetest.Begin(t, d.contests(), order))
	return d
}

// settledContest waits for the contest's end, and returns it with its teams.
func (d *scenarioRun) settledContest(t *testing.T) (k *contest.Aggregate, teams []*contest.Work) {
	t.Helper()
	d.Eventually("the contest is settled", func() bool {
		k = expect.Value(d.contests().Load(context.Background(), d.Ref))(t)
		return k.Contest.SettledAt != nil
	})
	for _, x := range k.Contest.Teams {
		teams = append(teams, expect.Value(d.contests().Teams.Load(t.Context(),
			contest.TeamRef(d.Ref.Tenant, d.Ref.ID, x.TeamID)))(t))
	}
	return k, teams
}

// TestTenTeamsLoseNoRound plays all teams at once through the state machine: undisturbed, and with one write in ten
// refused and one process in twenty killed before or after its write. The rows are the same.
func TestTenTeamsLoseNoRound(t *testing.T) {
	t.Parallel()
	rounds := 2
	if expect.Long() {
		rounds = 5
	}
	var want map[string]map[string]any
	for _, disturbed := range []bool{false, true} {
		d := running.parallel(t, rounds, "", func(x *trace) {
			for n := 5; disturbed && n < 1500; n += 10 {
				moment := []lambda.Moment{lambda.Before, lambda.After}[n/20%2]
				for _, kind := range []string{"DynamoDB.PutItem", "DynamoDB.TransactWriteItems"} {
					at := point{function: "RunRoundFunction", kind: kind, ordinal: n}
					x.instead[at.moment()] = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
						http.Error(w, `{"message":"down"}`, http.StatusInternalServerError)
					})
					if at.ordinal, at.kill = n+4, moment; n/10%2 == 0 {
						x.kills = append(x.kills, at)
					}
				}
			}
		})
		began := time.Now()
		k, teams := d.settledContest(t)
		rows, scored, calls := map[string]map[string]any{}, 0, 0
		for _, w := range teams {
			of, _, err := d.rowsOf(w.Ref())
			expect.NoError(t, err)
			rows[w.Team.TeamID] = of
			scored += len(w.Rounds)
			calls += len(w.Uses)
		}
		board := expect.Value(d.contests().Board(t.Context(), d.Ref.Tenant, store.ContestFilter{Execution: d.Ref.ID}, "",
			100))(t)
		t.Logf("disturbed %v: %s, %d rounds, %d calls of models, %d processes killed", disturbed,
			time.Since(began).Round(time.Second), scored, calls, len(d.dead()))
		expect.That(t, scored == rounds*parallelTeams() && len(board.Items) == scored &&
			k.Summary.Status == contest.SummaryCompleted && (!disturbed || 10*len(d.dead()) >= 4*rounds*len(teams)),
			"%d rounds, %d on the board, %s", scored, len(board.Items), k.Summary.Status)
		if want == nil {
			want = rows
		}
		expect.Same(t, want, rows)
	}
}

// TestAContestTakesAsLongAsItsSlowestTeamThroughItsMachine measures a round of ten teams whose models take 3 s for each
// answer.
func TestAContestTakesAsLongAsItsSlowestTeamThroughItsMachine(t *testing.T) {
	expect.AtNight(t)
	running.parallel(t, 1, "", func(*trace) {}).settledContest(t) // processes are there
	d := running.parallel(t, 1, "demo: slow 3", func(*trace) {})
	k, teams := d.settledContest(t)
	wall, slowest, sum := k.Contest.SettledAt.Sub(k.Contest.CreatedAt), time.Duration(0), time.Duration(0)
	for _, w := range teams {
		took := w.Team.EndedAt.Sub(w.Team.CreatedAt)
		slowest, sum = max(slowest, took), sum+took
	}
	ratio := wall.Seconds() / slowest.Seconds()
	t.Logf("%d teams, a round each: %.1f s, the slowest team %.1f s, ratio %.3f, one after the other %.1f s", len(teams),
		wall.Seconds(), slowest.Seconds(), ratio, sum.Seconds())
	expect.That(t, ratio <= 1.15, "%v, the slowest team took %v", wall, slowest)
}
