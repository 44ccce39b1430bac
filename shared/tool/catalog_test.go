package tool_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func builtin(t testing.TB) *tool.Catalog {
	t.Helper()
	return expect.Value(tool.Builtin())(t)
}

func TestTheTools(t *testing.T) {
	type row struct {
		Effect      aggregate.Access
		Provider    string
		Destination []string
	}
	got := map[string]row{}
	for _, s := range builtin(t).All() {
		got[s.Name] = row{s.Access, s.Provider, s.Destination}
		expect.That(t, s.Description != "", "%s is not described", s.Name)
		expect.That(t, s.Timeout > 0 && s.Timeout.Seconds() <= 120,
			"%s: timeout %s does not fit into a function's time", s.Name, s.Timeout)
	}
	for _, s := range builtin(t).All() {
		holdsLimits(t, s)
	}
	if _, err := tool.NewCatalog(builtin(t).All()...); err != nil { // compiles every schema
		t.Error(err)
	}
	want := map[string]row{
		"list_employees":             {aggregate.Read, "freee", []string{}},
		"list_departments":           {aggregate.Read, "freee", []string{}},
		"list_positions":             {aggregate.Read, "freee", []string{}},
		"open_pull_request":          {aggregate.Write, "github", nil},
		"record_decision":            {aggregate.Write, "", []string{"matter"}},
		"list_attendance":            {aggregate.Read, "freee", []string{}},
		"calculate_overtime":         {aggregate.Read, "", []string{}},
		"write_rows_to_google_sheet": {aggregate.Write, "google", []string{"spreadsheet_id", "sheet"}},
		"send_slack_dm":              {aggregate.Write, "slack", []string{"recipient"}},
	}
	expect.Same(t, want, got)
}

// holdsLimits compares a catalog entry's limits with its schema, and with the constraints that rows may have.
func holdsLimits(t *testing.T, s tool.Spec) {
	t.Helper()
	var input struct {
		Properties map[string]struct {
			MaxItems int `json:"maxItems"`
		} `json:"properties"`
	}
	expect.NoError(t, json.Unmarshal([]byte(s.InputSchema), &input))
	longest := 0
	for _, p := range input.Properties {
		longest = max(longest, p.MaxItems)
	}
	expect.That(t, longest <= 0 || s.MaxRows == longest,
		"%s: max_rows is %d, its longest list has %d", s.Name, s.MaxRows, longest)
	expect.That(t, s.MaxRows > 0 && s.MaxBytes > 0 && s.MaxBytes <= 8<<20, "%s: at most %d rows and %d bytes", s.Name,
		s.MaxRows, s.MaxBytes)
	forms := []tenancy.Constraint{tenancy.OnlySpreadsheets, tenancy.OnlyRecipients, tenancy.OnlyDepartments,
		tenancy.MaxRows}
	for name, argument := range s.Bound {
		expect.That(t, slices.Contains(forms, name), "%s: permissions have no form for the constraint %s", s.Name, name)
		_, ok := input.Properties[argument]
		expect.That(t, ok || argument == "", "%s: the constraint %s holds %q, which is no argument", s.Name, name, argument)
	}
}

func TestVersionFollowsWhatPeopleApprove(t *testing.T) {
	s, _ := builtin(t).Lookup("send_slack_dm")
	same := s
	same.Description, same.Titles, same.OutputSchema = "other", nil, `{}`
	same.Bounds = tenancy.Constraints{Recipients: []string{"U123"}} // they only narrow what people approved
	expect.Is(t, s.Version(), same.Version(), "words alone changed the version")
	for name, change := range map[string]func(*tool.Spec){
		"name":   func(s *tool.Spec) { s.Name = "x" },
		"effect": func(s *tool.Spec) { s.Access = aggregate.Read },
		"input":  func(s *tool.Spec) { s.InputSchema = `{}` },
	} {
		other := s
		change(&other)
		expect.That(t, other.Version() != s.Version(), "another %s kept the version", name)
	}
}

// A server may have two tools whose hashes begin with the same digits: one that is allowed and stamped, and one that it
// offers afterwards.
func TestAnApprovedVersionIsTheWholeHash(t *testing.T) {
	own, _ := builtin(t).Lookup("send_slack_dm")
	pinned, _ := tool.Pinned(allowed(), servers)
	for _, s := range []tool.Spec{own, pinned} {
		p := allowed()
		if p.ToolName = s.Name; s.Pin == nil {
			p.Pin = nil
		}
		v := s.Version()
		for version, want := range map[string]error{v: nil, "": tool.ErrOther, v[:12]: tool.ErrOther, v[:63]: tool.ErrOther,
			strings.Repeat("0", 64): tool.ErrOther} {
			_, err := builtin(t).Permit(s.Name, version, s.Access, p, servers)
			expect.That(t, err == want, "%s in version %q: %v", s.Name, version, err)
		}
	}
}

