package conversation

import (
	"cmp"
	"fmt"
	"net/http"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
)

// since says what became of the action that the page shows, and which action waits now.
func (p *conversationPage) since(r *http.Request, words web.Texts, t loaded, turn *subject.Turn,
	locale string) subject.Since {
	s := subject.SinceThen(p.Path, p.StatusText, locale)
	x := t.is.Current()
	waits := x != nil && x.Status == conversation.ActionPending
	if waits {
		s.Now = fmt.Sprintf("%s: %s #%d", words.In("action_status", x.Status), card.ActionCalled(x, locale), x.Number)
		s.Now += turn.Since()
	}
	if err := subject.Became(r, t.is.Undecided); err != nil {
		s.Decided = t.refused(err, locale)
	}
	if !waits && t.is.Conversation.Status == conversation.Open && (s.Decided != "" || p.Problem != "") {
		s.Now = "" // that the conversation is open says nothing of what was decided
	}
	s.Shown = subject.Instead(r, p.Problem != "", subject.Still(t.is.Offers(), p.tried.Offer), waits && turn.Asks())
	return s
}

// decidedBefore says who decided first.
func decidedBefore(t web.Texts, e aggregate.ErrDecided, who, when string) string {
	status := t.In("action_status", e.Status)
	switch {
	case e.Status == string(aggregate.Rejected) || e.Reason == conversation.ReasonRejected:
		status = t.Say("rejected")
	case e.Reason == conversation.ReasonExpired || e.Reason == task.ReasonExpired:
		status = t.In("why", conversation.ReasonExpired)
	case e.Status == string(conversation.Closed):
		status = t.Say("ended")
	}
	return t.Say("decided_before", "status", cmp.Or(status, e.Status), "who", who, "when", when)
}
