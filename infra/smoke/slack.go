package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/slack/slackapi/inbound"
)

// app is the id of the Slack app that sends the calls.
const app = "A0SMOKE00"

// slack calls the deployment as Slack does.
type slack struct {
	http                 *http.Client
	secret               string
	events, interactions string
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

// The only workspace has a channel with a bot and two people.
const (
	slackTeam    = "T0SMOKE00"
	slackChannel = "C0SMOKE00"
	slackBot     = "U0RINGI00"
	slackAsker   = "U0ASKER00"
	slackStamper = "U0STAMP00"
	slackDirect  = "D0SMOKE00" // direct messages with the bot
)

// standIn stands in for Slack: it answers the methods of its Web API that one task of the smoke test needs. It stores
// nothing, so any number of processes can answer at once. It serves /api/<method>. It refuses other methods by name.
func standIn() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		method, ok := strings.CutPrefix(r.URL.Path, "/api/")
		if !ok {
			http.NotFound(w, r)
			return
		}
		_ = r.ParseForm() // an unreadable form has no fields
		answer := methods(method, r.Form.Get)
		if answer == nil {
			answer = map[string]any{"ok": false, "error": "unknown_method"}
		} else {
			answer["ok"] = true
		}
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		_ = json.NewEncoder(w).Encode(answer)
	})
}

// methods returns a method's answer without its ok; nil if the method is unknown.
func methods(method string, field func(string) string) map[string]any {
	none := map[string]any{"next_cursor": ""}
	switch method {
	case "auth.test":
		return map[string]any{"url": "https://smoke.slack.com/", "team": "smoke", "user": "ringi", "team_id": slackTeam,
			"user_id": slackBot, "bot_id": "B0RINGI00"}
	case "team.info":
		return map[string]any{"team": map[string]any{"id": slackTeam, "name": "smoke", "domain": "smoke"}}
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
	case "views.publish":
		return map[string]any{"view": map[string]any{"id": "V0SMOKE00", "type": "home"}}
	case "chat.delete":
		return map[string]any{"channel": field("channel"), "ts": field("ts")}
	}
	return nil
}

// timestamp names a message as Slack does.
func timestamp(at time.Time) string {
	return fmt.Sprintf("%d.%06d", at.Unix(), at.Nanosecond()/1000)
}

// answerCall answers one request of the HTTP API with the stand-in.
func answerCall(ctx context.Context, in events.APIGatewayV2HTTPRequest) (events.APIGatewayV2HTTPResponse, error) {
	body := in.Body
	if in.IsBase64Encoded {
		b, err := base64.StdEncoding.DecodeString(body)
		if err != nil {
			return events.APIGatewayV2HTTPResponse{StatusCode: http.StatusBadRequest}, nil
		}
		body = string(b)
	}
	r, err := http.NewRequestWithContext(ctx, in.RequestContext.HTTP.Method, in.RawPath+"?"+in.RawQueryString,
		strings.NewReader(body))
	if err != nil {
		return events.APIGatewayV2HTTPResponse{}, fmt.Errorf("read the request: %w", err)
	}
	for name, value := range in.Headers {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	standIn().ServeHTTP(w, r)
	return events.APIGatewayV2HTTPResponse{StatusCode: w.Code,
		Headers: map[string]string{"content-type": w.Header().Get("Content-Type")}, Body: w.Body.String()}, nil
}
