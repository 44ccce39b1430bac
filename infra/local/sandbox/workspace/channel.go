package workspace

import "slices"

type channel struct {
	Channel
	messages []Message
}

// Channel describes a channel, or a direct message when IM is the person.
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

// find is where the message with that ts stands, or -1.
func (c *channel) find(ts string) int {
	return slices.IndexFunc(c.messages, func(m Message) bool { return m.TS == ts })
}

// Channels lists all channels and direct messages.
func (w *Workspace) Channels() []Channel {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make([]Channel, 0, len(w.channels))
	for _, c := range w.channels {
		all = append(all, c.view())
	}
	return all
}

// Channel finds a channel by id; a person's id finds the direct message with
// the bot, as Slack's methods do. It returns ChannelNotFound otherwise.
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

// SetMember puts a person or the bot into a channel, or takes them out.
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

// SetArchived archives a channel or brings it back.
func (w *Workspace) SetArchived(channelID string, archived bool) error {
	return w.change(channelID, func(c *channel) error { c.Archived = archived; return nil })
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
