package turn_test

import (
	"testing"

	"ringi/infra/local/vendors/llm"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

func sampled() model.Request {
	warm, top, seed := 1.5, 0.9, 7
	return model.Request{
		System: "s", Messages: []model.Message{{Role: model.User, Parts: []model.Part{{Text: "x"}}}}, MaxTokens: 10,
		Sampling: model.Sampling{Temperature: &warm, TopP: &top, Seed: &seed, StopSequences: []string{"終"}},
	}
}

func TestEachVendorIsSentTheSamplingThatItTakes(t *testing.T) {
	wants := map[string]map[string]any{
		"anthropic":  {"temperature": 1.0, "top_p": 0.9, "stop_sequences": []any{"終"}},
		"openai":     {"temperature": 1.5, "top_p": 0.9},
		"bedrock":    {"temperature": 1.0, "topP": 0.9, "stopSequences": []any{"終"}},
		"compatible": {"temperature": 1.5, "top_p": 0.9, "stop": []any{"終"}, "seed": 7.0},
	}
	onEach(t, func(t *testing.T, w *world) {
		for _, refused := range []bool{false, true} {
			want := map[string]any{}
			if refused {
				w.Fail(llm.Failure{Status: 400})
			} else {
				want = wants[w.name]
			}
			w.Scripted(llm.Script{Texts: []string{"はい"}})
			got, err := w.wire.Say(t.Context(), sampled(), func(string) {})
			expect.Must(t, err == nil && got.Text == "はい", "refused %v: %+v, %v", refused, got, err)
			asked := w.Asked()
			body := decoded(t, asked[len(asked)-1])
			for _, name := range []string{"temperature", "top_p", "topP", "seed", "stop", "stop_sequences", "stopSequences"} {
				expect.Same(t, want[name], body[name])
			}
		}
		for range 2 { // it is the request that is refused, and not its sampling
			w.Fail(llm.Failure{Status: 400})
		}
		if _, err := w.wire.Say(t.Context(), sampled(), func(string) {}); err == nil {
			t.Error("a bad request was answered")
		}
	})
}
