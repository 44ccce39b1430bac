package main

import (
	"errors"
	"testing"

	"ringi/shared/slackapi/inbound"
	"ringi/shared/task"
)

// Where the secret names the deployment's own workspace, events of others are accepted, counted and leave nothing
// behind, unless the workspace has connected Slack itself. Our own people are heard in channels that others host, too.
func TestWorkspacesThatAreNotOurs(t *testing.T) {
	of := func(team string) map[string]any {
		return map[string]any{"team_id": team, "authorizations": []any{map[string]any{"team_id": team, "user_id": "U0BOT", "is_bot": true}}}
	}
	connected := []task.Integration{{Provider: task.SlackProvider, Status: task.Connected, Credentials: "sealed"}}
	removed := []task.Integration{{Provider: task.SlackProvider, Status: task.Disconnected}}
	opened := map[string]any{"type": "app_home_opened", "tab": "messages", "channel": "D0DM", "user": "U0BOB"}
	for name, tt := range map[string]struct {
		own    string
		store  kept
		fields map[string]any
		outer  map[string]any
		writes int
		looks  int
	}{
		"our own":                          {"T0TEAM", kept{}, nil, of("T0TEAM"), 1, 0},
		"another's":                        {"T0TEAM", kept{}, map[string]any{"team": "T0OTHER"}, of("T0OTHER"), 0, 1},
		"another's that removed the app":   {"T0TEAM", kept{others: removed}, map[string]any{"team": "T0OTHER"}, of("T0OTHER"), 0, 1},
		"another's that connected Slack":   {"T0TEAM", kept{others: connected}, map[string]any{"team": "T0OTHER"}, of("T0OTHER"), 1, 1},
		"another's greeting":               {"T0TEAM", kept{}, opened, of("T0OTHER"), 0, 1},
		"another's goodbye":                {"T0TEAM", kept{}, map[string]any{"type": "app_uninstalled"}, of("T0OTHER"), 0, 1},
		"nobody can look":                  {"T0TEAM", kept{blind: errors.New("no table")}, map[string]any{"team": "T0OTHER"}, of("T0OTHER"), 1, 1},
		"nobody said which is ours":        {"", kept{}, map[string]any{"team": "T0OTHER"}, of("T0OTHER"), 1, 0},
		"ours in a channel of another":     {"T0TEAM", kept{}, nil, map[string]any{"team_id": "T0OTHER", "context_team_id": "T0TEAM", "is_ext_shared_channel": true}, 1, 0},
		"ours, by the context alone":       {"T0TEAM", kept{}, nil, map[string]any{"team_id": "T0OTHER", "context_team_id": "T0TEAM", "authorizations": nil, "is_ext_shared_channel": true}, 1, 0},
		"a stranger in a channel of ours":  {"T0TEAM", kept{}, map[string]any{"team": "T0OTHER", "user_team": "T0OTHER"}, map[string]any{"is_ext_shared_channel": true}, 0, 0},
		"nobody's in a channel of another": {"T0TEAM", kept{}, map[string]any{"team": nil}, map[string]any{"team_id": "T0OTHER", "is_ext_shared_channel": true}, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			h := handler(&tt.store)
			h.Edge.Keys = inbound.Fixed{Secret: signingSecret, Team: tt.own}
			out := post(t, h, signed(callback(t, tt.fields, tt.outer)))
			if n := len(tt.store.changes) + len(tt.store.ended); out.StatusCode != 200 || n != tt.writes || tt.store.looked != tt.looks {
				t.Errorf("answered %d, wrote %d times, looked %d times", out.StatusCode, n, tt.store.looked)
			}
		})
	}
}
