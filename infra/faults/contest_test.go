package faults

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/sfn"
	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// contestPoints is how many crash points are tried for each function that takes part in a drafting contest.
var contestPoints = map[string]int{"DraftPromptFunction": 1, "RunRoundFunction": 1, "HoldContestFunction": 1}

// drafting is a scenario in which three teams draft a policy.
func drafting() scenario {
	return scenario{name: "contest", text: "従業員一覧を取得して demo: cost 0.01 contest", act: func(d *scenarioRun) {
		d.ClickUntilTaken(webapi.Tanaka, "CARD#prompt#0001", "approve_prompt")
		d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
		d.untilCompleted()
		d.Eventually("the contest rests", func() bool {
			a, err := d.contests().Load(context.Background(), d.contest())
			return err == nil && a.Contest != nil && a.Contest.Told
		})
	}}
}

func (d *scenarioRun) contests() *store.ContestStore {
	return store.ContestsOf(store.OpenAll(d.AWS, boot.Table{TableName: d.TableName}), nil)
}

// competed is a contest's result: its rows and its teams', without values that differ between runs.
type competed struct {
	Task    end
	Contest map[string]any            // rows, by key
	Teams   map[string]map[string]any // the same of each team
	Calls   map[string][]string       // the answers that each team paid for, each once
}

// Values that differ between runs: durations, and what a leader was told of the others' scores and the time left.
var (
	tookForm    = regexp.MustCompile(`"execution_time_(seconds|ms)":[0-9.e+-]+`)
	contestOnly = map[string]bool{
		"message_history": true, "execution_time_seconds": true, "total_execution_time_seconds": true, "bytes": true,
		"usage": true, "submission_hash": true,
	}
)

// stripped returns a row without values that only its own contest has.
func stripped(v any) any {
	switch v := v.(type) {
	case []any:
		for i, e := range v {
			v[i] = stripped(e)
		}
	case map[string]any:
		maps.DeleteFunc(v, func(name string, _ any) bool { return contestOnly[name] })
		for name, e := range v {
			v[name] = stripped(e)
		}
	}
	return v
}

// competed collects the result of a drafting contest. paid is its cost; again counts repeated calls.
func (d *scenarioRun) competed() (out competed, paid aggregate.MicroUSD, again int, err error) {
	if out.Task, err = d.end(); err != nil {
		return out, 0, 0, err
	}
	// Its cost is checked against the teams'.
	delete(out.Task.Rows, "USAGE of "+task.PromptKey(1))
	if p, ok := out.Task.Rows[task.PromptKey(1)].(map[string]any); ok {
		delete(p, "usage")
	}
	a, err := d.contests().Load(context.Background(), d.contest())
	if err != nil {
		return out, 0, 0, err
	}
	out.Contest, _, err = d.rowsOf(a.Ref())
	out.Teams, out.Calls = map[string]map[string]any{}, map[string][]string{}
	for _, x := range a.Contest.Teams {
		rows, made, err := d.rowsOf(contest.TeamRef(d.Ref.Tenant, a.Head.ExecutionID, x.TeamID))
		if err != nil {
			return out, 0, 0, err
		}
		out.Teams[x.TeamID], out.Calls[x.TeamID] = rows, slices.Compact(slices.Sorted(slices.Values(made)))
		again += len(made) - len(out.Calls[x.TeamID])
	}
	return out, a.Contest.Usage.Cost, again, err
}

// rowsOf returns the rows of a contest or team, and what its model calls produced.
func (d *scenarioRun) rowsOf(ref aggregate.Ref) (rows map[string]any, made []string, err error) {
	pk, _ := store.Kinds().Partition(ref)
	all, err := d.partition(pk)
	rows = map[string]any{}
	for _, row := range all {
		if row["type"] == "usage" {
			// A call that failed made nothing: a team that is stopped meanwhile may not have come to it.
			if key := fmt.Sprint(row["made"]); !strings.Contains(key, "/failed-") {
				made = append(made, key)
			}
			continue
		}
		rows[fmt.Sprint(row["SK"])] = d.normalized(stripped(row))
	}
	return rows, made, err
}

