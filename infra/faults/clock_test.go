package faults

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"time"

	"ringi/infra/driver"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// clock lets time pass for a task by writing into its rows what would be so later.
type clock struct {
	mu    sync.Mutex // one sweep at a time
	swept time.Time  // when the newest one began
}

// set changes one row behind the system's back, :past being when everything became
// due; a row that is not so any more stays as it is.
func (c *clock) set(d *scenarioRun, sk, update, condition string, more map[string]string) {
	texts := map[string]string{":past": driver.Moment(time.Now().Add(-2 * time.Minute))}
	maps.Copy(texts, more)
	d.ChangeRow(sk, update, condition, texts)
}

// expire ends the leases, or the claims on cards, of a task.
func (c *clock) expire(d *scenarioRun, leases bool) {
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
	for _, x := range a.Cards {
		if x.State == aggregate.CardPosting {
			c.set(d, x.Key(), "SET claimed_at = :past", "claimed_by = :by", map[string]string{":by": x.ClaimedBy})
		}
	}
}

// sweep makes a task due and lets the sweeper's minute pass; calls that come
// together share a sweep.
func (c *clock) sweep(d *scenarioRun) {
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

// sweepFor is a sweep of a task's own, whose every call counts as its scenario's.
func (c *clock) sweepFor(d *scenarioRun) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.due(d)
	event, err := json.Marshal(map[string]any{"source": "aws.events", "detail": map[string]string{"scenario": d.mark}})
	if err != nil {
		failf("sweep: %w", err)
	}
	// A sweep that dies is followed by another.
	if _, err := d.Lambda.Invoke(context.Background(), sweeper, event); err != nil {
		failf("sweep: %w", err)
	}
}

// due makes a task due, and the contest of its first version, unless they never will be.
func (c *clock) due(d *scenarioRun) {
	const update, condition = "SET due_at = :past, GSI1SK = :past", "attribute_exists(GSI1PK)"
	c.set(d, aggregate.HeadKey, update, condition, nil)
	contest := *d.Request
	contest.Ref = d.contest()
	contest.ChangeRow(aggregate.HeadKey, update, condition, map[string]string{":past": driver.Moment(time.Now().Add(-2 * time.Minute))})
}
