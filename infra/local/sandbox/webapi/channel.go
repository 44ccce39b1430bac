package webapi

import (
	"fmt"
	"slices"
)

type channel struct {
	Channel
	messages []Message
}

// Channel describes a channel, or a direct message if IM names a person.
type Channel struct {
	ID        string   `json:"id"`
	Name      string   `json:"name"`
	Purpose   string   `json:"purpose,omitempty"`
	PurposeEN string   `json:"purpose_en,omitempty"`
	IM        string   `json:"im,omitempty"`
	Created   int64    `json:"created"`
	Members   []string `json:"members"`
	Archived  bool     `json:"archived,omitempty"`
	Shared    bool     `json:"shared,omitempty"`
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

// AddChannel makes a channel of these people and the bot, and returns its id.
func (w *Workspace) AddChannel(name string, members ...string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := &channel{Channel: Channel{ID: fmt.Sprintf("C%09d", w.next()), Name: name, Created: w.cfg.Now().Unix(),
		Members: append(members, Bot)}}
	w.channels = append(w.channels, c)
	w.tell(Change{Kind: "channel", Channel: c.ID, Data: c.view()})
	return c.ID
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

// ChangeID gives a channel another id, as Slack may when it becomes shared with another organization, and returns it.
// What the channel has goes with it, and the old id is unknown from then on. Direct messages keep theirs: ChangeID
// returns ChannelNotFound for them, too.
func (w *Workspace) ChangeID(channelID string) (string, error) {
	return inChannel(w, channelID, func(c *channel) (string, error) {
		if c.IM != "" {
			return "", ChannelNotFound
		}
		was := c.ID
		c.ID = fmt.Sprintf("C%09d", w.next())
		for _, list := range [][]Message{c.messages, w.ephemerals} {
			for i := range list {
				if list[i].Channel == was {
					list[i].Channel = c.ID
				}
			}
		}
		for _, h := range w.hooks {
			if h.target.Channel == was {
				h.target.Channel = c.ID
			}
		}
		for key, s := range w.sessions {
			if s.Channel == was {
				delete(w.sessions, key)
				s.Channel = c.ID
				w.sessions[c.ID+s.ThreadTS] = s
			}
		}
		w.prompts[c.ID] = w.prompts[was]
		delete(w.prompts, was)
		w.tell(Change{Kind: "moved", Channel: c.ID, Data: was})
		return c.ID, nil
	})
}

func (w *Workspace) change(channelID string, do func(*channel) error) error {
	_, err := inChannel(w, channelID, func(c *channel) (any, error) {
		err := do(c)
		if err == nil {
			w.tell(Change{Kind: "channel", Channel: c.ID, Data: c.view()})
		}
		return nil, err
	})
	return err
}
