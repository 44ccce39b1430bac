package tenancy

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestDefaultSettingsAreTheSeeds(t *testing.T) {
	d := DefaultSettings()
	expect.NoError(t, d.Validate())
	expect.That(t, d.PromptApprovalRequired && d.ProcessApprovalRequired && d.L4TimeoutSeconds == 360 &&
		d.AutoApproveTools && d.AllowSelfApproval && d.Model == "claude-sonnet-4-6" && d.MaxVersions == 5 &&
		d.ApprovalTimeoutHours == 168 && d.Approvers.Mode == aggregate.ApproversChannel && d.Locale == "ja", "%+v", d)
}

// Each row of the table belongs to a setting with a field of its kind, and has texts in each language.
func TestEachSettingHasOneRow(t *testing.T) {
	types := map[Kind]string{KindFlag: "bool", KindWhole: "int", KindDollars: "float64", KindText: "string",
		KindChoice: "string", KindPeople: "[]string", KindGroups: "[]string"}
	var fields, rows []string
	for _, m := range Members(new(Settings)) {
		fields = append(fields, m.Name)
	}
	for _, section := range Sections {
		for _, x := range section.Settings {
			rows = append(rows, x.Name)
			for i, locale := range language.All {
				w := x.Says[i]
				expect.That(t, len(w.Choices) == len(x.Choices) && w.Label != "" &&
					!slices.Contains(w.Choices, ""), "%s lacks words in %s: %+v", x.Name, locale, w)
			}
			expect.That(t, x.Min <= x.Max && (x.Kind != KindWhole || x.Max != 0) && (x.fits != nil) == (x.Code != ""),
				"%s has no bounds, or no code for its form", x.Name)
		}
	}
	slices.Sort(fields)
	slices.Sort(rows)
	expect.Same(t, fields, rows)
	for _, f := range new(Settings).Fields() {
		of := f.Value.Type()
		expect.That(t, types[f.Kind] == of.String() || of == reflect.TypeFor[aggregate.ApproverMode]() ||
			f.Kind == KindRows && of.Elem().Kind() == reflect.Struct, "%s is %s, and in the row %s", f.Name, of, f.Kind)
	}
}

