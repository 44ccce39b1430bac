package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"ringi/shared/aggregate"
	"ringi/shared/pipeline"
	"ringi/shared/slackapi"
	"ringi/shared/task"
)

const (
	// knownFor is how long an environment keeps what Slack said about a person. users.info may be
	// called about 100 times a minute (Tier 4), and every click calls it too.
	knownFor = time.Minute
	mostKept = 1000
)

// errSilent: Slack could not be asked what must be known before a request is accepted.
var errSilent = errors.New("slack doesn't say")

// wait commits when to ask Slack again, as pipeline.Again says or Slack asks. It never gives up:
// the request goes on by itself once Slack answers.
func (h *Handler) wait(ctx context.Context, in aggregate.Ref, run int, why error) (*task.Aggregate, error) {
	slog.WarnContext(ctx, "waits for Slack", "task_id", in.Task, "err", why)
	var limited slackapi.RateLimited
	errors.As(why, &limited)
	after, err := h.Store.Decide(ctx, in, func(a *task.Aggregate) (task.Change, error) {
		now := h.Now()
		rest := pipeline.Again(limited.RetryAfter, now.Sub(a.TryingSince()), pipeline.LeastPause)
		return a.Pause(run, task.Generation{Layer: task.L1}, now.Add(rest), now)
	})
	if err != nil {
		return nil, fmt.Errorf("put the request off: %w", err)
	}
	return after, nil
}

// directory keeps what Slack said about people, for knownFor.
type directory struct {
	mu    sync.Mutex
	known map[string]known
}

type known struct {
	user  slackapi.User
	until time.Time
}

// user is what Slack says about a person who writes in a workspace; the answer may be knownFor old.
// Errors are not kept.
func (h *Handler) user(ctx context.Context, team, id string) (slackapi.User, error) {
	d, key := &h.people, team+"/"+id
	d.mu.Lock()
	k, ok := d.known[key]
	d.mu.Unlock()
	if ok && h.Now().Before(k.until) {
		return k.user, nil
	}
	u, err := h.Slack.User(ctx, id)
	if err != nil {
		return u, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil || len(d.known) >= mostKept {
		d.known = map[string]known{}
	}
	d.known[key] = known{u, h.Now().Add(knownFor)}
	return u, nil
}
