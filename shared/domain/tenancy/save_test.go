package tenancy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

var (
	now    = time.Date(2026, 4, 18, 14, 30, 0, 0, time.UTC)
	person = aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}
	known  = Tenant{Meta: aggregate.Meta{Rev: 3}, ID: "T1", Name: "人事", TeamID: "T0TEAM", Admins: []string{"U0ADMIN"}}
)

// fieldOf returns the field that an error names, or else the error's text.
func fieldOf(err error) string {
	var bad aggregate.Problem
	switch {
	case errors.As(err, &bad):
		return bad.Field
	case err != nil:
		return err.Error()
	}
	return ""
}

// details returns the details of a change's audit entries.
func details(c Change) (all []string) {
	for _, e := range c.Audit {
		all = append(all, string(e.Action)+" "+string(e.Details))
	}
	return all
}

func TestSettingsAreSavedByAPersonWithTheFieldsThatChanged(t *testing.T) {
	was := SettingsRow{ID: "S1", TenantID: "T1", Rev: 2, Config: DefaultSettings()}
	for name, test := range map[string]struct {
		set    func(*Settings)
		by     aggregate.Actor
		wrong  string // the invalid field
		audit  []string
		writes int
		redraw bool
	}{
		"nothing changed": {func(x *Settings) { x.Approvers.Users = nil }, person, "", nil, 0, false},
		"three fields": {func(x *Settings) {
			x.MaxCostUSD, x.PromptApprovalRequired, x.Approvers.Users = 1.5, false, []string{"U1"}
		}, person, "",
			[]string{`settings.updated {"changes":{"approvers.users":{"is":["U1"],"was":[]},` +
				`"max_cost_usd":{"is":1.5,"was":0},"prompt_approval_required":{"is":false,"was":true}},` +
				`"fields":["approvers","max_cost_usd","prompt_approval_required"]}`}, 1, true},
		"self-approval": {func(x *Settings) { x.AllowSelfApproval = false }, person, "",
			[]string{`settings.updated {"changes":{"allow_self_approval":{"is":false,"was":true}},` +
				`"fields":["allow_self_approval"]}`}, 1, true},
		"the language": {func(x *Settings) { x.Locale = "en" }, person, "",
			[]string{`settings.updated {"changes":{"locale":{"is":"en","was":"ja"}},"fields":["locale"]}`}, 1, true},
		"what no card shows": {func(x *Settings) { x.MaxVersions = 9 }, person, "",
			[]string{`settings.updated {"changes":{"max_versions":{"is":9,"was":5}},"fields":["max_versions"]}`}, 1, false},
		"out of bounds": {func(x *Settings) { x.MaxVersions = 0 }, person, "max_versions", nil, 0, false},
		"by the system": {func(*Settings) {}, aggregate.System(), "updated_by", nil, 0, false},
		"by nobody":     {func(*Settings) {}, aggregate.Actor{Type: aggregate.ActorUser}, "updated_by", nil, 0, false},
		"by an agent": {func(*Settings) {}, aggregate.Actor{Type: aggregate.ActorAgent, ID: "U0ADMIN"},
			"updated_by", nil, 0, false},
		"over another's first": {func(x *Settings) { x.Rev = 1; x.MaxVersions = 9 }, person,
			"save settings of T1: it changed meanwhile", nil, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			x := was.Settings()
			test.set(&x)
			saved, c, err := x.Save(was, "S2", test.by, now)
			expect.Must(t, fieldOf(err) == test.wrong, "%v, want %q", err, test.wrong)
			diff := cmp.Diff(test.audit, details(c))
			expect.That(t, diff == "" && (err != nil || len(c.Writes) == test.writes && c.Redraw == test.redraw),
				"%d writes, redraw %v %s", len(c.Writes), c.Redraw, diff)
			if err != nil || test.writes == 0 {
				return
			}
			x.Rev, x.UpdatedAt, x.UpdatedBy = 3, now, person.ID
			want := Write{Over: 2, Row: SettingsRow{ID: "S1", TenantID: "T1", Rev: 3, Config: x, UpdatedAt: now,
				UpdatedBy: person.ID}}
			expect.Same(t, want, c.Writes[0])
			expect.Same(t, x, saved)
		})
	}
}