// bounds set a field to its nth value. Some values are valid.
var bounds = []struct {
	field     string
	set       func(s *Settings, n int)
	good, bad []int
}{
	{"name", func(s *Settings, n int) { s.Name = strings.Repeat("人", n) }, []int{1, 80}, []int{0, 81}},
	{"model", func(s *Settings, n int) { s.Model = "openai:" + strings.Repeat("m", n) }, []int{1, 150}, []int{0, 151}},
	{"l4_timeout_seconds", func(s *Settings, n int) { s.L4TimeoutSeconds = n }, []int{30, 86400}, []int{29, 86401, -1, 0}},
	{"approval_timeout_hours", func(s *Settings, n int) { s.ApprovalTimeoutHours = n }, []int{1, 8736},
		[]int{0, 8737, -5}},
	{"max_versions", func(s *Settings, n int) { s.MaxVersions = n }, []int{1, 50}, []int{0, 51}},
	{"approvers.users", func(s *Settings, n int) { s.Approvers.Users = slices.Repeat([]string{"U0SATO"}, n) },
		[]int{0, 200}, []int{201}},
	{"approvers.usergroups", func(s *Settings, n int) { s.Approvers.Usergroups = slices.Repeat([]string{"S0HR"}, n) },
		[]int{0, 50}, []int{51}},
	{"approvers.users[1]", func(s *Settings, n int) {
		s.Approvers.Users = []string{"U1", []string{"W0SATO", "@sato", "", "S0HR", "U1 "}[n]}
	}, []int{0}, []int{1, 2, 3, 4}},
	{"approvers.usergroups[0]", func(s *Settings, n int) {
		s.Approvers.Usergroups = []string{[]string{"S1", "U0SATO", "hr"}[n]}
	}, []int{0}, []int{1, 2}},
	{"max_cost_usd", func(s *Settings, n int) { s.MaxCostUSD = float64(n) }, []int{0, 1000000}, []int{-1, 1000001}},
	{"approvers.mode", func(s *Settings, n int) {
		s.Approvers.Mode = []aggregate.ApproverMode{"channel", "list", "", "all"}[n]
	}, []int{0, 1}, []int{2, 3}},
	{"locale", func(s *Settings, n int) { s.Locale = []string{"ja", "en", "", "fr"}[n] }, []int{0, 1}, []int{2, 3}},
	{"executor", func(s *Settings, n int) { s.Executor = []string{"steps", "managed", "", "x"}[n] }, []int{0, 1},
		[]int{2, 3}},
	{"draft_contest.max_rounds", func(s *Settings, n int) { s.DraftContest.MaxRounds = n }, []int{1, 10}, []int{0, 11}},
	{"draft_contest.seconds", func(s *Settings, n int) { s.DraftContest.Seconds = n }, []int{10, 3600}, []int{9, 3601}},
	{"draft_contest.budget_usd", func(s *Settings, n int) { s.DraftContest.BudgetUSD = float64(n) }, []int{0, 1000000},
		[]int{-1, 1000001}},
	{"max_open_tasks", func(s *Settings, n int) { s.MaxOpenTasks = n }, []int{0, maxLimit},
		[]int{-1, maxLimit + 1}},
	{"max_tasks_per_hour", func(s *Settings, n int) { s.MaxTasksPerHour = n }, []int{0, maxLimit},
		[]int{-1, maxLimit + 1}},
	{"agents", func(s *Settings, n int) {
		s.Agents = nil
		for i := range n {
			s.Agents = append(s.Agents, agent.Definition{ID: fmt.Sprint("a", i), Provider: agent.OpenAI,
				Capabilities: agent.Capabilities})
		}
	}, []int{0, 20}, []int{21}},
	{"agents[1].id", func(s *Settings, n int) {
		a := agent.Definition{ID: "a", Provider: agent.OpenAI, Capabilities: agent.Capabilities}
		s.Agents = []agent.Definition{a, a}
		s.Agents[1].ID = []string{"b", "a", "", "A B"}[n]
	}, []int{0}, []int{1, 2, 3}},
	{"agents[0].endpoint", func(s *Settings, n int) {
		s.Agents = []agent.Definition{{ID: "a", Provider: agent.Local,
			Endpoint: []string{"http://localhost:11434/v1", "", "localhost"}[n], Capabilities: agent.Capabilities}}
	}, []int{0}, []int{1, 2}},
	{"auto_actions[0].type", func(s *Settings, n int) {
		types := []agent.ActionType{agent.TestRun, agent.ShellCommand, agent.CodeGenerate, ""}
		s.AutoActions = []agent.AutoRule{{Type: types[n], Argv: []string{"go"}, Place: "D1"}}
	}, []int{0}, []int{1, 2, 3}},
	{"auto_actions[0].source", func(s *Settings, n int) {
		s.Sources = []agent.Source{{Name: "shop", Repository: "acme/shop", Ref: "heads/main", People: []string{"U1"},
			Agents: []string{"codex"}, CI: agent.CISkip}}
		s.AutoActions = []agent.AutoRule{{Type: agent.TestRun, Argv: []string{"go"},
			Source: []string{"shop", "pay", "No!"}[n], Place: "D1"}}
	}, []int{0}, []int{1, 2}},
	{"remind_at", func(s *Settings, n int) { s.RemindAt = []string{"", "00:00", "23:59", "24:00", "9", "09:30:00"}[n] },
		[]int{0, 1, 2}, []int{3, 4, 5}},
	{"auto_actions[0].argv", func(s *Settings, n int) {
		all := [][]string{{"go", "test", "./..."}, {"sh", "x"}, {}, {"npx", "*"}, {"go", ""}}
		s.AutoActions = []agent.AutoRule{{Type: agent.TestRun, Argv: all[n], Place: "D1"}}
	}, []int{0, 1}, []int{2, 3, 4}},
}

