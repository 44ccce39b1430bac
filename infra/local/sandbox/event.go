package sandbox

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"ringi/infra/local/sandbox/webapi"
	"strings"
)

// Mention returns a text that mentions the bot.
func Mention(text string) string { return "<@" + webapi.Bot + "> " + text }

// emit wraps an event in Slack's envelope and delivers it. about is the timestamp by which Redeliver finds the event
// again.
func (s *Sandbox) emit(user, channel, about string, inner map[string]any) {
	id := "Ev" + rand.Text()[:9]
	body, err := json.Marshal(map[string]any{
		"token": "sandbox-verification-token", "team_id": s.ws.TeamID(), "api_app_id": s.ws.AppID(), "event": inner, "type": "event_callback",
		"event_id": id, "event_time": s.opts.Now().Unix(), "is_ext_shared_channel": s.external(channel),
		"authorizations": []any{map[string]any{
			"enterprise_id": nil, "team_id": s.ws.TeamID(), "user_id": webapi.Bot, "is_bot": true, "is_enterprise_install": false,
		}},
		"event_context": "4-" + strings.ToLower(id),
	})
	if err != nil {
		s.opts.Logger.Error("encode event", "err", err)
		return
	}
	e := Event{ID: id, Kind: fmt.Sprint(inner["type"]), User: user, Channel: channel, TS: about, Body: body}
	s.mu.Lock()
	s.sent[channel+about] = e
	s.mu.Unlock()
	s.sender.Deliver(e)
}

// external reports whether a channel is the one that is shared with another organization.
func (s *Sandbox) external(channel string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return channel == s.shares
}

// ChangeChannelID gives a channel another id, and returns it. Slack tells apps of that
// (https://docs.slack.dev/reference/events/channel_id_changed). It returns ChannelNotFound for a direct message.
func (s *Sandbox) ChangeChannelID(channel string) (string, error) {
	is, err := s.ws.ChangeID(channel)
	if err != nil {
		return "", fmt.Errorf("give %s another id: %w", channel, err)
	}
	s.mu.Lock()
	if s.shares == channel {
		s.shares = is
	}
	for key, e := range s.sent {
		if e.Channel == channel {
			s.sent[is+strings.TrimPrefix(key, channel)] = e
		}
	}
	for key, a := range s.marks {
		if a.Channel == channel {
			delete(s.marks, key)
			a.Channel = is
			s.marks[is+a.TS] = a
		}
	}
	s.mu.Unlock()
	s.emit("", is, "", map[string]any{
		"type": "channel_id_changed", "old_channel_id": channel, "new_channel_id": is, "event_ts": s.now(),
	})
	return is, nil
}

// echo sends the events that Slack sends about messages where the app is: every message and its changes, and app_mention
// for those that mention the app's bot user, again after each edit. The app's own come in direct messages alone, so that
// a channel's cards don't keep the app busy.
func (s *Sandbox) echo(c webapi.Change) {
	if c.Kind != "message" && c.Kind != "deleted" {
		return
	}
	about, kind := "", "channel" // in channels app_mention is the event of a message
	author := c.Message
	if c.Previous != nil {
		author = c.Previous
	}
	switch {
	case strings.HasPrefix(c.Channel, "D"):
		about, kind = c.TS, "im"
	case strings.HasPrefix(c.Channel, "G"):
		kind = "group"
	}
	if kind != "im" && author.User == webapi.Bot {
		return
	}
	if c.Kind == "message" && kind != "im" && strings.Contains(c.Message.Text, "<@"+webapi.Bot+">") &&
		(c.Previous == nil || c.Message.Text != c.Previous.Text) {
		s.emit(c.Message.User, c.Channel, c.TS, s.mentioned(*c.Message))
	}
	if c.Kind == "message" && c.Previous == nil {
		inner := s.event("message", *c.Message)
		inner["channel_type"] = kind
		s.emit(c.Message.User, c.Channel, about, inner)
		return
	}
	now := s.now()
	inner := map[string]any{
		"type": "message", "subtype": "message_changed", "hidden": true, "message": c.Message, "previous_message": c.Previous,
		"channel": c.Channel, "channel_type": kind, "ts": now, "event_ts": now,
	}
	if c.Kind == "deleted" {
		delete(inner, "message")
		inner["subtype"], inner["deleted_ts"] = "message_deleted", c.TS
	}
	s.emit(author.User, c.Channel, "", inner)
}

// mentioned returns a message as app_mention has it: with its files, and without a subtype
// (https://github.com/seratch/seratch-slack-types/issues/8).
func (s *Sandbox) mentioned(m webapi.Message) map[string]any {
	inner := s.event("app_mention", m)
	delete(inner, "subtype")
	if len(m.Files) > 0 {
		inner["upload"], inner["display_as_bot"] = false, false
	}
	return inner
}

// event returns a message as an event of this type has it.
func (s *Sandbox) event(kind string, m webapi.Message) map[string]any {
	inner := decoded(m)
	inner["type"], inner["channel"], inner["event_ts"] = kind, m.Channel, m.TS
	if m.Team != s.ws.TeamID() {
		inner["user_team"], inner["source_team"] = m.Team, m.Team
	}
	return inner
}

// Redeliver sends the event about a message again, with several copies at once and without retries, and returns the
// app's answers. It returns an error if no event was sent about that message.
func (s *Sandbox) Redeliver(channel, ts string, copies int) ([]Attempt, error) {
	s.mu.Lock()
	e, ok := s.sent[channel+ts]
	s.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("redeliver: no event was sent about message %s in %s", ts, channel)
	}
	return s.sender.Repeat(e, copies), nil
}

// StopAgent presses the stop button that Slack shows in a thread while the app's agent is processing.
func (s *Sandbox) StopAgent(user, channel, thread string) error {
	if _, err := s.ws.Message(channel, thread, user); err != nil {
		return fmt.Errorf("stop the agent in %s: %w", thread, err)
	}
	for _, x := range s.ws.Sessions(channel) {
		if x.ThreadTS == thread && x.Status == "processing" {
			s.emit(user, channel, "", map[string]any{
				"type": "agent_session_stopped", "channel": channel, "thread_ts": thread, "user": user,
				"streaming_message_ts": s.ws.StopStreams(channel, thread), "event_ts": s.now(),
			})
			return nil
		}
	}
	return fmt.Errorf("stop the agent in %s: it is not processing", thread)
}
