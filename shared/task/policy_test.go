package task

import (
	"errors"
	"testing"
	"time"
)

func TestWhoMayDecide(t *testing.T) {
	list := Policy{Team: team, Mode: ApproversList, Approvers: []string{suzuki, requester}, AllowSelf: true}
	nobody := Policy{Team: team, Mode: ApproversList, AllowSelf: true}
	channel := Policy{Team: team, Mode: ApproversChannel, AllowSelf: true}
	strict := Policy{Team: team, Mode: ApproversChannel}
	foreign, guest, absent, away := person(suzuki), person(suzuki), person(suzuki), person(tanaka)
	foreign.Team, guest.Guest, absent.Member, away.Member = "T_OTHER", true, false, false
	guestRequester := person(requester)
	guestRequester.Guest = true
	foreignRequester := person(requester)
	foreignRequester.Team = "T_OTHER"
	agent := Actor{Type: ActorAgent, ID: "agent"}

	for _, tt := range []struct {
		name                      string
		policy                    Policy
		by                        Actor
		approve, reject, withdraw Rule
	}{
		{"an approver of the list", list, person(suzuki), "", "", ""},
		{"an approver of the list who is not in the channel", list, absent, "", "", ""},
		{"one who is not in the list", list, person(tanaka), RuleNotListed, RuleNotListed, RuleNotParty},
		{"a member, when the list is empty", nobody, person(suzuki), RuleNobody, RuleNobody, RuleNotParty},
		{"the requester, when the list is empty", nobody, person(requester), RuleNobody, RuleNobody, ""},
		{"a member of the channel", channel, person(tanaka), "", "", ""},
		{"one who is not in the channel", channel, away, RuleNotMember, RuleNotMember, RuleNotParty},
		{"the same id in another workspace", list, foreign, RuleForeign, RuleForeign, RuleForeign},
		{"the requester's id in another workspace", channel, foreignRequester, RuleForeign, RuleForeign, RuleForeign},
		{"a guest who is in the list", list, guest, RuleGuest, RuleGuest, RuleNotParty},
		{"a guest who is in the channel", channel, guest, RuleGuest, RuleGuest, RuleNotParty},
		{"a guest, of what they asked for", channel, guestRequester, RuleGuest, RuleGuest, ""},
		{"the requester, where that is allowed", channel, person(requester), "", "", ""},
		{"the requester, where it is not", strict, person(requester), RuleSelf, "", ""},
		{"another, where the requester may not", strict, person(tanaka), "", "", ""},
		{"an agent", channel, agent, RuleForeign, RuleForeign, RuleForeign},
		{"the system", nobody, System(), "", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for what, got := range map[string]struct {
				err  error
				want Rule
			}{
				"approve":  {tt.policy.Approve(tt.by, requester), tt.approve},
				"reject":   {tt.policy.Reject(tt.by, requester), tt.reject},
				"withdraw": {tt.policy.Withdraw(tt.by, requester), tt.withdraw},
			} {
				if got.want == "" && got.err != nil || got.want != "" && !errors.Is(got.err, ErrNotAllowed{got.want}) {
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
		decide func(a *Aggregate, s *story) (Change, error)
		rule   Rule
	}{
		{"approve prompt", waitingPrompt, func(a *Aggregate, s *story) (Change, error) {
			return a.ApprovePrompt(a.Prompt().ID, outsider, s.policy, s.now)
		}, RuleNotListed},
		{"reject prompt", waitingPrompt, func(a *Aggregate, s *story) (Change, error) {
			return a.RejectPrompt(a.Prompt().ID, "短く", outsider, s.policy, s.now)
		}, RuleNotListed},
		{"approve process", waitingProcess, func(a *Aggregate, s *story) (Change, error) {
			return a.ApproveProcess(a.Process().ID, outsider, s.policy, s.now)
		}, RuleNotListed},
		{"reject process", waitingProcess, func(a *Aggregate, s *story) (Change, error) {
			return a.RejectProcess(a.Process().ID, "短く", outsider, s.policy, s.now)
		}, RuleNotListed},
		{"approve step", waitingStep, func(a *Aggregate, s *story) (Change, error) {
			return a.ApproveStep(gateID(a), outsider, s.policy, s.now)
		}, RuleNotListed},
		{"reject step", waitingStep, func(a *Aggregate, s *story) (Change, error) {
			return a.RejectStep(gateID(a), "宛先", outsider, s.policy, s.now)
		}, RuleNotListed},
		{"cancel", waitingPrompt, func(a *Aggregate, s *story) (Change, error) { return a.CancelTask(outsider, s.policy, s.now) }, RuleNotParty},
		{"cancel execution", running, func(a *Aggregate, s *story) (Change, error) {
			return a.CancelExecution(a.Execution().ID, outsider, s.policy, s.now)
		}, RuleNotParty},
		{"retry", failed, func(a *Aggregate, s *story) (Change, error) {
			return a.RetryExecution(a.Execution().ID, outsider, s.policy, s.now)
		}, RuleNotParty},
		{"retry generation", parked, func(a *Aggregate, s *story) (Change, error) { return a.RetryGeneration(outsider, s.policy, s.now) }, RuleNotParty},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := tt.from(t)
			s.refused(func(a *Aggregate, _ time.Time) (Change, error) { return tt.decide(a, s) }, ErrNotAllowed{tt.rule})
		})
	}
}
