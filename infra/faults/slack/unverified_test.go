package slack

import (
	"slices"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
)

// At each click Slack is asked who may decide. If Slack doesn't answer, nobody decides, and the person is told to try
// again within the three seconds that Slack allows.
func TestWhoeverCantBeCheckedDecidesNothing(t *testing.T) {
	d, _ := atGate(t)
	before := d.Load().Head.Rev
	for _, name := range []string{"too many requests", "HTTP 500", "the answer is lost", "it takes four seconds", "token_revoked"} {
		t.Run(name, func(t *testing.T) {
			fault := always(bad[name])
			fault.Method = "users.info"
			heard, noted := clicks(d, "approve_prompt", fault)
			defer d.S.Sandbox.Faults().Clear("")
			if n := heard.count("users.info", ""); n != 1 {
				t.Errorf("asked %d times", n)
			}
			if told := d.Notes(webapi.Suzuki)[noted:]; !slices.Equal(told, []string{card.Note("ja", explain.ErrUnverified)}) {
				t.Errorf("the person was told %q", told)
			}
			if a := d.Load(); a.Head.Rev != before || !waits(a) {
				t.Errorf("the task is at rev %d, and was at %d", a.Head.Rev, before)
			}
		})
	}
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Until("the stamp counts", func(a *task.Aggregate) bool { return a.Prompt().Status == aggregate.Approved })
}
