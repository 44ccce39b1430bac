package people

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/slack/slackapi"
)

const (
	// mostLooked bounds how many people of a list or channel are looked up in the search for one member of the
	// workspace. Only members can be saved in a list, so few of them should have left.
	mostLooked = 20
	// mostMembers is how many of a channel's members one call asks for.
	mostMembers = 100
)

// Somebody returns nil if somebody may approve what these people together ask for. Otherwise it returns
// aggregate.ErrNotAllowed with a rule: RuleSelf if only they themselves could, and may not; RuleNobody if the list is
// empty; RuleNotMember if the channel has nobody else; RuleUnlisted if Slack can't list the members. It is checked when
// a request begins, and a click is checked again. It returns errorclass.ErrUnverified when Slack can't be asked about a
// list.
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
		return fmt.Errorf("%w: who is listed: %w", explain.ErrUnverified, err)
	}
	looked := 0
	for _, id := range policy.Approvers {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: o.Team}
		if policy.ApproveAll(by, askers) != nil {
			continue // they may not approve their own request, whatever Slack says
		}
		if looked++; looked > mostLooked {
			return nil
		}
		by.Team = ""
		if err := q.who(ctx, slack, &by, o.Team, now); err != nil {
			return fmt.Errorf("%w: who is listed: %w", explain.ErrUnverified, err)
		}
		if policy.ApproveAll(by, askers) == nil {
			return nil
		}
	}
	return aggregate.ErrNotAllowed{Rule: aggregate.RuleNobody}
}

// inChannel is Somebody for requests that a channel's members approve. It refuses only if Slack says that nobody can; a
// missing or partial answer is no refusal. It must ask Slack whether members are listed, because nothing else
// identifies a group direct message: a mention there has no channel type, its id may look like a channel's
// (https://docs.slack.dev/reference/events/app_mention), and the app lacks the scope to list it, so memberOf would
// never find anybody in it.
func (q *Requesters) inChannel(
	ctx context.Context, slack Groups, p aggregate.Policy, o aggregate.Origin, now time.Time, askers []string,
) error {
	if o.ChannelType == "im" { // the requester is its only member
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
	case p.AllowSelf: // the requester is in the channel
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
		if err == nil && u.Bot { // Ringi's own bot is in it
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

// listed returns the listed people and the members of the listed user groups.
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

// group returns a user group's members; the answer may be as old as remembered.
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
