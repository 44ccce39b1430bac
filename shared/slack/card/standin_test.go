package card_test

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// Who stands in for those whose turn it is stands below them, with dates that are true whenever they are read. Who
// can't stamp by it isn't named.
func TestACardSaysWhoStandsInForThoseWhoseTurnItIs(t *testing.T) {
	s := onRoute(received(t), threeStages()...)
	person := func(user string) circulation.Person { return circulation.Person{User: user} }
	day := 24 * time.Hour
	away := func(hand, principal, setBy string, begins, ends time.Duration) circulation.StandIn {
		return circulation.StandIn{Delegation: circulation.Delegation{Key: hand + "#" + principal + "#1", Rev: 1}, Hand: person(hand),
			Principal: person(principal), SetBy: person(setBy), Begins: s.now.Add(begins), Ends: s.now.Add(ends)}
	}
	around := card.Around{StandIns: []circulation.StandIn{
		away("U0HAND", suzuki, suzuki, -day, 3*day), away("U0SOON", suzuki, suzuki, day, 2*day),
		away("U0OVER", suzuki, suzuki, -2*day, 0), away("U0LATE", suzuki, suzuki, 40*day, 50*day),
		away(requester.ID, suzuki, suzuki, 0, day), away("U0CHOSEN", suzuki, requester.ID, 0, day),
		away("U0OTHER", tanaka, tanaka, 0, day),
	}}
	says := func() string {
		m := card.Render(s.Aggregate, s.card(processCard), tenancy.DefaultSettings(), around, s.now)
		return drawn(m.Attachments[0].Blocks.BlockSet)
	}
	text := says()
	expect.Has(t, text, "👥 2026-04-17 から 2026-04-21 まで <@"+suzuki+"> さんが不在の間、<@U0HAND> さ"+
		"んが代わりに承認します\n👥")
	expect.Has(t, text, "<@U0SOON> さんが代わりに")
	for _, who := range []string{"U0OVER", "U0LATE", requester.ID + "> さんが代わりに", "U0CHOSEN", "U0OTHER"} {
		expect.That(t, !strings.Contains(text, who), "%s is named: %s", who, text)
	}
	m := card.Render(s.Aggregate, s.copyOf(suzuki, 1), tenancy.DefaultSettings(), around, s.now)
	copied := drawn(m.Attachments[0].Blocks.BlockSet)
	expect.That(t, !strings.Contains(copied, "U0HAND"), "the copy says it: %s", copied)
	s.stamps(1, suzuki)
	expect.That(t, !strings.Contains(says(), "U0HAND"), "the stage is over: %s", says())
	expect.Has(t, says(), "<@U0OTHER> さんが代わりに")
}
