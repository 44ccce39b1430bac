package conversation

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

// The order in which an agent was shown messages stays, whatever came while it answered or was brought late.
func TestTheOrderOfAnAnsweredTurnStays(t *testing.T) {
	at := func(second int, from Sender, name string) Message {
		return Message{MessageID: name, Sender: from, Content: name, CreatedAt: start.Add(time.Duration(second) * time.Second)}
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
	expect.Is(t, names(these{user(13, "m5")}, user(61, "farther"), a4, far, m4, a3), "m4 far a3 farther a4 m5", "after a skewed clock")

	expect.Is(t, names(nil), "", "of nothing")
}
