package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/isolated"
)

// progress follows the commands of an action that runs several.
type progress struct {
	*job
	lines *lines
	notes chan []conversation.Ran // what the row is to say

	mu  sync.Mutex
	ran []conversation.Ran
}

// begins notes that a command begins. The one before it has ended with exit code 0: no other is followed by one.
func (p *progress) begins(n int) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n != len(p.ran)+1 || n > len(p.payload.Commands) {
		return fmt.Errorf("command %d of %d begins, after %d", n, len(p.payload.Commands), len(p.ran))
	}
	now, count := p.Now().UTC().Truncate(time.Millisecond), p.lines.count()
	if n > 1 {
		last, code := &p.ran[n-2], 0
		last.Over, last.ExitCode, last.Millis = true, &code, now.Sub(last.StartedAt).Milliseconds()
		last.Lines = count + 1 - last.From
	}
	p.ran = append(p.ran, conversation.Ran{StartedAt: now, From: count + 1})
	p.lines.begins()
	p.notes <- slices.Clone(p.ran)
	return nil
}

// keep writes notes into the action's row until there are no more. It never holds up a command: of several notes it
// writes the last, and what can't be written is in the result.
func (p *progress) keep(ctx context.Context) (done chan struct{}) {
	done = make(chan struct{})
	go func() {
		defer close(done)
		for ran := range p.notes {
			for more := true; more; {
				select {
				case newer, open := <-p.notes:
					if more = open; open {
						ran = newer
					}
				default:
					more = false
				}
			}
			_, err := p.Store.Decide(ctx, p.ref, func(a *conversation.Aggregate) (aggregate.Change, error) {
				return a.Began(p.action.ActionID, p.invocation, ran, p.Now())
			})
			if err != nil && !errors.Is(err, aggregate.ErrMoved) { // it was cancelled
				conversation.LogError(ctx, conversation.EventChunk, p.ref.ID, p.session.AgentID, p.action.ActionID,
					"PROGRESS_NOT_KEPT", err.Error())
			}
		}
	}()
	return done
}

// ended returns what became of each command that began, as the sandbox says. It says nothing of commands that nobody
// saw begin.
func (p *progress) ended(said []isolated.Ran) []conversation.Ran {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := p.ran[:min(len(p.ran), len(said))]
	from := 1
	for i, s := range said[:len(out)] {
		r := &out[i]
		r.Over, r.Signal, r.TimedOut, r.Millis = true, s.Signal, s.TimedOut, min(max(s.Millis, 0), maxMillis)
		r.From, r.Lines = from, min(max(s.Lines, 0), p.lines.count()+1-from)
		from += r.Lines
		if r.ExitCode = nil; s.Signal == "" {
			r.ExitCode = &s.ExitCode
		}
	}
	return out
}

// maxMillis is longer than any command may run.
const maxMillis = 2 * conversation.MaxSeconds * 1000

// whole reports whether all commands have run and succeeded.
func (p *progress) whole(ran []conversation.Ran) bool {
	return len(ran) == len(p.payload.Commands) &&
		!slices.ContainsFunc(ran, func(r conversation.Ran) bool { return !r.Succeeded() })
}

// limit returns the time limit of the command that ended last, in seconds.
func (p *progress) limit(ran int) int {
	if all := p.payload.Commands; ran > 0 && ran <= len(all) {
		return all[ran-1].TimeoutSeconds
	}
	return p.payload.Seconds()
}
