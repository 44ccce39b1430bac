package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func (s *story) accept(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.Accept(a.Head.Run, person(requester), s.settings, now)
}

// Guests and people of other workspaces are refused before anything is spent, and don't count as open.
func TestWhoMayAsk(t *testing.T) {
	guest, stranger, unseen := person(requester), person(requester), aggregate.Actor{Type: aggregate.ActorUser, ID: requester}
	guest.Guest, stranger.Team = true, "T_OTHER"
	for name, tt := range map[string]struct {
		by     aggregate.Actor
		reason aggregate.Reason
	}{
		"a member": {person(requester), ""}, "a guest": {guest, ReasonGuest},
		"a stranger": {stranger, ReasonStranger}, "somebody whom Slack doesn't show": {unseen, ReasonStranger},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.Accept(1, tt.by, s.settings, now)
			})
			if tt.reason == "" {
				if s.head.Ended != nil || s.head.AcceptedAt == nil || s.load().Next(s.now).State != StateExtractTask {
					t.Errorf("%+v", s.head)
				}
				return
			}
			e := s.head.Ended
			if e == nil || e.As != TaskRefused || e.Reason != tt.reason || s.load().Next(s.now) != (aggregate.Next{State: StateFinish, Outcome: "refused"}) {
				t.Errorf("%+v", e)
			}
			last := s.audit[len(s.audit)-1]
			expect.That(t, last.Action == AuditTaskRefused && len(s.counts) == 0, "recorded %+v, counted %v", last, s.counts)
			if c, err := s.load().RetryGeneration(person(suzuki), s.policy, s.now); err == nil {
				t.Errorf("it was tried again: %+v", c)
			}
		})
	}
}

// A task counts as open exactly once, whichever way it goes.
func TestAPlaceIsTakenOnceAndGivenBack(t *testing.T) {
	parks := func(s *story) { s.do(s.approvePrompt, s.park) }
	fails := func(s *story) {
		s.do(s.approvePrompt, s.finishProcess, s.approveProcess, s.start, s.claim, s.finish(failed), s.fail)
	}
	for name, tt := range map[string]struct {
		then func(s *story)
		open int
	}{
		"it waits":                    {func(*story) {}, 1},
		"it is cancelled":             {func(s *story) { s.do(s.cancel) }, 0},
		"it expires":                  {func(s *story) { s.now = s.now.Add(1000 * time.Hour); s.do(s.expire) }, 0},
		"a generation fails":          {parks, 0},
		"which is tried again":        {func(s *story) { parks(s); s.do(s.retryGeneration) }, 1},
		"and then cancelled":          {func(s *story) { parks(s); s.do(s.retryGeneration, s.cancel) }, 0},
		"which is cancelled as it is": {func(s *story) { parks(s); s.do(s.cancel) }, 0},
		"its execution fails":         {fails, 0},
		"and is tried again":          {func(s *story) { fails(s); s.do(s.retry) }, 1},
		"and is tried and cancelled":  {func(s *story) { fails(s); s.do(s.retry, s.cancel) }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := begin(t)
			s.do(s.accept)
			s.nothing(s.accept)
			s.do(s.extract, s.finishPrompt)
			tt.then(s)
			hour := s.load().Head.AcceptedAt.Format("2006-01-02T15")
			want := map[string]int{"OPEN#" + requester: tt.open, "OPEN#*": tt.open, requester + "#" + hour: 1, "*#" + hour: 1}
			expect.Same(t, want, s.counts)
		})
	}
	t.Run("one that began before there were quotas", func(t *testing.T) {
		s := begin(t)
		s.do(s.extract, s.finishPrompt)
		s.nothing(s.accept)
		s.do(s.cancel)
		expect.That(t, len(s.counts) == 0, "%v", s.counts)
	})
}

// Requests that waited for Slack are accepted all at once but count in the hour of their message. A refusal must not
// name a time in the past.
func TestARequestThatWaitedCountsInTheHourOfItsMessage(t *testing.T) {
	s := begin(t)
	hour := s.head.CreatedAt.UTC().Truncate(time.Hour)
	s.now = s.now.Add(60 * time.Hour)
	a := s.load()
	c := expect.Value(s.accept(a, s.now))(t)
	for _, n := range c.Counts {
		if n.Key == openKey(requester) || n.Key == openKey(everybody) {
			continue
		}
		if n.Key != requester+"#"+hour.Format("2006-01-02T15") && n.Key != "*#"+hour.Format("2006-01-02T15") {
			t.Errorf("asked at %s, counted as %s", s.head.CreatedAt.Format(time.DateTime), n.Key)
		}
		expect.That(t, !n.Keep.Before(s.now.Add(keptFor)), "%s is kept until %s only: it is %s", n.Key, n.Keep, s.now)
	}
	for _, until := range []time.Time{hour.Add(time.Hour), s.now.Add(time.Minute)} {
		c, err := a.RefuseFull(1, aggregate.ErrFull{Count: aggregate.Count{Most: 1, Reason: ReasonHourPerson, Until: until}}, s.now)
		if err != nil || c.Head.(*Head).Ended.Until == nil || c.Head.(*Head).Ended.Until.Before(s.now) {
			t.Errorf("%v: at %s it says that there is room from %v", err, s.now, c.Head.(*Head).Ended.Until)
		}
	}
}

// A guest may not retry, because that costs money and may write.
func TestAGuestDoesNothingAgain(t *testing.T) {
	guest := person(requester)
	guest.Guest = true
	p := aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel, AllowSelf: true}
	expect.Fails(t, p.Retry(guest, requester), aggregate.ErrNotAllowed{Rule: aggregate.RuleGuest})
	for _, by := range []aggregate.Actor{person(requester), person(suzuki), aggregate.System()} {
		err := p.Retry(by, requester)
		expect.That(t, err == nil, "%+v: %v", by, err)
	}
	if err := p.Withdraw(guest, requester); err != nil {
		t.Errorf("a guest may not cancel what they asked for: %v", err)
	}
}