// TestNothingOfADraftingContestIsLost runs what is tried with contests side by side, since they need the same settings.
func TestNothingOfADraftingContestIsLost(t *testing.T) {
	driver.Leave(t, running.Stack)
	driver.Settings(t, running.Stack, func(s *tenancy.Settings) {
		if s.DraftContest.Enabled = true; !expect.Long() {
			s.DraftContest.MaxRounds = 3
		}
	})
	for _, x := range []struct {
		name string
		try  func(*testing.T, *harness)
	}{
		{"a crash anywhere", crashInAContest},
		{"runs that are superseded", supersededRuns},
		{"what the relay never gets, the sweeper finds", contestBySweeperOnly},
	} {
		t.Run(x.name, func(t *testing.T) {
			t.Parallel()
			x.try(t, running)
		})
	}
}

// crashInAContest kills processes anywhere between a request and the draft that an approver picks: the rows of task,
// contest and teams are those of an undisturbed run, and the task is charged once for what the teams spent.
func crashInAContest(t *testing.T, b *harness) {
	want, all := b.undisturbedContest(t)
	b.survivesContests(t, want, all, contestPoints)
}

// survivesContests tries crash points of a contest: at night each in a run of its own, by day as many of each function
// as most says in one run.
func (b *harness) survivesContests(t *testing.T, want competed, all []trial, most map[string]int) {
	trials := all
	switch {
	case *only != "":
		trials = slices.DeleteFunc(slices.Clone(all), func(x trial) bool { return !strings.Contains(x.String(), *only) })
	case !expect.Long():
		one := trial{scenario: all[0].scenario}
		for _, name := range slices.Sorted(maps.Keys(most)) {
			of := slices.DeleteFunc(slices.Clone(all), func(x trial) bool { return x.kills[0].function != name })
			for _, x := range sampleOf(of, most[name], seed) {
				one.kills = append(one.kills, x.kills...)
			}
		}
		trials = []trial{one}
	}
	t.Logf("%d of %d points", len(trials), len(all))
	began := time.Now()
	defer func() { t.Log(time.Since(began).Round(time.Second)) }()
	var never unmet
	sideBySide(t, trials, func(_ driver.T, i int, kills []point) {
		d, err := b.run(trials[i].scenario, kills...)
		if err == nil {
			err = d.cameTo(want)
		}
		if err != nil {
			driver.Failf("%w", err)
		}
		if f := kills[0].function; f != "RelayChangesFunction" && f != "UpdateCardFunction" { // which get batches
			never.count(t, d.trace, kills)
		}
	})
	never.few(t, len(trials))
}

// playedContest is the result of an undisturbed drafting contest, with all its crash points.
type playedContest struct {
	once sync.Once
	want competed
	all  []trial
}

// undisturbedContest runs a contest on its first call.
func (b *harness) undisturbedContest(t *testing.T) (want competed, all []trial) {
	t.Helper()
	u := &b.played
	u.once.Do(func() {
		s := drafting()
		s.recorded = true
		d, err := b.run(s)
		expect.NoError(t, err)
		want, paid, again, err := d.competed()
		expect.Must(t, err == nil && again == 0 && len(want.Teams) == 3, "undisturbed: %d teams, %d calls made again, %v",
			len(want.Teams), again, err)
		err = d.paidOnce(paid)
		expect.That(t, err == nil, "%v", err)
		u.want = want
		for _, p := range d.points() {
			if p.function == execute {
				continue // TestACrashAnywhereChangesNothing has unknown outcomes
			}
			u.all = append(u.all, trial{scenario: s, kills: []point{p}})
		}
	})
	expect.Must(t, len(u.all) != 0, "there is no undisturbed contest to compare with")
	return u.want, u.all
}

// cameTo compares a contest with the undisturbed one.
func (d *scenarioRun) cameTo(want competed) error {
	got, paid, again, err := d.competed()
	if err != nil {
		return err
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("task %s, differs from the undisturbed run: %s", d.Ref.ID, diff)
	}
	if again > 20 { // what was in flight
		return fmt.Errorf("task %s: %d calls were made again", d.Ref.ID, again)
	}
	return d.paidOnce(paid)
}

