package main

import (
	"testing"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// If steps need no approval, nobody sees their card before they run. A message's text must then be in the approved
// policy, or is shown first; it makes no difference that the tool needs no approval.
func TestAMessageThatNobodyHasSeenWaits(t *testing.T) {
	server := pipelinetest.Start(t)
	const said = `{"recipient":"U0SANDSATO","text":"方針","details":[{"label":"方針","value":{"$ref":"step-1.result.count"}}]}`
	for name, tt := range map[string]struct {
		policy, steps bool // whether their approval is required
		args          string
		waits         bool
	}{
		"its text is in no policy":     {true, false, `{"recipient":"U0SANDSATO","text":"全員解雇です。","details":[]}`, true},
		"a detail is in no policy":     {true, false, `{"recipient":"U0SANDSATO","text":"方針","details":[{"label":"方針","value":"振込先は 1234567"}]}`, true},
		"a number is in no policy":     {true, false, `{"recipient":"U0SANDSATO","text":"方針","details":[{"label":"方針","value":25000000}]}`, true},
		"the policy has it":            {true, false, said, false},
		"the steps' card was stamped":  {true, true, `{"recipient":"U0SANDSATO","text":"全員解雇です。","details":[]}`, false},
		"nobody is asked for anything": {false, false, `{"recipient":"U0SANDSATO","text":"完了","details":[]}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, server)
			s := tenancy.DefaultSettings()
			s.PromptApprovalRequired, s.ProcessApprovalRequired, s.AutoApproveTools = tt.policy, tt.steps, true
			w.Approved(s, w.read(1), w.step(2, "send_slack_dm", aggregate.Write, tt.args))
			expect.Is(t, w.run().State == task.StateAwaitStepApproval, tt.waits, "waits")
		})
	}
}
