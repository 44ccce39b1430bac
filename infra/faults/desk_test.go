package faults

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	shared "ringi/infra/journeys/desk"
	"ringi/infra/local/lambda"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/aggregate"
	"ringi/shared/store"
	"ringi/shared/task"
)

// patience is how long one step of a story may take on a busy machine.
const patience = 100 * time.Second

// bench is a running stack with a witness, on which stories take place side by side.
type bench struct {
	*stack.Stack
	witness *witness
	store   *store.Store
	db      *dynamodb.Client
	clock   clock
	dialogs sync.Mutex // a person has one dialog open at a time
	marks   atomic.Int64
	post    *post
	once    sync.Once
	trials  []trial // all of them, when the undisturbed runs are done
}

// desk is one person's request and what becomes of it.
type desk struct {
	*bench
	*trace
	mark  string
	root  string // the message's timestamp
	asked int    // how often a person asked again after an unknown outcome
	ref   aggregate.Ref
}

// failure ends a story; run turns it into an error.
type failure struct{ err error }

func failf(format string, args ...any) { panic(failure{fmt.Errorf(format, args...)}) }

// run tells a story to its end.
func (b *bench) run(s story, kills ...point) (d *desk, err error) {
	t := newTrace(kills...)
	t.alone = s.alone
	d = &desk{bench: b, trace: t, mark: fmt.Sprintf("C0FAULT%05d", b.marks.Add(1))}
	t.dying = d.passTime
	b.witness.expect(d.mark, t)
	defer func() {
		switch p := recover().(type) {
		case nil:
		case failure:
			err = fmt.Errorf("%w\n%s", p.err, d.summary())
		default:
			panic(p)
		}
	}()
	if s.before != nil {
		s.before(d)
	}
	d.ask(s.text)
	s.tell(d)
	d.sweep()
	d.rests()
	return d, nil
}

func (d *desk) ask(text string) {
	ts, err := d.Sandbox.Say(workspace.Sato, workspace.HR, "<@"+workspace.Bot+"> <#"+d.mark+"> "+text)
	if err != nil {
		failf("say: %w", err)
	}
	id, err := task.ID(d.Sandbox.TeamID(), workspace.HR, ts)
	if err != nil {
		failf("%w", err)
	}
	d.root, d.ref = ts, aggregate.Ref{Tenant: aggregate.TenantID(d.Sandbox.TeamID()), Task: id}
}

// until polls, and lets time pass when nothing moves.
func (d *desk) until(what string, holds func() bool) {
	begun := time.Now()
	nudge := begun.Add(d.calm())
	for !holds() {
		now := time.Now()
		if now.Sub(begun) > patience {
			failf("not within %s: %s", patience, what)
		}
		if now.After(nudge) {
			d.sweep()
			nudge = time.Now().Add(d.calm())
		}
		tick := time.NewTimer(50 * time.Millisecond)
		<-tick.C
	}
}

// calm is how long nothing may move before a sweep: not long once something died, or
// where a sweep may not see yet what is due.
func (d *desk) calm() time.Duration {
	if len(d.dead()) > 0 || d.witness.lag.Load() != nil {
		return 3 * time.Second
	}
	return 8 * time.Second
}

// sweep lets the sweeper's minute pass.
func (d *desk) sweep() {
	if d.alone {
		d.clock.sweepFor(d)
		return
	}
	d.clock.sweep(d)
}

// cards are the thread's messages that carry a card's name, by name.
func (d *desk) cards() map[string][]workspace.Message {
	out := map[string][]workspace.Message{}
	for _, m := range d.Sandbox.Messages(workspace.HR, d.root) {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if name, _ := payload["card"].(string); name != "" && payload["task"] == d.ref.Task {
			out[name] = append(out[name], m)
		}
	}
	return out
}

