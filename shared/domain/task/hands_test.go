package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// own is what approving returns to whoever asks for the same.
var own = aggregate.ErrNotAllowed{Rule: aggregate.RuleSelf}

// editedByPicker is a policy that Suzuki picked, that was given back, and that Suzuki wrote then.
func editedByPicker(t *testing.T) *story {
	s := contested(t)
	s.policy.AllowSelf = false
	s.do(s.pick(person(suzuki)))
	s.refused(s.approvedBy(suzuki), own)
	s.do(s.giveBack(s.load().Prompt().ID, tanaka))
	s.do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Edit(a.Returned().Asks().ID, Edit{Content: "鈴木が書いた方針"}, person(suzuki), s.policy, now)
	})
	s.do(s.policyWritten)
	return s
}

func (s *story) approvedBy(user string) func(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Approve(idOf(a.Prompt()), person(user), s.policy, now)
	}
}

// Nobody stamps their own words: not the policy that they wrote, nor the steps that follow from it, also along a route.
func TestWhoeverEditedAPolicyStampsNothingThatCameOfIt(t *testing.T) {
	s := editedByPicker(t)
	s.refused(s.approvedBy(suzuki), own)
	s.do(s.approvedBy(tanaka))
	expect.Same(t, s.load().Askers(), []string{requester, suzuki})
	_, err := s.try(s.finishOn(along(1, desk(1, suzuki, tanaka))))
	expect.Fails(t, err, aggregate.ErrOnRoute, "an opening without who wrote the policy among the askers")
	o := along(1, desk(1, suzuki, tanaka))
	o.Askers = append(o.Askers, circulation.Person{User: suzuki})
	s.do(s.finishOn(o))
	_, err = s.try(s.does(circulation.Stamp, suzuki))
	expect.That(t, err != nil, "who wrote the policy stamps the route of its steps")
	s.do(s.does(circulation.Stamp, tanaka))
}

// policyWritten brings the policy that one of its askers wrote to people.
func (s *story) policyWritten(a *Aggregate, now time.Time) (aggregate.Change, error) {
	return a.FinishPrompt(s.head.Run, a.WrittenPolicy().Content, s.settings, now)
}
