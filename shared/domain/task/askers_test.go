package task

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// Whoever's messages led to a request, by an agent or in its thread, asks along a route: without a rule they approve as
// ever.
func TestWhoseMessagesLedToARequestAskAlongARouteAlone(t *testing.T) {
	for name, mark := range map[string]func(s *story){
		"by an agent": func(s *story) {
			r := *s.load().Request
			r.RouteAskers = []string{suzuki}
			s.rows[r.Key()] = &r
			s.do(s.extract)
		},
		"in the thread": func(s *story) {
			s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				return a.Extracted(s.head.Run, Extract{Title: "勤怠集計", Priority: Medium, TaskType: TypeStandard,
					Shown: []string{requester, suzuki, "B0APP", "USLACKBOT", suzuki}}, now)
			})
		},
	} {
		s := begin(t)
		mark(s)
		s.do(s.finishPrompt)
		expect.Same(t, s.load().Askers(), []string{requester})
		s.policy.AllowSelf = false
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Approve(idOf(a.Prompt()), person(suzuki), s.policy, now)
		})
		expect.Same(t, s.load().askersOfAll(), []string{requester, suzuki})
		o := along(1, desk(1, suzuki, tanaka))
		s.refused(s.finishOn(o), aggregate.ErrOnRoute)
		o.Askers = append(o.Askers, circulation.Person{User: suzuki})
		s.do(s.finishOn(o))
		_, err := s.try(s.does(circulation.Stamp, suzuki))
		refusal, _ := errors.AsType[*circulation.Refusal](err)
		expect.That(t, refusal != nil && refusal.Why == circulation.WhySelf, "%s: %v", name, err)
		s.do(s.does(circulation.Stamp, tanaka))
	}
}

// Who picked the draft in force asks, also when the steps are made anew. Who rejected something asks for nothing, and a
// policy that is generated anew is nobody's.
func TestWhoRejectsIsNoAsker(t *testing.T) {
	s := contested(t)
	reject := func(row func(a *Aggregate) Gated, by string) {
		s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
			return a.Reject(idOf(row(a)), "別の案にしてください", person(by), s.policy, now)
		})
	}
	s.do(s.pick(person(suzuki)))
	expect.Same(t, s.load().askersOfAll(), []string{requester, suzuki})
	reject(func(a *Aggregate) Gated { return a.Prompt() }, tanaka)
	s.do(s.beginPrompt)
	expect.Same(t, s.load().askersOfAll(), []string{requester})

	s = contested(t)
	s.do(s.pick(person(suzuki)), s.approvePrompt, s.finishProcess)
	reject(func(a *Aggregate) Gated { return a.Process() }, tanaka)
	s.do(s.beginProcess, s.finishProcess)
	expect.Is(t, s.load().Process().Version, 2)
	expect.Same(t, s.load().askersOfAll(), []string{requester, suzuki})
}
