package task

import (
	"encoding/json"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestTheHashSeesWhatAPersonStampsAndNoWhitespace(t *testing.T) {
	base := Hash(threeSteps())
	for name, change := range map[string]func([]Step) []Step{
		"order of steps": func(s []Step) []Step { s[0], s[1] = s[1], s[0]; return s },
		"one fewer":      func(s []Step) []Step { return s[:2] },
		"one twice":      func(s []Step) []Step { return append(s, s[2]) },
		"an input":       func(s []Step) []Step { s[0].ToolInput = `{"month":40}`; return s },
		"a description":  func(s []Step) []Step { s[0].Description += "。"; return s },
		"an output":      func(s []Step) []Step { s[0].ExpectedOutput = ""; return s },
		"a flag":         func(s []Step) []Step { s[2].RequiresHumanCheck = true; return s },
	} {
		got := Hash(change(threeSteps()))
		expect.That(t, got != base && len(got) == 64, "%s: %s", name, got)
	}
	spaced := threeSteps()
	spaced[0].ToolInput = "{ \"month\" : 4 }\n"
	expect.Is(t, Hash(spaced), base, "whitespace changes the hash")
}

func TestJSONIsKeptAsItsText(t *testing.T) {
	type row struct {
		V aggregate.JSON `json:"v"`
	}
	for text, want := range map[aggregate.JSON]string{`{"a":1}`: `{"v":{"a":1}}`, `"文"`: `{"v":"文"}`, "": `{"v":null}`, "null": `{"v":null}`} {
		b, err := json.Marshal(row{text})
		expect.That(t, err == nil && string(b) == want, "%q: %s, %v", text, b, err)
	}
	var back row
	if err := json.Unmarshal([]byte(`{"v": {"a": [1, 2.50]} }`), &back); err != nil || back.V != `{"a": [1, 2.50]}` {
		t.Errorf("%q, %v", back.V, err)
	}
	if _, err := json.Marshal(row{`{"a":`}); err == nil {
		t.Error("half a value is marshalled")
	}
}

func TestAStepIsCalledByItsTitleElseByItsDescription(t *testing.T) {
	got := []string{Step{Title: "集計", Description: "集計する"}.Name(), Step{Description: "集計する"}.Name()}
	expect.Same(t, []string{"集計", "集計する"}, got)
}
