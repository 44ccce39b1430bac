package aggregate

import (
	"fmt"
	"time"
)

// tryAgainAfter is the interval for retrying a card that Slack refused while a person is asked. Slack sends no event
// when a channel is reopened or the bot is invited.
const tryAgainAfter = time.Hour

// TryAgainAt returns when to retry a card that Slack refused permanently, if somebody is asked. Otherwise it returns
// nil: such a card is retried at the next revision.
func (c *Card) TryAgainAt(asked bool) *time.Time {
	if c.State != CardUnreachable || !asked {
		return nil
	}
	again := c.CreatedAt.Add(tryAgainAfter)
	if c.TriedAt != nil {
		again = c.TriedAt.Add(tryAgainAfter)
	}
	return &again
}

// Drawing returns whether to draw the cards of an aggregate now, and when the sweeper must look again because of them;
// nil: never. behind: they are older than the rows. The sweeper requests outdated ones again after the time since the
// last change, but five minutes to an hour: so a card that can't be drawn doesn't fill the queue.
func Drawing(a Aggregate, behind bool, now time.Time) (draw bool, due *time.Time) {
	h := a.Root().Common()
	draw = behind || h.DrawAt != nil && !h.InLine(now)
	switch {
	case h.InLine(now):
		due = h.DrawAt
	case draw:
		due = Sooner(nil, now.Add(min(max(5*time.Minute, now.Sub(h.ChangedAt)), time.Hour)))
	}
	for _, c := range a.Common().Cards {
		switch again := a.TryAgainAt(c); {
		case again == nil:
		case again.After(now):
			due = Sooner(due, *again)
		default:
			draw, due = true, Sooner(due, now.Add(5*time.Minute)) // it has just been requested
		}
	}
	return draw, due
}

// Sooner returns the earlier one of two times, of which due may be nil.
func Sooner(due *time.Time, t time.Time) *time.Time {
	if due != nil && !t.Before(*due) {
		return due
	}
	return &t
}

// RunOf returns a run of an aggregate for Step Functions.
func RunOf(ref Ref, run int) *Run {
	return &Run{Name: fmt.Sprintf("%s-%d", ref.ID, run), Run: run,
		Input: fmt.Sprintf(`{"tenant":%q,"kind":%q,"id":%q,"run":%d}`, ref.Tenant, ref.Kind, ref.ID, run)}
}
