package model_test

import (
	"strings"
	"testing"

	"ringi/shared/model"
	"ringi/shared/runtime/expect"
)

// heard is an answer that has a text. tags says that the text may begin with a thought.
func heard(text string, tags bool) model.Response {
	out := model.Response{Text: text}
	out.Complete("stop", tags)
	return out
}

func TestThoughtsAreToldFromTheText(t *testing.T) {
	for text, want := range map[string]string{
		"<think>SECRET</think> Hello":         "Hello",
		"<think>\nSECRET\n</think>\n\nHello":  "Hello",
		"  <think>SECRET</think>Hello":        "Hello",
		"<think></think>Hello":                "Hello",
		"<think>SECRET</think>{\"a\":1}":      `{"a":1}`,
		"The tag `<think>` begins a thought.": "The tag `<think>` begins a thought.",
		"I read <think>x, then stop":          "I read <think>x, then stop",
		"<b>Hello</b>":                        "<b>Hello</b>",
		"<thin":                               "<thin",
		"<think>SECRET</think>Never. I read </think> there, and <think>x</think>": "Never. I read </think> there, and " +
			"<think>x</think>",
	} {
		got := heard(text, true)
		expect.That(t, got.Text == want && got.Stop == model.StopEnd &&
			(got.Thought > 0 || !strings.Contains(text, "SECRET")), "%q: %+v", text, got)
		expect.Is(t, heard(text, false).Text, text, "of a vendor that tells them apart")
	}
	got := heard("<think>SECRET", true)
	expect.That(t, got.Stop == model.StopBroken && !strings.Contains(got.Text, "SECRET"), "%+v", got)
}

// What a model quotes hides nothing of what it says.
func TestAQuotedTagIsText(t *testing.T) {
	for about, text := range map[string]string{
		"at the end of a line": "Warning: it deletes the table.\nThe last line reads: # end of notes </think>\nI recommend " +
			"approving.",
		"in backticks": "Write ``</think>`` behind it, or `</think>`. Then restart.",
		"in a block":   "Use:\n\n~~~\n</think>\n~~~\n\nThen:\n```\nx</think>\n```\nrestart.",
		"both":         "Gemini writes <thought>Be careful</thought> before it. Only then approve.",
	} {
		for _, tags := range []bool{true, false} {
			got := heard(text, tags)
			expect.That(t, got.Text == text && got.Stop == model.StopEnd, "%s (%v): %+v", about, tags, got)
		}
	}
}

// called is an answer that has calls of f with these arguments, and this reason to stop.
func called(stop string, inputs ...string) (out model.Response) {
	for _, input := range inputs {
		out.Calls = append(out.Calls, model.Call{ID: "A", Name: "f", Input: []byte(input)})
	}
	out.Complete(stop, false)
	return out
}

// A call whose arguments nobody can read is none, and with it the answer. Without arguments they are an empty object.
func TestACallThatCantBeReadBreaksTheAnswer(t *testing.T) {
	for input, want := range map[string]string{
		`{"a":1}{"a":2}`: "the arguments of f, 14 bytes", `{"a":`: "the arguments of f, 5 bytes",
		`[1]`: "the arguments of f, 3 bytes", `himitsu`: "the arguments of f, 7 bytes",
		`"himitsu"`:   "the arguments of f, 9 bytes",
		`"{\"a\":1}"`: "the arguments of f, 11 bytes",
	} {
		out := called("tool_calls", input)
		expect.That(t, out.Stop == model.StopBroken && strings.HasPrefix(out.Why, "a call that can't be read: ") &&
			strings.Contains(out.Why, want) && !strings.Contains(out.Why, "himitsu"), "%s: %s %q", input, out.Stop, out.Why)
	}
	for _, input := range []string{"", " ", "null", "{}"} {
		out := called("tool_calls", input)
		expect.That(t, out.Stop == model.StopEnd && string(out.Calls[0].Input) == "{}", "%q: %+v", input, out)
	}
}

// An answer counts only with a reason to stop that means that it is whole.
func TestAnAnswerWithoutAKnownReasonBrokeOff(t *testing.T) {
	for reason, want := range map[string]model.Stop{"stop": model.StopEnd, "tool_calls": model.StopBroken,
		"":          model.StopBroken,
		"brand_new": model.StopBroken, "STOP": model.StopBroken, "length": model.StopLength, "refusal": model.StopRefused} {
		out := called(reason)
		expect.That(t, out.Stop == want, "%q: %s %q", reason, out.Stop, out.Why)
	}
}
