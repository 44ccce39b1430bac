// Package standin answers the methods of Slack's Web API that one task of the smoke test needs. It stores nothing, so
// any number of processes can answer at once.
package standin

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// The only workspace has a channel with a bot and two people.
const (
	Team    = "T0SMOKE00"
	Channel = "C0SMOKE00"
	Bot     = "U0RINGI00"
	Asker   = "U0ASKER00"
	Stamper = "U0STAMP00"
	Direct  = "D0SMOKE00" // direct messages with the bot
)

// Handler serves /api/<method>. It refuses other methods by name.
func Handler() http.Handler {
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
		return map[string]any{"url": "https://smoke.slack.com/", "team": "smoke", "user": "ringi", "team_id": Team, "user_id": Bot, "bot_id": "B0RINGI00"}
	case "team.info":
		return map[string]any{"team": map[string]any{"id": Team, "name": "smoke", "domain": "smoke"}}
	case "users.info":
		id := field("user")
		return map[string]any{"user": map[string]any{"id": id, "team_id": Team, "name": strings.ToLower(id), "real_name": id}}
	case "users.conversations":
		return map[string]any{"channels": []any{map[string]any{"id": Channel}}, "response_metadata": none}
	case "conversations.open":
		return map[string]any{"channel": map[string]any{"id": Direct}}
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
