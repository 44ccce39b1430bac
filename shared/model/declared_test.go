package model_test

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// A planned step knows what its server calls the arguments, so that cards can say it.
func TestAServersTitlesArePlanned(t *testing.T) {
	pin := &tenancy.Pin{URL: "https://x", Title: "Post", Access: aggregate.Write,
		Input: `{"type":"object","properties":{"to":{"type":"string","title":"Reader"},"cc":{"type":"string"}}}`}
	spec, ok := tool.Pinned(tenancy.ToolPermission{ToolName: "notes.post", Allowed: true, Pin: pin},
		[]tenancy.MCPServer{{Name: "notes", URL: "https://x"}})
	expect.Must(t, ok, "notes.post is not allowed")
	in := planInput(t)
	in.Tools = expect.Value(catalog(t).With(spec))(t)
	said := answer(t, listStep(1).with("tool", "notes.post").with("toolInput", `{"to":"x"}`))
	steps, _, _, err := model.Plan(t.Context(), says(said), in)
	expect.NoError(t, err)
	expect.Is(t, string(steps[0].Declared), `[["/to","Reader"]]`)
}
