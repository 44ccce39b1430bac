package tenancy

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Channels has the channels to which Slack gave other ids, by their former ids. Slack changes a channel's id when it
// becomes shared with another organization (https://docs.slack.dev/reference/events/channel_id_changed). Rows keep the
// id by which they first knew a channel; these say what Slack calls it.
type Channels map[string]Moved

// Moved is the id that a channel got, and when: Slack's timestamp.
type Moved struct{ To, At string }

// MovedNow is the id that a channel has by now, as a click or a message shows it.
func MovedNow(to string, now time.Time) Moved {
	return Moved{to, fmt.Sprintf("%d.%06d", now.Unix(), now.Nanosecond()/1000)}
}

// Now returns what Slack calls a channel by now. A later change is followed, never an earlier one, so that two ids that
// followed each other lead to the latest.
func (c Channels) Now(id string) string {
	at := ""
	for {
		m, ok := c[id]
		if !ok || m.At <= at {
			return id
		}
		id, at = m.To, m.At
	}
}

// All returns what Slack calls each of them by now.
func (c Channels) All() map[string]string {
	all := map[string]string{}
	for was := range c {
		if now := c.Now(was); now != was {
			all[was] = now
		}
	}
	return all
}

// Names returns all ids that a channel had, the first one, by which rows know it, first.
func (c Channels) Names(id string) []string {
	now := c.Now(id)
	var names []string
	for was := range c {
		if c.Now(was) == now && was != now {
			names = append(names, was)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(c[a].At+a, c[b].At+b) })
	return append(names, now)
}
