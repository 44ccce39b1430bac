package aggregate

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/circulation"
)

// ActorType says what kind of actor did something.
type ActorType string

const (
	ActorUser   ActorType = "user"
	ActorSystem ActorType = "system"
	ActorAgent  ActorType = "agent"
)

// Actor is somebody who decides, with what Slack reports about them.
type Actor struct {
	Type   ActorType
	ID     string // Slack user id, empty for the system
	Team   string // the person's own workspace
	Guest  bool   // a restricted account
	Member bool   // of the channel where the request was made

	Surface Surface // where they decide; empty means Slack
	Admin   bool    // of the tenant; looked up only for who cancels a gate under a rule
	// Of a gate under a rule: Stage is the number of the stage that they saw, 0 if they saw none. Channel is the one of
	// which Member tells.
	Stage   int
	Channel string
}

// Origin says where in Slack something was requested, and by whom. The zero value means nowhere, by nobody.
type Origin struct {
	Team        string
	User        string
	Channel     string
	ChannelType string // channel, group, im, mpim
}

// System returns the actor that stands for Ringi itself.
func System() Actor { return Actor{Type: ActorSystem} }

// Rule is the rule that refused a decision. Cards and notes have a sentence for each.
type Rule string

const (
	RuleForeign      Rule = "foreign_workspace" // the person belongs to another workspace
	RuleGuest        Rule = "guest"
	RuleNotMember    Rule = "not_a_member"     // of the channel
	RuleUnlisted     Rule = "place_not_listed" // the app can't list the members there: a group direct message
	RuleNotListed    Rule = "not_an_approver"
	RuleNobody       Rule = "no_approvers" // the list is empty
	RuleSelf         Rule = "self_approval"
	RuleNotParty     Rule = "neither_requester_nor_approver"
	RuleOffRoute     Rule = "neither_requester_nor_on_route"
	RuleNotRequester Rule = "not_the_requester"
	RuleOnRoute      Rule = "on_route"   // a gate under a rule is decided along its route alone
	RuleUnread       Rule = "unreadable" // nobody can read what is asked
	RuleLeft         Rule = "asker_left"
)

// Rules lists all rules.
var Rules = []Rule{
	RuleForeign, RuleGuest, RuleNotMember, RuleUnlisted, RuleNotListed, RuleNobody, RuleSelf, RuleNotParty,
	RuleNotRequester, RuleOnRoute, RuleOffRoute, RuleUnread, RuleLeft,
}

// Policy says who may decide. It is read from the settings at the time of the click.
type Policy struct {
	Team      string // the tenant's Slack team
	Mode      ApproverMode
	Approvers []string // Slack user ids; user groups are expanded by the caller
	AllowSelf bool
	Rev       int // of the settings
	// Left returns why nobody may approve: whoever asked has left, or Slack can't say; nil: it is not asked.
	Left func() error
	// StandIns are the delegations by which the person stands in for others, for a gate under a rule.
	StandIns []circulation.StandIn
}

// Approve returns ErrNotAllowed if by may not stamp what requester asked for.
func (p Policy) Approve(by Actor, requester string) error {
	if by.Type == ActorUser && by.ID == requester && !p.AllowSelf {
		return ErrNotAllowed{RuleSelf}
	}
	return p.approver(by)
}

// ApproveAll returns the first error of Approve for these requesters.
func (p Policy) ApproveAll(by Actor, requesters []string) error {
	for _, requester := range requesters {
		if err := p.Approve(by, requester); err != nil {
			return err
		}
	}
	return nil
}

// Reject returns ErrNotAllowed if by may not reject. An approver may reject their own request, whatever AllowSelf says.
func (p Policy) Reject(by Actor) error { return p.approver(by) }

// Request returns ErrNotAllowed if by may not request anything: guests and people of other workspaces.
func (p Policy) Request(by Actor) error {
	switch {
	case by.Team != p.Team:
		return ErrNotAllowed{RuleForeign}
	case by.Guest:
		return ErrNotAllowed{RuleGuest}
	}
	return nil
}

// Retry returns ErrNotAllowed if by may not have something done again. Whoever may cancel it may retry it, except
// guests, who may not request anything.
func (p Policy) Retry(by Actor, requester string) error {
	if err := p.Withdraw(by, requester); err != nil || by.Type == ActorSystem {
		return err
	}
	return p.Request(by)
}

