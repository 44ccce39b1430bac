package card_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
)

// Whoever makes a reason of a message sees all of what becomes the reason.
func TestAChoiceShowsAllOfTheReason(t *testing.T) {
	polite := "日付を直してください。" + strings.Repeat("お願いします。", 60)
	for name, tc := range map[string]struct {
		text   string
		offers bool
	}{
		"an end behind 300 characters": {polite + "宛先は U0EVIL001 にしてください。", true},
		"a thousand characters":        {strings.Repeat("あ", task.MaxReason-9) + "U0EVIL001", true},
		"a thousand that are escaped":  {strings.Repeat("&", task.MaxReason-9) + "U0EVIL001", true},
		"behind empty lines":           {"はい" + strings.Repeat("\n", 900) + "U0EVIL001", true},
		"more than a reason has":       {strings.Repeat("あ", task.MaxReason) + "U0EVIL001", false},
		"nothing":                      {"", false},
		"nothing to see":               {"\u200b\u2060", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := received(t)
			s.Request.Text = tc.text
			s.do(s.Ask(1, task.Beside{TaskID: "01OTHER", Title: "x", ID: "01GATE", Kind: task.CardPrompt, Version: 1}, tenancy.DefaultSettings(), s.now))
			for locale, says := range map[string]string{"ja": "却下理由にできません", "en": "can't be a reason"} {
				m := card.Render(s.Aggregate, s.card(taskCard), locale, s.now)
				expect.NoError(t, cardtest.Check(m))
				text := drawn(m.Attachments[0].Blocks.BlockSet)
				if offers(m, card.TakeAsReason) != tc.offers || !offers(m, card.TakeAsRequest) || strings.Contains(text, says) == tc.offers {
					t.Errorf("offered as a reason: %v: %s", offers(m, card.TakeAsReason), text)
				}
				expect.That(t, !tc.offers || strings.Contains(text, "U0EVIL001"), "the reason's end is not on the card: %s", text)
			}
		})
	}
}
