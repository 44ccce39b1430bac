package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
)

// takePoints is contestPoints from the click on that takes the best draft so far.
var takePoints = map[string]int{"ReceiveInteractionFunction": 1}

// taking is a scenario in which a person takes the best draft of two teams while the third one hangs.
func taking() scenario {
	return scenario{name: "take best", text: "従業員一覧を取得して demo: cost 0.01 contest demo: hang solo",
		act: func(d *scenarioRun) {
			d.untilTeamsEnded("careful", "swift")
			d.from = d.now()
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", card.TakeBest)
			d.approvesAll()
		}}
}

// untilTeamsEnded waits until these teams of the contest have played all of their rounds.
func (d *scenarioRun) untilTeamsEnded(teams ...string) {
	d.Eventually(fmt.Sprintf("%v have ended", teams), func() bool {
		for _, id := range teams {
			w, err := d.contests().Teams.Load(context.Background(), contest.TeamRef(d.Ref.Tenant, d.contest().ID, id))
			if err != nil || w.Team == nil || w.Team.Status == contest.TeamRunning {
				return false
			}
		}
		return true
	})
}

// approvesAll approves the policy and the steps, and waits until the work is done and the contest rests.
func (d *scenarioRun) approvesAll() {
	d.ClickUntilTaken(webapi.Tanaka, "CARD#prompt#0001", "approve_prompt")
	d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
	d.untilCompleted()
	d.Eventually("the contest rests", func() bool {
		a, err := d.contests().Load(context.Background(), d.contest())
		return err == nil && a.Contest != nil && a.Contest.Told
	})
}

// crashWhileTheBestIsTaken kills processes anywhere from the click on to the end: the rows of task, contest and teams
// are those of an undisturbed run, and the contest is paid for once.
func crashWhileTheBestIsTaken(t *testing.T, b *harness) {
	want, all := b.undisturbedAs(t, &b.taken, taking())
	checkTaken(t, want)
	b.survivesContests(t, want, all, takePoints)
}

// checkTaken checks that an undisturbed run ended as the person wanted.
func checkTaken(t *testing.T, c competed) {
	t.Helper()
	k, _ := c.Contest["CONTEST"].(map[string]any)
	p, _ := c.Task.Rows[task.PromptKey(1)].(map[string]any)
	x, _ := p["contest"].(map[string]any)
	expect.That(t, k["status"] == string(contest.Cancelled) && x["taken_by"] == webapi.Suzuki && countTaken(c) == 1,
		"the contest %v, the version %v, log %v", k, x, c.Task.Audit)
}

func countTaken(c competed) (n int) {
	for _, line := range c.Task.Audit {
		if strings.HasPrefix(line, string(task.AuditBestTaken)) {
			n++
		}
	}
	return n
}

// twoClicksTakeTheBest: the second click comes while the first is about to be written, and is faster.
func twoClicksTakeTheBest(t *testing.T, b *harness) {
	expect.AtNight(t) // crashWhileTheBestIsTaken is a sample
	want, _ := b.undisturbedAs(t, &b.taken, taking())
	s := taking()
	s.act = func(d *scenarioRun) {
		d.untilTeamsEnded("careful", "swift")
		at := point{function: "ReceiveInteractionFunction", kind: "DynamoDB.TransactWriteItems", ordinal: 1}
		release := d.holds(at.moment())
		defer release()
		ts := d.Card("CARD#prompt#0001", card.TakeBest).TS
		var first sync.WaitGroup
		first.Go(func() { _ = d.Sandbox.Click(webapi.Suzuki, d.Channel, ts, card.TakeBest) })
		d.Eventually("the first click is about to be written", func() bool { return d.met(at.function, at.kind) >= 1 })
		_ = d.Sandbox.Click(webapi.Suzuki, d.Channel, ts, card.TakeBest)
		d.Eventually("the second click counts", func() bool { return d.Load().Prompt().Contest.TakenAt != nil })
		release()
		first.Wait()
		if n := d.met(at.function, at.kind); n < 2 {
			failf("only %d writes", n)
		}
		d.approvesAll()
	}
	d, err := b.run(s)
	if err == nil {
		err = d.cameTo(want)
	}
	if err != nil {
		t.Error(err)
	}
}

