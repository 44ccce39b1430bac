package faults

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// slow is the minimum duration of a scenario that waited for the sweeper or a lease after a kill.
const slow = 20 * time.Second

// trial is one scenario with the kills that it must survive.
type trial struct {
	scenario scenario
	base     end
	kills    []point

	result *scenarioRun
}

func (x trial) String() string { return fmt.Sprintf("%s: %v", x.scenario.name, x.kills) }

// mostPoints is how many crash points of the scenarios are tried by day, and pairs how many pairs.
const mostPoints, pairs = 3, 1

// tried returns the scenarios of which crash points are tried.
func tried() []scenario {
	all := scenarios()
	if !expect.Long() {
		sample := []string{"happy", "cancel", "swept"}
		all = slices.DeleteFunc(all, func(s scenario) bool { return !slices.Contains(sample, s.name) })
	}
	return all
}

// undisturbed runs every scenario once, on its first call, and returns their results with all crash points.
func (b *harness) undisturbed(t *testing.T) []trial {
	t.Helper()
	b.once.Do(func() {
		first := b.first(t)
		for _, s := range tried() {
			begun := time.Now()
			d, base := b.undisturbedRun(t, s)
			for i, x := range first {
				if x.scenario.name != s.name {
					continue
				}
				first[i].base = base
				err := first[i].check()
				expect.That(t, err == nil, "%s: %v", x, err)
			}
			points := slices.DeleteFunc(d.points(), func(p point) bool {
				return p.kind == makesTab || s.kills != nil && !s.kills(p)
			})
			t.Logf("%s: %d points, %s", s.name, len(points), time.Since(begun).Round(time.Millisecond))
			for _, p := range points {
				b.trials = append(b.trials, trial{scenario: s, base: base, kills: []point{p}})
			}
		}
	})
	expect.Must(t, len(b.trials) != 0, "there is no undisturbed run to compare with")
	return slices.Clone(b.trials)
}

// undisturbedRun runs a scenario without kills. If the machine stalled, a read may have seen the cancel before its
// answer was released; that gives another result, so the run is repeated.
func (b *harness) undisturbedRun(t *testing.T, s scenario) (d *scenarioRun, base end) {
	t.Helper()
	s.recorded = true
	for range 5 {
		var err error
		if d, err = b.run(s); err != nil {
			t.Fatalf("%s, undisturbed: %v", s.name, err)
		}
		base = settled(t, d)
		if base.interruptedRead(s) == nil {
			return d, base
		}
	}
	t.Fatalf("%s: the read is interrupted each time", s.name)
	return nil, end{}
}

// makesTab is the call that creates a tab of the spreadsheet. Tabs stay, so it happens once in all scenarios.
const makesTab = "POST /sheets/v4/spreadsheets/ringi-demo-sheet:batchUpdate"

// first runs at night the scenarios that create the spreadsheet's tabs, with kills at that.
func (b *harness) first(t *testing.T) (out []trial) {
	t.Helper()
	if !expect.Long() {
		return nil
	}
	tab := point{function: execute, kind: makesTab, ordinal: 1, kill: lambda.Before}
	for _, s := range scenarios()[:2] {
		x := trial{scenario: s, kills: []point{tab}}
		tab.kill = lambda.After
		var err error
		if x.result, err = b.run(x.scenario, x.kills...); err != nil {
			t.Fatalf("%s: %v", x, err)
		}
		expect.Is(t, len(x.result.dead()), len(x.kills), "%s: deaths were met", x)
		out = append(out, x)
	}
	return out
}

// settled returns a scenario's result.
func settled(t *testing.T, d *scenarioRun) end {
	t.Helper()
	return expect.Value(d.end())(t)
}

func TestACrashAnywhereChangesNothing(t *testing.T) {
	t.Parallel()
	b := running
	all := b.undisturbed(t)
	trials := slices.Clone(all)
	switch {
	case *only != "":
		trials = slices.DeleteFunc(trials, func(x trial) bool { return !strings.Contains(x.String(), *only) })
		if len(trials) == 0 {
			t.Fatalf("none of %d points has %q in its name; some are\n%s\n%s\n%s", len(all), *only, all[0], all[len(all)/2],
				all[len(all)-1])
		}
	case !expect.Long():
		trials = sample(trials, mostPoints)
	}
	survived(t, b, trials, len(all))
}

