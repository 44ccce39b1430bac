package task

import (
	"testing"

	"ringi/shared/expect"
)

// An agent chose the words of what it hands over: somebody reads its policy, whatever the settings say.
func TestARequestOfAnAgentIsStampedAlways(t *testing.T) {
	for event, want := range map[string]bool{"Ev0PV52K21": false, HandedOverBy("0fe7e56a-224d-8456-acd3-eaccf5c4ee7b"): true} {
		s := begin(t)
		s.settings.PromptApprovalRequired = false
		s.do(s.extract, s.beginPrompt)
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
