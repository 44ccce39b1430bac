package people

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/slack/slackapi"
)

const (
	// mostLooked bounds how many people of a list, or of a channel, are looked up until one is found to be a member.
	// Only members can be saved in a list, so few of them should have left.
	mostLooked = 20
	// mostMembers is how many of a channel's members are asked for, in one call.
	mostMembers = 100
)

// Somebody returns nil if somebody may approve what these people together ask for there. Otherwise it returns
// aggregate.ErrNotAllowed: with RuleSelf where only they themselves could and may not, with RuleNobody where the list
// has nobody, with RuleNotMember where the channel has nobody else, with RuleUnlisted where Slack can't list the
// members. It is asked when something begins; who may decide is asked again at the click. It returns
// errorclass.ErrUnverified when Slack can't be asked about a list.
func (q *Requesters) Somebody(
	ctx context.Context, slack Groups, o aggregate.Origin, s tenancy.Settings, now time.Time, askers ...string,
) error {
	policy, err := s.Policy(o.Team), s.Nobody(o, askers...)
	switch {
	case err != nil:
		return err
	case policy.Mode != aggregate.ApproversList:
		return q.inChannel(ctx, slack, policy, o, now, askers)
	}
	if policy.Approvers, err = q.listed(ctx, slack, o.Team, s.Approvers, now); err != nil {
		return fmt.Errorf("%w: who is listed: %w", errorclass.ErrUnverified, err)
	}
	looked := 0
	for _, id := range policy.Approvers {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: o.Team}
		if policy.ApproveAll(by, askers) != nil {
			continue // whatever Slack says
		}
		if looked++; looked > mostLooked {
			return nil
		}
		by.Team = ""
		if err := q.who(ctx, slack, &by, o.Team, now); err != nil {
			return fmt.Errorf("%w: who is listed: %w", errorclass.ErrUnverified, err)
		}
		if policy.ApproveAll(by, askers) == nil {
			return nil
		}
	}
	return aggregate.ErrNotAllowed{Rule: aggregate.RuleNobody}
}

// inChannel is Somebody where the members of a channel approve. It refuses only where Slack says that nobody can: what
// Slack doesn't say, or not within the bounds, is no refusal. A group direct message differs from a channel only by the
// scope that the app lacks: a mention there names no type, and its id may begin like a channel's
// (https://docs.slack.dev/reference/events/app_mention). No listing of a person's channels shows it to memberOf.
func (q *Requesters) inChannel(
	ctx context.Context, slack Groups, p aggregate.Policy, o aggregate.Origin, now time.Time, askers []string,
) error {
	if o.ChannelType == "im" { // who asks there is all of it
		return nil
	}
	here := place{o.Team, o.Channel}
	if _, lists := q.listing.Known(here, now); lists && p.AllowSelf {
		return nil
	}
	members, more, err := slack.Members(ctx, o.Channel, mostMembers)
	switch {
	case slackapi.Code(err) == slackapi.CodeMissingScope:
		return aggregate.ErrNotAllowed{Rule: aggregate.RuleUnlisted}
	case err != nil:
		slog.WarnContext(ctx, "a channel's members are not known", "channel", o.Channel, "err", err)
		return nil
	case p.AllowSelf: // who asks there is in it
		q.listing.Keep(here, true, now, remembered)
		return nil
	}
	looked := 0
	for _, id := range members {
		if slices.Contains(askers, id) {
			continue
		}
		if looked++; looked > mostLooked {
			return nil
		}
		u, err := q.user(ctx, slack, o.Team, id, now)
		if err == nil && u.Bot { // Ringi's own is in it
			continue
		}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: id, Member: true}
		if err := q.who(ctx, slack, &by, o.Team, now); err != nil || p.ApproveAll(by, askers) == nil {
			return nil
		}
	}
	if more {
		return nil
	}
	return aggregate.ErrNotAllowed{Rule: aggregate.RuleNotMember}
}

// listed are the listed people, with the members of the listed user groups.
func (q *Requesters) listed(
	ctx context.Context, slack Groups, team string, a tenancy.Approvers, now time.Time,
) ([]string, error) {
	all := slices.Clone(a.Users)
	for _, name := range a.Usergroups {
		members, err := q.group(ctx, slack, team, name, now)
		if err != nil {
			return nil, err
		}
		all = append(all, members...)
	}
	return all, nil
}

// group are a user group's members; the answer may be remembered old.
func (q *Requesters) group(ctx context.Context, slack Groups, team, name string, now time.Time) ([]string, error) {
	members, err := q.groups.Ask(place{team, name}, now, remembered, func() ([]string, error) {
		members, err := slack.UsergroupMembers(ctx, name)
		if slackapi.Code(err) == slackapi.CodeNoSuchGroup { // deleted since it was listed: other groups still count
			slog.WarnContext(ctx, "a listed user group is gone", "group", name)
			return nil, nil
		}
		return members, err
	})
	if slackapi.Code(err) == slackapi.CodeUnknownMethod {
		slog.WarnContext(ctx, "user groups can't be read here", "err", err)
		return nil, nil
	}
	return members, err
}
