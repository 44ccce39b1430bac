package webapi

import (
	"cmp"
	"slices"
	"strings"
)

// Range limits the results of History and Replies. Oldest and Latest are timestamps, and are part of the range only if
// Inclusive is set. An empty one is no limit.
type Range struct {
	Oldest    string
	Latest    string
	Inclusive bool
}

func (r Range) holds(ts string) bool {
	if r.Oldest != "" && (compareTS(ts, r.Oldest) < 0 || !r.Inclusive && compareTS(ts, r.Oldest) == 0) {
		return false
	}
	if r.Latest != "" && (compareTS(ts, r.Latest) > 0 || !r.Inclusive && compareTS(ts, r.Latest) == 0) {
		return false
	}
	return true
}

// compareTS orders timestamps with up to six decimals.
func compareTS(a, b string) int {
	as, af, _ := strings.Cut(a, ".")
	bs, bf, _ := strings.Cut(b, ".")
	if len(as) != len(bs) {
		return len(as) - len(bs)
	}
	if d := strings.Compare(as, bs); d != 0 {
		return d
	}
	return strings.Compare((af + "000000")[:6], (bf + "000000")[:6])
}

// History returns a channel's messages outside of threads, newest first.
func (w *Workspace) History(channelID string, r Range) ([]Message, error) {
	return inChannel(w, channelID, func(c *channel) (out []Message, err error) {
		for _, m := range slices.Backward(c.messages) {
			if (m.ThreadTS == "" || m.ThreadTS == m.TS) && r.holds(m.TS) {
				out = append(out, m)
			}
		}
		return out, nil
	})
}

// Replies returns a thread, oldest first, always with its first message. It returns ThreadNotFound if there is none.
func (w *Workspace) Replies(channelID, threadTS string, r Range) ([]Message, error) {
	return inChannel(w, channelID, func(c *channel) (out []Message, err error) {
		i := c.find(threadTS)
		if i < 0 {
			return nil, ThreadNotFound
		}
		root := cmp.Or(c.messages[i].ThreadTS, threadTS)
		for _, m := range c.messages {
			if m.TS == root || m.ThreadTS == root && r.holds(m.TS) {
				out = append(out, m)
			}
		}
		return out, nil
	})
}

// Everything returns all messages of a channel, oldest first.
func (w *Workspace) Everything(channelID string) ([]Message, error) {
	return inChannel(w, channelID, func(c *channel) ([]Message, error) { return slices.Clone(c.messages), nil })
}

// Message finds a message. It also finds an ephemeral message if user is the person who sees it.
func (w *Workspace) Message(channelID, ts, user string) (Message, error) {
	return inChannel(w, channelID, func(c *channel) (Message, error) {
		if i := c.find(ts); i >= 0 {
			return c.messages[i], nil
		}
		if i := slices.IndexFunc(w.ephemerals, shown(user, ts)); i >= 0 {
			return w.ephemerals[i], nil
		}
		return Message{}, MessageNotFound
	})
}
