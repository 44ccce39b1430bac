package task

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// answer returns the usage of one generation.
func answer(id string, dollars float64) aggregate.Usage {
	return aggregate.Usage{ID: id, Provider: "anthropic", Model: "claude-sonnet-4-6", Prompt: "plan.ja.1",
		RequestID: "req_" + id, Calls: 2, Input: 1000, Output: 200, Cached: 50, Written: 10, MS: 900,
		Cost: aggregate.USD(dollars)}
}

func paying(u aggregate.Usage, d decision) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return Charge(u, now, func(a *Aggregate) (aggregate.Change, error) { return d(a, now) })(a)
	}
}

func nothing(*Aggregate, time.Time) (aggregate.Change, error) { return aggregate.Change{}, nil }

func TestWhatAModelMadeSaysWhatItCost(t *testing.T) {
	s := begin(t)
	s.do(paying(answer("1", 0.01), s.extract), paying(answer("2", 0.02), s.finishPrompt), s.approvePrompt)
	s.do(paying(answer("3", 0.03), s.finishProcess), s.approveProcess, s.start)
	s.do(s.claim, s.finish(done), s.claim, s.finish(done), s.claim, s.finish(done), paying(answer("4", 0.04), s.complete))
	a := s.load()
	for name, row := range map[string]struct {
		got  *aggregate.Usage
		want aggregate.Usage
	}{
		"task": {a.Task.Usage, answer("1", 0.01)}, "prompt": {a.Prompt().Usage, answer("2", 0.02)},
		"process": {a.Process().Usage, answer("3", 0.03)}, "execution": {a.Execution().Usage, answer("4", 0.04)},
	} {
		d := cmp.Diff(&row.want, row.got)
		expect.That(t, d == "", "%v %v", name, d)
	}
	expect.Same(t, &aggregate.Usage{Calls: 8, Input: 4000, Output: 800, Cached: 200, MS: 3600, Cost: aggregate.USD(0.1)},
		a.Used())
}

func TestWhatCameToNothingIsPaidFor(t *testing.T) {
	for _, tt := range []struct {
		name string
		from func(testing.TB) *story
		of   func(*story) decision
	}{
		{"another invocation was faster", told(begin, func(s *story) { s.do(s.extract) }),
			func(s *story) decision { return s.extract }},
		{"the run is another's", told(begin, func(s *story) { s.do(s.restart) }), func(s *story) decision {
			return func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.Extracted(1, Extract{}, now) }
		}},
		{"the task was cancelled", told(waitingPrompt, func(s *story) { s.do(s.cancel) }),
			func(s *story) decision { return s.finishPrompt }},
		{"the work was done", told(allDone, func(s *story) { s.do(s.complete) }),
			func(s *story) decision { return s.complete }},
	} {
		s := tt.from(t)
		before := s.load()
		s.do(paying(answer("1", 0.25), tt.of(s)))
		after := s.load()
		expect.That(t, after.Spent() == aggregate.USD(0.25) && reflect.DeepEqual(before.Rows(), after.Rows()),
			"%s: spent %s", tt.name, after.Spent())
		h := after.Head
		h.Rev, h.LastChange = before.Head.Rev, before.Head.LastChange
		d := cmp.Diff(before.Head, h)
		expect.That(t, d == "", "%v %v", tt.name, d)
	}
	s := begin(t)
	s.nothing(paying(aggregate.Usage{ID: "1", Calls: 1, MS: 60_000}, nothing)) // there was no answer
	s.refused(paying(answer("1", 1), func(*Aggregate, time.Time) (aggregate.Change, error) {
		return aggregate.Change{}, aggregate.ErrConflict
	}), aggregate.ErrConflict)
	s.refused(paying(aggregate.Usage{}, func(*Aggregate, time.Time) (aggregate.Change, error) {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}), aggregate.ErrSuperseded)
}

