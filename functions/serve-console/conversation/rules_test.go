package conversation

import (
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Administrators are told that a saved rule no longer lets anything begin.
func TestARuleThatIsLeftOutIsSaid(t *testing.T) {
	s, ja := tenancy.DefaultSettings(), web.TextsOf("settings", "ja")
	s.AutoActions = []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go", "test", "*"}, Workspace: "main"}, {Type: agent.TestRun, Argv: []string{"npx", "*"}, Workspace: "main"}}
	for _, admin := range []bool{true, false} {
		p := agentsPage{}
		p.define(&Pages{}, &web.Viewer{Admin: admin, Locale: "ja"}, s)
		var told []agentWarning
		if admin {
			told = []agentWarning{{Row: 2, Field: ja.In("columns", "auto_actions.argv"), Limit: ruleText(ja, agent.RuleAutoStar)}}
		}
		expect.Same(t, told, p.Warnings)
		expect.Same(t, []autoRule{{[]string{"go", "test", "*"}, "main"}}, p.Rules)
	}
}
