package conversation

import (
	"ringi/functions/serve-console/route"
	"ringi/shared/domain/conversation"
)

// along returns where an action stands along its route, nil for one without a rule.
func (t *loaded) along(x *conversation.Action, locale string) *route.Route {
	by := route.Reader{Locale: locale, Person: t.person, Channel: t.surface.Marks.Channel(t.is.Conversation.Channel)}
	return by.Route(&x.Gate, x.Status.Over())
}

// onRoute reports whether the action that waits is under a rule.
func (t *loaded) onRoute() bool {
	x := t.is.Current()
	return x != nil && x.Status == conversation.ActionPending && x.Gate.Ruled()
}
