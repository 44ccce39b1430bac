package conversation

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Earlier is what somebody said in the thread before the conversation.
type Earlier struct {
	User string    `json:"user"` // Slack user id, or an app's
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	// Quoted are the Slack user ids of whose messages it forwards.
	Quoted []string `json:"quoted,omitempty"`
}

// GiveThread gives the agent what was said in the thread before the conversation, and says so to people, once: what of
// the thread it is, or that it could not be read. It returns ErrNotDue if that was done.
func (a *Aggregate) GiveThread(run int, said []Earlier, of aggregate.Thread, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	if a.Conversation.ThreadBefore == "" {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.Conversation.ThreadBefore = ""
	w := saidOfThread.In(c.Conversation.Locale)
	m := Message{Sender: FromSystem, Thread: said, OfThread: &of}
	switch {
	case of.Failed:
		m.own(w.unread)
	case len(said) > 0:
		for _, e := range said {
			c.hears(append(slices.Clone(e.Quoted), e.User)...)
		}
		m.own(strings.TrimSpace(fmt.Sprintf(w.given, len(said)) + " " + of.LeftOut(c.Conversation.Locale, "")))
	default:
		return c.done()
	}
	c.card(CardMessage, MessageSubject(c.say(m).Key(), 0))
	return c.done()
}

type wordsOfThread struct{ given, unread string }

var saidOfThread = language.InEach(
	wordsOfThread{
		given:  "このスレッドのこれまでのメッセージ %d 件をエージェントに渡しました。内容は会話のページで確認できます。",
		unread: "このスレッドのこれまでのメッセージを読み取れなかったため、エージェントには渡していません。",
	},
	wordsOfThread{
		given:  "The agent was shown earlier messages from this thread (%d). They are on the conversation’s page.",
		unread: "The earlier messages in this thread couldn’t be read, so the agent hasn’t seen them.",
	},
)
