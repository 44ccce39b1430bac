package conversation

import (
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
)

// mostRouteAskers is how many people count as askers along a route: those whose words the agent was shown last.
const mostRouteAskers = 20

// RouteAsker is somebody whose words the agent was shown. Along a route they count as an asker of what is proposed or
// handed over from then on; without a rule Conversation.Askers count.
type RouteAsker struct {
	User  string `json:"user"`
	After int    `json:"after,omitempty"` // number of the last action that was proposed before these words were shown
}

// hears notes whose words the agent is shown, oldest first.
func (c *change) hears(users ...string) {
	s := &c.Conversation
	for _, user := range task.Others("", users...) {
		others := slices.DeleteFunc(slices.Clone(s.RouteAskers), func(r RouteAsker) bool { return r.User == user })
		s.RouteAskers = slices.Insert(others, 0, RouteAsker{user, s.Actions})
	}
	s.RouteAskers = s.RouteAskers[:min(len(s.RouteAskers), mostRouteAskers)]
}

// forgetAskers drops whose words were shown before the newest action was proposed, if people approved it and it is over.
// It is for an answer that makes nothing more of these words. After an action that was rejected, withdrawn or approved by
// a rule of the settings the agent may propose the same again, so nobody is dropped.
func (c *change) forgetAskers() {
	x := aggregate.Find(c.of.Actions, ActionKey(c.of.Conversation.Actions))
	if x == nil || !x.Status.Over() || x.ApprovedBy != ApprovedByUser {
		return
	}
	c.Conversation.RouteAskers = slices.DeleteFunc(slices.Clone(c.Conversation.RouteAskers),
		func(r RouteAsker) bool { return r.After < x.Number })
}

// routeAskers returns who counts as an asker along a route, the latest first, where these people count without a rule.
func (c *change) routeAskers(askers []string) (users []string) {
	for _, r := range c.Conversation.RouteAskers {
		users = append(users, r.User)
	}
	users = task.Others("", append(users, askers...)...)
	return users[:min(len(users), mostRouteAskers)]
}

// proposedBy returns who count as askers of an action: without a rule, and along a route. by is who proposes it by
// themselves, or empty.
func (c *change) proposedBy(by string) (askers, route []string) {
	askers = c.Conversation.Askers
	if by != "" {
		askers = []string{by}
		c.hears(by)
	}
	if route = c.routeAskers(askers); slices.Equal(route, askers) {
		route = nil
	}
	return askers, route
}

// RouteAskersOf returns who counts as an asker of the action along a route, the latest first: who proposed it, and
// whoever's words the agent had been shown.
func (a *Aggregate) RouteAskersOf(x *Action) []string {
	if len(x.RouteAskers) == 0 {
		return a.AskersOf(x)
	}
	return x.RouteAskers
}

// RouteAskersAfter returns RouteAskersOf the action that the agent would propose in answer to seen or, unless by is
// empty, that this person would propose.
func (a *Aggregate) RouteAskersAfter(seen []*Inbox, by string) []string {
	c := &change{of: a, Conversation: *a.Conversation}
	c.asks(seen)
	x := &Action{}
	x.Askers, x.RouteAskers = c.proposedBy(by)
	return a.RouteAskersOf(x)
}
