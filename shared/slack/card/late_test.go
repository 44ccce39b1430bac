package card_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// The gate of a second attempt closes by itself when the first one's write turns out to have completed.
func TestAGateThatLateTruthClosedSaysSo(t *testing.T) {
	s := gated(t, arguments)
	s.Gates[0].Status = aggregate.Cancelled
	s.Add(&task.StepResult{ProcessVersion: 1, Attempt: 1, Order: 2, StepID: "step-2", Status: task.StepCompleted, Reused: true})
	for locale, want := range map[string]string{"ja": "完了していたことが分かった", "en": "turned out to have completed"} {
		b := expect.Value(json.Marshal(card.Render(s.Aggregate, s.card(stepCard), locale, s.now)))(t)
		expect.That(t, strings.Contains(string(b), want) && !strings.Contains(string(b), "approve_step"),
			"%s: the card says %s", locale, b)
	}
}
