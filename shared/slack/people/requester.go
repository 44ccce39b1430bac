package people

import (
	"context"
	"errors"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/clock"
	"ringi/shared/slack/slackapi"
	"ringi/shared/words/language"
)

// knownFor is how long a process caches Slack's answer about a person. users.info may be called about 100 times a
// minute (Tier 4), and every click calls it too.
const knownFor = time.Minute

// place identifies a person, a user group or a channel. Two workspaces may use the same id.
type place struct{ team, id string }

// Requesters identifies people who ask for something, and caches Slack's answers for knownFor. The zero value is ready.
type Requesters struct {
	users   clock.Answers[place, slackapi.User]
	groups  clock.Answers[place, []string] // their members
	listing clock.Answers[place, bool]     // whether Slack lists a channel's members

	inside   clock.Answers[place, inside]            // who is in channels
	standing clock.Answers[place, bool]              // whether people may stamp along a route
	named    clock.Answers[string, []slackapi.Group] // user groups, by team
}

// Requester identifies a person of a workspace who asks for something. It returns Slack's error when Slack doesn't
// answer.
func (q *Requesters) Requester(
	ctx context.Context, slack Users, team, user string, now time.Time,
) (aggregate.Actor, error) {
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: user}
	err := q.who(ctx, slack, &by, team, now)
	return by, err
}

// who adds Slack's facts about a person to by.
func (q *Requesters) who(ctx context.Context, slack Users, by *aggregate.Actor, team string, now time.Time) error {
	return belongs(ctx, func(ctx context.Context, id string) (slackapi.User, error) {
		return q.user(ctx, slack, team, id, now)
	}, by, team, team)
}

// user returns Slack's facts about a person; they may be knownFor old.
func (q *Requesters) user(ctx context.Context, slack Users, team, id string, now time.Time) (slackapi.User, error) {
	return q.users.Ask(place{team, id}, now, knownFor, func() (slackapi.User, error) { return slack.User(ctx, id) })
}

// Apps returns those of these users who are apps, or Slack itself. Whom Slack doesn't know is none.
func (q *Requesters) Apps(
	ctx context.Context, slack Users, team string, users []string, now time.Time,
) ([]string, error) {
	var apps []string
	for _, id := range users {
		u, err := q.user(ctx, slack, team, id, now)
		var refused slackapi.Refused
		switch {
		case errors.As(err, &refused) && refused.Permanent && !refused.App:
		case err != nil:
			return nil, err
		case u.Bot:
			apps = append(apps, id)
		}
	}
	return apps, nil
}

// languageWithin bounds the call that asks Slack for a person's language.
const languageWithin = 700 * time.Millisecond

// Language returns the language that a person chose in Slack, or otherwise when Ringi doesn't speak it or Slack doesn't
// say within languageWithin.
func (q *Requesters) Language(
	ctx context.Context, slack Users, team, user, otherwise string, now time.Time,
) string {
	return languageOf(ctx, func(ctx context.Context) (slackapi.User, error) {
		return q.user(ctx, slack, team, user, now)
	}, otherwise)
}

func languageOf(ctx context.Context, user func(context.Context) (slackapi.User, error), otherwise string) string {
	ctx, cancel := context.WithTimeout(ctx, languageWithin)
	defer cancel()
	u, err := user(ctx)
	if err != nil || !slices.Contains(language.All, u.Language) {
		return otherwise
	}
	return u.Language
}
