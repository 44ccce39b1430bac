package people

import (
	"context"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/slackapi"
)

const (
	// knownFor is how long an environment keeps what Slack said about a person. users.info may be
	// called about 100 times a minute (Tier 4), and every click calls it too.
	knownFor = time.Minute
	mostKept = 1000
)

// Requesters says who asks, and keeps for knownFor what Slack said. The zero value is ready.
type Requesters struct {
	mu      sync.Mutex
	known   map[string]known        // by team and user
	groups  map[[2]string]group     // by team and id: another workspace's may have the same
	listing map[[2]string]time.Time // by team and channel: until when it is believed that Slack lists its members
}

type known struct {
	user  slackapi.User
	until time.Time
}

// Requester is the person of a workspace who asks for something. It returns Slack's error when Slack doesn't say.
func (q *Requesters) Requester(ctx context.Context, slack Users, team, user string, now time.Time) (aggregate.Actor, error) {
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
// Errors are not kept.
func (q *Requesters) user(ctx context.Context, slack Users, team, id string, now time.Time) (slackapi.User, error) {
	key := team + "/" + id
	q.mu.Lock()
	k, ok := q.known[key]
	q.mu.Unlock()
	if ok && now.Before(k.until) {
		return k.user, nil
	}
	u, err := slack.User(ctx, id)
	if err != nil {
		return u, err
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.known == nil || len(q.known) >= mostKept {
		q.known = map[string]known{}
	}
	q.known[key] = known{u, now.Add(knownFor)}
	return u, nil
}

// Language is the language that a person chose in Slack, such as ja; empty when Slack doesn't say.
func (q *Requesters) Language(ctx context.Context, slack Users, team, user string, now time.Time) string {
	u, err := q.user(ctx, slack, team, user, now)
	if err != nil {
		return ""
	}
	return u.Language
}
