package card_test

import (
	"testing"

	"ringi/infra/local/sandbox/blockkit"
	"ringi/shared/aggregate"
	"ringi/shared/card"
	"ringi/shared/task"
)

// TestASecondOpinion asks the sandbox's checker, which shares nothing with ours,
// about every card in every state with every hostile text.
func TestASecondOpinion(t *testing.T) {
	for _, st := range states() {
		t.Run(st.name, func(t *testing.T) {
			for name, text := range hostile {
				s := st.story(t)
				poison(s.Aggregate, text)
				c := s.card(st.card)
				attachments := decoded(t, card.Render(s.Aggregate, c, "ja", s.now).Attachments).([]any)
				if len(attachments) == 0 { // a plain reply
					continue
				}
				blocks := attachments[0].(map[string]any)["blocks"].([]any)
				for _, p := range blockkit.Blocks(blocks, "/attachments/0/blocks", blockkit.MaxAttachmentBlocks) {
					t.Errorf("%s: %s", name, p)
				}
				if n := blockkit.Characters(blocks); n > blockkit.MaxCharacters {
					t.Errorf("%s: %d characters", name, n)
				}
			}
		})
	}
	for _, kind := range []aggregate.CardType{task.CardPrompt, task.CardStep} {
		for _, p := range blockkit.View(decoded(t, card.RejectionModal(kind, "id", "task", "en")).(map[string]any)) {
			t.Errorf("modal of a %s: %s", kind, p)
		}
	}
}
