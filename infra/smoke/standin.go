package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
)

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
