package conversation

import (
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
)

// hears notes whose words the agent is shown, oldest first. They stay as long as the conversation: what became of them, an
// answer or an action, is shown to it again. Where there are more than may ask along a route, nothing is asked along one.
func (c *change) hears(users ...string) {
	s := &c.Conversation
	for _, user := range s.people(users) {
		others := slices.DeleteFunc(slices.Clone(s.RouteAskers), func(u string) bool { return u == user })
		s.RouteAskers = slices.Insert(others, 0, user)
	}
	s.RouteAskers = s.RouteAskers[:min(len(s.RouteAskers), rules.MaxAskers+1)]
}

// uncut is people of a list that was kept. One of more than may ask along a route may have lost others than apps, so it
// stays as long: nothing is asked along one.
func (s *Conversation) uncut(users []string) []string {
	if len(users) > rules.MaxAskers {
		return task.Others("", users...)
	}
	return s.people(users)
}

// people returns those of whose words something has who ask: each once, and no apps.
func (s *Conversation) people(users []string) []string {
	return slices.DeleteFunc(task.Others("", users...), func(user string) bool { return slices.Contains(s.Apps, user) })
}

// LeaveOut notes that these are apps, whose words ask for nothing: Slack's bots have ids like people's.
func (a *Aggregate) LeaveOut(run int, apps []string, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	c := a.begin(now)
	s := &c.Conversation
	s.Apps = task.Others("", append(slices.Clone(s.Apps), apps...)...)
	s.RouteAskers = s.uncut(s.RouteAskers)
	return c.done()
}

// routeAskers returns who counts as an asker along a route, the latest first.
func (c *change) routeAskers() (users []string) {
	return c.Conversation.uncut(c.Conversation.RouteAskers)
}

// proposedBy returns who count as askers of an action: without a rule, and along a route. by is who proposes it by
// themselves, or empty; authors are whose words they propose.
func (c *change) proposedBy(by string, authors []string) (askers, route []string) {
	askers = c.Conversation.Askers
	if by != "" {
		askers = []string{by}
		c.hears(append(slices.Clone(authors), by)...)
	}
	if route = c.routeAskers(); slices.Equal(route, askers) {
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
	return a.Conversation.uncut(x.RouteAskers)
}

// RouteAskersAfter returns RouteAskersOf the action that the agent would propose in answer to seen or, unless by is
// empty, that this person would propose in words of these authors.
func (a *Aggregate) RouteAskersAfter(seen []*Inbox, by string, authors ...string) []string {
	c := &change{of: a, Conversation: *a.Conversation}
	c.asks(seen)
	x := &Action{}
	x.Askers, x.RouteAskers = c.proposedBy(by, authors)
	return a.RouteAskersOf(x)
}
