package card_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

func TestEveryEndOfATeamHasASentence(t *testing.T) {
	for _, locale := range language.All {
		seen := map[string]bool{}
		said := func(e card.TeamEnd) {
			if s := e.In(locale); s == "" || seen[s] {
				t.Errorf("%s: %+v is %q", locale, e, s)
			} else {
				seen[s] = true
			}
		}
		for _, exit := range contest.ExitReasons {
			said(card.TeamEnd{Exit: exit})
		}
		for _, why := range contest.Reasons {
			said(card.TeamEnd{Failed: true, Exit: contest.PartialFailure, Reason: why})
		}
	}
}

func TestATeamThatEndedAtItsBestDraftIsNotSaidToHaveNone(t *testing.T) {
	late := card.TeamEnd{Exit: contest.TeamTimeout, Reason: contest.ReasonTimeout, Detail: "チームの持ち時間が終わりました。"}
	expect.Same(t, "持ち時間が終わったため、それまでの最良の案で終えました。", late.In("ja"))
	late.Failed = true
	expect.Same(t, "最初の採点の前に持ち時間が終わりました。", late.In("ja"))
	refused := card.TeamEnd{Exit: contest.PartialFailure, Reason: contest.ReasonLeader, Detail: "The leader could not go on:\nthe AI model declined to answer."}
	if s := refused.In("en"); !strings.HasSuffix(s, "best draft so far. The leader could not go on: the AI model declined to answer.") {
		t.Error(s)
	}
}
