package card_test

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// The card of an execution has the number of its document, whose department may be called anything.
func TestAnExecutionSaysTheNumberOfItsDocument(t *testing.T) {
	s := started(t, fiveSteps()).steps(1)
	s.Execution().Document = "総務部 <!here>-2026-0012"
	for locale, says := range map[string]string{"ja": "文書番号 総務部", "en": "Document No. 総務部"} {
		text := drawn(render(s.Aggregate, s.card(executionCard), locale, s.now).Attachments[0].Blocks.BlockSet)
		expect.Has(t, text, says, "-2026-0012")
		expect.That(t, !strings.Contains(text, "<!here>"), "%s", text)
	}
}
