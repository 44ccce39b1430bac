package infra_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"ringi/shared/domain/modelname"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/failedcall"
	"ringi/shared/runtime/expect"
)

// The page that somebody reads before they let people's words in fits one screen, names whom these go to, and for how
// long.
func TestTheSecurityPageIsOfThisDeployment(t *testing.T) {
	page := string(expect.Value(os.ReadFile("security.md"))(t))
	if lines := strings.Count(page, "\n"); lines > 80 {
		t.Errorf("it has %d lines, more than a screen", lines)
	}
	defaults := readRules(t).complete(map[string]string{})
	said := []string{
		fmt.Sprintf("`retain_results_days`, %d unless set", tenancy.DefaultSettings().RetainResultsDays),
		fmt.Sprintf("`LogRetentionDays`, %s |", defaults["LogRetentionDays"]),
		fmt.Sprintf("`HeadRetentionDays` (%s)", defaults["HeadRetentionDays"]),
	}
	for _, vendor := range append(modelname.Providers, string(failedcall.Freee), "google", "slack", modelname.Gemini, "mcp servers") {
		if !strings.Contains(strings.ToLower(page), vendor) {
			t.Errorf("it does not say what goes to %s", vendor)
		}
	}
	for _, s := range said {
		if !strings.Contains(page, s) {
			t.Errorf("it does not say %q", s)
		}
	}
}
