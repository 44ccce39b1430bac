package tool_test

import (
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func allowed() tenancy.ToolPermission {
	return tenancy.ToolPermission{ToolName: "rooms.book", Allowed: true, Pin: &tenancy.Pin{
		URL: "https://example.com/mcp", Title: "予約", Description: "Books a room.", Access: aggregate.Write, Hash: "h",
		Input: `{"type":"object","properties":{"room":{"type":"string"}},"required":["room"]}`,
	}}
}

var servers = []tenancy.MCPServer{{Name: "rooms", URL: "https://example.com/mcp"}}

func TestAToolIsInTheCatalogOnlyAsItWasAllowed(t *testing.T) {
	s, ok := tool.Pinned(allowed(), servers)
	if !ok || s.Name != "rooms.book" || s.Access != aggregate.Write || s.Provider != "mcp:rooms" || s.Title("ja") != "予約" || s.Timeout == 0 {
		t.Errorf("%v, %+v", ok, s)
	}
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
		if _, ok := tool.Pinned(p, servers); ok {
			t.Errorf("%s: it is offered", name)
		}
	}
}

func TestTheCatalogTakesMoreTools(t *testing.T) {
	s, _ := tool.Pinned(allowed(), servers)
	c := expect.Value(builtin(t).With(s))(t)
	expect.Is(t, len(c.All()), len(builtin(t).All())+1, "tools")
	if err := check(c, "rooms.book", `{"room":5}`); err == nil {
		t.Error("its arguments are not checked")
	}
	if err := check(c, "send_slack_dm", `{}`); err == nil || strings.Contains(err.Error(), "no tool") {
		t.Errorf("the others are gone: %v", err)
	}
	if _, err := c.With(s); err == nil {
		t.Error("a name was taken twice")
	}
	found, _ := c.Lookup("rooms.book")
	expect.That(t, found.Version() == allowed().Pin.Version(), "its version is not what was allowed")
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
	if tool.Dynamic(s, planned(`{"room":"fuji"}`)) || !tool.Dynamic(s, planned(`{"room":"fuji","at":{"date":{"$ref":"step-1.result.text"}}}`)) {
		t.Error("a reference is not seen, or one is seen that is not there")
	}
}

func TestDefaultsOfWhatAWriteLeavesOut(t *testing.T) {
	const input = `{"type":"object","properties":{"to":{},"any":true,"public":{"type":"boolean","default":true},"cc":{"default":["all@example.com"]},"note":{"default":null}}}`
	for name, test := range map[string]struct {
		effect     aggregate.Access
		args, want string
	}{
		"left out":  {aggregate.Write, `{"to":"x"}`, `{"cc":["all@example.com"],"public":true}`},
		"given":     {aggregate.Write, `{"to":"x","public":false,"cc":[]}`, ``},
		"of a read": {aggregate.Read, `{"to":"x"}`, ``},
	} {
		spec, ok := tool.Pinned(tenancy.ToolPermission{ToolName: "notes.post", Allowed: true, Pin: &tenancy.Pin{URL: "https://x", Access: test.effect, Input: input}}, []tenancy.MCPServer{{Name: "notes", URL: "https://x"}})
		expect.Must(t, ok, "notes.post is not allowed")
		a := expect.Value(tool.Parse(aggregate.JSON(test.args)))(t)
		expect.Is(t, string(tool.LeftOut(spec, a)), test.want, "%s", name)
	}
	own, _ := builtin(t).Lookup("send_slack_dm")
	if a, err := tool.Parse(`{}`); err != nil || tool.LeftOut(own, a) != "" {
		t.Error("Ringi's own tools say in their lines what they do")
	}
}
