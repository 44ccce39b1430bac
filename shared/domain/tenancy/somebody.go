package tenancy

import (
	"slices"

	"ringi/shared/domain/aggregate"
)

// Policy is who may decide under the settings, with the people whom they list, but not those of its user groups.
func (s Settings) Policy(team string) aggregate.Policy {
	return aggregate.Policy{Team: team, Mode: s.Approvers.Mode, Approvers: slices.Clone(s.Approvers.Users), AllowSelf: s.AllowSelfApproval}
}

// Nobody reports, as aggregate.ErrNotAllowed, why nobody may approve what these people ask for together there, whatever
// Slack says of people, channels and groups: with RuleSelf in a direct message that only they are in, with RuleNobody
// where the list has no others. people.Requesters says it for certain.
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
