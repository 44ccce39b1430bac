package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// undecidable lists only the requester as approver, who may not approve.
func (s *story) undecidable() *story {
	s.settings.AllowSelfApproval, s.settings.Approvers.Mode, s.settings.Approvers.Users = false, aggregate.ApproversList, []string{requester}
	return s
}

func (s *story) parkedForNobody(when string) {
	s.t.Helper()
	a := s.load()
	parked := a.Head.Parked != nil && a.Head.Parked.Sentence == ReasonNobodyApproves
	expect.Must(s.t, parked && a.Asked() == nil, "%s: parked %+v, asked %+v", when, a.Head.Parked, a.Asked())
}

// If settings change while a model drafts, no gate opens that nobody may approve.
func TestNoGateOpensForNobody(t *testing.T) {
	s := begin(t).do(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.Extracted(1, Extract{Title: "x", Description: "x", Priority: High, TaskType: TypeStandard}, now)
	})
	s.undecidable().do(s.finishPrompt)
	s.parkedForNobody("the policy")
	s.settings.Approvers.Users = []string{requester, suzuki}
	s.do(s.retryGeneration, s.finishPrompt, s.approvePrompt).undecidable().do(s.finishProcess)
	s.parkedForNobody("the steps")
	s.settings.Approvers.Usergroups = []string{"S1"} // only Slack knows the group's members
	s.do(s.retryGeneration, s.finishProcess)
	if a := s.load(); a.Head.Parked != nil || a.Asked() == nil {
		t.Errorf("parked %+v", a.Head.Parked)
	}
}

// A retry that finds no possible approver asks no model, and does not count.
func TestATryThatFindsNobodyIsGivenBack(t *testing.T) {
	s := begin(t)
	s.do(s.extract).undecidable()
	again := func(a *Aggregate, now time.Time) (aggregate.Change, error) {
		return a.ParkUndecidable(s.head.Run, s.settings, now)
	}
	s.do(again)
	for range MaxRetries + 2 {
		s.do(s.retryGeneration, again)
	}
	expect.Is(t, s.load().Head.Retries, 0, "tries used up")
	for range MaxRetries {
		s.do(s.retryGeneration, s.park)
	}
	s.refused(s.retryGeneration, ErrMaxRetries)
}
