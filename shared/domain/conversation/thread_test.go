package conversation

import (
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
