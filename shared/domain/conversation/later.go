package conversation

import (
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
)

// ReasonAfterAction says that messages are answered after the action that is being executed.
const ReasonAfterAction aggregate.Reason = "after_action"

// keepsWaiting returns the command that executes while people's messages wait for it, if nobody has told them yet.
// Files are written within seconds, so nobody is told about those.
func (a *Aggregate) keepsWaiting() *Action {
	x := a.Current()
	if a.Conversation == nil || x == nil || x.Status != ActionExecuting || x.ActionType == CodeGenerate ||
		a.Conversation.SaidLater >= x.Number {
		return nil
	}
	if !slices.ContainsFunc(a.Inbox, func(i *Inbox) bool { return i.User != "" && i.Changes == "" }) {
		return nil
	}
	return x
}

// SayLater tells the people whose messages wait for a command that they are answered after it, once for each command.
// The messages stay in the inbox. It returns ErrNotDue if nobody waits or everybody knows.
func (a *Aggregate) SayLater(now time.Time) (aggregate.Change, error) {
	x := a.keepsWaiting()
	if x == nil {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.Conversation.SaidLater = x.Number
	m := c.say(Message{Sender: FromSystem, Reason: ReasonAfterAction,
		Content: fmt.Sprintf(said.In(c.Conversation.Locale).later, x.Number)})
	c.card(CardMessage, MessageSubject(m.Key(), 0))
	return c.done()
}
