package aggregate

import "slices"

// ActorType is who did something.
type ActorType string

const (
	ActorUser   ActorType = "user"
	ActorSystem ActorType = "system"
	ActorAgent  ActorType = "agent"
)

// Actor is who decides, with what Slack says about them.
type Actor struct {
	Type   ActorType
	ID     string // Slack user id, empty for the system
	Team   string // the workspace the person belongs to
	Guest  bool   // a restricted account
	Member bool   // of the channel the request was made in

	Surface Surface // where they decide; empty: Slack
}

// Origin is where in Slack something was asked for, and by whom. The zero value is nowhere, by nobody.
type Origin struct {
	Team        string
	User        string
	Channel     string
	ChannelType string // channel, group, im, mpim
}

// System is Ringi itself.
func System() Actor { return Actor{Type: ActorSystem} }

// Rule is what refused a decision; cards and notes have a sentence for each.
type Rule string

const (
	RuleForeign   Rule = "foreign_workspace" // the person belongs to another workspace
	RuleGuest     Rule = "guest"
	RuleNotMember Rule = "not_a_member"     // of the channel
	RuleUnlisted  Rule = "place_not_listed" // whose members the app may not know: a group direct message
	RuleNotListed Rule = "not_an_approver"
	RuleNobody    Rule = "no_approvers" // the list is empty
	RuleSelf      Rule = "self_approval"
	RuleNotParty  Rule = "neither_requester_nor_approver"
	RuleAlone     Rule = "nobody_else_approves" // what the person would become the author of
)

// Rules are all of them.
var Rules = []Rule{RuleForeign, RuleGuest, RuleNotMember, RuleUnlisted, RuleNotListed, RuleNobody, RuleSelf, RuleNotParty, RuleAlone}

// Policy is who may decide, read from the settings at the click.
type Policy struct {
	Team      string // the tenant's Slack team
	Mode      ApproverMode
	Approvers []string // Slack user ids; user groups are expanded by the caller
	AllowSelf bool
	Alone     bool // nobody could approve what the person becomes the author of; known only of whoever would (people.Want.Authors)
}

// Approve reports, as ErrNotAllowed, why by may not stamp what requester asked for.
func (p Policy) Approve(by Actor, requester string) error {
	if err := p.approver(by); err != nil {
		return err
	}
	if by.Type == ActorUser && by.ID == requester && !p.AllowSelf {
		return ErrNotAllowed{RuleSelf}
	}
	return nil
}

// ApproveAll is Approve of what these people ask for together.
func (p Policy) ApproveAll(by Actor, requesters []string) error {
	for _, requester := range requesters {
		if err := p.Approve(by, requester); err != nil {
			return err
		}
	}
	return nil
}

// Reject reports why by may not send it back. Rejecting one's own request is always fine.
func (p Policy) Reject(by Actor, requester string) error { return p.approver(by) }

// Author reports why by may not put a version of their own in the place of one that waits: who may send it back may,
// unless nobody could approve theirs.
func (p Policy) Author(by Actor, requester string) error {
	if err := p.Reject(by, requester); err != nil {
		return err
	}
	if p.Alone {
		return ErrNotAllowed{RuleAlone}
	}
	return nil
}

// Request reports why by may not ask for anything: a guest, or somebody of another workspace.
func (p Policy) Request(by Actor) error {
	switch {
	case by.Team != p.Team:
		return ErrNotAllowed{RuleForeign}
	case by.Guest:
		return ErrNotAllowed{RuleGuest}
	}
	return nil
}

// Retry reports why by may not have something done again: whoever may withdraw it may,
// but no guest, who may not ask for it in the first place.
func (p Policy) Retry(by Actor, requester string) error {
	if err := p.Withdraw(by, requester); err != nil || by.Type == ActorSystem {
		return err
	}
	return p.Request(by)
}

// Withdraw reports why by may not cancel: the requester and every approver may.
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

// ApproverMode is how approvers are chosen.
type ApproverMode string

const (
	ApproversChannel ApproverMode = "channel" // members of the channel
	ApproversList    ApproverMode = "list"
)
