package conversation

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/slack/card"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

// along returns where an action stands along its route, nil for one without a rule.
func (t *loaded) along(x *conversation.Action, locale string) *subject.Route {
	by := subject.Reader{Locale: locale, Person: t.person,
		Channel: t.surface.Marks.Channel(t.is.Conversation.Channel),
		Unit:    t.named}
	return by.Route(&x.Gate, x.Status.Over())
}

// until returns until when an action waits; along a route, its stage.
func (t *loaded) until(x *conversation.Action, locale string) (at time.Time) {
	if x.Status != conversation.ActionPending {
		return at
	}
	if along := t.along(x, locale); along != nil && along.Now != nil {
		return along.Now.DecideBy
	}
	return web.TimeOf(x.Gate.Terms.DecideBy)
}

// withOwed adds conversations that the viewer doesn't see by their place, but whose action waits for them along a
// route. It looks at the hundred gates that have waited for them the longest.
func (c *Pages) withOwed(r *http.Request, v *web.Viewer, of store.ConversationFilter, reach people.Reach,
	page store.Page[conversation.Conversation]) (store.Page[conversation.Conversation], error) {
	owed, err := c.Store.Owed(r.Context(), v.Tenant, v.User, "", store.MaxPage)
	if err != nil {
		return page, err
	}
	var ids []string
	for _, x := range owed.Items {
		if x.Kind == conversation.CardAction {
			ids = append(ids, x.Ref.ID)
		}
	}
	if len(ids) == 0 {
		return page, nil
	}
	found, err := c.Conversations.Titled(r.Context(), v.Tenant, ids...)
	for _, x := range found {
		if !reach.Sees(x.Origin()) && (of.Status == "" || of.Status == x.Status) &&
			(of.Opener == "" || of.Opener == x.Opener) {
			page.Items = append(page.Items, x)
		}
	}
	slices.SortStableFunc(page.Items, func(a, b conversation.Conversation) int { return b.CreatedAt.Compare(a.CreatedAt) })
	return page, err
}

// since says what became of the action that the page shows, and which action waits now.
func (p *conversationPage) since(r *http.Request, words web.Texts, t loaded, turn *subject.Turn,
	locale string) subject.Since {
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
	s.Shown = subject.Instead(r, p.Problem != "", subject.Still(t.is.Offers(), p.tried.Offer), waits && turn.Asks())
	return s
}

// statusOfAction says how an action stands.
func statusOfAction(t web.Texts, x *conversation.Action) string {
	if x.Status == conversation.ActionPending && x.Gate.Status == aggregate.Generating {
		return t.In("action_status", "looking_up")
	}
	return t.In("action_status", x.Status)
}

// decidedBefore says who decided first.
func decidedBefore(t web.Texts, e aggregate.ErrDecided, who, when string) string {
	status := t.In("action_status", e.Status)
	switch {
	case e.Status == string(aggregate.Rejected) || e.Reason == conversation.ReasonRejected:
		status = t.Say("rejected")
	case e.Reason == conversation.ReasonDenied:
		status = t.Say("denied")
	case e.Reason == conversation.ReasonExpired || e.Reason == task.ReasonExpired:
		status = t.In("why", conversation.ReasonExpired)
	case e.Status == string(conversation.Closed):
		status = t.Say("ended")
	}
	return t.Say("decided_before", "status", cmp.Or(status, e.Status), "who", who, "when", when)
}
