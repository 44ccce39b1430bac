package explain

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func at() time.Time { return time.Date(2026, 4, 17, 23, 30, 0, 0, time.UTC) }

// actions returns the actions that this module's code declares.
func actions(t *testing.T) (all []string) {
	t.Helper()
	declared := regexp.MustCompile(`Action\s*=\s*"([a-z_]+\.[a-z_]+)"`)
	root := filepath.Join("..", "..")
	for _, folder := range []string{"shared", "functions"} {
		expect.NoError(t, filepath.WalkDir(filepath.Join(root, folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			b, err := os.ReadFile(path)
			for _, m := range declared.FindAllStringSubmatch(string(b), -1) {
				all = append(all, m[1])
			}
			return err
		}))
	}
	expect.Must(t, len(all) >= 24, "only %d actions were found: %v", len(all), all)
	for _, kind := range circulation.Kinds {
		all = append(all, "process."+kind.Entry, "step."+kind.Entry, "action."+kind.Entry)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

func TestEveryActionHasItsWords(t *testing.T) {
	for _, locale := range language.All {
		said := map[string]string{}
		for _, a := range actions(t) {
			text := LogWordsIn(locale).Action(aggregate.Action(a))
			expect.That(t, text != a && said[text] == "", "%s has no words of its own in %s: %q, as %s", a, locale, text,
				said[text])
			said[text] = a
		}
	}
	expect.Is(t, LogWordsIn("en").Action("prompt.read"), "prompt.read", "an unknown action")
}

// If nobody may approve a draft, it is not begun. That is not called a failure, and the log mentions no button.
func TestWhatIsPutOffHasNotFailed(t *testing.T) {
	for locale, failed := range map[string]string{"ja": "失敗", "en": "failed"} {
		w := LogWordsIn(locale)
		for reason, held := range map[aggregate.Reason]bool{task.ReasonNobodyApproves: true, task.ReasonModelRefused: false} {
			x := aggregate.AuditEntry{Action: task.AuditGenerationFailed,
				Details: aggregate.JSON(`{"reason":"` + string(reason) + `"}`)}
			expect.That(t, strings.Contains(w.Did(x), failed) != held && w.Did(x) != "", "%s %s: %q", locale, reason, w.Did(x))
			for _, d := range w.Details(x, nil) {
				expect.That(t, !strings.ContainsAny(d.Text, "🔄↻{}"), "%s %s: %q", locale, reason, d.Text)
			}
		}
	}
}

// Nobody approves a policy that a form says.
func TestWhatIsDoneAboutAForm(t *testing.T) {
	for _, locale := range language.All {
		w := LogWordsIn(locale)
		did := func(a aggregate.Action, form string) string {
			return w.Did(aggregate.AuditEntry{Action: a, Details: aggregate.JSON(`{"version":1` + form + `}`)})
		}
		expect.Is(t, did(task.AuditProcessRejected, ""), w.Action(task.AuditProcessRejected), "%s", locale)
		stands := did(task.AuditPromptApproved, `,"by_form":true`)
		expect.That(t, stands != "" && stands != did(task.AuditPromptApproved, ""), "%s: %q", locale, stands)
	}
}

func TestDetailsAreLines(t *testing.T) {
	called := func(id string) string { return map[string]string{"U0SANDSATO": "佐藤 花子"}[id] }
	for name, tt := range map[string]struct {
		details aggregate.JSON
		want    []LogDetail
	}{
		"none":    {"", nil},
		"null":    {"null", nil},
		"members": {`{"version":2,"reason":"もっと詳しく"}`, []LogDetail{{"Reason", "もっと詳しく"}, {"Version", "2"}}},
		"nested": {`{"changes":{"approvers":{"from":["U1","U2"],"to":[]}}}`,
			[]LogDetail{{"Changes › Who may approve › From", "U1, U2"}, {"Changes › Who may approve › To", ""}}},
		"settings": {`{"fields":["max_versions","later"],"changes":{"max_versions":{"was":5,"is":4},` +
			`"approvers.users":{"was":[],"is":["U1"]}}}`, []LogDetail{{"Changes › Approvers", "— → U1"},
			{"Changes › Maximum versions", "5 → 4"}, {"Changed fields", "Maximum versions, later"}}},
		"large":     {`{"hours":12345678901234567890}`, []LogDetail{{"Time limit (hours)", "12345678901234567890"}}},
		"no object": {`["x"]`, []LogDetail{{"", `["x"]`}}},
		"unasked":   {`{"reason":"route_silent"}`, []LogDetail{{"Reason", "Slack didn't say whom the rules ask"}}},
		"nothing":   {`{"reason":null}`, []LogDetail{{"Reason", "—"}}},
		"codes": {`{"surface":"console","reason":"cancelled_by_person","requester":"U0SANDSATO","provider":"google",` +
			`"by":"U0STRANGER"}`, []LogDetail{{"Decided by", "U0STRANGER"}, {"Provider", "Google Sheets"},
			{"Reason", "The task was cancelled. To continue, submit a new request."},
			{"Requested by", "佐藤 花子 (U0SANDSATO)"}, {"via", "the console"}}},
		"unknown": {`{"later":[{"a":1}]}`, []LogDetail{{"later", "a 1"}}},
	} {
		diff := cmp.Diff(tt.want, LogWordsIn("en").Details(aggregate.AuditEntry{Details: tt.details}, called))
		expect.That(t, diff == "", "%s: %s", name, diff)
	}
}

func TestAnIdThatNoResourceHasIsRefused(t *testing.T) {
	for id, may := range map[string]bool{"": true, "01TASK": true, "01TASK#x": false, "<b>": false,
		strings.Repeat("U", 64): true, strings.Repeat("U", 65): false} {
		expect.Is(t, MayBeResource(id), may, "%s", id)
	}
}

func row(details string) aggregate.AuditEntry {
	return aggregate.AuditEntry{ID: "01ENTRY", TenantID: "01T", Timestamp: at(), ActorType: aggregate.ActorUser,
		ActorID: "U1", Action: task.AuditPromptRejected, ResourceType: "prompt", ResourceID: "01ROW",
		AggregateID: "01TASK", Details: aggregate.JSON(details)}
}

func TestDetailsHaveWordsForTheirCodes(t *testing.T) {
	for _, locale := range language.All {
		said := ""
		for _, d := range LogWordsIn(locale).Details(row(
			`{"edited_by":"U1","rule":{"name":"r","numbered":true},"type":"grant"}`), nil) {
			said += d.Name + ": " + d.Text + "\n"
		}
		for _, code := range []string{"edited_by", "numbered", "grant"} {
			expect.That(t, !strings.Contains(said, code), "%s says %s: %s", locale, code, said)
		}
	}
}

func TestAFileForPeople(t *testing.T) {
	words := LogWordsIn("ja")
	expect.Same(t, words.Columns[:2], []string{"日時 (日本時間)", "誰が"})
	expect.Same(t, words.Row(row(`{"reason":"x"}`)), []string{"2026-04-18 08:30:00", "U1", "実行方針を却下した",
		"prompt.rejected", "実行方針", "01ROW", "01TASK", `{"reason":"x"}`, "2026-04-17T23:30:00.000Z", "01ENTRY"})
}

// All times on a page are in one zone, including those in details.
func TestMomentsInDetailsAreOfTheZoneOfTheEntries(t *testing.T) {
	got := LogWordsIn("en").Details(aggregate.AuditEntry{
		Details: `{"asked_at":"2026-04-17T23:30:00.123Z","reason":"2026-04-17","title":"T"}`}, nil)
	want := []LogDetail{{Name: "Requested at", Text: "2026-04-18 08:30:00"}, {Name: "Reason", Text: "2026-04-17"},
		{Name: "Title", Text: "T"}}
	expect.Same(t, want, got)
}

// Readers of the log don't know Ringi's codes for stages and kinds.
func TestCodesInDetailsHaveWords(t *testing.T) {
	for _, locale := range language.All {
		for _, d := range []string{
			fmt.Sprintf(`{"layer":%q}`, task.L1), fmt.Sprintf(`{"layer":%q}`, task.L2), fmt.Sprintf(`{"layer":%q}`,
				task.L3), fmt.Sprintf(`{"layer":%q}`, task.L4),
			fmt.Sprintf(`{"kind":%q}`, task.KindUnsupported), fmt.Sprintf(`{"kind":%q}`, task.KindHelp),
		} {
			got := LogWordsIn(locale).Details(aggregate.AuditEntry{Details: aggregate.JSON(d)}, nil)
			expect.That(t, len(got) == 1 && !strings.Contains(d, fmt.Sprintf("%q}", got[0].Text)) &&
				!strings.Contains(d, `"`+got[0].Name+`"`), "%s %s: %v", locale, d, got)
		}
	}
}

// A line of the log says what changed from what to what, and why, in words.
func TestALineSaysWhatTellsMost(t *testing.T) {
	called := func(id string) string { return map[string]string{"U0SANDSATO": "Hanako Sato"}[id] }
	for details, want := range map[aggregate.JSON]string{
		"":      "",
		`["x"]`: "",
		`{"hash":"0e87","version":2,"asked_at":"2026-04-17T23:30:00.123Z"}`: "",
		`{"changes":{"max_versions":{"was":5,"is":4},"approvers.mode":{"was":"channel","is":"list"},` +
			`"allow_self_approval":{"was":false,"is":true}},"fields":["max_versions"]}`: "People may approve their own " +
			"requests: off → on · " +
			"Who may approve: Members of the request’s channel → Selected people and groups · Maximum versions: 5 → 4",
		`{"changes":{"mcp_servers":{"was":[],"is":[{"name":"office","url":"https://office.example/mcp"}]}}}`: "MCP " +
			"servers: — → Name office Address https://office.example/mcp",
		`{"reason":"Split it by department.","stage":1,"surface":"console"}`: "Split it by department.",
		`{"from":"2026-12-27","hand":"U0SANDSATO","principal":"U0OTHER","until":"2027-01-16"}`: "On behalf of: U0OTHER · " +
			"Stamps instead: Hanako Sato · From: 2026-12-27 · Until: 2027-01-16",
		`{"allowed":true,"tool":"office.order"}`:           "Allowed: on",
		`{"rule":{"id":"01KS","name":"All","revision":1}}`: "Rule: All",
	} {
		expect.Is(t, LogWordsIn("en").Briefly(aggregate.AuditEntry{Details: details}, called), want)
	}
	long := LogWordsIn("ja").Briefly(aggregate.AuditEntry{Details: aggregate.Details(map[string]any{
		"reason": strings.Repeat("長い", 200)})}, called)
	expect.Is(t, len([]rune(long)), mostBriefly)
}
