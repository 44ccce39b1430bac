package conversation

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
)

// MostLookingUp is how long it is tried to look up whom a rule asks about an action. Meanwhile no other action can be
// proposed.
const MostLookingUp = time.Hour

// LookUp is a rule whose people must be looked up before they are asked about an action.
type LookUp struct {
	Rule circulation.Rule
	At   *time.Time // when to try; nil: at once
}

// lookUp leaves a new action without a route: nobody is asked, and only a run opens it.
func (x *Action) lookUp(of LookUp) {
	x.Gate.Status, x.Gate.AskedAt, x.Gate.Terms.Rule, x.Gate.Terms.DecideBy = aggregate.Generating, nil, &of.Rule, nil
	x.Gate.Terms.ApprovalRequired, x.LookUpAt = true, of.At
}

// Unrouted returns the action whose people must be looked up before it waits, or nil.
func (a *Aggregate) Unrouted() *Action {
	if x := a.Current(); x != nil && x.Unrouted() {
		return x
	}
	return nil
}

// Unrouted reports whether the people whom a rule asks must be looked up before the action waits.
func (x *Action) Unrouted() bool {
	return x.Status == ActionPending && x.Gate.Status == aggregate.Generating && x.Gate.Terms.Rule != nil
}

// RefusedByRule reports whether an action ended because nobody could be asked about it.
func (x *Action) RefusedByRule() bool {
	return x.Status == ActionCancelled && x.Gate.Status == aggregate.Generating && x.CancelledBy == "" &&
		x.CancelReason != ReasonIdle
}

// LooksUp returns the action whose people a run looks up now, or nil.
func (a *Aggregate) LooksUp(now time.Time) *Action {
	if x := a.Unrouted(); x != nil && (x.LookUpAt == nil || !now.Before(*x.LookUpAt)) {
		return x
	}
	return nil
}

// opens begins a Change with which a run opens or ends the action with this id. It returns ErrMoved if that doesn't
// wait for its route.
func (a *Aggregate) opens(run int, id string, now time.Time) (*change, *Action, error) {
	if err := a.working(run); err != nil {
		return nil, nil, err
	}
	x := a.Unrouted()
	if x == nil || x.ActionID != id {
		return nil, nil, aggregate.ErrMoved
	}
	return a.begin(now), x, nil
}

