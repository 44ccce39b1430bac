package tool_test

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// The addresses in a constraint are compared letter by letter. Only the case of A to Z does not matter.
func TestAConstraintTakesNoLookAlike(t *testing.T) {
	c := expect.Value(builtin(t).Under([]tenancy.ToolPermission{{ToolName: "send_slack_dm", Allowed: true,
		Constraints: `{"recipients":["sato@x.example"]}`}}))(t)
	s, _ := c.Lookup("send_slack_dm")
	for recipient, held := range map[string]bool{"sato@x.example": true, "SATO@x.example": true, "ſato@x.example": false} {
		r := expect.Value(given(`{"recipient":"` + recipient + `","text":"x","details":[]}`))(t)
		expect.Is(t, s.Hold(r) == nil, held, "%s is held to the constraint", recipient)
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
