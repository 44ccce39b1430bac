package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"ringi/shared/slack/slackapi/inbound"
)

// app is the id of the Slack app that sends the calls.
const app = "A0SMOKE00"

// slack calls the deployment as Slack does.
type slack struct {
	http                           *http.Client
	secret                         string
	events, interactions, commands string
}

// event sends an event of Slack's Events API.
func (s slack) event(ctx context.Context, v map[string]any) (status int, answer string, err error) {
	body, err := json.Marshal(v)
	if err != nil {
		return 0, "", err
	}
	return s.send(ctx, s.events, "application/json", string(body))
}

// callback wraps an event of the workspace as Slack does.
func callback(id string, event map[string]any) map[string]any {
	return map[string]any{
		"type": "event_callback", "team_id": slackTeam, "api_app_id": app, "event_id": id, "event_time": time.Now().Unix(),
		"event": event, "is_ext_shared_channel": false,
		"authorizations": []any{map[string]any{"team_id": slackTeam, "user_id": slackBot, "is_bot": true}},
	}
}

// mention is the event of a message to the bot in the channel.
func mention(text, ts string) map[string]any {
	return callback("Ev"+strings.ReplaceAll(ts, ".", ""), map[string]any{
		"type": "app_mention", "user": slackAsker, "team": slackTeam, "channel": slackChannel, "text": text, "ts": ts,
		"event_ts": ts,
	})
}

// homeOpened is the event of a person who opens the app's Home tab.
func homeOpened() map[string]any {
	return callback("EvHOME", map[string]any{
		"type": "app_home_opened", "user": slackStamper, "channel": slackDirect, "tab": "home", "event_ts": "1.000100",
	})
}

// command types /ringi and a text in the channel, as Asker.
func (s slack) command(ctx context.Context, text string) (status int, answer string, err error) {
	form := url.Values{
		"command": {"/ringi"}, "text": {text}, "team_id": {slackTeam}, "channel_id": {slackChannel}, "user_id": {slackAsker},
		"api_app_id": {app}, "trigger_id": {"1.2.3"}, "is_enterprise_install": {"false"},
	}
	return s.send(ctx, s.commands, "application/x-www-form-urlencoded", form.Encode())
}

func (s slack) click(ctx context.Context, action, block, id, ts, thread string) (status int, answer string, err error) {
	payload, err := json.Marshal(map[string]any{
		"type": "block_actions", "api_app_id": app, "trigger_id": "1.2.3",
		"user": map[string]any{"id": slackStamper, "team_id": slackTeam}, "team": map[string]any{"id": slackTeam},
		"channel": map[string]any{"id": slackChannel},
		"container": map[string]any{"type": "message_attachment", "channel_id": slackChannel, "message_ts": ts,
			"thread_ts": thread},
		"message": map[string]any{"ts": ts, "thread_ts": thread},
		"actions": []any{map[string]any{"type": "button", "action_id": action, "block_id": block, "value": id}},
	})
	if err != nil {
		return 0, "", err
	}
	return s.send(ctx, s.interactions, "application/x-www-form-urlencoded",
		url.Values{"payload": {string(payload)}}.Encode())
}

func (s slack) send(ctx context.Context, to, kind, body string) (status int, answer string, err error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", kind)
	r.Header.Set(inbound.HeaderTimestamp, stamp)
	r.Header.Set(inbound.HeaderSignature, inbound.Sign(stamp, []byte(body), s.secret))
	resp, err := s.http.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	if err != nil {
		return 0, "", fmt.Errorf("read the answer: %w", err)
	}
	return resp.StatusCode, string(text), nil
}