func TestCatalogRefusesNonsense(t *testing.T) {
	ok := tool.Spec{Name: "a", InputSchema: `{}`, OutputSchema: `{}`}
	for name, specs := range map[string][]tool.Spec{
		"a name twice":      {ok, ok},
		"a broken schema":   {{Name: "a", InputSchema: `{"type":"nope"}`, OutputSchema: `{}`}},
		"no output schema":  {{Name: "a", InputSchema: `{}`}},
		"a distant schema":  {{Name: "a", InputSchema: `{"$ref":"file:///etc/passwd"}`, OutputSchema: `{}`}},
		"schema of nothing": {{Name: "a", InputSchema: ``, OutputSchema: `{}`}},
	} {
		expect.That(t, expect.Err(tool.NewCatalog(specs...)) != nil, "%s was taken", name)
	}
}

// given returns the arguments of a call that has no references.
func given(args string) (tool.Resolved, error) {
	a, err := tool.Parse(aggregate.JSON(args))
	if err != nil {
		return tool.Resolved{}, err
	}
	return a.Resolve(nil)
}

// check checks a call's arguments. Arguments that fit are checked a second time, which must give the same result.
func check(c *tool.Catalog, name, args string) error {
	r, err := given(args)
	if err == nil {
		if r, err = c.Check(name, r); err == nil {
			_, err = c.Check(name, r)
		}
	}
	return err
}

// Arguments that fit one tool are checked again for another tool.
func TestWhatWasCheckedForOneToolIsCheckedForAnother(t *testing.T) {
	c := builtin(t)
	r, err := given(`{"department":null,"status":"active"}`)
	expect.NoError(t, err)
	if r, err = c.Check("list_employees", r); err != nil {
		t.Fatal(err)
	}
	expect.That(t, expect.Err(c.Check("send_slack_dm", r)) != nil, "a list's arguments were taken for a message's")
	other := tool.Spec{Name: "list_employees", InputSchema: `{"required":["more"]}`, OutputSchema: `{}`}
	changed := expect.Value(tool.NewCatalog(other))(t)
	_, err = changed.Check("list_employees", r)
	expect.That(t, err != nil, "what was checked with one schema was taken for another of the same name")
}

func TestCheckSaysWhatIsWrong(t *testing.T) {
	c := builtin(t)
	for name, test := range map[string]struct{ tool, args, want string }{
		"seed's own input": {"list_employees", `{"department":null,"status":"active"}`, ""},
		"unknown status": {"list_employees", `{"department":null,"status":"gone"}`,
			"status: enum: gone does not equal any of: [active all]"},
		"month 13": {"list_attendance", `{"year":2026,"month":13,"employees":[]}`,
			"month: maximum: 13 is beyond the limit of 12"},
		"a formula as id": {"write_rows_to_google_sheet",
			`{"spreadsheet_id":"../x","sheet":"a","columns":[{"key":"a","title":"b"}],` +
				`"rows":[]}`, `spreadsheet_id: pattern: "../x" does not match`},
		"e-mail":    {"send_slack_dm", `{"recipient":"a.b@example.com","text":"x","details":[]}`, ""},
		"a channel": {"send_slack_dm", `{"recipient":"C0123","text":"x","details":[]}`, "recipient:"},
		"extra argument": {"send_slack_dm", `{"recipient":"U0123","text":"x","details":[],"as_user":true}`,
			"additional properties 'as_user' not allowed"},
		"not an object":      {"send_slack_dm", `[]`, "arguments are of the type array, they must"},
		"not JSON":           {"send_slack_dm", `{`, "not one JSON value"},
		"tool of no catalog": {"drop_tables", `{}`, `there is no tool "drop_tables"`},
	} {
		t.Run(name, func(t *testing.T) {
			err := check(c, test.tool, test.args)
			expect.That(t, (err == nil) == (test.want == "") && (err == nil || strings.Contains(err.Error(), test.want)),
				"%v, want %q", err, test.want)
		})
	}
}

func TestManyProblemsAreCounted(t *testing.T) {
	args := `{"year":2026,"month":1,"employees":[` + strings.TrimSuffix(strings.Repeat(`{},`, 15), ",") + `]}`
	err := check(builtin(t), "list_attendance", args)
	expect.That(t, err != nil && strings.HasSuffix(err.Error(), "and 5 more"), "%v", err)
}

func allowed() tenancy.ToolPermission {
	return tenancy.ToolPermission{ToolName: "rooms.book", Allowed: true, Pin: &tenancy.Pin{
		URL: "https://example.com/mcp", Title: "予約", Description: "Books a room.", Access: aggregate.Write, Hash: "h",
		Input: `{"type":"object","properties":{"room":{"type":"string"}},"required":["room"]}`,
	}}
}

