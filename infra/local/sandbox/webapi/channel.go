package webapi

import (
	"cmp"
	"slices"
	"strings"
)

type channel struct {
	Channel
	messages []Message
}

// Channel describes a channel, or a direct message if IM names a person.
type Channel struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	NameEN    string   `json:"name_en,omitempty"`
	Purpose   string   `json:"purpose,omitempty"`
	PurposeEN string   `json:"purpose_en,omitempty"`
	IM        string   `json:"im,omitempty"`
	Created   int64    `json:"created"`
	Members   []string `json:"members"`
	Archived  bool     `json:"archived,omitempty"`
}

func (c *channel) view() Channel {
	out := c.Channel
	out.Members = slices.Clone(c.Members)
	return out
}

func (c *channel) has(user string) bool { return slices.Contains(c.Members, user) }

// find returns the index of a message, or -1.
func (c *channel) find(ts string) int {
	return slices.IndexFunc(c.messages, func(m Message) bool { return m.TS == ts })
}

// Channels returns all channels and direct messages.
func (w *Workspace) Channels() []Channel {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Channel, 0, len(w.channels))
	for _, c := range w.channels {
		all = append(all, c.view())
	}
	return all
}

// Channel finds a channel by its id. As in Slack's methods, a person's id finds the direct message with the bot. It
// returns ChannelNotFound if there is none.
func (w *Workspace) Channel(id string) (Channel, error) {
	return inChannel(w, id, func(c *channel) (Channel, error) { return c.view(), nil })
}

func (w *Workspace) channel(id string) (*channel, error) {
	for _, c := range w.channels {
		if c.ID == id || c.IM != "" && c.IM == id {
			return c, nil
		}
	}
	return nil, ChannelNotFound
}

// SetMember adds a user to a channel or removes them.
func (w *Workspace) SetMember(channelID, user string, in bool) error {
	return w.change(channelID, func(c *channel) error {
		if _, err := w.user(user); err != nil {
			return err
		}
		c.Members = slices.DeleteFunc(c.Members, func(m string) bool { return m == user })
		if in {
			c.Members = append(c.Members, user)
		}
		return nil
	})
}

// SetArchived archives or unarchives a channel.
func (w *Workspace) SetArchived(channelID string, archived bool) error {
	return w.change(channelID, func(c *channel) error { c.Archived = archived; return nil })
}

func (w *Workspace) change(channelID string, do func(*channel) error) error {
	_, err := inChannel(w, channelID, func(c *channel) (any, error) {
		err := do(c)
		if err == nil {
			w.tell(Change{})
		}
		return nil, err
	})
	return err
}

func (a *API) describe(c Channel) reply {
	out := reply{"id": c.ID, "created": c.Created, "is_archived": c.Archived, "is_im": c.IM != ""}
	if c.IM != "" {
		out["user"] = c.IM
		return out
	}
	out["is_channel"], out["is_private"], out["is_ext_shared"] = true, false, c.ID == General
	out["name"] = a.Named(c.Name, c.NameEN)
	out["purpose"] = reply{"value": a.Named(c.Purpose, c.PurposeEN), "creator": "", "last_set": 0}
	return out
}

// openConversation opens the direct message with one person.
func openConversation(a *API, p params) (reply, error) {
	u, err := a.User(p.str("users"))
	if err != nil {
		return nil, err
	}
	c, err := a.Channel(u.ID)
	if err != nil {
		return nil, err
	}
	return reply{"no_op": true, "already_open": true, "channel": reply{"id": c.ID}}, nil
}

func kindOf(c Channel) string {
	if c.IM != "" {
		return "im"
	}
	return "public_channel"
}

// maxConversations is the largest limit of users.conversations.
const maxConversations = 999

// userConversations lists the conversations of a user, by default the bot: all public channels that the user is in, and
// other conversations that the bot is in too. The channels have no is_member and num_members.
func userConversations(a *API, p params) (reply, error) {
	user, kinds := cmp.Or(p.str("user"), Bot), cmp.Or(p.str("types"), "public_channel")
	if _, err := a.User(user); err != nil {
		return nil, err
	}
	for kind := range strings.SplitSeq(kinds, ",") {
		if !slices.Contains([]string{"public_channel", "private_channel", "mpim", "im"}, kind) {
			return nil, refuse("invalid_types")
		}
	}
	if p.number("limit", 100) > maxConversations {
		return nil, refuse("invalid_limit")
	}
	found := []reply{}
	for _, c := range a.Channels() {
		seen := slices.Contains(c.Members, user) &&
			(kindOf(c) == "public_channel" || slices.Contains(c.Members, Bot))
		if !seen || !slices.Contains(strings.Split(kinds, ","), kindOf(c)) || c.Archived && p.flag("exclude_archived") {
			continue
		}
		found = append(found, a.describe(c))
	}
	channels, next, err := page(p, found, 100)
	return reply{"channels": channels, "response_metadata": next}, err
}

func conversationMembers(a *API, p params) (reply, error) {
	c, err := a.Channel(p.str("channel"))
	if err != nil {
		return nil, err
	}
	members, next, err := page(p, c.Members, 100)
	return reply{"members": members, "response_metadata": next}, err
}

func (a *API) readable(p params) (Channel, Range, error) {
	r := Range{Oldest: p.str("oldest"), Latest: p.str("latest"), Inclusive: p.flag("inclusive")}
	c, err := a.Channel(p.str("channel"))
	if err != nil {
		return c, r, err
	}
	if !slices.Contains(c.Members, Bot) {
		return c, r, NotInChannel
	}
	return c, r, nil
}

func history(a *API, p params) (reply, error) {
	c, r, err := a.readable(p)
	if err != nil {
		return nil, err
	}
	messages, err := a.History(c.ID, r)
	if err != nil {
		return nil, err
	}
	return pageOfMessages(p, messages, 100)
}

func replies(a *API, p params) (reply, error) {
	c, r, err := a.readable(p)
	if err != nil {
		return nil, err
	}
	messages, err := a.Replies(c.ID, p.str("ts"), r)
	if err != nil {
		return nil, err
	}
	return pageOfMessages(p, messages, 1000)
}

// pageOfMessages returns a page of messages, without metadata unless the call asks for it.
func pageOfMessages(p params, all []Message, fallback int) (reply, error) {
	messages, next, err := page(p, all, fallback)
	if err != nil {
		return nil, err
	}
	shown := append([]Message{}, messages...)
	if !p.flag("include_all_metadata") {
		for i := range shown {
			shown[i].Metadata = nil
		}
	}
	return reply{"messages": shown, "has_more": next["next_cursor"] != "", "response_metadata": next}, nil
}

// Range limits the results of History and Replies. Oldest and Latest are timestamps, and are part of the range only if
// Inclusive is set. An empty one is no limit.
type Range struct {
	Oldest    string
	Latest    string
	Inclusive bool
}

func (r Range) holds(ts string) bool {
	if ts == r.Oldest || ts == r.Latest {
		return r.Inclusive
	}
	return (r.Oldest == "" || ts > r.Oldest) && (r.Latest == "" || ts < r.Latest)
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
