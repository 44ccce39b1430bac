package conversation

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// relay does what the relay does after each change: it commits the decision that the rows ask for, if there is one.
func (tb *table) relay() (began bool) {
	tb.t.Helper()
	begin := tb.load().Effects(tb.now).Begin
	if begin == nil {
		return false
	}
	err := tb.do(func(a *Aggregate) (aggregate.Change, error) { return begin(a) })
	expect.Must(tb.t, err == nil || errors.Is(err, aggregate.ErrNotDue), "the relay: %v", err)
	return err == nil
}

// notices returns how many messages and how many cards say that messages are answered after a command.
func (tb *table) notices() (messages, cards int) {
	for _, r := range tb.lists {
		if m, is := r.(*Message); is && m.Reason == ReasonAfterAction {
			messages++
			for _, c := range tb.load().Cards {
				if c.Subject == MessageSubject(m.Key(), 0) {
					cards++
				}
			}
		}
	}
	return messages, cards
}

func TestAMessageDuringACommandIsToldThatItIsAnsweredAfterIt(t *testing.T) {
	tb, x := executing(t, ShellCommand)
	expect.That(t, !tb.relay(), "something is said although nobody wrote")
	stale := tb.load()
	for i := range 3 {
		tb.tell("are you there?")
		due := tb.load().DueAt(tb.now)
		expect.That(t, due != nil && (i > 0 || !due.After(tb.now.Add(5*time.Minute))), "the sweeper looks at %v", due)
		for range 3 { // the relay, its repetition and the sweeper
			tb.relay()
		}
		messages, cards := tb.notices()
		expect.That(t, messages == 1 && cards == 1, "message %d: told %d times on %d cards", i, messages, cards)
	}
	expect.Fails(t, tb.do(func(*Aggregate) (aggregate.Change, error) {
		stale.Add(&Inbox{Message: "2026-04-01T09:00:00.000Z#x", User: sato})
		return stale.SayLater(tb.now)
	}), aggregate.ErrConflict, "told again by somebody who read the rows before")
	is := tb.load()
	expect.That(t, len(is.Inbox) == 3 && is.Conversation.Status == Executing && is.Head.Acting == x.ActionID,
		"%d wait, %+v", len(is.Inbox), is.Conversation)
	tb.must(func(a *Aggregate) (aggregate.Change, error) {
		return a.Finish(x.ActionID, "i1", Result{Status: ActionSucceeded}, tb.now)
	})
	expect.That(t, len(tb.load().Inbox) == 4 && !tb.relay(), "what was written during the command is not answered after it")
	expect.NoError(t, tb.answer(nil))
	expect.That(t, len(tb.load().Inbox) == 0, "%d still wait", len(tb.load().Inbox))

	expect.NoError(t, tb.tellAndAnswer(proposal(TestRun, tb.now, "")))
	x = tb.load().Current()
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i1")))
	tb.tell("and now?")
	expect.That(t, tb.relay(), "nothing is said about the second command")
	messages, _ := tb.notices()
	expect.Is(t, messages, 2, "notices of two commands")
}

// tellAndAnswer delivers a message and lets the agent answer with a proposal.
func (tb *table) tellAndAnswer(p *Proposal) error {
	tb.tell("go on")
	tb.relay()
	return tb.answer(p)
}

func TestNothingIsSaidAboutMessagesThatAreAnsweredAtOnce(t *testing.T) {
	for name, of := range map[string]func() *table{
		"files are written":   func() *table { tb, _ := executing(t, CodeGenerate); return tb },
		"a proposal waits":    func() *table { tb, _ := pending(t, ShellCommand); return tb },
		"nothing is going on": func() *table { tb := opened(t); expect.NoError(t, tb.answer(nil)); return tb },
	} {
		tb := of()
		tb.tell("hello?")
		tb.relay()
		messages, _ := tb.notices()
		expect.Is(t, messages, 0, name)
		expect.Fails(t, tb.do(func(a *Aggregate) (aggregate.Change, error) { return a.SayLater(tb.now) }),
			aggregate.ErrNotDue, name)
	}
}

func TestWhatIsSaidDuringACommandIsInTheConversationsLanguage(t *testing.T) {
	for locale, want := range map[string]string{"en": "after it’s done", "ja": "完了後に"} {
		tb, x := executing(t, ShellCommand)
		a := tb.load()
		a.Conversation.Locale = locale
		a.Add(&Inbox{Message: "2026-04-01T09:00:00.000Z#x", User: sato})
		c := expect.Value(a.SayLater(tb.now))(t)
		m := c.Beside[0].Row.(*Message)
		expect.That(t, strings.Contains(m.Content, want) && strings.Contains(m.Content, "#1") && x.Number == 1, "%s: %q",
			locale, m.Content)
	}
}
