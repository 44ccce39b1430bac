package faults

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// scenario is what people do, whatever happens to the processes.
type scenario struct {
	name string
	text string
	act  func(*scenarioRun)

	ask         func(*scenarioRun, driver.T) *driver.Request // nil: a message with the text asks
	before      func(*scenarioRun)                           // the message is written; may be nil
	sweeperOnly bool                                         // the relay gets no records: the sweeper has to do everything
	recorded    bool                                         // all of its points are to be known
	kills       func(point) bool                             // which crash points are tried; nil: all
}

// Calls of tools that write.
const (
	sweeper = "SweepTasksFunction"
	// The sealer changes no task, and its batches have many tasks' entries: which of its calls belong to a scenario is
	// chance. Its own test, TestACrashAnywhereLeavesAChainThatHolds, kills it at each of its calls.
	sealer    = "SealAuditFunction"
	execute   = "ExecuteProcessFunction"
	writeRows = "PUT /sheets/v4/spreadsheets/ringi-demo-sheet/values/*"
	direct    = "POST /api/chat.postMessage"
	readRows  = "GET /sheets/v4/spreadsheets/ringi-demo-sheet/values/*"
	readStaff = "GET /freee/hr/api/v1/companies/*/employees"
)

func scenarios() []scenario {
	return []scenario{
		{name: "happy", text: "2026年4月の勤怠をまとめて", act: (*scenarioRun).approveBoth},
		{name: "reject", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
			d.reject(webapi.Suzuki, "CARD#prompt#0001", "reject_prompt", "もっと簡潔にしてください")
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0002", "approve_prompt")
			d.reject(webapi.Tanaka, "CARD#process#0001", "reject_process", "データの検証を追加して")
			d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0002", "approve_process")
			d.untilCompleted()
		}},
		{name: "cancel", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
			release := d.holds(readStaff)
			defer release()
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
			d.Eventually("the call is out", func() bool { return d.met(execute, readStaff) > 0 })
			d.ClickUntilTaken(webapi.Tanaka, "CARD#execution", "cancel_execution")
			release()
			d.untilEnded()
		}},
		{name: "retry", text: "従業員一覧を取得して", act: func(d *scenarioRun) {
			d.refuses(readStaff, http.StatusBadRequest)
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
			d.Eventually("the failure is shown", func() bool { return d.Shows("CARD#execution", "retry_execution") })
			d.refuses(readStaff, 0)
			d.ClickUntilTaken(webapi.Sato, "CARD#execution", "retry_execution")
			d.untilCompleted()
		}},
		{name: "swept", text: "従業員一覧を取得して", sweeperOnly: true, act: func(d *scenarioRun) {
			d.sweptTo("PROMPT#0001")
			d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			d.stop("PROCESS#0001")
			d.sweep() // for the card
			d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
			d.sweep() // starts a run to replace the stopped one
			d.Eventually("the work is done", func() bool { return d.Load().Head.Ended != nil })
			d.sweep()
			d.untilCompleted()
		}},
		{name: "expired", text: "従業員一覧を取得して", sweeperOnly: true, act: func(d *scenarioRun) {
			d.sweptTo("PROMPT#0001")
			d.clock.set(d, "PROMPT#0001", "SET terms.decide_by = :past", "attribute_exists(PK)", nil)
			d.sweep()
			d.untilEnded()
		}},
		{name: "settled", text: "従業員一覧を取得して", kills: func(p point) bool { return p.function == sweeper },
			act: func(d *scenarioRun) {
				end := d.freezes(point{function: execute, kind: readStaff, ordinal: 1}, stepTimeout)
				defer end()
				d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
				d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
				d.Eventually("the call is out", func() bool { return d.met(execute, readStaff) > 0 })
				d.ClickUntilTaken(webapi.Tanaka, "CARD#execution", "cancel_execution")
				d.clock.expire(d, true)
				d.clock.sweepFor(d)
				end()
				d.untilEnded()
			}},
	}
}

// sweptTo sweeps to start the work, and again to draw the gate that it reaches.
func (d *scenarioRun) sweptTo(gate string) {
	d.Eventually("the message is kept", func() bool {
		_, err := d.Store.Head(context.Background(), d.Ref)
		return err == nil
	})
	d.sweep()
	d.Eventually("the run waits at "+gate, func() bool {
		a := d.Load()
		return len(a.Waits) == 1 && a.Waits[0].Gate == gate
	})
	d.sweep()
}

