package task

import (
	"time"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

func (s *story) giveBack(id, user string) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.acts(circulation.GiveBack, id, "宛先を直して", person(user), s.policy, now)
	}
}

// fills makes the next version of the form that was given back, as the requester.
func (s *story) fills(e Refill) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Refill(a.Returned().ID, e, person(requester), s.policy, now)
	}
}

func (w *world) givesBack(id string, by aggregate.Actor, p aggregate.Policy) decision {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.acts(circulation.GiveBack, id, "直して", by, p, now)
	}
}

// refill is what an asker types in a form again that was given back.
func (w *world) refill() Refill {
	m := pens
	m.Title = rapid.SampledFrom([]string{pens.Title, betterPens.Title}).Draw(w.rt, "title")
	return Refill{Content: m.Title, Matter: &m}
}

func (s *story) last() aggregate.AuditEntry { return s.audit[len(s.audit)-1] }

// entry returns the only entry of an action.
func (s *story) entry(of aggregate.Action) (found aggregate.AuditEntry) {
	for _, e := range s.audit {
		if e.Action == of {
			expect.Is(s.t, found.Action, "")
			found = e
		}
	}
	return found
}
