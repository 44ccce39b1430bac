package stories

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

func withContests(t *testing.T, w *world) {
	w.settled(t, func(s *tenancy.Settings) {
		driver.ListEmployees(s, "codex", webapi.Sato)
		if s.DraftContest.Enabled = true; !expect.Long() {
			s.DraftContest.MaxRounds = 2
		}
	})
}

func (w *world) contests() *store.ContestStore { return store.ContestsOf(w.rows(), nil) }

// asksTeams has three teams draft a policy, one of which goes wrong on its way: equals would be ranked by chance.
func (p *play) asksTeams() aggregate.Ref {
	p.asks(staff + " demo: cost 0.01 demo: unscored swift round 2")
	ref := contest.Ref(p.Ref.Tenant, contest.IDFor(p.Ref, task.PromptKey(1)))
	p.belongs(ref.ID, p.mark)
	p.also = []aggregate.Ref{ref}
	return ref
}

// drafting has people approve the draft of a team.
func drafting(p *play) {
	ref := p.asksTeams()
	p.ClickUntilTaken(webapi.Tanaka, driver.PromptCard, "approve_prompt")
	p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
	p.untilCompleted()
	p.told(ref)
}

// told waits until the contest has told its task the result. Its teams' rows are part of the end.
func (p *play) told(ref aggregate.Ref) {
	p.Eventually("the contest rests", func() bool {
		a, err := p.contests().Load(context.Background(), ref)
		return err == nil && a.Contest != nil && a.Contest.Told
	})
	for _, x := range expect.Value(p.contests().Load(context.Background(), ref))(p.t).Contest.Teams {
		p.also = append(p.also, contest.TeamRef(ref.Tenant, ref.ID, x.TeamID))
	}
}

// unattendedContest: the sweeper makes and starts the contest, tells the task its result and wakes the task's run.
func unattendedContest(p *play) {
	ref := p.asksTeams()
	swept := func(what string, holds func(*task.Aggregate) bool) {
		p.Eventually(what, func() bool {
			if rows, err := p.partition(p.Ref); err != nil || len(rows) == 0 {
				return false // the message is not stored yet
			}
			p.sweep()
			a := p.Load()
			return holds(a) && a.Head.Shown()
		})
	}
	waits := func(gate string) func(*task.Aggregate) bool {
		return func(a *task.Aggregate) bool { return len(a.Waits) == 1 && a.Waits[0].Gate == gate }
	}
	swept("a draft waits", waits(task.PromptKey(1)))
	p.ClickUntilTaken(webapi.Tanaka, driver.PromptCard, "approve_prompt")
	swept("the steps wait", waits(task.ProcessKey(1)))
	p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
	swept("the work is done", func(a *task.Aggregate) bool { return a.Head.Ended != nil })
	p.untilCompleted()
	p.told(ref)
	expect.Is(p.t, p.met("RelayChangesFunction", lambda.KindStart), 0, "the relay got … batches")
}

// paidOnce checks that the task was charged exactly once for everything its teams spent, and what calls were made
// again.
func paidOnce(t driver.T, p *play) {
	ctx, ref := context.Background(), p.also[0]
	var spent, charged aggregate.MicroUSD
	for _, u := range p.Load().Uses {
		if u.ID == ref.ID {
			charged += u.Cost
		}
	}
	k := expect.Value(p.contests().Load(ctx, ref))(t)
	expect.Must(t, len(k.Contest.Teams) == 3, "%d teams", len(k.Contest.Teams))
	for _, x := range k.Contest.Teams {
		spent += expect.Value(p.contests().Teams.Load(ctx, contest.TeamRef(ref.Tenant, ref.ID, x.TeamID)))(t).Used().Cost
	}
	cost := k.Contest.Usage.Cost
	expect.Must(t, charged == cost && spent == cost && cost != 0,
		"the contest cost %s, its teams spent %s, the task was charged %s", cost, spent, charged)
}

// TestRunsThatAreSuperseded: while teams play, and one has its first score, the task's run and the contest's are
// stopped. The next runs continue, concurrently with calls still in flight.
func TestRunsThatAreSuperseded(t *testing.T) {
	expect.AtNight(t) // TestTwoRunsAtOnce is a sample
	withContests(t, running)
	p := running.variant(t, "contest", func(p *play) {
		ref := p.asksTeams()
		at := point{function: "RunRoundFunction", kind: "DynamoDB.TransactWriteItems",
			ordinal: 4} // after the three teams' beginnings
		release := p.holds(at.moment())
		defer release()
		p.Eventually("a round is about to be saved", func() bool {
			return p.met(at.function, at.kind) >= at.ordinal && len(p.Load().Waits) == 1
		})
		p.stops("Pipeline", p.Ref.ID, 1)
		p.stops("Contest", ref.ID, 1)
		p.sweep()
		p.Eventually("the contest has another run", func() bool {
			a, err := p.contests().Load(context.Background(), ref)
			return err == nil && a.Head.Run >= 2
		})
		p.Eventually("its teams go on", func() bool { return p.met(at.function, at.kind) > at.ordinal+1 })
		release()
		p.ClickUntilTaken(webapi.Tanaka, driver.PromptCard, "approve_prompt")
		p.ClickUntilTaken(webapi.Tanaka, driver.ProcessCard, "approve_process")
		p.untilCompleted()
		p.told(ref)
	})
	run := p.Load().Head.Run
	expect.That(t, run >= 2, "the task's run is still number %d", run)
}

