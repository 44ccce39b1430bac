package people

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/slack/slackapi"
)

// standsFor is how long Requesters cache whether somebody may stamp along a route. A route may need 250 people looked
// up, and users.info may be called about 100 times a minute (Tier 4): whoever is refused goes on where they were. Who
// has left since then can't stamp anyway.
const standsFor = 10 * time.Minute

// Grouped is Groups with the names of the user groups.
type Grouped interface {
	Groups
	Usergroups(ctx context.Context) ([]slackapi.Group, error)
}

// MayStamp reports whether an account is a full member's of the workspace: nobody else stamps along a route. It returns
// Slack's error when Slack doesn't answer.
func (q *Requesters) MayStamp(ctx context.Context, slack Users, team, id string, now time.Time) (bool, error) {
	return q.standing.Ask(place{team, id}, now, standsFor, func() (bool, error) {
		u, err := slack.User(ctx, id)
		switch slackapi.Code(err) {
		case slackapi.CodeUserNotFound, slackapi.CodeUserNotVisible:
			return false, nil
		case slackapi.CodeUnknownMethod:
			slog.WarnContext(ctx, "guests can't be told from members here", "err", err)
			return true, nil
		}
		return Members{Team: team}.Rule(u) == "", err
	})
}

// Group returns the members of a user group and what people call it, such as @keiri. One that is gone or disabled has
// no members. It returns Slack's error when Slack doesn't say who is in it, and the group's id if it doesn't say what
// it is called.
func (q *Requesters) Group(ctx context.Context, slack Grouped, team, id string, now time.Time) (
	handle string, members []string, err error) {
	all, err := q.named.Ask(team, now, remembered, func() ([]slackapi.Group, error) { return slack.Usergroups(ctx) })
	if err != nil {
		slog.WarnContext(ctx, "user groups are named by id", "err", err)
	}
	handle = id
	if i := slices.IndexFunc(all, func(g slackapi.Group) bool { return g.ID == id }); i >= 0 {
		if all[i].Handle != "" {
			handle = "@" + all[i].Handle
		}
		if all[i].Disabled {
			return handle, nil, nil
		}
	}
	members, err = q.group(ctx, slack, team, id, now)
	return handle, members, err
}

// InChannel returns members of a channel, and whether they are all. It returns none, and true, where Slack can't list
// them to the app, as in a group direct message: whoever is there, a click would not count. It returns none, and false,
// for a channel that the app can't see, and Slack's error when Slack doesn't answer.
func (q *Requesters) InChannel(ctx context.Context, slack Groups, team, id string, now time.Time) (
	members []string, all bool, err error) {
	is, err := q.inside.Ask(place{team, id}, now, remembered, func() (inside, error) {
		members, more, err := slack.Members(ctx, id, mostMembers)
		switch code := slackapi.Code(err); {
		case code == slackapi.CodeMissingScope:
			return inside{nil, true}, nil
		case refusedForGood(err):
			slog.WarnContext(ctx, "a channel's members are not known", "channel", id, "err", err)
			return inside{}, nil
		}
		return inside{members, !more}, err
	})
	return is.members, is.all, err
}

// inside is who is in a channel.
type inside struct {
	members []string
	all     bool
}

// refusedForGood reports whether Slack refuses this channel, or the call, so that asking again would not help.
func refusedForGood(err error) bool {
	refused, is := errors.AsType[slackapi.Refused](err)
	return is && (refused.Permanent || refused.Code == slackapi.CodeUnknownMethod)
}