func TestSettingsOutOfBoundsAreRefusedByField(t *testing.T) {
	for _, tt := range bounds {
		for _, n := range tt.good {
			s := DefaultSettings()
			tt.set(&s, n)
			err := s.Validate()
			expect.That(t, err == nil, "%s at %d: %v", tt.field, n, err)
		}
		for _, n := range tt.bad {
			s := DefaultSettings()
			tt.set(&s, n)
			var field aggregate.Problem
			if err := s.Validate(); !errors.As(err, &field) || field.Field != tt.field || field.Code == "" {
				t.Errorf("%s at %d: %v", tt.field, n, err)
			}
		}
	}
}

func TestAllThatIsWrongIsSaidAtOnce(t *testing.T) {
	s := DefaultSettings()
	s.Name, s.MaxVersions, s.Model, s.MaxCostUSD, s.MaxCostDayUSD = "", 51, "llama3", math.NaN(), -1
	s.Approvers.Users = []string{"U0SATO", "@sato", "sato"}
	s.MCPServers = []MCPServer{{"rooms", "https://a.example/mcp"}, {"rooms", "http://b.example?key=1"}}
	var got []string
	for _, p := range s.Problems() {
		got = append(got, p.Field+" "+p.Code)
	}
	expect.Same(t, []string{
		"name length", "max_versions between", "model model", "max_cost_usd between", "max_cost_day_usd between",
		"approvers.users[1] user_id", "approvers.users[2] user_id", "mcp_servers[1].name taken",
		"mcp_servers[1].url address_only",
	}, got)
}

func TestWhatChangedIsReadFromTheLog(t *testing.T) {
	was, is := DefaultSettings(), DefaultSettings()
	is.Approvers.Users, is.MaxOpenTasks, is.Name = []string{"U1"}, 3, "<b>"
	diff := Differences(was, is)
	got := ReadDifferences(aggregate.Details(detailsOf(diff)))
	expect.That(t, len(got) == 3 && got[0] == (Difference{"approvers.users", "[]", `["U1"]`}) &&
		got[1] == (Difference{"max_open_tasks", "50", "3"}), "%+v", got)
}

func TestAVendorsClientIsSavedWithItsIdInTheLogAndNeverItsSecret(t *testing.T) {
	first := VendorClient{TenantID: "T1", Provider: "freee", ClientID: "one", Sealed: "v1.sealed"}
	saved, c, err := first.Save(VendorClient{}, person, now)
	expect.Must(t, err == nil && saved.Rev == 1 && c.Writes[0].Over == 0 && saved.UpdatedBy == person.ID, "%+v, %v",
		saved, err)
	next := saved
	next.ClientID = "two"
	for name, test := range map[string]struct {
		was, x VendorClient
		want   string
	}{
		"first": {VendorClient{}, first, `"one"`}, "another": {saved, next, `"two"`}, "another secret": {saved, saved,
			`"clients.freee"`},
	} {
		_, c, err := test.x.Save(test.was, person, now)
		expect.That(t, err == nil && len(c.Audit) == 1 && strings.Contains(string(c.Audit[0].Details), test.want) &&
			!strings.Contains(string(c.Audit[0].Details), "sealed"), "%s: %+v, %v", name, c.Audit, err)
	}
	for _, id := range []string{"", strings.Repeat("x", 513)} {
		first.ClientID = id
		_, _, err := first.Save(VendorClient{}, person, now)
		expect.That(t, fieldOf(err) == "client_id", "%d bytes: %v", len(id), err)
	}
	_, _, err = saved.Save(saved, aggregate.System(), now)
	expect.That(t, err != nil, "nobody saved it")
}