// TestNoProcessComesUpAtFirst: the first process of every function in the scenario dies before it asks for its event.
func TestNoProcessComesUpAtFirst(t *testing.T) {
	t.Parallel()
	b := running
	all := b.undisturbed(t)
	x := all[0]
	x.kills = nil
	for _, y := range all {
		if y.scenario.name == x.scenario.name && y.kills[0].kind == lambda.KindInit {
			x.kills = append(x.kills, y.kills[0])
		}
	}
	expect.That(t, len(x.kills) >= 9, "only %d functions were seen to come up: %v", len(x.kills), x.kills)
	expect.That(t, survived(t, b, []trial{x}, 1).survived == 1, "not every function died as it came up")
}

func TestTwoCrashesChangeNothing(t *testing.T) {
	t.Parallel()
	b := running
	all := b.undisturbed(t)
	survived(t, b, pairsOf(all, seed), len(all)*len(all))
}

// pairsOf draws pairs of crash points, each of one scenario.
func pairsOf(all []trial, seed uint64) (trials []trial) {
	lot := rand.New(rand.NewPCG(seed, 1))
	most := pairs
	if expect.Long() {
		most = 100
	}
	for range most {
		x := all[lot.IntN(len(all))]
		same := slices.DeleteFunc(slices.Clone(all), func(y trial) bool { return y.scenario.name != x.scenario.name })
		x.kills = []point{x.kills[0], same[lot.IntN(len(same))].kills[0]}
		trials = append(trials, x)
	}
	return trials
}

// tally counts the results of trials.
type tally struct {
	mu                            sync.Mutex
	tried, survived, asked, unmet int
	twice                         int // run again because a kill did not happen the first time
}

func (n *tally) String() string {
	return fmt.Sprintf("%d tried, %d survived, %d of them with 結果不明, %d not met; %d run twice", n.tried, n.survived,
		n.asked, n.unmet, n.twice)
}

// count adds the result of one trial.
func (n *tally) count(t *testing.T, x trial, met, asked bool, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	switch n.tried++; {
	case err != nil:
	case !met:
		n.unmet++
		t.Logf("not met: %s", x)
	default:
		n.survived++
		if asked {
			n.asked++
		}
	}
	if n.tried%25 == 0 {
		t.Logf("%d tried, %d survived", n.tried, n.survived)
	}
}

// survived tries kills concurrently and reports wrong results.
func survived(t *testing.T, b *harness, trials []trial, of int) *tally {
	t.Helper()
	begun := time.Now()
	n := &tally{}
	sideBySide(t, trials, func(_ driver.T, i int, _ []point) {
		met, asked, err := b.try(t, n, trials[i])
		n.count(t, trials[i], met, asked, err)
		if err != nil {
			driver.Failf("%w", err)
		}
	})
	t.Logf("of %d: %s; %s; seed %d", of, n, time.Since(begun).Round(time.Second), seed)
	few(t, n.unmet, n.tried)
	return n
}

// try runs a scenario with its kills, and once more if one did not happen: there may have been fewer calls of its kind,
// and then it is at the last. It reports whether all happened, and whether a person retried a 結果不明 step.
func (b *harness) try(t *testing.T, n *tally, x trial) (met, asked bool, err error) {
	for again := range 2 {
		if again > 0 {
			n.mu.Lock()
			n.twice++
			n.mu.Unlock()
		}
		began := time.Now()
		d, err := b.run(x.scenario, x.kills...)
		if took := time.Since(began); took > slow {
			t.Logf("%s: %s%s", x, took.Round(time.Millisecond), d.timeline())
		}
		if x.result = d; err == nil {
			err = x.check()
		}
		met, asked = len(d.dead()) == len(x.kills), d.asked > 0
		if met || err != nil {
			return met, asked, err
		}
		x.kills = slices.Clone(x.kills)
		for i, p := range x.kills {
			x.kills[i].ordinal = min(p.ordinal, max(1, d.met(p.function, p.kind)))
		}
	}
	return false, asked, nil
}

// check compares the scenario's result with the undisturbed one.
func (x trial) check() error {
	d, want := x.result, x.base
	got, err := d.end()
	if err != nil {
		return err
	}
	if d.asked > 0 || got.found() > 0 {
		return x.checkAsked(got)
	}
	if row := got.interruptedRead(x.scenario); row != nil {
		want = want.interrupted(row)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		return fmt.Errorf("task %s, differs from the undisturbed run: %s", d.Ref.ID, diff)
	}
	return nil
}

// read is the key of the reading step's row in the scenario that cancels.
const read = "STEP#0001#001#01"

