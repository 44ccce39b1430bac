package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// unrouted returns a task with steps for which people must be looked up.
func unrouted(t testing.TB) *story {
	s := waitingPrompt(t)
	s.do(s.approvePrompt)
	return s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.FinishProcessUnder(s.head.Run, s.steps, "", circulation.Rule{ID: "r1", Name: "すべて"}, s.settings, now)
	})
}

// A pause for Slack is only for the gate that waits for it: once that has opened, nothing changes.
func TestAGateThatHasOpenedWaitsForNoRoute(t *testing.T) {
	s := unrouted(t)
	expect.That(t, s.load().TryingSince().Equal(s.head.ChangedAt), "what the model took counts as waiting for Slack")
	rest := func(key string) decision {
		return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.WaitForRoute(s.head.Run, key, now.Add(time.Minute), now)
		}
	}
	other := expect.Value(rest(ProcessKey(2))(s.load(), s.now))(t)
	expect.That(t, other.Empty(), "another gate rests")
	s.do(rest(ProcessKey(1)))
	expect.That(t, s.head.PausedUntil != nil && !s.load().work(s.now) && s.load().work(s.now.Add(time.Hour)), "%+v", s.head)
	s.do(s.openOn(ProcessKey(1), along(1, desk(1, suzuki))))
	expect.That(t, s.head.PausedUntil == nil && s.head.TryingFrom == nil, "%+v", s.head)
	expect.That(t, expect.Value(rest(ProcessKey(1))(s.load(), s.now))(t).Empty(), "an open gate rests")
	open := expect.Value(s.load().OpenUnruled(s.head.Run, ProcessKey(1), s.settings, s.now))(t)
	expect.That(t, open.Empty(), "it opens once more, without its rule")
}
