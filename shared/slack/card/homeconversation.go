package card

import (
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// Conversation is one that the person began, and that is open.
type Conversation struct {
	Session conversation.Session
	Link    string
}

// talkOnHome is what an agent wants to do as blocks of the Home tab: its card, or where that does not show all of it, what it
// is in short, with the button that does.
func talkOnHome(x Waits, of *conversation.Aggregate, s tenancy.Settings, now time.Time) []slack.Block {
	in := *of.Session
	in.Locale = s.Locale // a tab is in its reader's language
	a := *of
	a.Session = &in
	w := askWordsOf(s.Locale)
	blocks := []slack.Block{divider(), contextLine(talkFrom(&a, w) + opens(x.Link, w))}
	waits := a.Action(x.Question.ID)
	if waits == nil {
		return blocks
	}
	d := talkDrawing{drawing: drawing{a: &task.Aggregate{}, settings: s, w: wordsOf(s.Locale), now: now}, t: Talk{Aggregate: &a}, talk: talkWordsOf(s.Locale)}
	if d.body(waits, maxPages).bounded().cut {
		return append(blocks, d.inShort(waits).blocks...)
	}
	return append(blocks, d.asks(waits).blocks...)
}

// inShort is an action that waits, without what it does: no button to approve what isn't shown.
func (d talkDrawing) inShort(x *conversation.Action) face {
	review := button(d.w.Review, ReviewTalk, x.ActionID, slack.StylePrimary)
	reject := button(d.w.Reject, RejectAction, x.ActionID+"/"+x.Payload.Hash(), slack.StyleDanger)
	return face{}.with(section("*"+fill(d.talk.Asks, "n", x.Number)+"*\n"+d.about(x)), d.actions(review, reject, button(d.talk.Cancel, CancelAction, x.ActionID, "")))
}

// talksOf are a person's open conversations; nothing where there are none.
func (w *askWords) talksOf(talks []Conversation) []slack.Block {
	if len(talks) == 0 {
		return nil
	}
	return append([]slack.Block{divider(), header(w.HomeTalks)}, rows(w.talkLines(talks))...)
}

func (w *askWords) talkLines(talks []Conversation) []string {
	lines := make([]string, len(talks))
	for i, x := range talks {
		lines[i] = "• " + fill(w.TalkLine, "title", talkTitle(&x.Session, w), "agent", inline(x.Session.AgentID, maxTool), "state", w.talkState(&x.Session)) + opens(x.Link, w)
	}
	return lines
}

// talkState is where a conversation stands, in a few words.
func (w *askWords) talkState(s *conversation.Session) string {
	switch {
	case s.PendingActionID != "":
		return w.StateWaits
	case s.Status == conversation.Executing:
		return w.StateRunning
	case s.Status == conversation.Failing:
		return w.StateBroken
	}
	return w.StateOpen
}