// interruptedRead returns that step's row if it has no result; nil in other scenarios.
func (e end) interruptedRead(s scenario) map[string]any {
	if row, _ := e.Rows[read].(map[string]any); s.name == "cancel" && row["status"] == string(task.StepFailed) {
		return row
	}
	return nil
}

// interrupted returns the end as it is if the read has no result. It was in flight at the cancel, and its process died
// (call_interrupted) or saw the cancel and closed the connection (tool_failed, with the connection's error). Nobody
// repeats the read. Only the step's status, result and error, its entry in the execution's list, and its line on the
// card differ.
func (e end) interrupted(row map[string]any) end {
	changed := func(v any, more map[string]any) map[string]any {
		out := maps.Clone(v.(map[string]any))
		delete(out, "result")
		delete(out, "result_bytes")
		out["status"] = string(task.StepFailed)
		maps.Copy(out, more)
		return out
	}
	why := map[string]any{"error": string(task.ReasonInterruptedRead), "error_detail": "step-1"}
	if said, _ := row["error_detail"].(string); row["error"] == string(task.ReasonToolFailed) && said != "" {
		why = map[string]any{"error": row["error"], "error_detail": said}
	}
	e.Rows, e.Cards = maps.Clone(e.Rows), maps.Clone(e.Cards)
	e.Rows[read] = changed(e.Rows[read], why)
	execution := maps.Clone(e.Rows["EXECUTION#0001#001"].(map[string]any))
	results := slices.Clone(execution["results"].([]any))
	results[0], execution["results"] = changed(results[0], nil), results
	e.Rows["EXECUTION#0001#001"] = execution
	e.Cards["CARD#execution"] = lineForm.ReplaceAllString(e.Cards["CARD#execution"], "❌$1")
	return e
}

// lineForm matches the line of a read that was answered after the cancel.
var lineForm = regexp.MustCompile(`✅( 1\. .*) \(中止後に完了\)`)

// found counts the writes of unknown outcome that Ringi itself saw arrive.
func (e end) found() (n int) {
	for key, row := range e.Rows {
		if is, _ := row.(map[string]any); strings.HasPrefix(key, "STEP#") && is["found"] == true && is["reused"] == nil {
			n++
		}
	}
	return n
}

// checkAsked checks a write with unknown outcome that a person retried: it may have been called once more per retry,
// and the log says who retried. Of one that Ringi saw arrive the log says that.
func (x trial) checkAsked(got end) error {
	d := x.result
	if !slices.ContainsFunc(d.dead(), func(p point) bool { return p.function == execute }) {
		return fmt.Errorf("結果不明, but no tool's call was interrupted")
	}
	for kind, n := range got.Sent {
		if n > x.base.Sent[kind]+d.asked {
			return fmt.Errorf("%s was called %d times, asked for %d times", kind, n, x.base.Sent[kind]+d.asked)
		}
	}
	cards := maps.Clone(got.Cards)
	if d.again != nil { // what a retry asks anew has entries and a card of its own
		ofStep := func(entry string) bool { return strings.HasPrefix(entry, "step.") }
		anew := func(key, _ string) bool { return strings.HasPrefix(key, "CARD#step") && x.base.Cards[key] == "" }
		got.Audit, x.base.Audit = slices.DeleteFunc(got.Audit, ofStep), slices.DeleteFunc(slices.Clone(x.base.Audit), ofStep)
		maps.DeleteFunc(cards, anew)
	}
	want := slices.Clone(x.base.Audit[:len(x.base.Audit)-1])
	for range d.asked {
		want = append(want, "execution.failed by system ", "execution.retried by user "+webapi.Sato,
			"execution.started by system ")
	}
	want = append(want, x.base.Audit[len(x.base.Audit)-1])
	seen := len(got.Audit)
	got.Audit = slices.DeleteFunc(got.Audit, func(s string) bool { return s == "execution.late by system " })
	if seen -= len(got.Audit); seen != got.found() {
		return fmt.Errorf("%d writes were found, the log has %d", got.found(), seen)
	}
	if diff := cmp.Diff(want, got.Audit); diff != "" {
		return fmt.Errorf("audit log: %s", diff)
	}
	for key, shown := range x.base.Cards {
		if key != "CARD#execution" && got.Cards[key] != shown {
			return fmt.Errorf("%s: %s", key, cmp.Diff(shown, got.Cards[key]))
		}
	}
	if len(cards) != len(x.base.Cards) || len(got.Extra) > 0 {
		return fmt.Errorf("%d cards, and messages %v", len(got.Cards), got.Extra)
	}
	return nil
}
