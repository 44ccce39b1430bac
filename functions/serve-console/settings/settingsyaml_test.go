package settings_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/settings"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// full has a non-default value in every setting.
func full() tenancy.Settings {
	return tenancy.Settings{
		Name: "人事: 'エージェント' # 1\nと \"行\"", Slug: "default", PromptApprovalRequired: false, ProcessApprovalRequired: true,
		Model: "compatible:gemini/gemini-3", L4TimeoutSeconds: 600, AutoApproveTools: false,
		Approvers:         tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{"U0SATO", "U0SUZUKI"}, Usergroups: []string{"S0HR"}},
		AllowSelfApproval: false, ApprovalTimeoutHours: 24, MaxVersions: 3, Locale: "en", Executor: "managed", DMDefault: "agent",
		MaxCostUSD: 0.000001, MaxCostDayUSD: 12.5, MaxCostMonthUSD: 1000000, MaxOpenTasks: tenancy.Limit{Person: 5}, MaxTasksPerHour: tenancy.Limit{Tenant: 7},
		RetainResultsDays: 30, MCPServers: []tenancy.MCPServer{{Name: "rooms", URL: "https://rooms.example.com/mcp"}, {Name: "yes", URL: "https://b.example"}},
		Agents: []agent.Definition{
			{ID: "doc-bot", Provider: agent.HTTP, Model: "m", Endpoint: "https://bot.example.com/v1", Capabilities: []agent.Capability{agent.Code, agent.Test}, IsDefault: true, AuthRef: "docs",
				Metadata: map[string]string{"label": "書類 # 1", "no": "yes", "a b": "- x"}},
			{ID: "claude", Provider: agent.Anthropic, Capabilities: []agent.Capability{agent.Shell}},
		},
		AISessions: tenancy.AISessions{Cache: tenancy.Cache{Enabled: true}}, SessionIdleDays: 3, ActionTimeoutHours: 2, MaxSessionCostUSD: 0.5, MaxAgentsCostDayUSD: 7.25, MaxMessagesPerHour: 9,
		DraftContest: tenancy.DraftContest{Enabled: true, File: "teams/hr.toml", MaxRounds: 4, BudgetUSD: 2.5, Seconds: 120},
		AutoActions:  []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go", "test", "./*"}, Place: "D1"}},
	}
}

func nobody(string) string { return "" }

func TestSettingsComeBackFromTheirFile(t *testing.T) {
	for name, is := range map[string]tenancy.Settings{"the defaults": tenancy.DefaultSettings(), "all others": full()} {
		names := map[string]string{"U0SATO": "佐藤 花子\n- U0EVIL", "S0HR": "人事 # 承認者"}
		text := expect.Value(settings.WriteYAML(is, "株式会社りんぎ\nslug: evil", func(id string) string { return names[id] }))(t)
		over := tenancy.DefaultSettings()
		over.Approvers.Users, over.MaxVersions = []string{"U0OTHER"}, 9
		got, faults := settings.ReadYAML(text, over)
		expect.Must(t, len(faults) == 0, "%s: %+v in\n%s", name, faults, text)
		diff := tenancy.Differences(is, got.Settings)
		expect.That(t, diff == nil, "%s: %+v in\n%s", name, diff, text)
		if len(is.Approvers.Users) > 0 && (got.Names["U0SATO"] != "佐藤 花子 - U0EVIL" || got.Names["S0HR"] != "人事 # 承認者" || got.Line("approvers.users[1]") == 0) {
			t.Errorf("%s: %v, line %d", name, got.Names, got.Line("approvers.users[1]"))
		}
	}
}

func TestWhatAFileDoesNotNameStays(t *testing.T) {
	over := full()
	got, faults := settings.ReadYAML([]byte("max_versions: 4\napprovers:\n  users: []\n"), over)
	expect.That(t, len(faults) == 0 && got.Settings.MaxVersions == 4 && len(got.Settings.Approvers.Users) == 0 &&
		got.Settings.Approvers.Usergroups[0] == "S0HR" && len(over.Approvers.Users) == 2, "%+v, %v", got.Settings, faults)
}

func TestAFileMayHaveTheSpecificationsOwnNames(t *testing.T) {
	file, faults := settings.ReadYAML([]byte("aiSessions: {cache: {enabled: true}}\naiAgents:\n  - id: a\n    provider: openai\n    capabilities: [code]\n    isDefault: true\n    authRef: mine\n"), tenancy.DefaultSettings())
	s := file.Settings
	expect.That(t, len(faults) == 0 && s.AISessions.Cache.Enabled && len(s.Agents) == 1 && s.Agents[0].IsDefault &&
		s.Agents[0].AuthRef == "mine" && s.Validate() == nil && file.Line("agents[0].auth_ref") == 7, "%+v %v", s, faults)
}

func TestAllThatIsWrongWithAFileIsSaidWithItsLine(t *testing.T) {
	for text, want := range map[string][]string{
		"max_opne_tasks: 1\nmax_versions: no\nmax_versions: 3\n":  {"max_opne_tasks unknown 1", "max_versions whole 2", "max_versions twice 3"},
		"slug: x\nself_approval_chosen: true":                     {"slug own 1", "self_approval_chosen own 2"},
		"approvers:\n  people: [U1]\n  users: U1\n  mode: [list]": {"approvers.people unknown 2", "approvers.users list 3", "approvers.mode text 4"},
		"mcp_servers:\n  - name: a\n    token: x\n  - b":          {"mcp_servers[0].url address 2", "mcp_servers[0].token unknown 3", "mcp_servers[1] fields 4"},
		"locale: yes\nallow_self_approval: yes\nname: null":       {"locale one_of 1", "allow_self_approval flag 2", "name text 3"},
		"max_versions: 1_0\nmax_cost_usd: \"5\"":                  {"max_versions whole 1", "max_cost_usd number 2"},
		"name: &a x\nmodel: *a":                                   {"name alias 1", "model alias 2"},
		"approvers: {users: [[U1]]}":                              {"approvers.users[0] text 1"},
		"Rev: 3\nrev: 4\n? [a]\n: 1":                              {"Rev unknown 1", "rev unknown 2", " unknown 3"},
		"name: [":                                                 {" yaml 1"},
		"- a":                                                     {" fields 1"},
		"":                                                        {" fields 1"},
		"aiAgents:\n  - isDefault: true\n    is_default: true\n    metadata:\n      a: [1]\n      b: 1\n      b: x\n    secret: x\nagents: []": {
			"agents[0].is_default twice 3", "agents[0].metadata.a text 5", "agents[0].metadata.b twice 7", "agents[0].secret unknown 8", "agents twice 9"},
		"ai_sessions: {cache: true}":        {"ai_sessions.cache fields 1"},
		strings.Repeat("#", web.MaxBytes+1): {" yaml_size 0"},
	} {
		file, faults := settings.ReadYAML([]byte(text), full())
		var got []string
		for _, f := range faults {
			got = append(got, fmt.Sprintf("%s %s %d", f.Field, f.Rule, f.Line))
		}
		expect.That(t, slices.Equal(got, want), "%.60q: %q, want %q", text, got, want)
		_ = file
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte("max_versions: 4\napprovers:\n  users: [U1] # 佐藤\n"))
	f.Add([]byte("a: &a [*a]"))
	f.Fuzz(func(t *testing.T, text []byte) {
		file, faults := settings.ReadYAML(text, full())
		if len(faults) > 0 {
			return
		}
		again := expect.Value(settings.WriteYAML(file.Settings, "", nobody))(t)
		back, faults := settings.ReadYAML(again, tenancy.DefaultSettings())
		back.Settings.Slug, back.Settings.SelfApprovalChosen = file.Settings.Slug, file.Settings.SelfApprovalChosen
		diff := tenancy.Differences(file.Settings, back.Settings)
		expect.That(t, len(faults) == 0 && diff == nil, "%v %v of %q", faults, diff, again)
	})
}
