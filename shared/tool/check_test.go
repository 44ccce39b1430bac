package tool_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

const (
	dm    = "send_slack_dm"
	sheet = "write_rows_to_google_sheet"
)

// bound returns a tool and the catalog of a tenant that has set constraints for it.
func bound(t *testing.T, name, constraints string) (*tool.Catalog, tool.Spec) {
	t.Helper()
	c := expect.Value(builtin(t).Under([]tenancy.ToolPermission{{ToolName: name, Allowed: true,
		Constraints: aggregate.JSON(constraints)}}))(t)
	s, ok := c.Lookup(name)
	expect.Must(t, ok, "%s is not in the catalog", name)
	return c, s
}

func TestArgumentsKeepToConstraints(t *testing.T) {
	untried := map[string]bool{}
	for _, s := range builtin(t).All() {
		for _, constraint := range s.Knows() {
			untried[fmt.Sprintf("%s of %s", constraint, s.Name)] = true
		}
	}
	const people = `{"recipients":["U0SATO","Suzuki@example.com"]}`
	for name, test := range map[string]struct{ tool, constraints, args, want string }{
		"a listed person":             {dm, people, `{"recipient":"U0SATO"}`, ""},
		"an address in other letters": {dm, people, `{"recipient":"suzuki@EXAMPLE.com"}`, ""},
		"an id in other letters": {dm, people, `{"recipient":"u0sato"}`,
			"Sending to “u0sato” isn't allowed (allowed: U0SATO, Suzuki@example.com)."},
		"an address that only looks alike": {dm, `{"recipients":["sato@x.example"]}`, `{"recipient":"ſato@x.example"}`,
			"Sending to"},
		"somebody else":   {dm, people, `{"recipient":"U0TANAKA"}`, "Sending to “U0TANAKA” isn't allowed"},
		"nobody":          {dm, people, `{}`, "Sending to “null” isn't allowed"},
		"several at once": {dm, people, `{"recipient":["U0SATO"]}`, "Sending to “array” isn't allowed"},
		"no constraint":   {dm, `{}`, `{"recipient":"U0TANAKA"}`, ""},
		"the spreadsheet": {sheet, `{"spreadsheet_ids":["book"]}`, `{"spreadsheet_id":"book","rows":[]}`, ""},
		"another spreadsheet": {sheet, `{"spreadsheet_ids":["book"]}`, `{"spreadsheet_id":"book2","rows":[]}`,
			"Writing to the spreadsheet “book2” isn't allowed"},
		"as many rows as allowed": {sheet, `{"max_rows":2}`, `{"spreadsheet_id":"a","rows":[{},{}]}`, ""},
		"a row too many": {sheet, `{"max_rows":2}`, `{"spreadsheet_id":"a","rows":[{},{},{}]}`,
			"Only 2 rows are allowed at once, but there are 3"},
		"a department": {"list_employees", `{"departments":["人事部"]}`, `{"department":"人事部"}`, ""},
		"the whole company": {"list_employees", `{"departments":["人事部"]}`, `{"department":null}`,
			"Reading the department “null” isn't allowed (allowed: 人事部)"},
		"another department's": {"list_departments", `{"departments":["人事部"]}`, `{"department":"営業部"}`,
			"Reading the department “営業部” isn't allowed (allowed: 人事部)"},
		"the vendor knows where": {"list_attendance", `{"departments":["人事部"]}`, `{"employees":[{"id":1}]}`, ""},
		"people too many": {"list_attendance", `{"max_rows":1}`, `{"employees":[{"id":1},{"id":2}]}`,
			"Only 1 rows are allowed at once"},
	} {
		maps.DeleteFunc(untried, func(of string, _ bool) bool {
			constraint, tool, _ := strings.Cut(of, " of ")
			return tool == test.tool && strings.Contains(test.constraints, `"`+constraint+`"`)
		})
		t.Run(name, func(t *testing.T) {
			_, s := bound(t, test.tool, test.constraints)
			r := expect.Value(given(test.args))(t)
			e := s.Hold(r)
			if test.want == "" {
				expect.That(t, e == nil, "%v", e)
				return
			}
			expect.That(t, e != nil && e.Outcome == explain.CallFailed &&
				strings.Contains(explain.FailedCall("en", e.Problem, e.Args...), test.want),
				"%v, want a refusal that says %q", e, test.want)
		})
	}
	for of := range untried {
		t.Errorf("%s is not tried: add calls that it allows and refuses to this table", of)
	}
}

