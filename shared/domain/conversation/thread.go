package conversation

import (
	"fmt"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Earlier is what somebody said in the thread before the conversation.
type Earlier struct {
	User string    `json:"user"` // Slack user id, or an app's
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// GiveThread gives the agent what was said in the thread before the conversation, and says so to people, once. said is
// empty if there was nothing or read is false: it could not be read. It returns ErrNotDue if that was done.
func (a *Aggregate) GiveThread(run int, said []Earlier, read bool, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	if a.Conversation.ThreadBefore == "" {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.Conversation.ThreadBefore = ""
	w := saidOfThread.In(c.Conversation.Locale)
	m := Message{Sender: FromSystem, Thread: said}
	switch {
	case !read:
		m.own(w.unread)
	case len(said) > 0:
		m.own(fmt.Sprintf(w.given, len(said)))
	default:
		return c.done()
	}
	c.card(CardMessage, MessageSubject(c.say(m).Key(), 0))
	return c.done()
}

type wordsOfThread struct{ given, unread string }

var saidOfThread = language.InEach(
	wordsOfThread{
		given:  "このスレッドのこれまでのメッセージ %d 件を、エージェントに見せました。内容は会話のページで確かめられます。",
		unread: "このスレッドのこれまでのメッセージを読めなかったため、エージェントには見せていません。",
	},
	wordsOfThread{
		given:  "The agent was shown %d earlier messages of this thread. The conversation’s page has them.",
		unread: "The earlier messages of this thread could not be read, so the agent was not shown them.",
	},
)
