package auditlog

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

// A line of the log says what changed from what to what, and why, in words.
func TestALineSaysWhatTellsMost(t *testing.T) {
	called := func(id string) string { return map[string]string{"U0SANDSATO": "Hanako Sato"}[id] }
	for details, want := range map[aggregate.JSON]string{
		"":      "",
		`["x"]`: "",
		`{"hash":"0e87","version":2,"asked_at":"2026-04-17T23:30:00.123Z"}`: "",
		`{"changes":{"max_versions":{"was":5,"is":4},"approvers.mode":{"was":"channel","is":"list"},` +
			`"allow_self_approval":{"was":false,"is":true}},"fields":["max_versions"]}`: "People may approve their own requests: off → on · " +
			"Who may approve: Members of the request’s channel → Selected people and groups · Maximum versions: 5 → 4",
		`{"changes":{"mcp_servers":{"was":[],"is":[{"name":"office","url":"https://office.example/mcp"}]}}}`: "MCP " +
			"servers: — → Name office Address https://office.example/mcp",
		`{"reason":"Split it by department.","stage":1,"surface":"console"}`: "Split it by department.",
		`{"from":"2026-12-27","hand":"U0SANDSATO","principal":"U0OTHER","until":"2027-01-16"}`: "On behalf of: U0OTHER · " +
			"Stamps instead: Hanako Sato · From: 2026-12-27 · Until: 2027-01-16",
		`{"allowed":true,"tool":"office.order"}`:           "Allowed: on",
		`{"rule":{"id":"01KS","name":"All","revision":1}}`: "Rule: All",
	} {
		expect.Is(t, WordsIn("en").Briefly(aggregate.AuditEntry{Details: details}, called), want)
	}
	long := WordsIn("ja").Briefly(aggregate.AuditEntry{Details: aggregate.Details(map[string]any{
		"reason": strings.Repeat("長い", 200)})}, called)
	expect.Is(t, len([]rune(long)), mostBriefly)
}
