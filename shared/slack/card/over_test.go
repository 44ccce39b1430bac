package card_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// The copy of a version that was decided speaks of that version, whatever came after it.
func TestACopySpeaksOfTheVersionThatItShows(t *testing.T) {
	s := reordered(received(t))
	head := func(kind aggregate.CardType, key string) string {
		m := copied(s, &aggregate.Card{CardType: kind, Subject: key, User: suzuki, CreatedAt: s.now}, "ja")
		text, _, _ := strings.Cut(drawn(m.Attachments[0].Blocks.BlockSet), "\n")
		return text
	}
	expect.Has(t, head(task.CardProcess, s.Processes[0].Key()), "¥447,000 アクメに発注", "the version that was sent back")
	expect.Has(t, head(task.CardProcess, s.Processes[1].Key()), "¥298,000 アクメに発注", "the newest version")
	expect.Has(t, head(task.CardPrompt, s.Prompt().Key()), s.Task.Title, "the policy")
	expect.That(t, !strings.Contains(head(task.CardPrompt, s.Prompt().Key()), "¥"), "the policy knows the money")
}
