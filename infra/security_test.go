package infra_test

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// The page that people read before they let others' words in says who gets these and for how long.
func TestTheSecurityPageIsOfThisDeployment(t *testing.T) {
	page := textOf(t, "security.md")
	defaults := readRules(t).complete(map[string]string{})
	says(t, "security.md",
		fmt.Sprintf("`retain_results_days`, %d unless set", tenancy.DefaultSettings().RetainResultsDays),
		fmt.Sprintf("`LogRetentionDays`, %s |", defaults["LogRetentionDays"]),
		fmt.Sprintf("`HeadRetentionDays` (%s)", defaults["HeadRetentionDays"]))
	for _, vendor := range append(aggregate.ModelProviders, string(explain.Freee), "google", "github", "slack",
		aggregate.Gemini, "mcp servers") {
		expect.That(t, strings.Contains(strings.ToLower(page), vendor), "it does not say what goes to %s", vendor)
	}
}
