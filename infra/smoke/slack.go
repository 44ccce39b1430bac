package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/slack/slackapi"
)

// The only workspace has a channel with a bot and two people.
const (
	app          = "A0SMOKE00"
	slackTeam    = "T0SMOKE00"
	slackChannel = "C0SMOKE00"
	slackBot     = "U0RINGI00"
	slackAsker   = "U0ASKER00"
	slackStamper = "U0STAMP00"
	slackDirect  = "D0SMOKE00" // direct messages with the bot
)

// mention is the event of a message to the bot in the channel.
func mention(text, ts string) map[string]any {
	return map[string]any{
		"type": "event_callback", "team_id": slackTeam, "api_app_id": app, "event_id": "Ev" + strings.ReplaceAll(ts, ".", ""),
		"event_time": time.Now().Unix(), "is_ext_shared_channel": false,
		"authorizations": []any{map[string]any{"team_id": slackTeam, "user_id": slackBot, "is_bot": true}},
		"event": map[string]any{"type": "app_mention", "user": slackAsker, "team": slackTeam, "channel": slackChannel,
			"text": text, "ts": ts, "event_ts": ts},
	}
}

// event sends an event of Slack's Events API.
func (w *walk) event(ctx context.Context, secret string, v map[string]any) (status int, answer string, err error) {
	body, err := json.Marshal(v)
	if err != nil {
		return 0, "", err
	}
	return send(ctx, w.outputs["EventsUrl"], "application/json", string(body), secret)
}

func (w *walk) click(ctx context.Context, action, block, id, ts string) (status int, answer string, err error) {
	payload, err := json.Marshal(map[string]any{
		"type": "block_actions", "api_app_id": app, "trigger_id": "1.2.3",
		"user": map[string]any{"id": slackStamper, "team_id": slackTeam}, "team": map[string]any{"id": slackTeam},
		"channel": map[string]any{"id": slackChannel},
		"container": map[string]any{"type": "message_attachment", "channel_id": slackChannel, "message_ts": ts,
			"thread_ts": w.ts},
		"message": map[string]any{"ts": ts, "thread_ts": w.ts},
		"actions": []any{map[string]any{"type": "button", "action_id": action, "block_id": block, "value": id}},
	})
	if err != nil {
		return 0, "", err
	}
	return send(ctx, w.outputs["InteractionsUrl"], "application/x-www-form-urlencoded",
		url.Values{"payload": {string(payload)}}.Encode(), w.secret)
}

// send calls the deployment as Slack does.
func send(ctx context.Context, to, kind, body, secret string) (status int, answer string, err error) {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, to, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	r.Header.Set("Content-Type", kind)
	r.Header.Set(slackapi.HeaderTimestamp, stamp)
	r.Header.Set(slackapi.HeaderSignature, slackapi.Sign(stamp, []byte(body), secret))
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, 1<<20))
	return resp.StatusCode, string(text), err
}

// answerCall stands in for Slack: it answers the methods of its Web API that one task of the smoke test needs, and
// refuses others by name. It stores nothing, so any number of processes can answer at once. Forms reach it
// base64-encoded.
func answerCall(_ context.Context, in events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	form := in.Body
	if in.IsBase64Encoded {
		decoded, err := base64.StdEncoding.DecodeString(form)
		if err != nil {
			return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusBadRequest}, nil
		}
		form = string(decoded)
	}
	fields, _ := url.ParseQuery(form) // an unreadable form has no fields
	answer := methods(strings.TrimPrefix(in.RawPath, "/api/"), fields.Get)
	if answer == nil {
		answer = map[string]any{"error": "unknown_method"}
	}
	answer["ok"] = answer["error"] == nil
	body, err := json.Marshal(answer)
	return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusOK,
		Headers: map[string]string{"content-type": "application/json; charset=utf-8"}, Body: string(body)}, err
}

// methods returns a method's answer without its ok; nil if the method is unknown.
func methods(method string, field func(string) string) map[string]any {
	none := map[string]any{"next_cursor": ""}
	switch method {
	case "auth.test":
		return map[string]any{"url": "https://smoke.slack.com/", "team": "smoke", "user": "ringi", "team_id": slackTeam,
			"user_id": slackBot, "bot_id": "B0RINGI00"}
	case "users.info":
		id := field("user")
		return map[string]any{"user": map[string]any{"id": id, "team_id": slackTeam, "name": strings.ToLower(id),
			"real_name": id}}
	case "users.conversations":
		return map[string]any{"channels": []any{map[string]any{"id": slackChannel}}, "response_metadata": none}
	case "conversations.open":
		return map[string]any{"channel": map[string]any{"id": slackDirect}}
	case "conversations.history", "conversations.replies":
		return map[string]any{"messages": []any{}, "has_more": false, "response_metadata": none}
	case "chat.postMessage":
		return map[string]any{"channel": field("channel"), "ts": timestamp(time.Now())}
	case "chat.update":
		return map[string]any{"channel": field("channel"), "ts": field("ts"), "text": field("text")}
	case "chat.postEphemeral":
		return map[string]any{"message_ts": timestamp(time.Now())}
	case "chat.delete":
		return map[string]any{"channel": field("channel"), "ts": field("ts")}
	}
	return nil
}

// timestamp names a message as Slack does.
func timestamp(at time.Time) string {
	return fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000)
}
