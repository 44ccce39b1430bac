package main

import "testing"

// In a channel that workspaces share, an event is for the one whose app it is sent to. Our own people are heard in
// channels that others host, and nobody else is there.
func TestWhoseWorkspaceAnEventIsFor(t *testing.T) {
	shared := func(team string, more map[string]any) map[string]any {
		out := map[string]any{"team_id": team, "is_ext_shared_channel": true}
		merge(out, more)
		return out
	}
	for name, tt := range map[string]struct {
		fields map[string]any
		outer  map[string]any
		kept   bool
	}{
		"our own":                          {nil, nil, true},
		"ours in a channel of another":     {nil, shared("T0OTHER", map[string]any{"context_team_id": "T0TEAM"}), true},
		"ours, by the context alone":       {nil, shared("T0OTHER", map[string]any{"context_team_id": "T0TEAM", "authorizations": nil}), true},
		"a stranger in a channel of ours":  {map[string]any{"team": "T0OTHER", "user_team": "T0OTHER"}, shared("T0TEAM", nil), false},
		"nobody's in a channel of another": {map[string]any{"team": nil}, shared("T0OTHER", nil), false},
	} {
		t.Run(name, func(t *testing.T) {
			var k kept
			out := post(t, handler(&k), signed(callback(t, tt.fields, tt.outer)))
			if out.StatusCode != 200 || len(k.changes) > 0 != tt.kept {
				t.Errorf("answered %d, kept %d", out.StatusCode, len(k.changes))
			}
			if tt.kept && k.request(t).TeamID != "T0TEAM" {
				t.Errorf("for %s", k.request(t).TeamID)
			}
		})
	}
}

// An installation for a whole organization is refused: nothing is written, and Slack need not send the event again.
func TestOrganizationsInstallationsAreRefused(t *testing.T) {
	for name, outer := range map[string]map[string]any{
		"with a workspace": {"authorizations": []any{map[string]any{"enterprise_id": "E1", "team_id": "T0TEAM", "user_id": "U0BOT", "is_bot": true, "is_enterprise_install": true}}},
		"without one":      {"team_id": nil, "enterprise_id": "E1", "authorizations": []any{map[string]any{"enterprise_id": "E1", "team_id": nil, "user_id": "U0BOT", "is_bot": true, "is_enterprise_install": true}}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{}
			if out := post(t, handler(k), signed(callback(t, nil, outer))); out.StatusCode != 200 || len(k.changes) != 0 {
				t.Errorf("answered %d, wrote %d times", out.StatusCode, len(k.changes))
			}
		})
	}
}
