package people

import (
	"context"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/remember"
	"ringi/shared/slack/slackapi"
)

// knownFor is how long an environment keeps what Slack said about a person. users.info may be called about 100 times a
// minute (Tier 4), and every click calls it too.
const knownFor = time.Minute

// place is a person, a user group or a channel of a workspace, by id: another workspace's may have the same.
type place struct{ team, id string }

// Requesters says who asks, and keeps for knownFor what Slack said. The zero value is ready.
type Requesters struct {
	users   remember.Answers[place, slackapi.User]
	groups  remember.Answers[place, []string] // their members
	listing remember.Answers[place, bool]     // channels of which Slack lists the members
}

// Requester is the person of a workspace who asks for something. It returns Slack's error when Slack doesn't say.
func (q *Requesters) Requester(
	ctx context.Context, slack Users, team, user string, now time.Time,
) (aggregate.Actor, error) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: user}
	err := q.who(ctx, slack, &by, team, now)
	return by, err
}

// who adds to a person of a workspace what Slack says of them.
func (q *Requesters) who(ctx context.Context, slack Users, by *aggregate.Actor, team string, now time.Time) error {
	return belongs(ctx, func(ctx context.Context, id string) (slackapi.User, error) {
		return q.user(ctx, slack, team, id, now)
	}, by, team, team)
}

// user is what Slack says about a person who writes in a workspace; the answer may be knownFor old.
func (q *Requesters) user(ctx context.Context, slack Users, team, id string, now time.Time) (slackapi.User, error) {
	return q.users.Ask(place{team, id}, now, knownFor, func() (slackapi.User, error) { return slack.User(ctx, id) })
}

// Language is the language that a person chose in Slack, such as ja; empty when Slack doesn't say.
func (q *Requesters) Language(ctx context.Context, slack Users, team, user string, now time.Time) string {
	u, err := q.user(ctx, slack, team, user, now)
	if err != nil {
		return ""
	}
	return u.Language
}
