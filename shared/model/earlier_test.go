package model

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// Fifty rejected versions of the maximum length still make a prompt that every model accepts. People who reject again
// and again don't pay for the full text each time.
func TestWhatWasRejectedBoundsThePrompt(t *testing.T) {
	var drafts []Version
	var plans []PlanVersion
	for i := range 50 {
		reason := fmt.Sprintf("理由%02d", i) + strings.Repeat("あ", aggregate.MaxReason-4)
		drafts = append(drafts, Version{Content: fmt.Sprintf("方針%02d", i) + strings.Repeat("い", MaxPolicy-4), Reason: reason})
		steps := []task.Step{{StepID: "step-1", Title: fmt.Sprintf("手順%02d", i), ToolInput: aggregate.JSON(`{"x":"` + strings.Repeat("う", 8000) + `"}`)}}
		plans = append(plans, PlanVersion{Steps: steps, Reason: reason})
	}
	for name, data := range map[string]any{
		"方針": draftTries(drafts), "手順": planData(PlanInput{Earlier: plans}).Earlier,
	} {
		b := expect.Value(json.Marshal(data))(t)
		text := string(b)
		if n := estimate(text); n > 10_000+maxEarlier+50*(maxOldReason+20) {
			t.Errorf("%s: %d tokens", name, n)
		}
		expect.That(t, strings.Contains(text, name+"49") && !strings.Contains(text, name+"48"),
			"%s: the newest and only the newest is there whole", name)
		for i := range 50 {
			expect.Has(t, text, fmt.Sprintf("理由%02d", i), "%s: nothing is said of reason %d", name, i)
		}
		if n := strings.Count(text, strings.Repeat("あ", aggregate.MaxReason-4)); n < 10 || n > 16 {
			t.Errorf("%s: %d reasons are there whole", name, n)
		}
	}
	few := draftTries(drafts[:3])
	for i, v := range few {
		expect.Is(t, v.Reason, drafts[i].Reason, "of three reasons, %d is cut", i)
	}
}

// English has about four characters to a token, Japanese one. An estimate that is too high cuts a reason unnecessarily;
// one that is too low makes the prompt too long.
func TestTheEstimateOfTokens(t *testing.T) {
	for text, atLeast := range map[string]int{
		"": 0, "hello world": 2, "こんにちは": 4, `{"spreadsheet_id":"1AbC","sheet":"Sheet1"}`: 13,
	} {
		n := estimate(text)
		expect.That(t, n >= atLeast && n <= 3*atLeast, "%q is %d tokens, want %d or somewhat more", text, n, atLeast)
	}
}
