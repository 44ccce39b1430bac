package faults

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"time"

	"ringi/infra/local/driver"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// clock makes time pass for a task by changing times in its rows.
type worldClock struct {
	mu    sync.Mutex // one sweep at a time
	swept time.Time  // when the newest one began
}

// set changes a row behind the system's back if the condition still holds; :past is a time at which everything was due.
func (c *worldClock) set(d *scenarioRun, sk, update, condition string, more map[string]string) {
	texts := map[string]string{":past": driver.Moment(time.Now().Add(-2 * time.Minute))}
	maps.Copy(texts, more)
	d.ChangeRow(sk, update, condition, texts)
}

// expire ends a task's leases, or its claims on cards.
func (c *worldClock) expire(d *scenarioRun, leases bool) {
	a, err := d.Store.Load(context.Background(), d.Ref)
	if err != nil {
		return // there is no task yet
	}
	if leases {
		for _, s := range a.Steps {
			if s.Status == task.StepRunning {
				c.set(d, s.Key(), "SET claim.lease_until = :past", "claim.invocation = :by", map[string]string{":by": s.Claim.Invocation})
			}
		}
		return
	}
	for _, x := range slices.Concat(a.Cards, a.Copies) {
		if x.State == aggregate.CardPosting {
			c.set(d, x.Key(), "SET claimed_at = :past", "claimed_by = :by", map[string]string{":by": x.ClaimedBy})
		}
	}
}

// sweep makes a task due and runs the sweeper; concurrent calls share one run.
func (c *worldClock) sweep(d *scenarioRun) {
	if _, err := d.Store.Head(context.Background(), d.Ref); err != nil {
		return
	}
	c.due(d)
	asked := time.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.swept.After(asked) {
		return
	}
	c.swept = time.Now()
	if _, err := d.Fire(context.Background(), sweeper); err != nil {
		failf("sweep: %w", err)
	}
}

// sweepFor runs a sweep for one task alone; its calls belong to the task's scenario.
func (c *worldClock) sweepFor(d *scenarioRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due(d)
	event, err := json.Marshal(map[string]any{"source": "aws.events", "detail": map[string]string{"scenario": d.mark}})
	if err != nil {
		failf("sweep: %w", err)
	}
	// If a sweep dies, run another.
	if _, err := d.Lambda.Invoke(context.Background(), sweeper, event); err != nil {
		failf("sweep: %w", err)
	}
}

// due makes a task due, and the contest of its first version, unless nothing is due there any more.
func (c *worldClock) due(d *scenarioRun) {
	const update, condition = "SET due_at = :past, GSI1SK = :past", "attribute_exists(GSI1PK)"
	c.set(d, aggregate.HeadKey, update, condition, nil)
	contest := *d.Request
	contest.Ref = d.contest()
	contest.ChangeRow(aggregate.HeadKey, update, condition, map[string]string{":past": driver.Moment(time.Now().Add(-2 * time.Minute))})
}
