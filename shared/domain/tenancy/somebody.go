package tenancy

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// Policy returns who may decide under these settings. Members of the listed user groups are not included.
func (s Settings) Policy(team string) aggregate.Policy {
	return aggregate.Policy{Team: team, Mode: s.Approvers.Mode, Approvers: slices.Clone(s.Approvers.Users),
		AllowSelf: s.AllowSelfApproval, Rev: s.Rev}
}

// Nobody returns aggregate.ErrNotAllowed if it is certain, without asking Slack, that nobody may approve a joint
// request of askers: RuleSelf in a direct message with only the requester, RuleNobody if the list has nobody else.
// people.Requesters does the full check with Slack.
func (s Settings) Nobody(o aggregate.Origin, askers ...string) error {
	p := s.Policy(o.Team)
	switch {
	case p.Mode != aggregate.ApproversList && o.ChannelType == "im":
		return p.ApproveAll(aggregate.Actor{Type: aggregate.ActorUser, ID: o.User, Team: o.Team, Member: true}, askers)
	case p.Mode != aggregate.ApproversList, len(s.Approvers.Usergroups) > 0:
		return nil
	}
	for _, id := range s.Approvers.Users {
		if p.ApproveAll(aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: o.Team}, askers) == nil {
			return nil
		}
	}
	return aggregate.ErrNotAllowed{Rule: aggregate.RuleNobody}
}