var servers = []tenancy.MCPServer{{Name: "rooms", URL: "https://example.com/mcp"}}

func TestAToolIsInTheCatalogOnlyAsItWasAllowed(t *testing.T) {
	s, ok := tool.Pinned(allowed(), servers)
	expect.That(t, ok && s.Name == "rooms.book" && s.Access == aggregate.Write && s.Provider == "mcp:rooms" &&
		s.Title("ja") == "予約" && s.Timeout != 0, "%v, %+v", ok, s)
	for name, change := range map[string]func(*tenancy.ToolPermission){
		"forbidden":         func(p *tenancy.ToolPermission) { p.Allowed = false },
		"changed":           func(p *tenancy.ToolPermission) { p.ChangedAt = new(time.Time) },
		"not pinned":        func(p *tenancy.ToolPermission) { p.Pin = nil },
		"a tool of Ringi's": func(p *tenancy.ToolPermission) { p.ToolName = "send_slack_dm" },
		"another server":    func(p *tenancy.ToolPermission) { p.ToolName = "chairs.book" },
		"another address":   func(p *tenancy.ToolPermission) { p.Pin.URL = "https://example.org/mcp" },
	} {
		p := allowed()
		change(&p)
		_, ok := tool.Pinned(p, servers)
		expect.That(t, !ok, "%s: it is offered", name)
	}
}

func TestTheCatalogTakesMoreTools(t *testing.T) {
	s, _ := tool.Pinned(allowed(), servers)
	c := expect.Value(builtin(t).With(s))(t)
	expect.Is(t, len(c.All()), len(builtin(t).All())+1, "tools")
	expect.That(t, check(c, "rooms.book", `{"room":5}`) != nil, "its arguments are not checked")
	err := check(c, "send_slack_dm", `{}`)
	expect.That(t, err != nil && !strings.Contains(err.Error(), "no tool"), "the others are gone: %v", err)
	expect.That(t, expect.Err(c.With(s)) != nil, "a name was taken twice")
	found, _ := c.Lookup("rooms.book")
	expect.That(t, found.Version() == allowed().Pin.Version(), "its version is not what was allowed")
	found.Bounds = tenancy.Constraints{Departments: []string{"営業部"}}
	call := found.Call(expect.Value(given(`{}`))(t))
	expect.That(t, call.Tool == "rooms.book" && call.Pin == found.Pin && !call.Bounds.None(), "%+v", call)
	after := func(argument string) error {
		a := expect.Value(tool.Parse(aggregate.JSON(`{"room":{"$ref":"step-1.result.` + argument + `"}}`)))(t)
		return c.CheckPlanned("rooms.book", a, func(string) (string, bool) { return "rooms.book", true })
	}
	if after("text") != nil || after("id") == nil { // what declares no result gives a text
		t.Errorf("%v, %v", after("text"), after("id"))
	}
}

func TestAnyReferenceInAServersWriteMayBeItsDestination(t *testing.T) {
	s, _ := tool.Pinned(allowed(), servers)
	if tool.Dynamic(s, planned(`{"room":"fuji"}`)) || !tool.Dynamic(s,
		planned(`{"room":"fuji","at":{"date":{"$ref":"step-1.result.text"}}}`)) {
		t.Error("a reference is not seen, or one is seen that is not there")
	}
}

func TestDefaultsOfWhatAWriteLeavesOut(t *testing.T) {
	const input = `{"type":"object","properties":{"to":{},"any":true,"public":{"type":"boolean","default":true},` +
		`"cc":{"default":["all@example.com"]},"note":{"default":null}}}`
	for name, test := range map[string]struct {
		effect     aggregate.Access
		args, want string
	}{
		"left out":  {aggregate.Write, `{"to":"x"}`, `{"cc":["all@example.com"],"public":true}`},
		"given":     {aggregate.Write, `{"to":"x","public":false,"cc":[]}`, ``},
		"of a read": {aggregate.Read, `{"to":"x"}`, ``},
	} {
		spec, ok := tool.Pinned(tenancy.ToolPermission{ToolName: "notes.post", Allowed: true,
			Pin: &tenancy.Pin{URL: "https://x", Access: test.effect, Input: input}}, []tenancy.MCPServer{{Name: "notes",
			URL: "https://x"}})
		expect.Must(t, ok, "notes.post is not allowed")
		a := expect.Value(tool.Parse(aggregate.JSON(test.args)))(t)
		expect.Is(t, string(tool.LeftOut(spec, a)), test.want, "%s", name)
	}
	own, _ := builtin(t).Lookup("send_slack_dm")
	a, err := tool.Parse(`{}`)
	expect.That(t, err == nil && tool.LeftOut(own, a) == "", "Ringi's own tools say in their lines what they do")
}
