package conversation

import (
	"net/http"
	"slices"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/conversation"
	"ringi/shared/slack/people"
	"ringi/shared/store"
)

// along returns where an action stands along its route, nil for one without a rule.
func (t *loaded) along(x *conversation.Action, locale string) *subject.Route {
	by := subject.RouteReader{Locale: locale, Person: t.person,
		Channel:   t.surface.Marks.Channel(t.is.Conversation.Channel),
		ChannelOf: t.surface.Marks.Channel, Named: t.named}
	if t.admin {
		by.Successor = subject.Successors("/console/sessions/"+x.SessionID, x.ActionID)
	}
	return by.Route(&x.Gate, x.Status.Over())
}

// withOwed adds conversations that the viewer doesn't see by their place, but whose action waits for them along a route.
// It looks at the hundred gates that have waited for them the longest.
func (c *Pages) withOwed(
	r *http.Request, v *web.Viewer, of store.ConversationFilter, reach people.Reach,
	page store.Page[conversation.Conversation],
) (store.Page[conversation.Conversation], error) {
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
