package card_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// returnedViews are the dialog and copies by which whoever asked fills in again the form that was given back to them.
func returnedViews(t *testing.T, locale string) map[string]any {
	s := byForm(received(t)).giveBack()
	kinds := defaults
	kinds.Matters = []tenancy.MatterKind{{Name: "備品"}} // no name that a card has
	of := card.Review{Type: task.CardProcess, ID: s.Returned().ID, TaskID: s.Head.TaskID, Hash: "hash"}
	set := defaults
	set.Locale = locale
	copyOf := func(s *scenario) card.Message {
		c := &aggregate.Card{CardType: task.CardOutcome, Subject: card.ReturnedCopy + task.ProcessKey(1), User: s.Head.Requester}
		return card.Copy(s.Aggregate, c, set, "https://x.slack.com/archives/C1/p1", s.now)
	}
	return map[string]any{
		"dialog_form": card.RefillModal(s.Aggregate, of, locale, kinds), "copy": copyOf(s),
		"copy_edited": copyOf(byForm(received(t)).giveBack().refill(tablets)),
		"copy_ended":  copyOf(byForm(received(t)).giveBack().cancelTask()),
	}
}

// What was given back is its requester's turn on the Home tab: counted once, with who gave it back, why, and its
// buttons.
func TestWhatWasReturnedIsItsRequestersTurn(t *testing.T) {
	for locale, want := range map[string][]string{
		"ja": {"あなたの番 (1 件)", "の修正をお願いします", "宛先を経理に直してください", "フォームで書き直す", "🚫 依頼をキャンセルする"},
		"en": {"Your turn (1)", "宛先を経理に直してください", "Fill in the form again", "🚫 Cancel the request"},
	} {
		s := byForm(received(t)).giveBack()
		in := card.Summary{Returned: []card.Mine{{Task: s.Aggregate, Link: "https://example.slack.com/x"}}}
		tab := jsonOf(card.HomeView(in, defaults, locale, s.now))
		for _, text := range want {
			expect.That(t, strings.Count(tab, text) == 1, "%s: %q in %s", locale, text, tab)
		}
		nothing := map[string]string{"ja": "承認待ちのものはありません", "en": "Nothing is waiting"}[locale]
		expect.That(t, !strings.Contains(tab, nothing), "%s", tab)
	}
}
