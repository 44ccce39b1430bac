package conversation

import (
	"errors"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
)

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

func (e ErrByRules) Error() string { return "by the rules: " + string(e.Why) }

// ErrAged says that an action was settled along its route too long ago to begin.
var ErrAged = errors.New("it was approved too long ago to begin")

// ByRules reports whether the tenant has rules that may decide about the conversation's actions: they do if they name
// this kind.
func (s *Conversation) ByRules(of tenancy.Settings) bool {
	return of.RulesRev > 0
}

// RulesPlace is where the conversation is, as the rules name it.
func (s *Conversation) RulesPlace(r *rules.Rules) rules.Place {
	return r.At(s.Channel, s.ChannelType == "im")
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
