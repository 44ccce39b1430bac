package conversation

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// writes counts the actions of a Change's transaction, including the head. DynamoDB allows 100.
func writes(c aggregate.Change) int {
	return 1 + len(c.Rows) + len(c.Drop) + len(c.Rely) + len(c.Owned) + len(c.Audit) + len(c.Beside) + len(c.Counts)
}

// crowded returns a conversation with as many rows as possible: many people write, and many cards are posted.
func crowded(t *testing.T) *Aggregate {
	tb, _ := pending(t, ShellCommand)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Reject(a.Current().ActionID, "no", person(suzuki), policy, tb.now)
	})
	tb.must(func(a *Aggregate) (aggregate.Change, error) { return a.StartRun(tb.now) })
	a := tb.load()
	a.Inbox = nil
	for n := range 2 * mostTogether {
		at := tb.now.Add(time.Duration(n) * time.Second)
		a.Inbox = append(a.Inbox, &Inbox{Message: MessageKey(at, fmt.Sprint("m", n)), User: fmt.Sprint("U", n), TS: fmt.Sprintf("%d.000100", at.Unix()), CreatedAt: at})
	}
	for n := range mostCards + mostParts {
		subject := MessageSubject(MessageKey(tb.now, fmt.Sprint("shown", n)), 0)
		a.Cards = append(a.Cards, &aggregate.Card{CardType: CardMessage, Subject: subject, State: aggregate.CardPosted, Hash: "h", CreatedAt: tb.now})
	}
	return a
}

// A message whose update is under way keeps its row, so that it is drawn again if the update fails.
func TestACardThatIsBeingUpdatedStays(t *testing.T) {
	a := crowded(t)
	posted := a.Cards[len(a.Cards)-mostCards-mostParts:]
	oldest, next := posted[0], posted[1]
	oldest.Hash, oldest.ClaimedBy = "", "01DRAWING"
	c := expect.Value(a.Answered(a.Head.Run, a.Waiting(), Answer{Text: "ok"}, a.Head.ChangedAt.Add(time.Minute)))(t)
	for _, r := range c.Drop {
		expect.That(t, r.Key() != oldest.Key(), "the card is removed")
	}
	expect.That(t, slices.ContainsFunc(c.Drop, func(r aggregate.Row) bool { return r.Key() == next.Key() }), "no card is removed")
}

// Even the largest combination of messages, answers and rows fits into one transaction.
func TestWhateverComesTogetherIsOneTransaction(t *testing.T) {
	a := crowded(t)
	now := a.Head.ChangedAt.Add(time.Minute)
	var folded []string
	for _, i := range a.Waiting() {
		folded = append(folded, i.Message)
	}
	long := Answer{
		Text: strings.Repeat("a", (mostParts+1)*partSize), Usage: aggregate.Usage{ID: "u", Cost: 5}, Proposal: proposal(ShellCommand, now, ""),
		HandOver: "do it", Summary: "so far", Through: MessageKey(now, "x"), Folded: folded, Read: []Attachment{{FileID: "F1"}},
	}
	closed := *a
	over := *a.Conversation
	over.Status, closed.Conversation = Closed, &over
	for n := range 120 {
		closed.Cards = append(closed.Cards, &aggregate.Card{CardType: CardSession, Subject: fmt.Sprint(SessionSubject, "#", n), State: aggregate.CardPosted})
	}
	for name, decide := range map[string]Decision{
		"after its end": func(*Aggregate) (aggregate.Change, error) { return closed.TurnAway(now) },
		"an answer":     func(a *Aggregate) (aggregate.Change, error) { return a.Answered(a.Head.Run, a.Waiting(), long, now) },
		"a sentence":    func(a *Aggregate) (aggregate.Change, error) { return a.GiveUp(a.Head.Run, ReasonRunFailed, now) },
		"a failed try":  func(a *Aggregate) (aggregate.Change, error) { return a.Tried(a.Head.Run, "x", long, now) },
		"the end of it": func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, now) },
	} {
		c, err := decide(a)
		// answer-message additionally counts the messages of each author.
		n := writes(c) + mostTogether
		expect.That(t, err == nil && n <= 100, "%s: %d writes, %v", name, n, err)
	}
}
