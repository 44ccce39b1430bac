package teamconfig

import (
	"slices"
	"testing"

	"ringi/shared/runtime/expect"
)

// The files have the shapes of those that mixseek publishes, in other words.
func TestFilesOfMixseekAreReadAsTheyAre(t *testing.T) {
	w, err := Open("testdata/mixseek", nil)
	expect.NoError(t, err)
	c, found := w.Contest("configs/orchestrator.toml")
	var warnings []string
	for _, f := range found {
		expect.That(t, f.Warning, "%v", f)
		warnings = append(warnings, f.Field)
	}
	slices.Sort(warnings)
	want := []string{"judgment.judge_on_final_round", "judgment_timeout_seconds", "submission_timeout_seconds", "teams[0].members[0].tool_settings", "teams[1].members[0].metadata", "teams[1].members[0].tool_settings"}
	expect.That(t, slices.Equal(warnings, want), "what has no effect: %v", warnings)
	if len(c.Teams) != 3 || len(c.Evaluator.Metrics) != 3 || c.TeamTimeoutSeconds != 600 || c.MinRounds != 1 || c.MaxRounds != 2 {
		t.Fatalf("%+v", c)
	}
	inline, ref, solo := c.Teams[0], c.Teams[1], c.Teams[2]
	search, logic, analyst := inline.Members[0], inline.Members[1], ref.Members[0]
	if search.AgentType != "web-search" || search.Tool() != "delegate_to_web_search" || *search.SystemInstruction != "信頼できる情報源を探してください。" || logic.Tool() != "delegate_to_logic" || *logic.TimeoutSeconds != 30 {
		t.Errorf("%+v", inline)
	}
	if analyst.AgentType != "code-exec" || analyst.ToolDescription != "数を読み解きます。\n" || *analyst.SystemPrompt != "簡潔に答えてください。\n" || *ref.Leader.SystemInstruction != "" || *ref.Leader.SystemPrompt != "日本語で答えてください。\n" {
		t.Errorf("%+v", ref)
	}
	if len(solo.Members) != 0 || *solo.Leader.MaxTokens != 4096 || *c.Evaluator.MaxRetries != 5 || c.Evaluator.Metrics[1].Model != "anthropic:claude-sonnet-4-5-20250929" || c.Evaluator.Metrics[0].Model != "google-gla:gemini-2.5-flash" {
		t.Errorf("%+v %+v", solo, c.Evaluator)
	}
}
