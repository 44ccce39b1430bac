package conversation

import (
	"fmt"
	"net/http"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
	"ringi/shared/slack/card"
)

// since says what became of the action that the page shows, and which action waits now.
func (p *conversationPage) since(
	r *http.Request, words web.Texts, t loaded, turn *subject.Turn, locale string,
) subject.Since {
	s := subject.SinceThen(p.Path, p.StatusText, locale)
	x := t.is.Current()
	waits := x != nil && x.Status == conversation.ActionPending
	if waits { // for people, or for whom to ask
		s.Now = fmt.Sprintf("%s: %s #%d", statusOfAction(words, x), card.ActionCalled(x, locale), x.Number)
		s.Now += turn.Since()
	}
	if err := subject.Became(r, t.is.Undecided); err != nil {
		s.Decided = t.refused(err, locale)
	}
	if !waits && t.is.Conversation.Status == conversation.Open && (s.Decided != "" || p.Problem != "") {
		s.Now = "" // that the conversation is open says nothing of what was decided
	}
	s.Shown = subject.Instead(r, p.Problem != "", subject.Still(t.is.Offers(), p.tried), waits && turn.Asks())
	return s
}
