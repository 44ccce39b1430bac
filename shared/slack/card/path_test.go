package card_test

import (
	"sort"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
)

// withPath adds two lines of 700 characters to a card, as the path of a gate will have them at most.
func withPath(m card.Message) card.Message {
	line := slack.NewTextBlockObject(slack.MarkdownType, strings.Repeat("あ", 700), false, false)
	blocks := &m.Attachments[0].Blocks
	blocks.BlockSet = append(blocks.BlockSet[:len(blocks.BlockSet):len(blocks.BlockSet)], slack.NewContextBlock("", line, line))
	return m
}

// What just fits on a card leaves room for the path of its gate, while it waits and when it is rejected for the longest
// reason: nobody loses a button when the path comes.
func TestACardThatIsFullHasRoomForAPath(t *testing.T) {
	for n := 10; n <= 60; n += 10 {
		steps := manySteps(n, 60)
		remarks := func(n int) string { return strings.Repeat("方針", n) }
		most := sort.Search(20_000, func(n int) bool { return !card.StepsFit(steps, remarks(n+1)) })
		s := planned(t, fiveSteps(), tenancy.DefaultSettings())
		s.Process().Steps, s.Process().Remarks = steps, remarks(most)
		m := render(s.Aggregate, s.card(processCard), "ja", s.now)
		expect.That(t, offers(m, "approve_process"), "%d steps with %d remarks can't be approved", n, most)
		expect.NoError(t, cardtest.Check(withPath(m)))
		s.do(decide.Reject(strings.Repeat("&", aggregate.MaxReason))(s, s.Process().ID, approver, policy, s.now))
		expect.NoError(t, cardtest.Check(withPath(render(s.Aggregate, s.card(processCard), "ja", s.now))))
	}
}
