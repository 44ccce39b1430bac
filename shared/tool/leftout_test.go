package tool_test

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

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