func TestATaskThatCostWhatItMayIsStopped(t *testing.T) {
	limit := aggregate.USD(3)
	for _, state := range states {
		for _, spent := range []float64{2.999999, 3, 3.5} {
			s := state.reach(t)
			s.do(paying(answer("1", spent), nothing))
			before, audit := s.load(), len(s.audit)
			c, err := s.try(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.StopForCost(a.Head.Run, limit, now)
			})
			after := s.load()
			e, waits := before.Execution(), false
			if open, ok := before.OpenGate(); ok {
				waits = open.Kind == CardStep
			}
			what := fmt.Sprintf("%s, %v spent: %v", state.name, spent, err)
			switch {
			case before.Head.Ended != nil:
				expect.Fails(t, err, aggregate.ErrSuperseded, "%v", what)
			case spent < 3, waits:
				expect.That(t, err == nil && c.Empty(), "%v", what)
			case before.LiveLease(s.now) != nil:
				expect.Fails(t, err, aggregate.ErrInFlight, "%v", what)
			case err != nil:
				t.Error(what)
			case e == nil:
				want := Ended{As: TaskCancelled, At: after.Head.ChangedAt, Reason: ReasonCostLimit,
					Detail: fmt.Sprintf("%s/3.00", aggregate.USD(spent))}
				last := s.audit[len(s.audit)-1]
				d := cmp.Diff(&want, after.Head.Ended)
				expect.That(t, d == "" && len(s.audit) == audit+1 && last.Action == AuditTaskCancelled &&
					last.ActorType == aggregate.ActorSystem &&
					last.Details == aggregate.JSON(fmt.Sprintf(`{"cost_usd":"%s","max_cost_usd":"3.00","reason":"cost_limit"}`,
						aggregate.USD(spent))), "%s %s, recorded %+v", what, d, last)
				if _, waits := after.OpenGate(); waits || after.Task != nil && after.Task.Status != TaskCancelled {
					t.Errorf("%s: something is left open", what)
				}
			default:
				x := after.Execution()
				unknown := x.Error == ReasonToolUnknown // the more important reason for people
				expect.That(t, after.Head.Ended != nil && after.Head.Ended.As == TaskFailed && x.Status == ExecutionFailed &&
					(unknown || x.Error == ReasonCostLimit && x.ErrorDetail == fmt.Sprintf("%s/3.00",
						aggregate.USD(spent))), "%s: %+v", what, x)
				last := s.audit[len(s.audit)-1]
				expect.That(t, last.Action == AuditExecutionFailed && len(s.audit) == audit+1, "%s: recorded %+v", what, last)
			}
		}
	}
}

func TestNoLimitStopsNothing(t *testing.T) {
	s := begin(t)
	s.do(paying(answer("1", 1e6), nothing))
	s.nothing(func(a *Aggregate, now time.Time) (aggregate.Change, error) { return a.StopForCost(1, 0, now) })
	for dollars, want := range map[float64]aggregate.MicroUSD{0: 0, 0.0000001: 1, 0.29: 290000, 1e6: 1e12} {
		expect.Is(t, (tenancy.Settings{MaxCostUSD: dollars}).MaxCost(), want, "%v dollars", dollars)
	}
}

func TestMoneyInWords(t *testing.T) {
	for m, want := range map[aggregate.MicroUSD]string{0: "0.00", 1: "0.000001", 3_500_000: "3.50", 3_000_000: "3.00",
		123: "0.000123", 10_120_300: "10.1203", 99_999: "0.099999", 1e12: "1000000.00", -1_999_974: "-1.999974",
		-20_000: "-0.02", math.MinInt64: "-9223372036854.775808"} {
		expect.Is(t, m.String(), want, "%d", int64(m))
	}
}

// A usage with a negative cost is not charged, and its decision is not committed.
func TestNothingIsChargedBelowNothing(t *testing.T) {
	s := begin(t)
	s.do(paying(answer("1", 5), nothing))
	refund := answer("2", 0)
	refund.Cost = -1
	_, err := paying(refund, s.extract)(s.load(), s.now)
	expect.That(t, err != nil && strings.Contains(err.Error(), "the calls 2 are said to cost -0.000001 dollars"), "%v",
		err)
}

func (s *story) accept(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.Accept(a.Head.Run, person(requester), s.settings, now)
}

// Guests and people of other workspaces are refused before anything is spent, and don't count as open.
func TestWhoMayAsk(t *testing.T) {
	guest, stranger, unseen := person(requester), person(requester), aggregate.Actor{Type: aggregate.ActorUser,
		ID: requester}
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
				expect.That(t, s.head.Ended == nil && s.head.AcceptedAt != nil && s.load().Next(s.now).State == StateExtractTask,
					"%+v", s.head)
				return
			}
			e := s.head.Ended
			expect.That(t, e != nil && e.As == TaskRefused && e.Reason == tt.reason &&
				s.load().Next(s.now) == (aggregate.Next{State: StateFinish, Outcome: "refused"}), "%+v", e)
			last := s.audit[len(s.audit)-1]
			expect.That(t, last.Action == AuditTaskRefused && len(s.counts) == 0, "recorded %+v, counted %v", last, s.counts)
			c, err := s.load().RetryGeneration(person(suzuki), s.policy, s.now)
			expect.That(t, err != nil, "it was tried again: %+v", c)
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
			expect.Same(t, map[string]int{"OPEN#" + requester: tt.open, requester + "#" + hour: 1}, s.counts)
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
		if n.Key == openKey(requester) {
			continue
		}
		expect.That(t, n.Key == requester+"#"+hour.Format("2006-01-02T15"),
			"asked at %s, counted as %s", s.head.CreatedAt.Format(time.DateTime), n.Key)
		expect.That(t, !n.Keep.Before(s.now.Add(keptFor)), "%s is kept until %s only: it is %s", n.Key, n.Keep, s.now)
	}
	for _, until := range []time.Time{hour.Add(time.Hour), s.now.Add(time.Minute)} {
		c, err := a.RefuseFull(1, aggregate.ErrFull{Count: aggregate.Count{Most: 1, Reason: ReasonHourPerson, Until: until}},
			s.now)
		expect.That(t, err == nil && c.Head.(*Head).Ended.Until != nil && !c.Head.(*Head).Ended.Until.Before(s.now),
			"%v: at %s it says that there is room from %v", err, s.now, c.Head.(*Head).Ended.Until)
	}
}
