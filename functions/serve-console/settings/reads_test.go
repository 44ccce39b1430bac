package settings_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// TestListedReads is about the reads that an administrator lets agents make without a person.
func TestListedReads(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a read is listed for an agent and people, on the page and by a file": testAReadIsListed,
		"what can't be listed is said at its field":                           testWhatCantBeListed,
	})
}

// listedRead returns the form with one row of reads, and an empty one.
func listedRead(w *consoletest.World, name, version string, change ...string) url.Values {
	return opened(w, append([]string{"listed_reads.agent", "claude|", "listed_reads.tool", name + "|",
		"listed_reads.version", version + "|", "listed_reads.people", webapi.Sato + "、" + webapi.Suzuki + "|"}, change...)...)
}

func versionOf(t *testing.T, name string) string {
	s, _ := expect.Value(tool.Builtin())(t).Lookup(name)
	return s.Version()
}

func testAReadIsListed(t *testing.T, w *consoletest.World) {
	b, version := w.As(webapi.Suzuki), versionOf(t, "list_employees")
	b.Get("/console/tools").Says(t, http.StatusOK, version)
	b.Post("/console/settings", listedRead(w, "list_employees", strings.ToUpper(version))).Leads(t, "/console/settings?done=saved")
	want := []agent.ListedRead{{Agent: "claude", Tool: "list_employees", Version: version,
		People: []string{webapi.Sato, webapi.Suzuki}}}
	expect.Same(t, want, w.SettingsNow().ListedReads)
	file := b.Get("/console/settings.yaml").Body
	expect.Has(t, file, "version: "+version)
	form := url.Values{"text": {strings.Replace(file, version, strings.Repeat("0", 64), 1)}}
	b.Post("/console/settings/import", form).Says(t, http.StatusUnprocessableEntity, ja.Rule(tenancy.Rule(agent.RuleListedOther)))
	expect.Same(t, want, w.SettingsNow().ListedReads)
}

func testWhatCantBeListed(t *testing.T, w *consoletest.World) {
	b, read, write := w.As(webapi.Suzuki), versionOf(t, "list_employees"), versionOf(t, "send_slack_dm")
	for rule, form := range map[agent.Rule]url.Values{
		agent.RuleListedTool:    listedRead(w, "", read),
		agent.RuleListedVersion: listedRead(w, "list_employees", "abc"),
		agent.RuleListedPeople:  listedRead(w, "list_employees", read, "listed_reads.people", "@sato|"),
		agent.RuleID:            listedRead(w, "list_employees", read, "listed_reads.agent", "Claude!|"),
		agent.RuleListedUnknown: listedRead(w, "list_nothing", read),
		agent.RuleListedOther:   listedRead(w, "list_employees", strings.Repeat("0", 64)),
		agent.RuleListedFree:    listedRead(w, "send_slack_dm", write),
	} {
		b.Post("/console/settings", form).Says(t, http.StatusUnprocessableEntity, ja.Rule(tenancy.Rule(rule)))
	}
	expect.Is(t, len(w.SettingsNow().ListedReads), 0, "it is saved all the same")
}
