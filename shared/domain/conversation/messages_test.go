package conversation

import (
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
	c, err := Begin(in, Opening{AgentID: "claude", Locale: "en"}, start)
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
		give := func(a *Aggregate) (aggregate.Change, error) { return a.GiveThread(a.Head.Run, tt.said, tt.of, tb.now) }
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
		expect.Must(t, m != nil && len(m.Thread) == len(tt.said) && len(a.Cards) == 1 && m.DeleteAfter > 0,
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
	c, err := Begin(in, Opening{AgentID: "claude", Locale: "en"}, start)
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
