package round

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"log/slog"
	"sync"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/runtime/clock"
)

// growing is the wait before a call after so many that failed: 1, 2, 4 s and so on.
func growing(failed int, most time.Duration) time.Duration {
	return min(most, time.Second<<min(failed, 6))
}

const (
	// leastPause is what the pauses grow to at least where the vendor says each time how long to wait.
	leastPause = 16 * time.Second
	// mostLater bounds by how much longer than the vendor says a pause may be.
	mostLater = 15 * time.Second
)

// mostPause bounds the wait for a rate limit of which the vendor doesn't say how long it lasts: quotas are per minute.
const mostPause = time.Minute

// forRate returns how long to wait for a vendor's rate limit, 0 if the team's time does not suffice. A team without an
// end waits as long as an answer may take, and so does any team for the judge, without whom it can play on. Pauses
// differ between the teams, members and answers that one limit meets at the same time, so that they don't all ask again
// at once.
func (p *playing) forRate(a agent, e *model.Error, key string, limited int) time.Duration {
	left := p.left()
	if patience := a.timeout - e.Waited; p.Until.IsZero() {
		left = patience
	} else if a.kind == JudgeSaid {
		left = min(left, patience)
	}
	part := p.part(key, limited)
	switch {
	case e.RetryAfter >= left, e.RetryAfter == 0 && left < 2*time.Second:
		return 0
	case e.RetryAfter == 0:
		return upTo(min(growing(limited, mostPause), left/2), part)
	}
	said := e.RetryAfter + portion(min(e.RetryAfter/2, mostLater, left-e.RetryAfter), part)
	if limited == 0 {
		return said
	}
	// A vendor that says again and again that a moment is enough is not asked a hundred times in a second.
	return max(said, upTo(min(growing(limited-1, leastPause), left/2), part))
}

// part is from 0 to below 1: the same for the same pause, any for another.
func (p *playing) part(key string, limited int) float64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s\x00%s\x00%s\x00%d", p.Execution, p.Team.TeamID, key, limited)
	return float64(h.Sum64()%4093) / 4093
}

func portion(d time.Duration, part float64) time.Duration { return time.Duration(float64(d) * part) }

// upTo returns a pause of at least the half of d.
func upTo(d time.Duration, part float64) time.Duration { return d/2 + portion(d/2, part) }

// over returns an error if the team's or the caller's time is up.
func (p *playing) over(ctx context.Context) error {
	if p.left() <= 0 {
		return &Error{Exit: contest.TeamTimeout, Err: context.DeadlineExceeded}
	}
	if rest, bounded := p.rest(ctx); bounded && rest <= 0 {
		return ErrAgain
	}
	return nil
}

func (p *playing) left() time.Duration {
	if p.Until.IsZero() {
		return 24 * time.Hour
	}
	return p.Until.Sub(p.Now())
}

// rest is the caller's remaining time without the time reserved for saving.
func (p *playing) rest(ctx context.Context) (time.Duration, bool) {
	deadline, ok := ctx.Deadline()
	return time.Until(deadline) - p.Spare, ok
}

func (p *playing) limit(ctx context.Context, timeout time.Duration) time.Duration {
	limit := min(timeout, p.left())
	if rest, bounded := p.rest(ctx); bounded {
		limit = min(limit, rest)
	}
	return limit
}

// lookAfter is how long a call, or a wait for a vendor's rate limit, may go on after its contest has ended.
const lookAfter = 5 * time.Second

// untilStopped returns a context that ends soon after the contest has, since a model that hangs may have longer than
// people want to wait who have ended it. done ends the looking.
func (p *playing) untilStopped(ctx context.Context) (_ context.Context, done func()) {
	if p.Stands == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		for clock.Sleep(ctx, lookAfter) == nil {
			switch err := p.Stands(ctx); {
			case errors.Is(err, ErrStopped):
				cancel(ErrStopped)
			case err != nil && ctx.Err() == nil:
				slog.WarnContext(ctx, "whether the contest has ended is not known", "execution_id", p.Execution, "err", err)
			}
		}
	})
	return ctx, func() {
		cancel(nil)
		looking.Wait()
	}
}

// stopped reports whether a round's context ended because the contest did.
func stopped(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrStopped) }

// pause waits before a retry, at most until the time is up.
func (p *playing) pause(ctx context.Context, d time.Duration) error {
	if err := clock.Sleep(ctx, max(0, p.limit(ctx, d))); err != nil && p.over(ctx) == nil {
		return err
	}
	return p.over(ctx)
}