func TestAPlanKeepsToConstraints(t *testing.T) {
	earlier := func(id string) (string, bool) { return "list_employees", id == "step-1" }
	const book = `{"spreadsheet_ids":["book"],"max_rows":1}`
	row := `{"spreadsheet_id":%ID,"sheet":"a","columns":[{"key":"n","title":"n"}],"rows":%ROWS}`
	for name, test := range map[string]struct{ id, rows, want string }{
		"another spreadsheet": {`"other"`, `[{}]`, "Writing to the spreadsheet “other”"},
		"both from before":    {`{"$ref":"step-1.result.employees.0.email"}`, `{"$ref":"step-1.result.employees"}`, ""},
		"the schema first":    {`1`, `[{}]`, "spreadsheet_id: got integer"},
	} {
		t.Run(name, func(t *testing.T) {
			c, _ := bound(t, sheet, book)
			a, err := tool.Parse(aggregate.JSON(strings.NewReplacer("%ID", test.id, "%ROWS", test.rows).Replace(row)))
			expect.NoError(t, err)
			err = c.CheckPlanned(sheet, a, earlier)
			expect.That(t, (err == nil) == (test.want == "") && (err == nil || strings.Contains(err.Error(), test.want)),
				"%v, want %q", err, test.want)
		})
	}
}

// A tool whose constraints can't be read is left out.
func TestAToolWithoutReadableConstraintsIsLeftOut(t *testing.T) {
	c, err := builtin(t).Under([]tenancy.ToolPermission{
		{ToolName: dm, Allowed: true, Constraints: `{"users":["U1"]}`}, {ToolName: sheet,
			Constraints: `{}`}, {ToolName: "list_employees", Allowed: true},
	})
	expect.That(t, err != nil && strings.Contains(err.Error(), "send_slack_dm: constraints.users is no constraint"),
		"%v", err)
	for _, s := range builtin(t).All() {
		_, ok := c.Lookup(s.Name)
		expect.That(t, ok == (s.Name != dm && s.Name != sheet), "%s is offered: %v", s.Name, ok)
	}
}

// No earlier result can make an argument of Ringi's own tools mean everything: a complete argument that a reference
// makes null or an empty text is refused. A null in the plan or inside a list is accepted.
func TestNoReferenceWidensACall(t *testing.T) {
	c := builtin(t)
	for _, s := range c.All() {
		var input struct{ Properties map[string]any }
		expect.NoError(t, json.Unmarshal([]byte(s.InputSchema), &input))
		for name := range input.Properties {
			for _, value := range []string{`null`, `""`} {
				a := planned(`{"` + name + `":{"$ref":"step-1.result.x"}}`)
				r, err := a.Resolve(func(string) (json.RawMessage, error) { return json.RawMessage(`{"x":` + value + `}`), nil })
				expect.NoError(t, err)
				_, err = c.Check(s.Name, r)
				unfit := err != nil && strings.Contains(err.Error(), name+": ")
				if e := s.Hold(r); !unfit && (e == nil || e.Problem != explain.ProblemNoValue) || value == `null` && e == nil {
					t.Errorf("%s takes %s for %s: %v, %v", s.Name, value, name, err, e)
				}
			}
		}
	}
	for name, args := range map[string]string{
		"list_employees": `{"department":null,"status":"active"}`,
		"send_slack_dm":  `{"recipient":"U012","text":"x","details":[{"label":"n","value":{"$ref":"step-1.result.x"}}]}`,
	} {
		a := planned(args)
		r, err := a.Resolve(func(string) (json.RawMessage, error) { return json.RawMessage(`{"x":null}`), nil })
		s, _ := c.Lookup(name)
		if _, unfit := c.Check(name, r); err != nil || unfit != nil || s.Hold(r) != nil {
			t.Errorf("%s is refused: %v, %v, %v", args, err, unfit, s.Hold(r))
		}
	}
}

// A message that Slack would not take whole is refused before anybody is asked to stamp it, and again before the call.
// The refusal names its longest part and the limit.
func TestAMessageThatIsTooLongIsRefused(t *testing.T) {
	c := expect.Value(tool.Builtin())(t)
	spec, _ := c.Lookup("send_slack_dm")
	detail := func(value any) []any { return []any{map[string]any{"label": "all", "value": value}} }
	for name, tt := range map[string]struct {
		text    string
		details []any
		names   string
	}{
		"it just fits":          {strings.Repeat("a", 3000), detail(strings.Repeat("あ", 992)), ""},
		"one more":              {strings.Repeat("a", 2999), detail(strings.Repeat("あ", 994)), "text"},
		"a value":               {"a", detail(strings.Repeat("あ", 4000)), "details.0.value"},
		"signs that Slack sees": {"a", detail(strings.Repeat("&", 1000)), "details.0.value"},
		"characters outside":    {strings.Repeat("𠮟", 2001), []any{}, "text"},
	} {
		args := aggregate.JSON(expect.Value(json.Marshal(map[string]any{"recipient": "U012", "text": tt.text,
			"details": tt.details}))(t))
		_, r, err := c.Literal("send_slack_dm", args)
		planned := expect.Value(tool.Parse(args))(t)
		atPlan := c.CheckPlanned("send_slack_dm", planned, nil)
		if tt.names == "" {
			expect.That(t, err == nil && atPlan == nil && spec.Hold(r) == nil, "%s: %v, %v", name, err, atPlan)
			continue
		}
		for _, err := range []error{err, atPlan} {
			expect.That(t, err != nil && strings.Contains(err.Error(), tt.names) && strings.Contains(err.Error(), "4000"),
				"%s: %v", name, err)
		}
		var e *explain.CallError
		expect.That(t, errors.As(error(spec.Hold(expect.Value(planned.Resolve(nil))(t))), &e) &&
			e.Problem == explain.ProblemTooLong, "%s: %v", name, e)
	}
}

