package faults

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
)

// stepTimeout bounds one step of a scenario on a busy machine.
const stepTimeout = 100 * time.Second

// harness is a running stack with a fault injector, on which scenarios run concurrently.
type harness struct {
	*stack.Stack
	injector *injector
	db       *dynamodb.Client
	clock    worldClock
	dialogs  sync.Mutex // a person has one dialog open at a time
	ruled    sync.Mutex // a scenario that changes the rules goes on alone
	marks    atomic.Int64
	delivery *delivery
	once     sync.Once
	trials   []trial // all of them, after the undisturbed runs
	played   playedContest
	taken    playedContest // with the best draft so far
}

// scenarioRun is one run of a scenario: one person's request and its result.
type scenarioRun struct {
	*harness
	*trace
	*driver.Request
	mark  string
	from  int    // moments before the part whose crash points are tried
	asked int    // how often a person retried after an unknown outcome
	again func() // does what people are asked for after a retry; may be nil
}

// failf ends a scenario; run returns the reason.
func failf(format string, args ...any) { driver.Failf(format, args...) }

// run runs a scenario to its end.
func (b *harness) run(s scenario, kills ...point) (*scenarioRun, error) {
	t := newTrace(kills...)
	t.sweeperOnly = s.sweeperOnly
	d := &scenarioRun{harness: b, trace: t, mark: fmt.Sprintf("C0FAULT%05d", b.marks.Add(1))}
	t.dying = d.expireClaims
	b.injector.expect(d.mark, t)
	err := driver.Try(context.Background(), func(t driver.T) {
		if s.before != nil {
			s.before(d)
		}
		d.Request = driver.Say(t, b.Stack, webapi.Sato, webapi.HR, "<@"+webapi.Bot+"> demo: mark "+d.mark+" "+s.text)
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
func (d *scenarioRun) reject(user, key, action, reason string, then circulation.Kind) {
	d.Card(key, action)
	d.dialogs.Lock()
	defer d.dialogs.Unlock()
	d.RejectUntilTaken(user, key, action, reason, then)
}

// untilEnded waits until the task has ended, everything is shown and no run waits.
func (d *scenarioRun) untilEnded() {
	d.Eventually("the task rests", func() bool {
		a := d.Load()
		running := slices.ContainsFunc(a.Steps, func(s *task.StepResult) bool { return s.Status == task.StepRunning })
		return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev && len(a.Waits) == 0 && !running && told(a)
	})
}

// told reports whether the requester of an ended task was told, and everybody else who has a copy of a card.
func told(a *task.Aggregate) bool {
	concerns := a.Task != nil && a.Head.Ended.By != a.Head.Requester && a.Request.ChannelType != "im"
	if concerns && !slices.ContainsFunc(a.Copies, func(c *aggregate.Card) bool { return c.CardType == task.CardOutcome }) {
		return false
	}
	return !slices.ContainsFunc(a.Copies, func(c *aggregate.Card) bool {
		return c.State != aggregate.CardPosted && c.State != aggregate.CardUnreachable
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
			fmt.Fprintf(&out, " %.1f %s", s.Entered.Sub(view.Runs[0].Started).Seconds(), s.Name)
		}
	}
	return out.String()
}
