package card_test

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func saying(text string) func(*circulation.Act) {
	return func(act *circulation.Act) { act.Text = text }
}

// toRead is a process that Tanaka has stamped for Takada, who is to read it.
func toRead(s *scenario) *scenario {
	first := desk("経理", 1, takada)
	first.ReadAfter = true
	return onRoute(s, first, desk("部長", 1, yamada)).act(circulation.Stamp, 1, tanaka, func(act *circulation.Act) {
		act.Principal.User, act.Found.Delegation = takada, &circulation.Delegation{Key: tanaka + "#" + takada + "#2026-04-01", Rev: 1}
	})
}

// read has Takada read it.
func (s *scenario) read() *scenario {
	s.now = s.now.Add(time.Hour)
	s.Reads = append(s.Reads, &aggregate.Reading{Asked: s.Process().AskedSum, User: takada, By: takada, ReadAt: s.now})
	return s
}

// readStates are cards of gates at which somebody is to read what was stamped for them.
var readStates = []state{
	{"route_to_read", processCard, toRead},
	{"route_read", processCard, func(s *scenario) *scenario { return toRead(s).stamps(2, yamada).read() }},
}

// The tab lists what somebody is to read, with a button each, behind what waits for them.
func TestTheTabListsWhatIsToBeRead(t *testing.T) {
	s := toRead(received(t))
	to := []card.Waits{{Of: s.Aggregate, Question: s.Process().Asks()}}
	for locale, want := range map[string]string{"ja": "後閲待ち(代理や代決で承認されたもの)", "en": "To read (approved for you)"} {
		tab := card.HomeView(card.Summary{Unread: to}, defaults, locale, s.now)
		said := jsonOf(tab.Blocks)
		expect.That(t, strings.Contains(said, want) && strings.Contains(said, `"action_id":"read_after"`), "%s", said)
	}
}