// approveBoth approves both gates and waits for the work.
func (d *scenarioRun) approveBoth() {
	d.ClickUntilTaken(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.ClickUntilTaken(webapi.Tanaka, "CARD#process#0001", "approve_process")
	d.untilCompleted()
}

// untilCompleted waits until the work is done. If a write in flight has an unknown outcome, the requester retries it.
func (d *scenarioRun) untilCompleted() {
	d.Eventually("the work is done", func() bool {
		if d.Shows("CARD#execution", "結果不明") && d.Shows("CARD#execution", "retry_execution") {
			d.asked++
			d.ClickUntilTaken(webapi.Sato, "CARD#execution", "retry_execution")
		}
		if d.asked > 0 && d.again != nil {
			d.again()
		}
		return d.Shows("CARD#execution", "✅ 実行完了")
	})
	d.untilEnded()
}

// stepTimeout bounds one step of a scenario on a busy machine.
const stepTimeout = 100 * time.Second

// harness is a running stack with a fault injector, on which scenarios run concurrently.
type harness struct {
	*stack.Stack
	injector *injector
	db       *dynamodb.Client
	clock    worldClock
	dialogs  sync.Mutex // a person has one dialog open at a time
	marks    atomic.Int64
	delivery *delivery
	once     sync.Once
	trials   []trial // all of them, after the undisturbed runs
	played   playedContest
}

// scenarioRun is one run of a scenario: one person's request and its result.
type scenarioRun struct {
	*harness
	*trace
	*driver.Request
	mark  string
	asked int    // how often a person retried after an unknown outcome
	again func() // does what people are asked for after a retry; may be nil
}

// failf ends a scenario; run returns the reason.
func failf(format string, args ...any) { driver.Failf(format, args...) }

// run runs a scenario to its end.
func (b *harness) run(s scenario, kills ...point) (*scenarioRun, error) {
	t := newTrace(kills...)
	t.sweeperOnly, t.recorded = s.sweeperOnly, s.recorded
	d := &scenarioRun{harness: b, trace: t, mark: fmt.Sprintf("C0FAULT%05d", b.marks.Add(1))}
	t.dying = d.expireClaims
	b.injector.expect(d.mark, t)
	err := driver.Try(context.Background(), func(t driver.T) {
		if s.before != nil {
			s.before(d)
		}
		if s.ask != nil {
			d.Request = s.ask(d, t)
		} else {
			d.Request = driver.Say(t, b.Stack, webapi.Sato, webapi.HR, "<@"+webapi.Bot+"> demo: mark "+d.mark+" "+s.text)
		}
		b.injector.belongs(d.Ref.ID, d.mark)
		b.injector.belongs(d.contest().ID, d.mark)
		d.Timeout, d.QuietTime, d.WhenQuiet = stepTimeout, d.quietTime, d.sweep
		if d.sweeperOnly {
			d.Pressed = d.sweep
		}
		s.act(d)
		d.sweep()
		d.untilEnded()
	})
	if err != nil && d.Request != nil {
		err = fmt.Errorf("%w\n%s died: %v, %s", err, d.mark, d.dead(), d.Summary())
	}
	return d, err
}

// contest returns the contest that drafts the policy's first version.
func (d *scenarioRun) contest() aggregate.Ref {
	return contest.Ref(d.Ref.Tenant, contest.IDFor(d.Ref, task.PromptKey(1)))
}

// quietTime is how long nothing may change before a sweep: short after a kill, or if the index may be behind.
func (d *scenarioRun) quietTime() time.Duration {
	if len(d.dead()) > 0 || d.injector.lag.Load() != nil {
		return 3 * time.Second
	}
	return 8 * time.Second
}

// sweep runs the sweeper for the task.
func (d *scenarioRun) sweep() {
	if d.sweeperOnly {
		d.clock.sweepFor(d)
		return
	}
	d.clock.sweep(d)
}

// reject presses a 却下 button and sends the reason; a person has one dialog open at a time.
func (d *scenarioRun) reject(user, key, action, reason string) {
	d.Card(key, action)
	d.dialogs.Lock()
	defer d.dialogs.Unlock()
	d.FillUntilTaken(user, key, action, map[string]any{card.ReasonBlock: reason})
}

// untilEnded waits until the task has ended, everything is shown and no run waits.
func (d *scenarioRun) untilEnded() {
	d.Eventually("the task rests", func() bool {
		a := d.Load()
		running := slices.ContainsFunc(a.Steps, func(s *task.StepResult) bool { return s.Status == task.StepRunning })
		return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev && len(a.Waits) == 0 && !running && told(a)
	})
}

// told reports whether the requester of an ended task was told, and everybody else who has a copy of a card: a question
// that was over before its message was sent is sent to nobody.
func told(a *task.Aggregate) bool {
	concerns := a.Task != nil && a.Head.Ended.By != a.Head.Requester && a.Request.ChannelType != "im" &&
		!card.ToldRequester(a)
	if concerns && !slices.ContainsFunc(a.Copies, func(c *aggregate.Card) bool {
		return c.CardType == task.CardOutcome && !strings.HasPrefix(c.Subject, card.ReturnedCopy)
	}) {
		return false
	}
	return !slices.ContainsFunc(a.Copies, func(c *aggregate.Card) bool {
		asks := c.CardType != task.CardOutcome && c.CardType != aggregate.CardDecided
		return c.State != aggregate.CardPosted && c.State != aggregate.CardUnreachable &&
			!(asks && c.State == aggregate.CardNone)
	})
}

// expireClaims expires a killed process's lease and its claim on a card.
func (d *scenarioRun) expireClaims(c lambda.Call) {
	if d.Request != nil && (c.Function == execute || c.Function == "UpdateCardFunction") {
		d.clock.expire(d, c.Function == execute)
	}
}

// timeline lists the states of a scenario's runs, in seconds from the first, to show where its time went.
func (d *scenarioRun) timeline() string {
	view, err := d.Task(context.Background(), d.Ref.ID)
	if err != nil || len(view.Runs) == 0 {
		return ""
	}
	var out strings.Builder
	for _, run := range view.Runs {
		fmt.Fprintf(&out, "\n  %s %s:", run.Name, run.Status)
		for _, s := range run.States {
			fmt.Fprintf(&out, " %.1f %s", s.Entered.Sub(view.Runs[0].States[0].Entered).Seconds(), s.Name)
		}
	}
	return out.String()
}

// trialsOf returns a trial for each point.
func trialsOf(all []point) (out []trial) {
	for _, p := range all {
		out = append(out, trial{scenario: scenario{name: "conversation"}, kills: []point{p}})
	}
	return out
}

// sample draws n trials: first as many kinds of calls and moments as possible, then any.
func sample(trials []trial, n int) []trial { return sampleOf(trials, n, seed) }

// byDay returns one of the trials, at night all.
func byDay(trials []trial) []trial {
	if expect.Long() {
		return trials
	}
	return sample(trials, 1)
}

func sampleOf(trials []trial, n int, seed uint64) []trial {
	lot := rand.New(rand.NewPCG(seed, 0))
	lot.Shuffle(len(trials), func(i, j int) { trials[i], trials[j] = trials[j], trials[i] })
	seen := map[string]bool{}
	var first, rest []trial
	for _, x := range trials {
		if sort := x.kills[0].sort(); !seen[sort] {
			seen[sort] = true
			first = append(first, x)
		} else {
			rest = append(rest, x)
		}
	}
	return append(first, rest...)[:min(n, len(trials))]
}

// trialsIn returns trials for some points in a function, since others' tests have the other ones; at night for all.
func trialsIn(function string, all []point) []trial {
	if expect.Long() {
		return trialsOf(all)
	}
	own := slices.DeleteFunc(slices.Clone(all), func(p point) bool { return p.function != function })
	return sample(trialsOf(own), 1)
}

// sideBySide makes trials, several at once, also of those of parallel tests, and reports those that fail.
func sideBySide(t *testing.T, trials []trial, try func(t driver.T, i int, kills []point)) {
	t.Helper()
	var wg sync.WaitGroup
	for i, x := range trials {
		places <- struct{}{}
		wg.Go(func() {
			defer func() { <-places }()
			if err := driver.Try(context.Background(), func(t driver.T) { try(t, i, x.kills) }); err != nil {
				t.Errorf("%v: %v", x, err)
			}
		})
	}
	wg.Wait()
}

// unmet counts trials whose kills did not happen.
type unmet struct {
	mu sync.Mutex
	n  int
}

// count notes a trial whose kills have not all happened.
func (u *unmet) count(t *testing.T, x *trace, kills []point) {
	if len(x.dead()) == len(kills) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.n++
	t.Logf("not met: %v", kills)
}

func (u *unmet) few(t *testing.T, trials int) {
	t.Helper()
	few(t, u.n, trials)
}

// few checks that most kills have happened: a function's n-th call may be another one, or a batch of another size, in
// another run.
func few(t *testing.T, unmet, trials int) {
	t.Helper()
	expect.That(t, unmet <= 2+trials/10, "%d of %d trials did not meet their deaths", unmet, trials)
}
