package main

import (
	"errors"
	"slices"
	"testing"

	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// In a channel that workspaces share, an event belongs to the workspace whose app receives it. Only that workspace's
// own people may ask there.
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
			expect.That(t, out.StatusCode == 200 && len(k.changes) > 0 == tt.kept,
				"answered %d, kept %d", out.StatusCode, len(k.changes))
			if tt.kept && k.request(t).TeamID != "T0TEAM" {
				t.Errorf("for %s", k.request(t).TeamID)
			}
		})
	}
}

// An installation for a whole organization is refused: nothing is written, and Slack doesn't repeat the event.
func TestOrganizationsInstallationsAreRefused(t *testing.T) {
	for name, outer := range map[string]map[string]any{
		"with a workspace": {"authorizations": []any{map[string]any{"enterprise_id": "E1", "team_id": "T0TEAM", "user_id": "U0BOT", "is_bot": true, "is_enterprise_install": true}}},
		"without one":      {"team_id": nil, "enterprise_id": "E1", "authorizations": []any{map[string]any{"enterprise_id": "E1", "team_id": nil, "user_id": "U0BOT", "is_bot": true, "is_enterprise_install": true}}},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{}
			out := post(t, handler(k), signed(callback(t, nil, outer)))
			expect.That(t, out.StatusCode == 200 && len(k.changes) == 0,
				"answered %d, wrote %d times", out.StatusCode, len(k.changes))
		})
	}
}

// When an organization ends the app, the event names no workspace. Exactly those of its workspaces that Ringi serves
// are disconnected.
func TestAnOrganizationEndsWhatIsOursInIt(t *testing.T) {
	of := map[string][]tenancy.Tenant{
		"E0ORG":   {{ID: "01FIRST", BotUserID: "U0FIRST"}, {ID: "01SECOND", BotUserID: "U0SECOND"}},
		"E0OTHER": {{ID: "01OTHER", BotUserID: "U0FIRST"}},
	}
	uninstalled := map[string]any{"type": "app_uninstalled"}
	revoked := func(bots ...string) map[string]any {
		return map[string]any{"type": "tokens_revoked", "tokens": map[string]any{"bot": bots, "oauth": []string{"U0SECOND"}}}
	}
	org := map[string]any{"team_id": nil, "enterprise_id": "E0ORG", "authorizations": nil}
	installation := map[string]any{"team_id": nil, "enterprise_id": nil, "authorizations": []any{map[string]any{"enterprise_id": "E0ORG", "team_id": nil, "is_bot": true, "is_enterprise_install": true}}}
	for name, tt := range map[string]struct {
		event, outer map[string]any
		want         []string
	}{
		"it removes the app":                {uninstalled, org, []string{"01FIRST", "01SECOND"}},
		"by its installation":               {uninstalled, installation, []string{"01FIRST", "01SECOND"}},
		"it revokes one bot's token":        {revoked("U0FIRST", "U0ELSE"), org, []string{"01FIRST"}},
		"it revokes that of none of ours":   {revoked("U0ELSE"), installation, nil},
		"it revokes a person's token alone": {revoked(), org, nil},
		"one in which nothing is ours":      {uninstalled, map[string]any{"team_id": nil, "enterprise_id": "E0NOBODY", "authorizations": nil}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			k := &kept{of: of}
			h, body := handler(k), signed(callback(t, tt.event, tt.outer))
			out := post(t, h, body)
			var got []string
			for _, e := range k.ended {
				got = append(got, e.tenant)
			}
			expect.That(t, out.StatusCode == 200 && slices.Equal(got, tt.want) && len(k.changes) == 0,
				"answered %d, disconnected %v", out.StatusCode, got)
			k.err = errors.New("throttled")
			if out := post(t, h, body); out.StatusCode != 200 && tt.want == nil || out.StatusCode != 503 && tt.want != nil ||
				len(k.ended) != 2*len(tt.want) {
				t.Errorf("what could not be kept is answered %d, %d were tried", out.StatusCode, len(k.ended)-len(tt.want))
			}
		})
	}
}