func TestNameAndAdministratorsAreSavedByAPerson(t *testing.T) {
	for name, test := range map[string]struct {
		set   func(*Tenant)
		by    aggregate.Actor
		wrong string
		audit []string
	}{
		"nothing changed": {func(*Tenant) {}, person, "", nil},
		"both": {func(x *Tenant) { x.Name, x.Admins = "総務", []string{"U0SATO"} }, person, "",
			[]string{`settings.updated {"changes":{"admins":{"is":["U0SATO"],"was":["U0ADMIN"]},` +
				`"name":{"is":"総務","was":"人事"}},"fields":["admins","name"]}`}},
		"the agent is none": {func(x *Tenant) { x.AgentID = "agent" }, person, "", nil},
		"no name":           {func(x *Tenant) { x.Name = "" }, person, "name", nil},
		"no id":             {func(x *Tenant) { x.Admins = []string{"@sato"} }, person, "admins[0]", nil},
		"too many":          {func(x *Tenant) { x.Admins = slices.Repeat([]string{"U1"}, 51) }, person, "admins", nil},
		"by the system":     {func(*Tenant) {}, aggregate.System(), "updated_by", nil},
		"over another's":    {func(x *Tenant) { x.Rev = 2 }, person, "save tenant T1: it changed meanwhile", nil},
	} {
		t.Run(name, func(t *testing.T) {
			x := known
			test.set(&x)
			c, err := x.Save(known, test.by, now)
			diff := cmp.Diff(test.audit, details(c))
			expect.That(t, diff == "" && fieldOf(err) == test.wrong && len(c.Writes) == len(test.audit),
				"%v, want %q, %d writes %s", err, test.wrong, len(c.Writes), diff)
			for _, w := range c.Writes {
				expect.Same(t, map[string]any{"name": x.Name, "admins": x.Admins, "updated_at": now, "rev": 4}, w.Set)
				expect.Same(t, map[string]any{"rev": 3}, w.If)
			}
		})
	}
}

func TestWhatBecomesOfAnIntegrationIsRecorded(t *testing.T) {
	before := now.Add(-time.Hour)
	connected := Integration{Meta: aggregate.Meta{Rev: 1}, ID: "I1", TenantID: "T1", Provider: "freee", Status: Connected,
		Credentials: "one", Metadata: "{}", ConnectedAt: &before}
	broken := connected.Ended(Broken, CredentialRefused)
	for name, test := range map[string]struct {
		was, x Integration
		wrong  string
		audit  []string
		since  *time.Time
	}{
		"connected first": {Integration{}, Integration{TenantID: "T1", Provider: "freee", Status: Connected}, "",
			[]string{`integration.connected {"provider":"freee"}`}, &now},
		"saved as it is": {connected, connected, "", nil, &before},
		"other credentials": {connected, connected.Fresh("two", "{}"), "",
			[]string{`integration.connected {"provider":"freee"}`}, &now},
		"connected again": {broken, broken.Fresh("one", "{}"), "",
			[]string{`integration.connected {"provider":"freee"}`}, &now},
		"failed": {connected, func() Integration {
			x := connected
			x.Status, x.StatusReason = Broken,
				CredentialRefused
			return x
		}(), "", []string{`integration.failed {"provider":"freee","reason":"refused"}`}, nil},
		"failed again": {broken, broken, "", nil, nil},
		"disconnected": {connected, connected.Ended(Disconnected, ByPerson), "",
			[]string{`integration.disconnected {"provider":"freee"}`}, nil},
		"given up": {broken, broken.Ended(Disconnected, ByPerson), "",
			[]string{`integration.disconnected {"provider":"freee"}`}, nil},
		"of nobody": {Integration{}, Integration{TenantID: "T1", Status: Connected}, "provider", nil, &now},
		"neither one nor else": {Integration{}, Integration{TenantID: "T1", Provider: "freee", Status: "maybe"}, "status",
			nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			saved, c, err := test.x.Save(test.was, "I1", person, now)
			diff := cmp.Diff(test.audit, details(c)) + cmp.Diff(test.since, saved.ConnectedAt)
			expect.That(t, diff == "" && fieldOf(err) == test.wrong, "%v, want %q %s", err, test.wrong, diff)
			expect.That(t, err != nil || saved.ID == "I1" && saved.Rev == test.x.Rev+1 && saved.Metadata == "{}" &&
				saved.UpdatedAt.Equal(now) && c.Writes[0].Over == test.x.Rev, "%+v", saved)
			expect.That(t, saved.Status == Connected || saved.Credentials == "", "what is not connected keeps credentials")
		})
	}
	connected.Credentials = "two"
	renewed, c, err := connected.Renew("I2", now)
	expect.That(t, err == nil && len(c.Audit) == 0 && renewed.ConnectedAt.Equal(before) && renewed.Rev == 2, "%+v, %v",
		renewed, err)
}

