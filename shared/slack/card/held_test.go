package card_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
)

// What is put off since nobody may approve it has not failed, on whichever card it is told.
func TestWhatNobodyMayApproveIsOnHoldAndHasNotFailed(t *testing.T) {
	for locale, says := range map[string][3]string{"ja": {"保留", "失敗", "エラー"}, "en": {"on hold", "fail", "error"}} {
		set := tenancy.DefaultSettings()
		set.Locale = locale
		for name, x := range map[string]struct {
			s    *scenario
			card func(*scenario) *aggregate.Card
		}{
			"before a first draft":         {received(t).extracted(), func(s *scenario) *aggregate.Card { return s.card(taskCard) }},
			"a draft that was begun":       {received(t).extracted().drafting(), func(s *scenario) *aggregate.Card { return s.card(promptCard) }},
			"a rejected one":               {received(t).extracted().drafted(set).rejectPrompt("短く"), func(s *scenario) *aggregate.Card { return s.card(promptCard) }},
			"the steps of an approved one": {received(t).extracted().drafted(set).promptApproved(), func(s *scenario) *aggregate.Card { return s.card(promptCard) }},
		} {
			x.s.park(task.ReasonNobodyApproves)
			m := card.RenderUnder(x.s.Aggregate, x.card(x.s), set, x.s.now)
			err := cardtest.Check(m)
			expect.That(t, err == nil, "%v", err)
			said := strings.ToLower(drawn(m.Attachments[0].Blocks.BlockSet) + m.Text)
			list := strings.ToLower(card.List(locale, card.Summary{Mine: []card.Mine{{Task: x.s.Aggregate}}}))
			for where, text := range map[string]string{"card": said, "list": list} {
				if !strings.Contains(text, says[0]) || strings.Contains(text, says[1]) || strings.Contains(text, says[2]) {
					t.Errorf("%s, %s, %s: %s", name, locale, where, text)
				}
			}
		}
	}
}
