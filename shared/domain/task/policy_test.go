package task

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
)

func TestWhoMayDecide(t *testing.T) {
	list := aggregate.Policy{Team: team, Mode: aggregate.ApproversList, Approvers: []string{suzuki, requester}, AllowSelf: true}
	nobody := aggregate.Policy{Team: team, Mode: aggregate.ApproversList, AllowSelf: true}
	channel := aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel, AllowSelf: true}
	strict := aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel}
	foreign, guest, absent, away := person(suzuki), person(suzuki), person(suzuki), person(tanaka)
	foreign.Team, guest.Guest, absent.Member, away.Member = "T_OTHER", true, false, false
	guestRequester := person(requester)
	guestRequester.Guest = true
	foreignRequester := person(requester)
	foreignRequester.Team = "T_OTHER"
	agent := aggregate.Actor{Type: aggregate.ActorAgent, ID: "agent"}

	for _, tt := range []struct {
		name                      string
		policy                    aggregate.Policy
		by                        aggregate.Actor
		approve, reject, withdraw aggregate.Rule
	}{
		{"an approver of the list", list, person(suzuki), "", "", ""},
		{"an approver of the list who is not in the channel", list, absent, "", "", ""},
		{"one who is not in the list", list, person(tanaka), aggregate.RuleNotListed, aggregate.RuleNotListed, aggregate.RuleNotParty},
		{"a member, when the list is empty", nobody, person(suzuki), aggregate.RuleNobody, aggregate.RuleNobody, aggregate.RuleNotParty},
		{"the requester, when the list is empty", nobody, person(requester), aggregate.RuleNobody, aggregate.RuleNobody, ""},
		{"a member of the channel", channel, person(tanaka), "", "", ""},
		{"one who is not in the channel", channel, away, aggregate.RuleNotMember, aggregate.RuleNotMember, aggregate.RuleNotParty},
		{"the same id in another workspace", list, foreign, aggregate.RuleForeign, aggregate.RuleForeign, aggregate.RuleForeign},
		{"the requester's id in another workspace", channel, foreignRequester, aggregate.RuleForeign, aggregate.RuleForeign, aggregate.RuleForeign},
		{"a guest who is in the list", list, guest, aggregate.RuleGuest, aggregate.RuleGuest, aggregate.RuleNotParty},
		{"a guest who is in the channel", channel, guest, aggregate.RuleGuest, aggregate.RuleGuest, aggregate.RuleNotParty},
		{"a guest, of what they asked for", channel, guestRequester, aggregate.RuleGuest, aggregate.RuleGuest, ""},
		{"the requester, where that is allowed", channel, person(requester), "", "", ""},
		{"the requester, where it is not", strict, person(requester), aggregate.RuleSelf, "", ""},
		{"another, where the requester may not", strict, person(tanaka), "", "", ""},
		{"an agent", channel, agent, aggregate.RuleForeign, aggregate.RuleForeign, aggregate.RuleForeign},
		{"the system", nobody, aggregate.System(), "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for what, got := range map[string]struct {
				err  error
				want aggregate.Rule
			}{
				"approve":  {tt.policy.Approve(tt.by, requester), tt.approve},
				"reject":   {tt.policy.Reject(tt.by, requester), tt.reject},
				"withdraw": {tt.policy.Withdraw(tt.by, requester), tt.withdraw},
			} {
				if got.want == "" && got.err != nil || got.want != "" && !errors.Is(got.err, aggregate.ErrNotAllowed{Rule: got.want}) {
					t.Errorf("%s: %v, want %q", what, got.err, got.want)
				}
			}
		})
	}
}

func TestARefusedPersonChangesNothingWhereverTheyClick(t *testing.T) {
	outsider := person("U_OUTSIDER")
	failed := told(running, func(s *story) { s.do(s.claim, s.finish(failed), s.fail) })
	parked := told(begin, func(s *story) { s.do(s.park) })
	for _, tt := range []struct {
		name   string
		from   func(testing.TB) *story
		decide func(a *Aggregate, s *story) (aggregate.Change, error)
		rule   aggregate.Rule
	}{
		{"approve prompt", waitingPrompt, func(a *Aggregate, s *story) (aggregate.Change, error) {
			return a.Approve(a.Prompt().ID, outsider, s.policy, s.now)
		}, aggregate.RuleNotListed},
		{"reject prompt", waitingPrompt, func(a *Aggregate, s *story) (aggregate.Change, error) {
			return a.Reject(a.Prompt().ID, "短く", outsider, s.policy, s.now)
		}, aggregate.RuleNotListed},
		{"approve process", waitingProcess, func(a *Aggregate, s *story) (aggregate.Change, error) {
			return a.Approve(a.Process().ID, outsider, s.policy, s.now)
		}, aggregate.RuleNotListed},
		{"reject process", waitingProcess, func(a *Aggregate, s *story) (aggregate.Change, error) {
			return a.Reject(a.Process().ID, "短く", outsider, s.policy, s.now)
		}, aggregate.RuleNotListed},
		{"approve step", waitingStep, func(a *Aggregate, s *story) (aggregate.Change, error) {
			return a.Approve(gateID(a), outsider, s.policy, s.now)
		}, aggregate.RuleNotListed},
		{"reject step", waitingStep, func(a *Aggregate, s *story) (aggregate.Change, error) {
			return a.Reject(gateID(a), "宛先", outsider, s.policy, s.now)
		}, aggregate.RuleNotListed},
		{"cancel", waitingPrompt, func(a *Aggregate, s *story) (aggregate.Change, error) { return a.End(outsider, s.policy, s.now) }, aggregate.RuleNotParty},
		{"cancel execution", running, func(a *Aggregate, s *story) (aggregate.Change, error) {
			return a.CancelExecution(a.Execution().ID, outsider, s.policy, s.now)
		}, aggregate.RuleNotParty},
		{"retry", failed, func(a *Aggregate, s *story) (aggregate.Change, error) {
			return a.RetryExecution(a.Execution().ID, outsider, s.policy, s.now)
		}, aggregate.RuleNotParty},
		{"retry generation", parked, func(a *Aggregate, s *story) (aggregate.Change, error) {
			return a.RetryGeneration(outsider, s.policy, s.now)
		}, aggregate.RuleNotParty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.from(t)
			s.refused(func(a *Aggregate, _ time.Time) (aggregate.Change, error) { return tt.decide(a, s) }, aggregate.ErrNotAllowed{Rule: tt.rule})
		})
	}
}
