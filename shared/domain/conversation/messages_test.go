package conversation

import (
	"errors"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// inThread returns a conversation that somebody began within a thread.
func inThread(t *testing.T) *table {
	t.Helper()
	in := inbound("claude: look", "1775034005.000100")
	c, err := Begin(in, Opening{AgentID: "claude", IdleDays: 7, Locale: "en"}, start)
	expect.NoError(t, err)
	tb := &table{t: t, rows: map[string]aggregate.Row{}, lists: map[string]aggregate.Row{}, now: start}
	tb.head = *c.Head.(*Head)
	tb.apply(c, Head{})
	return tb
}

func TestWhatWasSaidInAThreadIsGivenOnce(t *testing.T) {
	before := []Earlier{{User: suzuki, At: start.Add(-time.Hour), Text: "the build is <red>"}}
	for name, tt := range map[string]struct {
		said []Earlier
		of   aggregate.Thread
		says string
	}{
		"something": {before, aggregate.Thread{Read: 1}, "shown earlier messages from this thread (1)"}, "nothing": {
			nil, aggregate.Thread{}, ""},
		"a part": {before, aggregate.Thread{Read: 1, Cut: 1, Earlier: true},
			"page. Long ones whose end was not read: 1. There are earlier messages, which were not read."},
		"unread": {nil, aggregate.Thread{Failed: true}, "couldn’t be read"},
	} {
		tb := inThread(t)
		expect.Is(t, tb.load().Conversation.ThreadBefore, "1775034005.000100")
		had := len(tb.lists)
		give := func(a *Aggregate) (aggregate.Change, error) {
			return a.GiveThread(a.Head.Run, tt.said, tt.of, tb.now)
		}
		tb.must(give)
		expect.Fails(t, tb.do(give), aggregate.ErrNotDue, name)
		a := tb.load()
		expect.That(t, a.Conversation.ThreadBefore == "" && len(a.Inbox) == 1, "%s: %+v", name, a.Conversation)
		if tt.says == "" {
			expect.That(t, len(tb.lists) == had && len(a.Cards) == 0, "%s: %+v", name, a.Cards)
			continue
		}
		var m *Message
		for _, l := range tb.lists {
			if said, is := l.(*Message); is && said.Sender == FromSystem {
				m = said
			}
		}
		expect.Must(t, m != nil && len(m.Thread) == len(tt.said) && *m.OfThread == tt.of && len(a.Cards) == 1 &&
			m.DeleteAfter > 0,
			"%s: %+v", name, m)
		expect.Has(t, m.Content, tt.says)
	}
	expect.Is(t, opened(t).load().Conversation.ThreadBefore, "", "a message that begins its thread")
}

// A conversation that begins without a word is called by what its message has.
func TestAConversationWithoutWordsIsCalledByWhatItHas(t *testing.T) {
	in := inbound(" ", "1775034005.000100")
	in.Forwarded = []aggregate.Quoted{{Name: "Hanako"}}
	in.Attachments = []Attachment{{Name: "a.csv"}, {Name: "b.csv"}, {Name: "c.csv"}, {Name: "d.csv"}}
	c, err := Begin(in, Opening{AgentID: "claude", IdleDays: 7, Locale: "en"}, start)
	expect.NoError(t, err)
	expect.Is(t, c.Written((&Conversation{}).Key()).(*Conversation).Title,
		"Forwarded message of Hanako, 📎 a.csv, 📎 b.csv, 📎 c.csv, …")
}

// The order in which an agent was shown messages stays, whatever came while it answered or was brought late.
func TestTheOrderOfAnAnsweredTurnStays(t *testing.T) {
	at := func(second int, from Sender, name string) Message {
		return Message{MessageID: name, Sender: from, Content: name,
			CreatedAt: start.Add(time.Duration(second) * time.Second)}
	}
	user := func(second int, name string) Message { return at(second, FromUser, name) }
	system := func(second int, name string) Message { return at(second, FromSystem, name) }
	answer := func(second int, name string, shown Message, of ...Message) Message {
		m := at(second, FromAgent, name)
		m.Shown = shown.Key()
		for _, x := range of {
			m.Answers = append(m.Answers, x.Key())
		}
		return m
	}
	names := func(now []Message, before ...Message) string {
		var out []string
		for _, m := range InOrder(before, now) {
			out = append(out, m.Content)
		}
		return strings.Join(out, " ")
	}
	type these = []Message
	m1, source, files := user(1, "m1"), system(2, "source"), system(3, "files")
	expect.Is(t, names(these{m1}, source, files), "source files m1", "the first turn")
	m2, output := user(4, "m2"), system(5, "output") // both came while the first answer was made
	a1 := answer(6, "a1", files, m1)
	m0 := user(0, "m0") // Slack brought it late
	expect.Is(t, names(these{m0, m2}, output, m1, source, files, a1), "source files m1 a1 output m0 m2", "the second turn")
	a2 := answer(7, "a2", output, m0, m2)
	refusal := system(9, "refusal")
	m3 := user(8, "m3")
	refusal.Answers = []string{m3.Key()}
	m4 := user(10, "m4")
	expect.Is(t, names(these{m4}, a2, refusal, m3, m0, m2, output, m1, source, files, a1),
		"source files m1 a1 output m0 m2 a2 m3 refusal m4", "the fourth turn")

	far := user(60, "far") // Slack's clock is ahead of ours
	a3, a4 := answer(11, "a3", far, m4, far), answer(12, "a4", far, user(61, "farther"))
	expect.Is(t, names(these{user(13, "m5")}, user(61, "farther"), a4, far, m4, a3), "m4 far a3 farther a4 m5",
		"after a skewed clock")

	expect.Is(t, names(nil), "", "of nothing")
}

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
	expect.That(t, len(tb.load().Inbox) == 4 && !tb.relay(),
		"what was written during the command is not answered after it")
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
