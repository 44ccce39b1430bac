package task

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// An agent worded the request, so people must approve its policy whatever the settings are.
func TestARequestOfAnAgentIsStampedAlways(t *testing.T) {
	for event, want := range map[string]bool{"Ev0PV52K21": false, HandedOverBy("0fe7e56a-224d-8456-acd3-eaccf5c4ee7b"): true} {
		s := begin(t)
		s.settings.PromptApprovalRequired = false
		s.do(s.extract)
		a := s.load()
		request := *a.Request
		request.EventID = event
		a.Request = &request
		c := expect.Value(a.FinishPrompt(a.Head.Run, "方針", s.settings, s.now))(t)
		if p := c.Written(a.Prompt().Key()).(*Prompt); p.Terms.ApprovalRequired != want {
			t.Errorf("%s: a stamp is needed: %t", event, p.Terms.ApprovalRequired)
		}
	}
}

// An attempt without writes records that it made none, and who worded the request, so that nobody can claim otherwise.
func TestAnEndSaysWhatWasNot(t *testing.T) {
	for event, want := range map[string]string{"Ev0PV52K21": `"handed_over":{}`, HandedOverBy("6f0f5a52"): `"handed_over":{"session_id":"6f0f5a52"}`} {
		for name, end := range map[string]func(s *story) decision{
			"failed": func(*story) decision {
				return func(a *Aggregate, now time.Time) (aggregate.Change, error) {
					return a.FailExecution(a.Head.Run, ReasonToolFailed, "", now)
				}
			},
			"cancelled": func(s *story) decision { return s.cancel },
		} {
			s := running(t)
			c, err := s.try(func(a *Aggregate, now time.Time) (aggregate.Change, error) {
				request := *a.Request
				request.EventID = event
				a.Request = &request
				return end(s)(a, now)
			})
			expect.NoError(t, err)
			if got := string(c.Audit[0].Details); !strings.Contains(got, want) || !strings.Contains(got, `"writes":{}`) || !strings.Contains(got, `"ends":{}`) {
				t.Errorf("%s, %s: %s", event, name, got)
			}
		}
	}
}

// What an agent handed over is the agent's wording: the message's change is the conversation's.
func TestAnAgentsRequestIsNotWhatItsMessageSays(t *testing.T) {
	s := waitingPrompt(t)
	a := s.load()
	r := *a.Request
	r.EventID = HandedOverBy("s1")
	a.Request = &r
	for _, deleted := range []bool{false, true} {
		_, err := a.Correct(says(r, "はい、お願いします"), editedAt, deleted, person(requester), s.now)
		expect.Fails(t, err, aggregate.ErrNotFound)
	}
}