// supersededRuns: while teams play, and one has its first score, the task's run and the contest's are stopped. The next
// runs continue, concurrently with calls still in flight.
func supersededRuns(t *testing.T, b *harness) {
	want, _ := b.undisturbedContest(t)
	s := drafting()
	pick := s.act
	s.act = func(d *scenarioRun) {
		at := point{function: "RunRoundFunction", kind: "DynamoDB.TransactWriteItems",
			ordinal: 4} // after the three teams' beginnings
		release := d.holds(at.moment())
		defer release()
		d.Eventually("a round is about to be saved", func() bool {
			return d.met(at.function, at.kind) >= at.ordinal && len(d.Load().Waits) == 1
		})
		d.stopRun("Pipeline", d.Ref.ID)
		d.stopRun("Contest", d.contest().ID)
		d.sweep()
		d.Eventually("the contest has another run", func() bool {
			a, err := d.contests().Load(context.Background(), d.contest())
			return err == nil && a.Head.Run >= 2
		})
		d.Eventually("its teams go on", func() bool { return d.met(at.function, at.kind) > at.ordinal+1 })
		release()
		pick(d)
	}
	d, err := b.run(s)
	expect.NoError(t, err)
	err = d.cameTo(want)
	expect.That(t, err == nil, "%v", err)
	run := d.Load().Head.Run
	expect.That(t, run >= 2, "the task's run is still number %d", run)
}

// stopRun stops the first run of an aggregate.
func (d *scenarioRun) stopRun(machine, id string) {
	arn := d.RunARN(machine, id, 1)
	if _, err := sfn.NewFromConfig(d.AWS).StopExecution(context.Background(),
		&sfn.StopExecutionInput{ExecutionArn: arn}); err != nil {
		failf("stop %s: %w", *arn, err)
	}
}

// paidOnce checks that the task was charged exactly once for everything its teams spent.
func (d *scenarioRun) paidOnce(cost aggregate.MicroUSD) error {
	a, err := d.Store.Load(context.Background(), d.Ref)
	if err != nil {
		return err
	}
	var spent, charged aggregate.MicroUSD
	for _, u := range a.Uses {
		if u.ID == d.contest().ID {
			charged += u.Cost
		}
	}
	k, err := d.contests().Load(context.Background(), d.contest())
	if err != nil {
		return err
	}
	for _, x := range k.Contest.Teams {
		w, err := d.contests().Teams.Load(context.Background(), contest.TeamRef(d.Ref.Tenant, k.Head.ExecutionID, x.TeamID))
		if err != nil {
			return err
		}
		spent += w.Used().Cost
	}
	if charged != cost || spent != cost || cost == 0 {
		return fmt.Errorf("the contest cost %s, its teams spent %s, the task was charged %s", cost, spent, charged)
	}
	return nil
}

// contestBySweeperOnly: no record of the table's stream arrives. The sweeper makes and starts the contest, tells the
// task its result and wakes the task's run.
func contestBySweeperOnly(t *testing.T, b *harness) {
	expect.AtNight(t) // the scenario "swept" is a sample
	want, _ := b.undisturbedContest(t)
	s := drafting()
	s.sweeperOnly = true
	swept := func(d *scenarioRun, what string, holds func(*task.Aggregate) bool) {
		d.Eventually(what, func() bool {
			if _, err := d.Store.Head(context.Background(), d.Ref); err != nil {
				return false // the message is not stored yet
			}
			d.sweep()
			return holds(d.Load())
		})
	}
	waits := func(gate string) func(*task.Aggregate) bool {
		return func(a *task.Aggregate) bool {
			return len(a.Waits) == 1 && a.Waits[0].Gate == gate && a.Head.ShownRev >= a.Head.Rev
		}
	}
	s.act = func(d *scenarioRun) {
		swept(d, "a draft waits", func(a *task.Aggregate) bool {
			return a.Prompt() != nil && a.Prompt().Entry != nil && waits(task.PromptKey(1))(a)
		})
		d.ClickUntilTaken(webapi.Tanaka, "CARD#prompt#0001", "approve_prompt")
		swept(d, "the steps wait", waits(task.ProcessKey(1)))
		d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
		swept(d, "the work is done", func(a *task.Aggregate) bool {
			return a.Head.Ended != nil && a.Head.ShownRev >= a.Head.Rev
		})
		d.untilCompleted()
	}
	d, err := b.run(s)
	expect.NoError(t, err)
	err = d.cameTo(want)
	expect.That(t, err == nil, "%v", err)
	expect.Is(t, d.met("RelayChangesFunction", lambda.KindStart), 0, "the relay got … batches")
}
