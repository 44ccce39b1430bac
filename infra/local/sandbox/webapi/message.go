package webapi

import (
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"ringi/shared/words/language"
)

// Message is a message as Slack's Web API shows it.
type Message struct {
	Type        string         `json:"type"`
	Subtype     string         `json:"subtype,omitempty"`
	User        string         `json:"user,omitempty"`
	BotID       string         `json:"bot_id,omitempty"`
	AppID       string         `json:"app_id,omitempty"`
	Text        string         `json:"text"`
	Team        string         `json:"team,omitempty"`
	BotProfile  *BotProfile    `json:"bot_profile,omitempty"`
	Blocks      []any          `json:"blocks,omitempty"`
	Attachments []any          `json:"attachments,omitempty"`
	Files       []File         `json:"files,omitempty"`
	Metadata    map[string]any `json:"metadata,omitempty"`
	Edited      *Edited        `json:"edited,omitempty"`
	TS          string         `json:"ts"`
	ThreadTS    string         `json:"thread_ts,omitempty"`
	ReplyCount  int            `json:"reply_count,omitempty"`
	IsEphemeral bool           `json:"is_ephemeral,omitempty"`

	// Channel and To are internal: Slack's messages don't have them. To is the person who sees an ephemeral
	// message.
	Channel string `json:"-"`
	To      string `json:"-"`
}

// Link is the address of a message in the workspace at this address.
func (m Message) Link(self string) string {
	link := fmt.Sprintf("%s/archives/%s/p%s", self, m.Channel, strings.ReplaceAll(m.TS, ".", ""))
	if m.ThreadTS != "" && m.ThreadTS != m.TS {
		link += "?thread_ts=" + m.ThreadTS + "&cid=" + m.Channel
	}
	return link
}

type BotProfile struct {
	ID     string `json:"id"`
	AppID  string `json:"app_id"`
	Name   string `json:"name"`
	TeamID string `json:"team_id"`
}

// Edited records who last changed a message's text, and when, in whole seconds as in Slack's recorded events
// (https://github.com/slack-go/slack/pull/1256).
type Edited struct {
	User string `json:"user"`
	TS   string `json:"ts"`
}

// Patch changes a message as chat.update does: nil fields are not changed.
type Patch struct {
	Text        *string
	Blocks      []any
	Attachments []any
	Metadata    map[string]any
}

// Post adds a message, and returns it with what Slack adds. A person's with a BotID is one that an app sends with the
// person's token. Post returns ChannelNotFound, NotInChannel, IsArchived or ThreadNotFound.
func (w *Workspace) Post(m Message) (Message, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c, err := w.open(m.Channel, m.User)
	if err != nil {
		return Message{}, err
	}
	parent := -1
	if m.ThreadTS != "" {
		if parent = c.find(m.ThreadTS); parent < 0 {
			return Message{}, ThreadNotFound
		}
		// A reply to a reply belongs to the same thread.
		if root := c.messages[parent].ThreadTS; root != "" && root != m.ThreadTS {
			m.ThreadTS = root
			parent = c.find(root)
		}
	}
	m = w.compose(c, m)
	c.messages = append(c.messages, m)
	w.tell(Change{Message: new(m)})
	if parent >= 0 {
		w.countReplies(c, parent)
	}
	return m, nil
}

// open returns a channel that user may write to.
func (w *Workspace) open(channelID, user string) (*channel, error) {
	c, err := w.channel(channelID)
	if err != nil {
		return nil, err
	}
	if c.Archived {
		return nil, IsArchived
	}
	if !c.has(user) {
		return nil, NotInChannel
	}
	return c, nil
}

// compose adds what Slack adds to a message of somebody in the channel.
func (w *Workspace) compose(c *channel, m Message) Message {
	u, _ := w.user(m.User) // whoever is in a channel exists
	m.Type, m.Team, m.TS, m.Channel = "message", u.TeamID, w.timestamp(), c.ID
	m.Blocks, m.Attachments, m.Files = w.fill(m.Blocks), w.fillAttachments(m.Attachments), w.keep(m.Files)
	if m.User == Bot || m.BotID != "" {
		m.BotID, m.AppID = BotID, w.cfg.AppID
		m.BotProfile = &BotProfile{ID: BotID, AppID: w.cfg.AppID, Name: "Ringi", TeamID: w.cfg.TeamID}
	}
	return m
}