// RetryFrom is Retry of what a gate settled. Under a rule whoever is asked to approve it may, but no other approver.
func (p Policy) RetryFrom(g *Gate, by Actor, requester string) error {
	if !g.Ruled() || by.ID == requester || by.Type != ActorUser {
		return p.Retry(by, requester)
	}
	if err := p.Request(by); err != nil || g.asks(by.ID) {
		return err
	}
	return ErrNotAllowed{RuleOffRoute}
}

// Withdraw returns ErrNotAllowed if by may not cancel. The requester and every approver may.
func (p Policy) Withdraw(by Actor, requester string) error {
	if by.Type == ActorSystem {
		return nil
	}
	if by.Team != p.Team {
		return ErrNotAllowed{RuleForeign}
	}
	if by.ID == requester || p.approver(by) == nil {
		return nil
	}
	return ErrNotAllowed{RuleNotParty}
}

func (p Policy) approver(by Actor) error {
	switch {
	case by.Type == ActorSystem:
		return nil
	case by.Team != p.Team:
		return ErrNotAllowed{RuleForeign}
	case by.Guest:
		return ErrNotAllowed{RuleGuest}
	case p.Mode == ApproversList && len(p.Approvers) == 0:
		return ErrNotAllowed{RuleNobody}
	case p.Mode == ApproversList && !slices.Contains(p.Approvers, by.ID):
		return ErrNotAllowed{RuleNotListed}
	case p.Mode != ApproversList && !by.Member:
		return ErrNotAllowed{RuleNotMember}
	}
	return nil
}

// ApproverMode says how approvers are chosen.
type ApproverMode string

const (
	ApproversChannel ApproverMode = "channel" // members of the channel
	ApproversList    ApproverMode = "list"
)

// Act is something that a person may do on an aggregate.
type Act string

// The acts that every kind with gates offers, by the verbs of circulation.Kinds.
const (
	ActApprove Act = "approve"
	ActReject  Act = "reject" // with a reason
)

// Offer is an act together with the row that it applies to.
type Offer struct {
	Act  Act
	ID   string   // id of the gate, execution or aggregate; may be empty for the aggregate
	Kind CardType // card type of the gate
	Hash string   // hash of what a gate shows
}

// Act completes what a person does on a gate, at the time of the Change. It returns ErrNotAllowed if the hand is not by
// and, where the settings say who may act, for those whom they don't allow; else for guests and people of other
// workspaces.
func (p Policy) Act(g *Gate, act circulation.Act, by Actor, at time.Time) (circulation.Act, error) {
	if by.Type != ActorUser || by.ID == "" || act.Hand.User != by.ID {
		return act, ErrNotAllowed{RuleNotListed}
	}
	if err := p.may(g, act.Kind, by); err != nil {
		return act, err
	}
	act.Form, act.At, act.Text = circulation.Form, at, strings.TrimSpace(act.Text)
	act.Surface = string(cmp.Or(by.Surface, SurfaceSlack))
	if !g.Ruled() {
		if _, err := CheckReason(act.Text); act.Ends() && err != nil {
			return act, err // under a rule the fold says so
		}
		act.Found.Allowed = &circulation.Allowed{Rev: p.Rev, As: string(cmp.Or(p.Mode, ApproversChannel)), Self: p.AllowSelf}
	}
	return act, nil
}

// may returns ErrNotAllowed if by may not act on a gate at all.
func (p Policy) may(g *Gate, kind circulation.Kind, by Actor) error {
	switch {
	case g.Ruled():
		return p.Request(by)
	case kind.Does().Ends:
		return p.Reject(by)
	}
	for _, asker := range g.Askers {
		if err := p.Approve(by, asker.User); err != nil {
			return err
		}
	}
	return nil
}

// WithdrawFrom is Withdraw of what a gate asks or settled; nil means no gate. Under a rule whoever is asked to approve
// it may, too, and while it waits an administrator, but no other approver.
func (p Policy) WithdrawFrom(g *Gate, by Actor, requester string) error {
	if !g.Ruled() || by.Type != ActorUser || by.ID == requester || p.Request(by) != nil {
		return p.Withdraw(by, requester)
	}
	switch waits := g.Status == PendingApproval; {
	case (waits || g.Status == Approved) && g.asks(by.ID), waits && by.Admin:
		return nil
	case waits:
		return ErrNotAllowed{RuleOffRoute}
	}
	return p.Withdraw(by, requester)
}
