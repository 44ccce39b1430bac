package card

import (
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
)

// OpenConversation is an open conversation that the person began.
type OpenConversation struct {
	Conversation conversation.Conversation
	Link         string
}

// conversationOnHome draws an agent's waiting action as blocks of the Home tab. If its card can't show all of it, a
// short form has a button that opens the rest.
func conversationOnHome(x Waits, of *conversation.Aggregate, s tenancy.Settings, now time.Time) []slack.Block {
	in := *of.Conversation
	in.Locale = s.Locale // the tab is in its reader's language
	a := *of
	a.Conversation = &in
	w := askWordsOf.In(s.Locale)
	blocks := []slack.Block{divider(), contextLine(conversationFrom(&a, w) + x.as(w) + opens(x.Link, w))}
	waits := a.Action(x.Question.ID)
	if waits == nil {
		return blocks
	}
	d := drawingOf(Conversation{Aggregate: &a}, s, s.Locale, now)
	switch r := d.routeOf(waits); {
	case r.st.Refused != nil:
		return append(blocks, contextLine(r.waiting()...))
	case d.body(waits, maxPages).bounded().cut:
		return append(blocks, d.inShort(waits, r).blocks...)
	default:
		return append(blocks, d.pendingAction(waits, r).blocks...)
	}
}

// inShort shows a waiting action without its payload, and so without a button to approve it.
func (d conversationDrawing) inShort(x *conversation.Action, r routed) face {
	review := button(d.w.Review, OpenActionReview, x.ActionID, slack.StylePrimary)
	reject := button(d.w.Reject, RejectAction, x.ActionID+"/"+d.t.AskedHash(x.ActionID), slack.StyleDanger)
	return face{}.with(section("*"+fill(d.texts.Asks, "n", x.Number)+"*\n"+d.about(x)),
		slack.NewActionBlock(blockID(d.t.Head.SessionID, r.st.Present), review, reject,
			button(d.texts.Cancel, CancelAction, x.ActionID, "")))
}

// conversationsOf lists a person's open conversations.
func (w *askWords) conversationsOf(conversations []OpenConversation) []slack.Block {
	if len(conversations) == 0 {
		return nil
	}
	return append([]slack.Block{divider(), header(w.HomeConversations)}, rows(w.conversationLines(conversations))...)
}

func (w *askWords) conversationLines(conversations []OpenConversation) []string {
	lines := make([]string, len(conversations))
	for i, x := range conversations {
		lines[i] = "• " + fill(w.ConversationLine, "title", conversationTitle(&x.Conversation, w),
			"agent", inline(x.Conversation.AgentID, maxTool), "state", w.conversationState(&x.Conversation)) + opens(x.Link, w)
	}
	return lines
}

func (w *askWords) conversationState(s *conversation.Conversation) string {
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
