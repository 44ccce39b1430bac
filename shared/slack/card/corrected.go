package card

import (
	"github.com/slack-go/slack"

	"ringi/shared/domain/task"
)

// Redraft is the action_id of the button that drafts a corrected request anew. Its value is the task's id.
const Redraft = "redraft"

// Changed returns the sentence that the author changed the request's message after what the drafts were made from, and
// whether that counts, with the place {text} for the new text; "" if there is nothing to say.
func Changed(a *task.Aggregate, locale string) (sentence, text string) {
	c, w := a.Corrected(), wordsOf.In(locale)
	switch {
	case c == nil, c.Deleted && a.Head.Ended != nil && a.Head.Ended.Reason == task.ReasonDeleted: // its end says it
		return "", ""
	case c.Deleted:
		return w.DeletedLate, ""
	case c.Late:
		return w.ChangedLate, c.Text
	}
	return w.Changed, c.Text
}

// changed draws that sentence.
func (d drawing) changed() []slack.Block {
	said, text := Changed(d.a, d.w.Locale)
	if said == "" {
		return nil
	}
	return []slack.Block{contextLine(fill(said, "text", or(inline(text, maxReason), d.w.None)))}
}

// redrafts returns the button by which the author has the changed request drafted anew.
func (d drawing) redrafts() []slack.BlockElement {
	if !d.a.Redraftable() {
		return nil
	}
	return []slack.BlockElement{button(d.w.Redraft, Redraft, d.taskID(), "")}
}

// AskAgain is the action_id of the button by which the requester asks again without the words of others. Its value is
// the task's id.
const AskAgain = "ask_again"

// asksAgain returns that button. Copies for others have none.
func (d drawing) asksAgain() []slack.BlockElement {
	if !d.a.AsksAgain() || d.copy != nil && d.copy.User != d.a.Head.Requester {
		return nil
	}
	return []slack.BlockElement{button(d.w.AskAgain, AskAgain, d.taskID(), "")}
}

// redrafted draws a version that closed because its request is drafted anew.
func (d drawing) redrafted(v version) face {
	return d.titled(v, yellow, d.w.IsRedrafted).with(v.body.blocks...).with(divider(), contextLine(d.w.Redrafted))
}
