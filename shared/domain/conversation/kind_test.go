package conversation

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// The test repeats every allowed move, so that a change of the table requires a change here. Those of actions are the
// specification's.
func TestStatusesMoveAsTheyMay(t *testing.T) {
	sessions := map[[2]Status]bool{
		{Open, Executing}: true, {Open, Closed}: true, {Open, Failing}: true, {Executing, Open}: true,
		{Closed, Open}: true, {Failing, Open}: true, {Failing, Executing}: true, {Failing, Closed}: true,
	}
	all := []Status{Open, Executing, Closed, Failing}
	for _, from := range all {
		for _, to := range all {
			expect.Is(t, Moves.Allows(from, to), sessions[[2]Status{from, to}], "session %s → %s", from, to)
		}
	}
	every := []ActionStatus{ActionPending, ActionApproved, ActionExecuting, ActionSucceeded, ActionFailed, ActionCancelled}
	for _, from := range every {
		expect.Is(t, slices.Contains(every[3:], from), from.Over(), "%s is over: %v", from, from.Over())
	}
}

func TestAThreadHasOneConversation(t *testing.T) {
	id := ID("T1", "C1", "1713450000.000100")
	expect.That(t, ValidID(id) && !ValidID("x") && !ValidID(id+"0"), "%s has not the form of an id, or others have", id)
	expect.Is(t, ID("T1", "C1", "1713450000.000100"), id, "made again")
	for _, other := range []string{ID("T2", "C1", "1713450000.000100"), ID("T1", "C11", "713450000.000100"),
		MessageID("T1", "C1", "1713450000.000100")} {
		expect.That(t, other != id, "%s twice", id)
	}
}

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
		a.Inbox = append(a.Inbox, &Inbox{Message: MessageKey(at, fmt.Sprint("m", n)), User: fmt.Sprint("U", n),
			TS: fmt.Sprintf("%d.000100", at.Unix()), CreatedAt: at})
	}
	for n := range mostCards + mostParts {
		subject := MessageSubject(MessageKey(tb.now, fmt.Sprint("shown", n)), 0)
		a.Cards = append(a.Cards, &aggregate.Card{CardType: CardMessage, Subject: subject, State: aggregate.CardPosted,
			Hash: "h", CreatedAt: tb.now})
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
	expect.That(t, slices.ContainsFunc(c.Drop, func(r aggregate.Row) bool { return r.Key() == next.Key() }),
		"no card is removed")
}

// Even the largest combination of messages, answers and rows fits into one transaction.
func TestWhateverComesTogetherIsOneTransaction(t *testing.T) {
	a := crowded(t)
	now := a.Head.ChangedAt.Add(time.Minute)
	var folded []string
	for _, i := range a.Waiting() {
		folded = append(folded, i.Message)
	}
	long := Answer{Text: strings.Repeat("a", (mostParts+1)*partSize), Usage: aggregate.Usage{ID: "u", Cost: 5},
		Proposal: proposal(ShellCommand, now, ""), Request: "do it", Summary: "so far", Through: MessageKey(now, "x"),
		Folded: folded, Read: []Attachment{{FileID: "F1"}}}
	closed := *a
	over := *a.Conversation
	over.Status, closed.Conversation = Closed, &over
	for n := range 120 {
		closed.Cards = append(closed.Cards, &aggregate.Card{CardType: CardSession,
			Subject: fmt.Sprint(SessionSubject, "#", n), State: aggregate.CardPosted})
	}
	for name, decide := range map[string]Decision{
		"after its end": func(*Aggregate) (aggregate.Change, error) { return closed.TurnAway(now) },
		"an answer": func(a *Aggregate) (aggregate.Change, error) {
			return a.Answered(a.Head.Run, a.Waiting(), long, now)
		},
		"a sentence":    func(a *Aggregate) (aggregate.Change, error) { return a.GiveUp(a.Head.Run, now) },
		"a failed try":  func(a *Aggregate) (aggregate.Change, error) { return a.Tried(a.Head.Run, "x", long, now) },
		"the end of it": func(a *Aggregate) (aggregate.Change, error) { return a.End(person(sato), policy, now) },
	} {
		c, err := decide(a)
		// answer-message additionally counts the messages of each author.
		n := writes(c) + mostTogether
		expect.That(t, err == nil && n <= 100, "%s: %d writes, %v", name, n, err)
	}
}

// Each line of a conversation has the four fields, and an error's a code and a text.
func TestEachLineOfTheLogHasItsFields(t *testing.T) {
	var b bytes.Buffer
	was := slog.Default()
	defer slog.SetDefault(was)
	slog.SetDefault(slog.New(slog.NewJSONHandler(&b, nil)))
	for _, event := range Events {
		for _, failed := range []bool{false, true} {
			b.Reset()
			if failed {
				LogError(t.Context(), event, "s", "a", "x", CodeValidation, "why")
			} else {
				Log(t.Context(), event, "s", "a", "")
			}
			var line map[string]any
			expect.NoError(t, json.Unmarshal(b.Bytes(), &line))
			action, known := line["actionId"]
			expect.That(t, known && (action == "x") == failed, "%v", line)
			expect.That(t, line["sessionId"] == "s" && line["agentId"] == "a" && line["event"] == string(event), "%v", line)
			expect.That(t, !failed || line["errorCode"] == string(CodeValidation) && line["errorMessage"] == "why", "%v", line)
		}
	}
}