// bestTakenAsTheLastTeamEnds: whichever of the two is written first, the task has one policy, the best draft of all
// that were scored, and the person is told if the contest was faster.
func bestTakenAsTheLastTeamEnds(t *testing.T, b *harness) {
	expect.AtNight(t) // crashWhileTheBestIsTaken is a sample
	click := point{function: "ReceiveInteractionFunction", kind: "DynamoDB.TransactWriteItems", ordinal: 1}
	closing := point{function: "CloseContestFunction", kind: "DynamoDB.TransactWriteItems", ordinal: 1}
	for name, x := range map[string]struct {
		held  point // what is written last
		taken bool
	}{
		"the click is faster":   {closing, true},
		"the contest is faster": {click, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := b.run(scenario{name: "race", text: "従業員一覧を取得して demo: cost 0.01 contest demo: slow 0.3",
				act: func(d *scenarioRun) {
					release := d.holds(x.held.moment())
					defer release()
					ts := d.Card("CARD#prompt#0001", card.TakeBest).TS
					var clicked sync.WaitGroup
					var pressed atomic.Bool
					press := func() { _ = d.Sandbox.Click(webapi.Suzuki, d.Channel, ts, card.TakeBest) }
					if x.taken {
						d.Eventually("the end is about to be written", func() bool { return d.met(closing.function, closing.kind) >= 1 })
						press()
						d.Eventually("the click counts", func() bool { return d.Load().Prompt().Contest.TakenAt != nil })
					} else {
						d.Eventually("the click is about to be written", func() bool {
							if pressed.CompareAndSwap(false, true) { // and again until something is scored
								clicked.Go(func() {
									defer pressed.Store(false)
									press()
								})
							}
							return d.met(click.function, click.kind) >= 1
						})
						d.Eventually("the contest has ended", func() bool { return d.Load().Prompt().Contest.Over() })
					}
					release()
					clicked.Wait()
					d.approvesAll()
				}})
			expect.NoError(t, err)
			d.checkOnePolicy(t, x.taken)
		})
	}
}

// checkOnePolicy checks that the task's only policy is the best draft of a contest, which is paid for once.
func (d *scenarioRun) checkOnePolicy(t *testing.T, taken bool) {
	t.Helper()
	a := d.Load()
	p := a.Prompts[0]
	if len(a.Prompts) != 1 || p.Entry == nil || *p.Entry != p.Contest.Entries[0] || (p.Contest.TakenAt != nil) != taken ||
		len(p.Contest.Entries) != 3 {
		t.Errorf("%d versions, of %+v by %+v", len(a.Prompts), p.Contest, p.Entry)
	}
	got, paid, _, err := d.competed()
	if err == nil {
		err = d.paidOnce(paid)
	}
	if err != nil {
		t.Error(err)
	}
	told := func(note string) bool { // that it was too late, or that nobody knows whether the held write was made
		return strings.Contains(note, "に終わっています") || strings.Contains(note, "保存できたか確認できませんでした")
	}
	if notes := d.Notes(webapi.Suzuki); slices.ContainsFunc(notes, told) == taken {
		t.Errorf("the person was told %q", notes)
	}
	expect.That(t, (countTaken(got) == 1) == taken, "log %v", got.Task.Audit)
}

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
	order := contest.Order{
		Execution: id, Tenant: tenant, Prompt: "経費精算の差し戻しを減らす方針を書いてください。 demo: play on " + prompt, Locale: "ja",
		MaxRounds: rounds, MinRounds: min(2,
			rounds), TeamTimeoutSeconds: 900, Budget: aggregate.USD(1), By: aggregate.System(),
	}
	config := teamconfig.Contest{TeamTimeoutSeconds: 900, MaxRounds: rounds, MinRounds: order.MinRounds,
		Judgment: teamconfig.Judgment{Model: "demo"}}
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
	expect.NoError(t, d.contests().Begin(t.Context(), order))
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
		if scored != rounds*parallelTeams() || len(board.Items) != scored ||
			k.Summary.Status != contest.SummaryCompleted || disturbed && 10*len(d.dead()) < 4*rounds*len(teams) {
			t.Errorf("%d rounds, %d on the board, %s", scored, len(board.Items), k.Summary.Status)
		}
		if want == nil {
			want = rows
		}
		if diff := cmp.Diff(want, rows); diff != "" {
			t.Error(diff)
		}
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
