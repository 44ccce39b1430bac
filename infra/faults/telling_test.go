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

	"ringi/infra/driver"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/task"
)

// patience is how long one step of a story may take on a busy machine.
const patience = 100 * time.Second

// bench is a running stack with a witness, on which stories take place side by side.
type bench struct {
	*stack.Stack
	witness *witness
	db      *dynamodb.Client
	clock   clock
	dialogs sync.Mutex // a person has one dialog open at a time
	marks   atomic.Int64
	post    *post
	once    sync.Once
	trials  []trial // all of them, when the undisturbed runs are done
}

// telling is a story told once: one person's request and what becomes of it.
type telling struct {
	*bench
	*trace
	*driver.Request
	mark  string
	asked int // how often a person asked again after an unknown outcome
}

// failf ends a story; run returns why.
func failf(format string, args ...any) { driver.Failf(format, args...) }

// run tells a story to its end.
func (b *bench) run(s story, kills ...point) (*telling, error) {
	t := newTrace(kills...)
	t.alone = s.alone
	d := &telling{bench: b, trace: t, mark: fmt.Sprintf("C0FAULT%05d", b.marks.Add(1))}
	t.dying = d.passTime
	b.witness.expect(d.mark, t)
	err := driver.Try(context.Background(), func(t driver.T) {
		if s.before != nil {
			s.before(d)
		}
		d.Request = driver.Say(t, b.Stack, workspace.Sato, workspace.HR, "<@"+workspace.Bot+"> <#"+d.mark+"> "+s.text)
		d.Patience, d.Calm, d.Nudge = patience, d.calm, d.sweep
		if d.alone {
			d.Pressed = d.sweep
		}
		s.tell(d)
		d.sweep()
		d.rests()
	})
	if err != nil && d.Request != nil {
		err = fmt.Errorf("%w\n%s died: %v, %s", err, d.mark, d.dead(), d.Summary())
	}
	return d, err
}

// calm is how long nothing may move before a sweep: not long once something died, or
// where a sweep may not see yet what is due.
func (d *telling) calm() time.Duration {
	if len(d.dead()) > 0 || d.witness.lag.Load() != nil {
		return 3 * time.Second
	}
	return 8 * time.Second
}

// sweep lets the sweeper's minute pass.
func (d *telling) sweep() {
	if d.alone {
		d.clock.sweepFor(d)
		return
	}
	d.clock.sweep(d)
}

// reject presses a 却下 button and sends the reason; a person has one dialog open at a time.
func (d *telling) reject(user, key, action, reason string) {
	d.Card(key, action)
	d.dialogs.Lock()
	defer d.dialogs.Unlock()
	d.RejectUntilTaken(user, key, action, reason)
}

// rests waits until the task has ended, everything is shown and no run waits.
func (d *telling) rests() {
	d.Eventually("the task rests", func() bool {
		a := d.Load()
		running := slices.ContainsFunc(a.Steps, func(s *task.StepResult) bool { return s.Status == task.StepRunning })
		return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev && len(a.Waits) == 0 && !running
	})
}

// passTime lets what a dead process held run out: its lease, its claim on a card.
func (d *telling) passTime(c lambda.Call) {
	if d.Request != nil && (c.Function == execute || c.Function == "UpdateCardFunction") {
		d.clock.expire(d, c.Function == execute)
	}
}

// timeline is where a story's time went: the passages of its runs, in seconds from the first.
func (d *telling) timeline() string {
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