func TestSlackEndsWhatWasConnectedBefore(t *testing.T) {
	at, later := now.Add(-time.Hour), now.Add(-time.Minute)
	row := func(provider string, since time.Time) Integration {
		return Integration{TenantID: "T1", Provider: provider, Status: Connected, Credentials: "sealed", ConnectedAt: &since}
	}
	over := row(SlackProvider, at).Ended(Disconnected, TokensRevoked)
	for name, test := range map[string]struct {
		rows []Integration
		why  IntegrationReason
		want []string
	}{
		"uninstalled": {[]Integration{row("freee", at), row("slack", at)}, AppUninstalled,
			[]string{"freee", "slack"}},
		"revoked":                  {[]Integration{row("freee", at), row("slack", at)}, TokensRevoked, []string{"slack"}},
		"connected since":          {[]Integration{row("freee", later), row("slack", at)}, AppUninstalled, []string{"slack"}},
		"known already":            {[]Integration{over}, TokensRevoked, nil},
		"without a row for Slack":  {[]Integration{row("freee", at)}, AppUninstalled, []string{"freee", "slack"}},
		"without any row, revoked": {nil, TokensRevoked, []string{"slack"}},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := EndBySlack("T1", test.rows, test.why, at, "I1", now)
			var got, want []string
			for _, w := range c.Writes {
				x := w.Row.(Integration)
				got = append(got, x.Provider)
				expect.That(t, x.Status == Disconnected && x.StatusReason == test.why && x.Credentials == "" && x.ID != "", "%+v",
					x)
			}
			for _, provider := range test.want {
				want = append(want, `integration.disconnected {"provider":"`+provider+`","reason":"`+string(test.why)+`"}`)
			}
			diff := cmp.Diff(test.want, got) + cmp.Diff(want, details(c))
			expect.That(t, diff == "" && err == nil, "%v %v", err, diff)
		})
	}
}

// Only if a person disconnected an integration must an administrator connect it again, not if Slack or a vendor ended
// it.
func TestWhatAPersonDisconnectedIsPutAway(t *testing.T) {
	for why, want := range map[IntegrationReason]bool{ByPerson: true, "": true, AppUninstalled: false,
		TokensRevoked: false, CredentialRefused: false, CredentialLost: false} {
		expect.That(t, (Integration{}).Ended(Disconnected, why).PutAway() == want &&
			!(Integration{}).Ended(Broken, why).PutAway() && !(Integration{}).Fresh("", "{}").PutAway(), "%q", why)
	}
}

func TestServersThatSettingsMayName(t *testing.T) {
	wrong := func(servers ...MCPServer) string {
		s := DefaultSettings()
		s.MCPServers = servers
		return fieldOf(s.Validate())
	}
	for _, url := range []string{"https://example.com/mcp", "https://example.com:8443/", "http://127.0.0.1:4000/mcp",
		"http://[::1]:4000/mcp"} {
		expect.Is(t, wrong(MCPServer{"rooms-2", url}), "", url)
	}
	for _, url := range []string{"http://example.com", "http://localhost:1", "http://10.0.0.1", "file:///etc/passwd",
		"https://me:word@example.com", "https://example.com/?key=1", "", "https:///mcp", "https:example.com"} {
		expect.Is(t, wrong(MCPServer{"a", url}), "mcp_servers[0].url", url)
	}
	for _, name := range []string{"", "a.b", strings.Repeat("a", 33)} {
		expect.Is(t, wrong(MCPServer{name, "https://example.com"}), "mcp_servers[0].name", name)
	}
	a := MCPServer{"a", "https://example.com"}
	expect.Is(t, wrong(a, MCPServer{"a", "https://example.org"}), "mcp_servers[1].name", "twice")
	many := []MCPServer{}
	for i := range MaxMCPServers + 1 {
		many = append(many, MCPServer{strings.Repeat("a", i+1), "https://example.com"})
	}
	expect.Is(t, wrong(many...), "mcp_servers", "too many")
}