// OpenOnRoute has people asked along a route about the action with this id, or without a rule if o is nil. It relies on
// the revision of the settings in terms, and on the tenant's rows in on. It returns ErrMoved if the action doesn't wait
// for its route.
func (a *Aggregate) OpenOnRoute(run int, id string, o *aggregate.Opening, terms aggregate.Terms, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	c, x, err := a.opens(run, id, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	n := *x
	n.Gate = aggregate.Gate{Status: aggregate.PendingApproval, Terms: terms, AskedAt: &c.Now}
	n.LookUpAt, c.Conversation.Refused = nil, 0
	if o == nil {
		by := aggregate.BySettings(true, a.AskersOf(x)...)
		o = &by
	}
	c.open(&n, *o)
	c.Put(&n)
	c.progress()
	c.active()
	c.under(terms.SettingsRev)
	c.Owned = append(c.Owned, on...)
	c.rest()
	return c.done()
}

// WaitForRoute puts off looking people up for the action with this id. Too long after it was proposed it returns
// ErrAged: then it is refused.
func (a *Aggregate) WaitForRoute(run int, id string, until, now time.Time) (aggregate.Change, error) {
	c, x, err := a.opens(run, id, now)
	switch {
	case err != nil:
		return aggregate.Change{}, err
	case !now.Before(x.CreatedAt.Add(MostLookingUp)):
		return aggregate.Change{}, ErrAged
	}
	n, at := *x, until.UTC().Truncate(time.Millisecond)
	n.LookUpAt = &at
	c.Put(&n)
	c.progress()
	c.rest()
	return c.done()
}

// RefuseByRule ends the action with this id because nobody is asked about it; text says why, in words for people and
// the agent. The agent is told of its own, and has a turn unless its proposals are refused again and again. It relies
// on the revision rev of the settings, and on the tenant's rows in on.
func (a *Aggregate) RefuseByRule(run int, id string, no ErrByRules, text string, rev int, now time.Time,
	on ...aggregate.Owned) (aggregate.Change, error) {
	c, x, err := a.opens(run, id, now)
	if err != nil {
		return aggregate.Change{}, err
	}
	c.refuseUnrouted(x, no, text)
	c.under(rev)
	c.Owned = append(c.Owned, on...)
	c.rest()
	return c.done()
}

// refuseUnrouted ends an action about which nobody is asked.
func (c *change) refuseUnrouted(x *Action, no ErrByRules, text string) {
	c.progress()
	c.active()
	if x.RequestedBy == RequestedByAgent {
		c.Conversation.Refused++
	}
	c.over(x, ActionCancelled, func(n *Action) {
		n.settle(aggregate.Cancelled)
		n.CancelReason, n.ErrorDetail, n.LookUpAt, n.whyRefused = no.Why, no.Detail, nil, text
		if no.Rule.ID != "" {
			n.Gate.Terms.Rule = &no.Rule
		}
	})
	about := map[string]any{"reason": no.Why}
	if no.Rule.ID != "" {
		about["rule"] = no.Rule
	}
	c.auditAction(aggregate.System(), AuditCancelled, x, about)
}

// hearsOf reports whether the agent has a turn for what became of an action that has ended.
func (c *change) hearsOf(x *Action) bool {
	switch {
	case x.CancelReason == ReasonExpired, x.CancelReason == ReasonAged, x.CancelReason == ReasonSilent,
		x.CancelReason == ReasonUnrouted, x.CancelReason == ReasonDeleted:
		return false // nobody is waiting for an answer
	case x.CancelReason == ReasonDenied: // it is not to be tried in another way
		return false
	case x.whyRefused != "":
		return x.RequestedBy == RequestedByAgent && c.Conversation.Refused <= mostRefused
	}
	return true
}

// toldRefusedByRule returns the system's message about an action about which nobody is asked.
func (x *Action) toldRefusedByRule(locale string) Message {
	m := Message{Sender: FromSystem, ActionID: x.ActionID}
	m.own(fmt.Sprintf(said.In(locale).refusedByRule, x.Number))
	m.quote(x.whyRefused)
	return m
}

// hears notes whose words the agent is shown, oldest first. They stay as long as the conversation: what became of them,
// an answer or an action, is shown to it again. Where there are more than may ask along a route, nothing is asked along
// one.
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

// Reasons why nobody is asked about an action under a rule, beside those of a request's steps.
const (
	// ReasonSilent: Slack didn't say whom the rule asks.
	ReasonSilent aggregate.Reason = "route_silent"
	// ReasonUnrouted: several tries to look people up failed.
	ReasonUnrouted aggregate.Reason = "route_failed"
)

// ErrByRules says that by the tenant's rules an action can't be proposed.
type ErrByRules struct {
	Why    aggregate.Reason // ReasonSilent, ReasonUnrouted, one of task.Refusal or task.ReasonNoApprover
	Rule   circulation.Rule
	Detail string // what the rule says, or the name of the stage that finds nobody
}

// RefusedByRules returns why the rules let nobody be asked about a gate that ended for this reason, with its detail.
func RefusedByRules(g *aggregate.Gate, why aggregate.Reason, detail string) ErrByRules {
	no := ErrByRules{Why: why, Detail: detail}
	if g.Terms.Rule != nil {
		no.Rule = *g.Terms.Rule
	}
	return no
}

func (e ErrByRules) Error() string { return "by the rules: " + string(e.Why) }

// ErrAged says that an action was settled along its route too long ago to begin.
var ErrAged = errors.New("it was approved too long ago to begin")

// ByRules reports whether the tenant has rules that may decide about the conversation's actions: they do if they name
// this kind.
func (s *Conversation) ByRules(of tenancy.Settings) bool {
	return of.RulesRev > 0
}

// RulesPlace is where the conversation is, as rules name it.
func (s *Conversation) RulesPlace() rules.Place {
	return rules.Place{Channel: s.Channel, Direct: s.ChannelType == "im"}
}

// AsksAfter reports whether people are asked about what the agent proposes in answer to seen, even if the settings
// approve it: they have approved too many actions since a person wrote.
func (a *Aggregate) AsksAfter(seen []*Inbox) bool {
	wrote := slices.ContainsFunc(seen, func(i *Inbox) bool { return i.User != "" })
	return !wrote && a.Conversation.Unasked >= mostUnasked
}

// ExpireAged ends an approved action that is ErrAged. It returns ErrSuperseded if the head names another run, and
// ErrNotDue if there is no such action.
func (a *Aggregate) ExpireAged(run int, now time.Time) (aggregate.Change, error) {
	if a.Head.Run != run || a.Head.Resting {
		return aggregate.Change{}, aggregate.ErrSuperseded
	}
	x := a.Current()
	if x == nil || !x.aged(now) {
		return aggregate.Change{}, aggregate.ErrNotDue
	}
	c := a.begin(now)
	c.progress()
	c.over(x, ActionCancelled, func(n *Action) { n.CancelReason = ReasonAged })
	c.auditAction(aggregate.System(), AuditExpired, x, map[string]any{"reason": ReasonAged, "was": x.Status})
	return c.done()
}

// aged reports whether the action was settled too long ago, and hasn't begun.
func (x *Action) aged(now time.Time) bool { return x.Status == ActionApproved && x.Gate.TooOld(now) }
