package infra_test

import (
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slack-go/slack"
	"go.yaml.in/yaml/v3"

	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
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
		{"name", m.Display.Name, 35}, {"description", m.Display.Description, 140},
		{"long_description", m.Display.LongDescription, 4000},
		{"agent_description", m.Features.AgentView.AgentDescription, 300},
	}
	for _, s := range m.Features.Shortcuts {
		limits = append(limits, limit{"shortcut's name", s.Name, 24}, limit{"shortcut's description", s.Description, 150},
			limit{"callback_id", s.CallbackID, 255})
	}
	for _, l := range limits {
		n := utf8.RuneCountInString(l.text)
		expect.That(t, n != 0 && n <= l.max, "%s has %d characters, Slack takes 1 to %d", l.what, n, l.max)
	}
	n := utf8.RuneCountInString(m.Display.LongDescription)
	expect.That(t, n >= 175, "long_description has %d characters, Slack wants 175", n)
}

func TestManifestSuggestsTheKnownPrompts(t *testing.T) {
	want := []slack.ManifestSuggestedPrompt{
		{Title: "勤怠集計", Message: "今月の勤怠をまとめて"},
		{Title: "残業確認", Message: "先月の残業時間を確認して"},
		{Title: "従業員一覧", Message: "従業員一覧を取得して"},
	}
	expect.Same(t, want, readManifest(t).Features.AgentView.SuggestedPrompts)
}

// The addresses in the manifest are the API's routes.
func TestManifestCallsTheRoutesOfTheAPI(t *testing.T) {
	m := readManifest(t)
	routes := map[string]bool{}
	for _, f := range expect.Value(read(t.TempDir(), files(t)))(t).functions {
		for _, r := range f.Routes {
			routes[r.Method+" "+r.Path] = true
		}
	}
	addresses := []string{m.Settings.EventSubscriptions.RequestUrl, m.Settings.Interactivity.RequestUrl}
	for _, c := range m.Features.SlashCommands {
		addresses = append(addresses, c.Url)
	}
	for _, address := range addresses {
		expect.That(t, routes["POST "+expect.Value(url.Parse(address))(t).Path], "no function is at %s", address)
	}
}

// receive-interaction answers exactly the entries of Slack's menus, by the names in its code, and the one command.
func TestManifestOffersWhatTheCodeAnswers(t *testing.T) {
	m := readManifest(t)
	var offered []string
	for _, s := range m.Features.Shortcuts {
		offered = append(offered, s.CallbackID)
	}
	expect.Must(t, len(m.Features.SlashCommands) == 1, "%+v", m.Features.SlashCommands)
	expect.Is(t, m.Features.SlashCommands[0].Command, "/ringi")
	offered = append(offered, m.Features.SlashCommands[0].Command)
	code := source(t, "../functions/receive-interaction/*.go")
	for _, name := range offered {
		expect.That(t, strings.Contains(code, strconv.Quote(name)), "%s: no function answers it", name)
	}
	for _, found := range regexp.MustCompile(`shortcut[A-Z][a-z]+ += "([a-z_]+)"`).FindAllStringSubmatch(code, -1) {
		expect.That(t, slices.Contains(offered, found[1]), "%s is answered and offered nowhere", found[1])
	}
	expect.That(t, !m.Settings.OrgDeployEnabled, "an installation for a whole organization is refused by every function")
}

// source returns the text of some Go files, without tests.
func source(t *testing.T, pattern string) string {
	t.Helper()
	var b strings.Builder
	for _, name := range expect.Value(filepath.Glob(pattern))(t) {
		if !strings.HasSuffix(name, "_test.go") {
			b.WriteString(textOf(t, name))
		}
	}
	return b.String()
}

// eventScopes are the events that the code accepts, with the scope that Slack requires for each.
var eventScopes = map[string]string{"app_mention": "app_mentions:read", "message.channels": "channels:history",
	"message.groups": "groups:history", "message.im": "im:history", "app_home_opened": "", "app_uninstalled": "",
	"tokens_revoked": "", "agent_session_stopped": "", "user_change": "users:read"}

// methodScopes are the scopes, by Slack's reference, of each method that the code calls
// (https://docs.slack.dev/reference/methods).
var methodScopes = map[string][]string{
	"agents.sessions.setStatus":             {"chat:write"},
	"assistant.threads.setStatus":           {"chat:write"},
	"assistant.threads.setSuggestedPrompts": {"assistant:write"},
	"auth.test":                             nil,
	"chat.delete":                           {"chat:write"},
	"chat.getPermalink":                     nil, // it works on what the token may read already
	"chat.postEphemeral":                    {"chat:write"},
	"chat.postMessage":                      {"chat:write"},
	"chat.update":                           {"chat:write"},
	"conversations.history":                 {"channels:history", "groups:history", "im:history"},
	// of direct messages, conversations.open has the same
	"conversations.members": {"channels:read", "groups:read"},
	"conversations.open":    {"im:write"},
	"conversations.replies": {"channels:history", "groups:history", "im:history"},
	"files.info":            {"files:read"},
	"usergroups.list":       {"usergroups:read"},
	"usergroups.users.list": {"usergroups:read"},
	"users.conversations":   {"channels:read", "groups:read"},
	"users.info":            {"users:read"},
	"users.list":            {"users:read"},
	"users.lookupByEmail":   {"users:read.email"},
	"views.open":            nil,
	"views.publish":         nil,
	"views.push":            nil,
}

// Each event, method and feature needs its scope, or Slack refuses the installation or the call. People are asked for
// no scope that nothing needs.
func TestManifestAsksForTheScopesThatTheCodeNeeds(t *testing.T) {
	m := readManifest(t)
	sameNames(t, "scopes of an installation at the console", m.OAuthConfig.Scopes.Bot, slackapi.BotScopes)
	needed := map[string]bool{"assistant:write": true, "commands": true} // of agent_view, and of shortcuts and commands
	sameNames(t, "events that the code takes", m.Settings.EventSubscriptions.BotEvents,
		slices.Collect(maps.Keys(eventScopes)))
	for _, scope := range eventScopes {
		needed[scope] = scope != ""
	}
	code := source(t, "../shared/slack/slackapi/*.go")
	called := regexp.MustCompile(`outcome\("([a-z]+\.[A-Za-z.]+)"`).FindAllStringSubmatch(code, -1)
	if strings.Contains(source(t, "../shared/tool/runner/slackdm.go"), "GetUserByEmailContext") {
		called = append(called, []string{"", "users.lookupByEmail"})
	}
	for _, c := range called {
		scopes, known := methodScopes[c[1]]
		expect.That(t, known, "%s: nothing says which scope it needs", c[1])
		for _, scope := range scopes {
			needed[scope] = true
		}
	}
	delete(needed, "")
	sameNames(t, "scopes that the code needs", m.OAuthConfig.Scopes.Bot, slices.Collect(maps.Keys(needed)))
	// The events that receive-event names are those of eventScopes; message.im is a message in a direct message.
	events := source(t, "../functions/receive-event/*.go")
	for event := range eventScopes {
		name, _, _ := strings.Cut(event, ".")
		expect.That(t, strings.Contains(events, strconv.Quote(name)), "%s: no function takes this event", event)
	}
}