// shows reports whether a card shows one of the texts.
func (d *desk) shows(key string, texts ...string) bool {
	for _, m := range d.cards()[key] {
		seen := face(m)
		if slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(seen, t) }) {
			return true
		}
	}
	return false
}

// click waits for a button and presses it until the card has it no more; who is
// told that it could not be saved presses again.
func (d *desk) click(user, key, action string) {
	d.until(key+" offers "+action, func() bool { return d.shows(key, action) })
	d.until(action+" on "+key+" is taken", func() bool {
		if !d.shows(key, action) {
			return true
		}
		// A person tells from the card whether it was taken, not from the answer.
		_ = d.Sandbox.Click(user, workspace.HR, d.cards()[key][0].TS, action)
		return d.settles(func() bool { return !d.shows(key, action) })
	})
}

// reject presses a 却下 button, fills in the reason and sends it.
func (d *desk) reject(user, key, action, reason string) {
	d.until(key+" offers "+action, func() bool { return d.shows(key, action) })
	d.until(action+" on "+key+" is taken", func() bool {
		if !d.shows(key, action) {
			return true
		}
		d.dialogs.Lock()
		defer d.dialogs.Unlock()
		if err := d.Sandbox.Click(user, workspace.HR, d.cards()[key][0].TS, action); err != nil {
			return false
		}
		for _, v := range slices.Backward(d.Sandbox.Views(user)) {
			_, _ = d.Sandbox.Submit(user, v.ID, map[string]any{"rejection_reason_block": reason})
			_ = d.Sandbox.CloseView(user, v.ID)
		}
		return d.settles(func() bool { return !d.shows(key, action) })
	})
}

// settles gives what was just done three seconds to be seen.
func (d *desk) settles(holds func() bool) bool {
	if d.alone {
		d.sweep()
	}
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); {
		if holds() {
			return true
		}
		tick := time.NewTimer(50 * time.Millisecond)
		<-tick.C
	}
	return false
}

func (d *desk) load() *task.Aggregate {
	a, err := d.store.Load(context.Background(), d.ref)
	if err != nil {
		failf("%w", err)
	}
	return a
}

// rests waits until the task has ended, everything is shown and no run waits.
func (d *desk) rests() {
	d.until("the task rests", func() bool {
		a := d.load()
		running := slices.ContainsFunc(a.Steps, func(s *task.StepResult) bool { return s.Status == task.StepRunning })
		return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev && len(a.Waits) == 0 && !running
	})
}

// passTime lets what a dead process held run out: its lease, its claim on a card.
func (d *desk) passTime(c lambda.Call) {
	switch c.Function {
	case "ExecuteProcessFunction", "UpdateCardFunction":
		d.clock.expire(d, c.Function == "ExecuteProcessFunction")
	}
}

// face is everything a person could read or press on a card, its fallback text first.
func face(m workspace.Message) string { return m.Text + "\n" + shared.Face(m) }

// summary is the rows in short, for a failed story.
func (d *desk) summary() string {
	a, err := d.store.Load(context.Background(), d.ref)
	if err != nil {
		return err.Error()
	}
	out := []string{fmt.Sprintf("%s task %s next %s, died: %v", d.mark, d.ref.Task, a.Next(time.Now()).State, d.dead())}
	for key, r := range a.Rows() {
		b, _ := json.Marshal(r)
		out = append(out, fmt.Sprintf("%s %.300s", key, b))
	}
	slices.Sort(out)
	head, _ := json.Marshal(a.Head)
	out = append(out, string(head))
	for _, f := range d.Template.Functions {
		for _, line := range d.Lambda.Logs(f.ID) {
			if strings.Contains(line, d.ref.Task) && !strings.Contains(line, `"INFO"`) {
				out = append(out, f.ID+": "+line)
			}
		}
	}
	return strings.Join(out, "\n")
}

// timeline is where a story's time went: the passages of its runs, in seconds from the first.
func (d *desk) timeline() string {
	view, err := d.Task(context.Background(), d.ref.Task)
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