// countReplies updates the reply fields of a thread's first message.
func (w *Workspace) countReplies(c *channel, parent int) {
	root := &c.messages[parent]
	root.ReplyCount, root.ThreadTS = 0, ""
	for _, m := range c.messages {
		if m.ThreadTS == root.TS && m.TS != root.TS {
			root.ReplyCount++
		}
	}
	if root.ReplyCount > 0 {
		root.ThreadTS = root.TS
	}
	w.tell(Change{})
}

// fill adds missing block_ids, as Slack does.
func (w *Workspace) fill(blocks []any) []any {
	if len(blocks) == 0 {
		return nil
	}
	out := make([]any, len(blocks))
	for i, b := range blocks {
		m, ok := b.(map[string]any)
		if id, _ := m["block_id"].(string); !ok || id != "" {
			out[i] = b
			continue
		}
		named := maps.Clone(m)
		named["block_id"] = fmt.Sprintf("b%04x", w.next())
		out[i] = named
	}
	return out
}

// fillAttachments numbers attachments from 1 and removes the # of their colors.
func (w *Workspace) fillAttachments(attachments []any) []any {
	if len(attachments) == 0 {
		return nil
	}
	out := make([]any, 0, len(attachments))
	for i, a := range attachments {
		m, _ := a.(map[string]any)
		kept := map[string]any{}
		maps.Copy(kept, m)
		kept["id"] = i + 1
		if color, ok := kept["color"].(string); ok {
			kept["color"] = strings.TrimPrefix(color, "#")
		}
		if blocks, ok := kept["blocks"].([]any); ok {
			kept["blocks"] = w.fill(blocks)
		}
		if s, _ := kept["fallback"].(string); s == "" {
			kept["fallback"] = "[no preview available]"
		}
		out = append(out, kept)
	}
	return out
}

// message is what a call asks to post.
func (c content) message(p params) Message {
	m := Message{
		Channel: p.str("channel"), User: Bot, ThreadTS: p.str("thread_ts"),
		Text: language.First(c.text, maxText), Blocks: c.blocks, Attachments: c.attachments, Metadata: c.metadata,
	}
	if kind, _ := m.Metadata["event_type"].(string); kind == "" {
		m.Metadata = nil
	}
	return m
}

func postMessage(a *API, p params) (reply, error) {
	c, err := readSomeContent(p)
	if err != nil {
		return nil, err
	}
	m, err := a.Post(c.message(p))
	return reply{"channel": m.Channel, "ts": m.TS, "message": m}, err
}

func updateMessage(a *API, p params) (reply, error) {
	c, err := readContent(p)
	if err != nil {
		return nil, err
	}
	if utf8.RuneCountInString(c.text) > maxUpdateText {
		return nil, refuse("msg_too_long")
	}
	patch := Patch{Blocks: c.blocks, Attachments: c.attachments, Metadata: c.metadata}
	if c.text != "" {
		patch.Text = &c.text
	}
	if patch.Text == nil && c.blocks == nil && c.attachments == nil {
		return nil, refuse("no_text")
	}
	m, err := a.Update(p.str("channel"), p.str("ts"), Bot, patch)
	return reply{"channel": m.Channel, "ts": m.TS, "text": m.Text, "message": m}, err
}

func deleteMessage(a *API, p params) (reply, error) {
	return reply{"channel": p.str("channel"), "ts": p.str("ts")}, a.Delete(p.str("channel"), p.str("ts"), Bot)
}

func postEphemeral(a *API, p params) (reply, error) {
	c, err := readSomeContent(p)
	if err != nil {
		return nil, err
	}
	m := c.message(p)
	m.Metadata = nil
	m, err = a.PostEphemeral(p.str("user"), m)
	return reply{"message_ts": m.TS}, err
}

func getPermalink(a *API, p params) (reply, error) {
	c, err := a.Channel(p.str("channel"))
	if err != nil {
		return nil, err
	}
	m, err := a.Message(c.ID, p.str("message_ts"), "")
	if err != nil {
		return nil, err
	}
	return reply{"channel": c.ID, "permalink": m.Link(a.Self)}, nil
}