// pinnedTool is an MCP server's tool with this schema.
func pinnedTool(access aggregate.Access, input string) tool.Spec {
	return tool.Spec{Name: "rooms.find", Access: access, InputSchema: input, OutputSchema: `{}`,
		Pin: &tenancy.Pin{Access: access, Input: aggregate.JSON(input)}}
}

func TestAServersToolOfFreeTextCantBeListed(t *testing.T) {
	for input, want := range map[string]bool{
		`{"type":"object","properties":{"floor":{"type":"integer"},"kind":{"enum":["large","small"]},` +
			`"day":{"type":"string","format":"date"}}}`: true,
		`{"type":"object","properties":{"on":{"type":["boolean","null"]}}}`:  true,
		`{"type":"object","properties":{"q":{"type":"string"}}}`:             false,
		`{"type":"object","properties":{"q":{"type":["integer","string"]}}}`: false,
		`{"type":"object","properties":{"q":{}}}`:                            false,
		`{"type":"object","properties":{"q":true}}`:                          false,
		`{"type":"object","properties":{"q":{"type":"array",` +
			`"items":{"type":"integer"}}}}`: false,
		`{"type":"object"}`: true,
		`true`:              false,
	} {
		expect.Is(t, tool.Listable(pinnedTool(aggregate.Read, input)), want, input)
		expect.Is(t, tool.Listable(pinnedTool(aggregate.Write, input)), false, input)
	}
	catalog := expect.Value(tool.Builtin())(t)
	for _, s := range catalog.All() {
		expect.Is(t, tool.Listable(s), s.Access == aggregate.Read, s.Name)
	}
}

func TestNothingInAListedReadIsComposed(t *testing.T) {
	const input = `{"type":"object","properties":{"kind":{"enum":["large","small"]},"n":{"type":"number"},` +
		`"day":{"type":"string"},"q":{"type":"string"},"list":{"type":"array"},"on":{"type":"boolean"}}}`
	s := pinnedTool(aggregate.Read, input)
	const said = "「営業部」の会議室を ROOM-12 で。予算は 30000 円"
	for arguments, want := range map[string]bool{
		`{"kind":"large"}`:              true,
		`{"kind":null,"on":true}`:       true,
		`{"n":12.5,"day":"2026-10-31"}`: true,
		`{"day":"2026-10"}`:             true,
		`{"day":"2026-13"}`:             false,
		`{"day":"2026-02-30"}`:          false,
		`{"n":1234567890123456}`:        false,
		`{"q":"営業部"}`:                   true,
		`{"q":"ROOM-12"}`:               true,
		`{"q":"営業"}`:                    false,
		`{"q":"secret"}`:                false,
		`{"q":""}`:                      false,
		`{"list":["営業部","ROOM-12"]}`:    true,
		`{"list":["営業部","secret"]}`:     false,
		`{"list":[]}`:                   false,
		`{"list":[1,2,3]}`:              false,
		`{"q":{"営業部":"ROOM-12"}}`:       false,
		`{"undeclared":1}`:              false,
		`{"undeclared":"営業部"}`:          false,
		`{}`:                            true,
	} {
		a := expect.Value(tool.Parse(aggregate.JSON(arguments)))(t)
		r := expect.Value(a.Resolve(nil))(t)
		expect.Is(t, tool.Plain(s, r, said), want, arguments)
	}
}

func TestLiteralArgumentsFitTheToolAndItsLimits(t *testing.T) {
	catalog := expect.Value(tool.Builtin())(t)
	bound := expect.Value(catalog.Under([]tenancy.ToolPermission{{ToolName: "list_employees", Allowed: true,
		Constraints: `{"departments":["営業部"]}`}}))(t)
	for arguments, want := range map[string]string{
		`{"department":"営業部","status":"all"}`:                    "",
		`{"department":"人事部","status":"all"}`:                    "営業部",
		`{"department":"営業部"}`:                                   "status",
		`{"department":{"$ref":"step-1.result"},"status":"all"}`: "argument department: a $ref",
		`[]`: "must be an object",
	} {
		_, _, err := bound.Literal("list_employees", aggregate.JSON(arguments))
		expect.Is(t, err == nil, want == "", arguments)
		if err != nil {
			expect.Has(t, err.Error(), want)
		}
	}
}
