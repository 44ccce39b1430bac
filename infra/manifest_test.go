package infra_test

import (
	"net/url"
	"os"
	"slices"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"
	"go.yaml.in/yaml/v3"

	"ringi/shared/expect"
)

func readManifest(t *testing.T) slack.Manifest {
	t.Helper()
	f := expect.Value(os.Open("slack-manifest.yaml"))(t)
	defer f.Close()
	d := yaml.NewDecoder(f)
	d.KnownFields(true)
	var m slack.Manifest
	expect.NoError(t, d.Decode(&m))
	return m
}

// Slack refuses a manifest that is over one of its limits as a whole.
func TestManifestKeepsSlacksLimits(t *testing.T) {
	m := readManifest(t)
	type limit struct {
		what string
		text string
		max  int
	}
	limits := []limit{
		{"name", m.Display.Name, 35}, {"description", m.Display.Description, 140}, {"long_description", m.Display.LongDescription, 4000},
		{"agent_description", m.Features.AgentView.AgentDescription, 300},
	}
	for _, s := range m.Features.Shortcuts {
		limits = append(limits, limit{"shortcut's name", s.Name, 24}, limit{"shortcut's description", s.Description, 150}, limit{"callback_id", s.CallbackID, 255})
	}
	for _, l := range limits {
		if n := utf8.RuneCountInString(l.text); n == 0 || n > l.max {
			t.Errorf("%s has %d characters, Slack takes 1 to %d", l.what, n, l.max)
		}
	}
	if n := utf8.RuneCountInString(m.Display.LongDescription); n < 175 {
		t.Errorf("long_description has %d characters, Slack wants 175", n)
	}
}

// The three prompts are those that people know from the first version.
func TestManifestSuggestsTheKnownPrompts(t *testing.T) {
	want := []slack.ManifestSuggestedPrompt{
		{Title: "勤怠集計", Message: "今月の勤怠をまとめて"},
		{Title: "残業確認", Message: "先月の残業時間を確認して"},
		{Title: "従業員一覧", Message: "従業員一覧を取得して"},
	}
	expect.Same(t, want, readManifest(t).Features.AgentView.SuggestedPrompts)
}

// What Slack calls must be a route of the API, and what the API serves must be called by Slack, or be the console.
func TestManifestCallsTheRoutesOfTheAPI(t *testing.T) {
	m := readManifest(t)
	s := expect.Value(read(t.TempDir(), files(t)))(t)
	var routes, called []string
	for _, f := range s.functions {
		for _, r := range f.Routes {
			if f.ID != "ServeConsoleFunction" {
				routes = append(routes, r.Method+" "+r.Path)
			}
		}
	}
	for _, address := range []string{m.Settings.EventSubscriptions.RequestUrl, m.Settings.Interactivity.RequestUrl} {
		u := expect.Value(url.Parse(address))(t)
		called = append(called, "POST "+u.Path)
	}
	slices.Sort(routes)
	slices.Sort(called)
	if diff := cmp.Diff(routes, called); diff != "" {
		t.Errorf("routes of the template (-), addresses in the manifest (+):\n%s", diff)
	}
}

// Each event and feature needs its scope, or Slack refuses the installation.
func TestManifestAsksForTheScopesOfItsEvents(t *testing.T) {
	m := readManifest(t)
	needs := map[string]string{"app_mention": "app_mentions:read", "message.im": "im:history", "app_home_opened": "", "app_uninstalled": "", "tokens_revoked": ""}
	want := []string{"assistant:write", "commands", "chat:write"}
	for _, event := range m.Settings.EventSubscriptions.BotEvents {
		scope, known := needs[event]
		if !known {
			t.Errorf("%s: no function takes this event", event)
		}
		if scope != "" {
			want = append(want, scope)
		}
		delete(needs, event)
	}
	for event := range needs {
		t.Errorf("%s is not subscribed to", event)
	}
	for _, scope := range want {
		if !slices.Contains(m.OAuthConfig.Scopes.Bot, scope) {
			t.Errorf("the scope %s is missing", scope)
		}
	}
}
