package people

import (
	"context"
	"errors"
	"testing"
	"time"

	"ringi/shared/slack/slackapi"
)

// counted gives one answer, and counts how often Slack is asked who somebody is.
type counted struct {
	n    int
	user slackapi.User
	err  error
}

func (c *counted) User(context.Context, string) (slackapi.User, error) {
	c.n++
	return c.user, c.err
}

func TestARequesterIsRememberedForAMinute(t *testing.T) {
	var q Requesters
	now, slack := time.Now(), &counted{err: errors.New("timeout")}
	asked := func(want int, team string) {
		t.Helper()
		by, err := q.Requester(t.Context(), slack, team, "U1", now)
		if slack.n != want || (err != nil) != (slack.err != nil) || by.ID != "U1" || err == nil && by.Team != "T1" {
			t.Errorf("asked %d times, want %d: %+v, %v", slack.n, want, by, err)
		}
	}
	asked(1, "T1")
	asked(2, "T1") // what failed is asked again
	slack.user, slack.err = slackapi.User{ID: "U1", Team: "T1"}, nil
	asked(3, "T1")
	asked(4, "T2") // another workspace's token may be told something else
	now = now.Add(knownFor - time.Second)
	asked(4, "T1")
	now = now.Add(time.Second)
	asked(5, "T1")
}