// teamsPlay begins a contest of so many teams, whose calls are disturbed.
func (w *world) teamsPlay(t *testing.T, teams, rounds int, prompt string, disturb func(*trace)) *play {
	t.Helper()
	id := contest.NewID()
	p := &play{world: w, trace: newTrace(), t: t, mark: id}
	disturb(p.trace)
	w.expect(id, p.trace)
	p.follows(contest.Ref(w.tenant(), id), webapi.HR, "")
	p.Timeout = 5 * time.Minute
	order := contest.Order{Execution: id, Tenant: w.tenant(), Prompt: "経費精算の差し戻しを減らす方針を書いてください。 " + prompt,
		Locale: "ja", MaxRounds: rounds, TeamTimeoutSeconds: 900, Budget: aggregate.USD(1),
		For: task.RefOf(w.tenant(), aggregate.NewID()), ForRow: task.PromptKey(1)}
	config := teamconfig.Contest{TeamTimeoutSeconds: 900, MaxRounds: rounds}
	config.Evaluator = teamconfig.Evaluator{Metrics: []teamconfig.Metric{{Name: "Coverage", Model: "demo", Weight: 0.5},
		{Name: "Relevance", Model: "demo", Weight: 0.5}}}
	for i := range teams {
		x := teamconfig.Team{TeamID: fmt.Sprintf("team-%02d", i), TeamName: fmt.Sprint("Team ", i), MaxConcurrentMembers: 2,
			Leader: teamconfig.Leader{Model: "demo"}}
		x.Members = []teamconfig.Member{{AgentName: "analyst", AgentType: string(contest.Plain), ToolDescription: "analyses",
			Model: "demo"}}
		config.Teams = append(config.Teams, x)
		order.Teams = append(order.Teams, contest.Entry{TeamID: x.TeamID, TeamName: x.TeamName})
	}
	text := expect.Value(json.Marshal(config))(t)
	order.Config = aggregate.Blob{Bytes: len(text), JSON: aggregate.JSON(text)}
	expect.NoError(t, storetest.Begin(t, w.contests(), order))
	return p
}

// settledTeams waits for the contest's end, and returns it with its teams.
func (p *play) settledTeams() (k *contest.Aggregate, teams []*contest.Work) {
	p.Eventually("the contest is settled", func() bool {
		k = expect.Value(p.contests().Load(context.Background(), p.Ref))(p.t)
		return k.Contest.SettledAt != nil
	})
	for _, x := range k.Contest.Teams {
		teams = append(teams, expect.Value(p.contests().Teams.Load(p.t.Context(),
			contest.TeamRef(p.Ref.Tenant, p.Ref.ID, x.TeamID)))(p.t))
	}
	return k, teams
}

// TestTenTeamsLoseNoRound plays ten teams of five rounds at once, by day fewer: undisturbed, and with one write in ten
// refused and one process in twenty killed before or after its write. The rows are the same.
func TestTenTeamsLoseNoRound(t *testing.T) {
	t.Parallel()
	count, rounds := 3, 2
	if expect.Long() {
		count, rounds = 10, 5
	}
	var want map[string]any
	for _, disturbed := range []bool{false, true} {
		p := running.teamsPlay(t, count, rounds, "", func(x *trace) {
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
		k, teams := p.settledTeams()
		rows, scored := map[string]any{}, 0
		for _, w := range teams {
			expect.NoError(t, p.rowsOf(w.Ref(), rows))
			scored += len(w.Rounds)
		}
		listed := 0 // among other contests' rounds, on several pages
		for cursor, more := "", true; more; more = cursor != "" {
			page := expect.Value(p.contests().Board(t.Context(), p.Ref.Tenant, "", cursor, store.MaxPage))(t)
			cursor = page.Next
			for _, b := range page.Items {
				if b.ExecutionID == p.Ref.ID {
					listed++
				}
			}
		}
		t.Logf("disturbed %v: %d rounds, %d processes killed", disturbed, scored, len(p.dead()))
		expect.That(t, scored == rounds*count && listed == scored && k.Summary.Status == contest.SummaryCompleted &&
			(!disturbed || 10*len(p.dead()) >= 4*rounds*len(teams)), "%d rounds, %d on the board, %s", scored, listed,
			k.Summary.Status)
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
	running.teamsPlay(t, 10, 1, "", func(*trace) {}).settledTeams() // processes are there
	k, teams := running.teamsPlay(t, 10, 1, "demo: slow 3", func(*trace) {}).settledTeams()
	wall, slowest := k.Contest.SettledAt.Sub(k.Contest.CreatedAt), time.Duration(0)
	for _, w := range teams {
		slowest = max(slowest, w.Team.EndedAt.Sub(w.Team.CreatedAt))
	}
	expect.That(t, wall.Seconds() <= 1.15*slowest.Seconds(), "%v, the slowest team took %v", wall, slowest)
}