func TestAPinIsAnotherWhenAnythingOfItIs(t *testing.T) {
	a := Pin{URL: "https://a", Title: "t", Description: "d", Input: `{"type":"object"}`, Output: `{}`,
		Access: aggregate.Write, Hash: "h"}
	seen := map[string]bool{a.Version(): true}
	for _, change := range []func(*Pin){
		func(p *Pin) { p.URL = "https://b" }, func(p *Pin) { p.Description = "e" }, func(p *Pin) { p.Input = `{}` },
		func(p *Pin) { p.Output = "" }, func(p *Pin) { p.Access = aggregate.Read }, func(p *Pin) { p.Hash = "i" },
		func(p *Pin) { p.Title = "u" },
	} {
		b := a
		change(&b)
		expect.That(t, !seen[b.Version()], "%+v has a version that another has", b)
		seen[b.Version()] = true
	}
}

func TestConstraintsAreTyped(t *testing.T) {
	const sheet, dm, list = "write_rows_to_google_sheet", "send_slack_dm", "list_employees"
	known := map[string][]Constraint{sheet: {MaxRows, OnlySpreadsheets}, dm: {OnlyRecipients}, list: {OnlyDepartments}}
	read := func(tool string, text aggregate.JSON) (Constraints, error) {
		return ToolPermission{ToolName: tool, Constraints: text}.Bounds(known[tool])
	}
	for _, c := range []struct {
		tool string
		text aggregate.JSON
		want Constraints
	}{
		{dm, `{}`, Constraints{}}, {dm, ``, Constraints{}}, // a row of old times
		{sheet, `{"spreadsheet_ids":["1aB_-"],"max_rows":500}`, Constraints{SpreadsheetIDs: []string{"1aB_-"}, MaxRows: 500}},
		{dm, `{"recipients":["U0SATO","a@example.com"]}`, Constraints{Recipients: []string{"U0SATO", "a@example.com"}}},
		{list, `{"departments":["人事部"]}`, Constraints{Departments: []string{"人事部"}}},
	} {
		expect.Same(t, c.want, expect.Value(read(c.tool, c.text))(t))
	}
	many := aggregate.JSON(`{"recipients":["U0SATO"` + strings.Repeat(`,"U0SATO"`, 200) + `]}`)
	for _, c := range []struct {
		tool        string
		text        aggregate.JSON
		field, says string // below constraints
	}{
		{dm, `[]`, "", "JSON object"}, {dm, `null`, "", "JSON object"}, {dm, `{`, "", "JSON object"},
		{dm, `{"recipient":["U0SATO"]}`, ".recipient", "it knows recipients"},
		{dm, `{"Recipients":["U0SATO"]}`, ".Recipients", "it knows recipients"},
		{dm, `{"spreadsheet_ids":["a"]}`, ".spreadsheet_ids", "is no constraint of send_slack_dm"},
		{"calculate_overtime", `{"max_rows":1}`, ".max_rows", "it knows none"},
		{"rooms.book", `{"max_rows":1}`, ".max_rows", "it knows none"},
		{dm, `{"recipients":["U0SATO"],"max_rows":1}`, ".max_rows", "is no constraint"},
		{dm, `{"recipients":"U0SATO"}`, ".recipients", "must be a list"},
		{dm, `{"recipients":[1]}`, ".recipients", "must be a list"},
		{dm, `{"recipients":null}`, ".recipients", "must be a list"},
		{dm, `{"recipients":[]}`, ".recipients", "forbid the tool"},
		{dm, `{"recipients":["U0SATO",null]}`, ".recipients[1]", "Slack user id"},
		{dm, `{"recipients":["C0GENERAL"]}`, ".recipients[0]", "Slack user id"},
		{sheet, `{"spreadsheet_ids":["https://docs.google.com/x"]}`, ".spreadsheet_ids[0]", "id in the spreadsheet's"},
		{list, `{"departments":["人事部 "]}`, ".departments[0]", "no space"},
		{sheet, `{"max_rows":0}`, ".max_rows", "from 1 to"}, {sheet, `{"max_rows":"5"}`, ".max_rows", "from 1 to"},
		{sheet, `{"max_rows":1.5}`, ".max_rows", "from 1 to"}, {sheet, `{"max_rows":1000001}`, ".max_rows", "from 1 to"},
		{dm, many, ".recipients", "1 to 200"},
	} {
		got, err := read(c.tool, c.text)
		bad, _ := errors.AsType[aggregate.Problem](err)
		expect.That(t, bad.Field == "constraints"+c.field && strings.Contains(bad.Code, c.says) && got.None(),
			"%.60s of %s: %v", c.text, c.tool, err)
	}
}
