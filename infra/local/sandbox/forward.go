package sandbox

import (
	"encoding/json"
	"fmt"
	"ringi/infra/local/sandbox/webapi"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Forward sends a message that the person can see to a channel or direct message, with what the person writes to it,
// and returns the new message's ts. It returns MessageNotFound for a deleted message, NotInChannel if the person is not
// where it is or is to go, or another error of Post.
func (s *Sandbox) Forward(user, channel, ts, to, text string) (string, error) {
	shared, err := s.shared(user, channel, ts)
	if err != nil {
		return "", fmt.Errorf("forward %s as %s: %w", ts, user, err)
	}
	text, blocks := composed(text)
	m, err := s.ws.Post(webapi.Draft{Channel: to, User: user, Text: text, Blocks: blocks, Attachments: []any{shared}})
	if err != nil {
		return "", fmt.Errorf("forward %s to %s: %w", ts, to, err)
	}
	return m.TS, nil
}

// shared returns a message as the attachment by which Slack forwards it, with the members that tests of public clients
// recorded. An app's message has its bot's id in place of an author's.
func (s *Sandbox) shared(user, channel, ts string) (map[string]any, error) {
	c, err := s.ws.Channel(channel)
	if err != nil {
		return nil, err
	}
	m, err := s.ws.Message(c.ID, ts, "")
	if err != nil {
		return nil, err
	}
	author, odd := s.ws.User(m.User)
	switch {
	case !slices.Contains(c.Members, user):
		return nil, webapi.NotInChannel
	case m.Subtype == "tombstone" || odd != nil:
		return nil, webapi.MessageNotFound
	}
	said := map[string]any{"blocks": append([]any{}, m.Blocks...)}
	if len(m.Attachments) > 0 {
		said["attachments"] = m.Attachments
	}
	seconds, _ := strconv.ParseFloat(m.TS, 64)
	at := time.Unix(int64(seconds), 0).UTC().Format("January 2, 2006 3:04 PM")
	out := map[string]any{
		"ts": m.TS, "channel_id": c.ID, "channel_team": s.ws.TeamID(), "is_msg_unfurl": true, "is_share": true,
		"from_url":       m.Link(s.endpoints().Self),
		"message_blocks": []any{map[string]any{"team": m.Team, "channel": c.ID, "ts": m.TS, "message": said}},
		"author_name":    author.Name, "author_subname": author.Handle,
		"text": m.Text, "fallback": fmt.Sprintf("[%s] %s: %s", at, author.Handle, m.Text), "color": "D0D0D0",
		"mrkdwn_in": []any{"text"}, "footer": "Slack Conversation",
	}
	if m.BotID != "" {
		out["bot_id"] = m.BotID
	} else {
		out["author_id"] = m.User
	}
	if len(m.Files) > 0 {
		out["files"] = m.Files
	}
	return decoded(out), nil
}

// postForward forwards a message for the page, which sends what was typed.
func (s *Sandbox) postForward(in target) (any, error) {
	text := strings.TrimSpace(in.Text)
	if err := checkTyped(text, 0); err != nil {
		return nil, err
	}
	ts, err := s.Forward(in.User, in.Channel, in.TS, in.To, s.typed(text))
	return map[string]string{"ts": ts}, err
}

// decoded returns a value as JSON has it.
func decoded(v any) (out map[string]any) {
	raw, err := json.Marshal(v)
	if err == nil {
		err = json.Unmarshal(raw, &out)
	}
	if err != nil {
		panic("a message was made of JSON: " + err.Error())
	}
	return out
}
