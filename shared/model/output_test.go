package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func TestAnAnswerGetsRoomForThoughtsWithinTheModelsLimit(t *testing.T) {
	for name, want := range map[string]struct {
		quiet               bool
		once, twice         int
		fullOnce, fullTwice bool
	}{
		"gpt-4o":                                  {true, 16_384, 16_384, true, true},
		"openai/gpt-4.1-mini":                     {true, 32_384, 32_768, false, true},
		"gpt-5.4":                                 {false, 32_384, 64_768, false, false},
		"o3":                                      {false, 32_384, 64_768, false, false},
		"claude-opus-4-1-20250805":                {true, 32_000, 32_000, true, true},
		"claude-haiku-5-5":                        {false, 32_384, 64_768, false, false},
		"us.anthropic.claude-sonnet-4-6-v1:0":     {true, 32_384, 64_768, false, false},
		"global.anthropic.claude-opus-4-5-v1:0":   {true, 32_384, 64_000, false, true},
		"models/gemini-3.5-flash":                 {false, 32_384, 64_768, false, false},
		"meta-llama/Llama-3.3-70B-Instruct-Turbo": {false, 32_384, 64_768, false, false},
	} {
		r := Request{MaxTokens: 16_000}
		once, fullOnce := r.Output(name, true)
		r.More = true
		twice, fullTwice := r.Output(name, true)
		expect.That(t, Quiet(name) == want.quiet && once == want.once && twice == want.twice &&
			fullOnce == want.fullOnce &&
			fullTwice == want.fullTwice,
			"%s: quiet %t, %d %t, %d %t", name, Quiet(name), once, fullOnce, twice, fullTwice)
	}
	r := Request{MaxTokens: 4_000}
	n, full := r.Output("claude-sonnet-4-6", false)
	expect.That(t, n == 4_000 && !full, "without room: %d, %t", n, full)
}

func TestTheLimitThatARefusalNamesIsObeyed(t *testing.T) {
	const unnamed = 16_000 // then the answer has no room for thoughts
	for said, want := range map[string]int{
		"max_tokens is too large: 32384. This model supports at most 16384 completion tokens, " +
			"whereas you provided 32384.": 16_384,
		"Invalid 'max_output_tokens': integer above maximum value. " +
			"Expected a value <= 16384, but got 32384 instead.": 16_384,
		"max_tokens: 32384 > 8192, which is the maximum allowed number of output tokens for " +
			"claude-3-5-haiku-20241022": 8_192,
		"Invalid max_tokens value, the valid range of max_tokens is [1, 8192]":                                   8_192,
		"litellm.BadRequestError: Error code: 400 - max_tokens: 32384 > 8192, which is the maximum":              8_192,
		"max_tokens参数非法。请检查文档。最大8192":                                                                            8_192,
		"max_tokens is too large. This model supports at most 64000 completion tokens, above what was asked for": 0,
		"max_tokens is too large: 32384. This model supports at most 99999999999999999999 completion tokens":     0,
		"temperature: Expected a value <= 1, but got 1.5 instead.":                                               0,
		"`max_tokens` must be greater than or equal to 1":                                                        unnamed,
		"": 0,
		// Request and answer together are too long.
		"This model's maximum context length is 32768 tokens. However, you requested 33000 tokens (616 in the " +
			"messages, 32384 in the completion). Please reduce the length of the messages or completion.": unnamed,
		"input length and `max_tokens` exceed context limit: 190000 + 32384 > 200000":                             unnamed,
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.": 0,
	} {
		r := Request{MaxTokens: unnamed}
		lower := FromStatus("p", 400, nil, said).simplify(&r, 32_384)
		expect.That(t, lower == (want > 0) && r.Most == want, "%s: %d", said, r.Most)
	}
}

// What the vendor doesn't name is sampling first, and then the schema of what is no single question.
func TestARefusedRequestIsMadeSimpler(t *testing.T) {
	warm := 0.5
	for _, tt := range []struct {
		said string
		once bool
		left []string // what is left of the request after each refusal
	}{
		{"This response_format is unavailable", true, []string{"sampling, words", "words"}},
		{"This response_format is unavailable", false, []string{"sampling", ""}},
		{"no", true, []string{"schema"}},
		{"no", false, []string{"schema", ""}},
	} {
		e := FromStatus("p", 400, nil, tt.said)
		r := Request{System: "s", Once: tt.once, Schema: json.RawMessage("{}"), Sampling: Sampling{Temperature: &warm}}
		var left []string
		for e.simplify(&r, 0) {
			var is []string
			for name, there := range map[string]bool{"sampling": r.Sampling.Set(), "schema": r.Schema != nil,
				"words": r.System != "s"} {
				if there {
					is = append(is, name)
				}
			}
			slices.Sort(is)
			left = append(left, strings.Join(is, ", "))
		}
		expect.Same(t, tt.left, left)
	}
}

// What a server writes instead of a sentence takes no time.
func TestALargeErrorIsNotLookedThrough(t *testing.T) {
	expect.Within(t, time.Second, func() {
		said := strings.Repeat("requested input max_tokens 7 ", 1<<18)
		e := FromStatus("p", 400, nil, said)
		expect.That(t, e.Kind == BadRequest && e.tokens && e.most == 0 && !e.form && WaitIn(said) == 0, "%+v", e)
	})
}

func TestTheWaitInAnErrorIsRead(t *testing.T) {
	for said, want := range map[string]time.Duration{
		`[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay": "18s"}]`: 18 * time.Second,
		`"retryDelay":"0.5s"`: 500 * time.Millisecond, `"retryDelay":"31536000s"`: 24 * time.Hour,
		`"retryDelay":"-5s"`: 0,
		"Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000. Please try again in 7.66s. Visit …": 7660 *
			time.Millisecond,
		"Please try again in 1m2.5s.": 62500 * time.Millisecond, "Please try again in 86ms.": 86 * time.Millisecond,
		"Please try again in a while.": 0, "try again in 99999h": 24 * time.Hour, "": 0,
	} {
		expect.Is(t, WaitIn(said), want, "%s", said)
	}
}

func TestWhatHangsOnACallIsForWhereItCameFromAndBounded(t *testing.T) {
	var got map[string]string
	o := Hang("a m", map[string]string{"x": "<1>"})
	expect.That(t, o.Read("a m", &got) && got["x"] == "<1>", "%v", got)
	expect.That(t, !o.Read("a n", &got) && !o.Read("", &got), "another model reads it")
	expect.That(t, !(*Opaque)(nil).Read("a m", &got), "nothing is read")
	expect.That(t, Hang("a m", make([]byte, MaxOpaque)) == nil, "too much is kept")
}

// Fifty rejected versions of the maximum length still make a prompt that every model accepts. People who reject again
// and again don't pay for the full text each time.
func TestWhatWasRejectedBoundsThePrompt(t *testing.T) {
	var drafts []Version
	var plans []PlanVersion
	for i := range 50 {
		reason := fmt.Sprintf("理由%02d", i) + strings.Repeat("あ", aggregate.MaxReason-4)
		drafts = append(drafts, Version{Content: fmt.Sprintf("方針%02d", i) + strings.Repeat("い", MaxPolicy-4),
			Reason: reason})
		steps := []task.Step{{StepID: "step-1", Title: fmt.Sprintf("手順%02d", i),
			ToolInput: aggregate.JSON(`{"x":"` + strings.Repeat("う", 8000) + `"}`)}}
		plans = append(plans, PlanVersion{Steps: steps, Reason: reason})
	}
	for name, data := range map[string]any{"方針": draftTries(drafts),
		"手順": planData(PlanInput{Earlier: plans}).Earlier} {
		b := expect.Value(json.Marshal(data))(t)
		text := string(b)
		n := Tokens(text)
		expect.That(t, n <= 10_000+20_000+50*(maxOldReason*3/2+20), "%s: %d tokens", name, n)
		expect.That(t, strings.Contains(text, name+"49") && !strings.Contains(text, name+"48"),
			"%s: the newest and only the newest is there whole", name)
		for i := range 50 {
			expect.Has(t, text, fmt.Sprintf("理由%02d", i), "%s: nothing is said of reason %d", name, i)
		}
		n = strings.Count(text, strings.Repeat("あ", aggregate.MaxReason-4))
		expect.That(t, n == wholeReasons, "%s: %d reasons are there whole", name, n)
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
		n := Tokens(text)
		expect.That(t, n >= atLeast && n <= 3*atLeast, "%q is %d tokens, want %d or somewhat more", text, n, atLeast)
	}
}

func TestEachLanguageSaysWhatIsMissing(t *testing.T) { expect.Whole[lackTexts](t, texts, "texts") }

// heard is an answer that has a text. tags says that the text may begin with a thought.
func heard(text string, tags bool) Response {
	out := Response{Text: text}
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
		expect.That(t, got.Text == want && got.Stop == StopEnd &&
			(got.Thought > 0 || !strings.Contains(text, "SECRET")), "%q: %+v", text, got)
		expect.Is(t, heard(text, false).Text, text, "of a vendor that tells them apart")
	}
	got := heard("<think>SECRET", true)
	expect.That(t, got.Stop == StopBroken && !strings.Contains(got.Text, "SECRET"), "%+v", got)
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
			expect.That(t, got.Text == text && got.Stop == StopEnd, "%s (%v): %+v", about, tags, got)
		}
	}
}

// called is an answer that has calls of f with these arguments, and this reason to stop.
func called(stop string, inputs ...string) (out Response) {
	for _, input := range inputs {
		out.Calls = append(out.Calls, Call{ID: "A", Name: "f", Input: []byte(input)})
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
		expect.That(t, out.Stop == StopBroken && strings.HasPrefix(out.Why, "a call that can't be read: ") &&
			strings.Contains(out.Why, want) && !strings.Contains(out.Why, "himitsu"), "%s: %s %q", input, out.Stop, out.Why)
	}
	for _, input := range []string{"", " ", "null", "{}"} {
		out := called("tool_calls", input)
		expect.That(t, out.Stop == StopEnd && string(out.Calls[0].Input) == "{}", "%q: %+v", input, out)
	}
}

// An answer counts only with a reason to stop that means that it is whole.
func TestAnAnswerWithoutAKnownReasonBrokeOff(t *testing.T) {
	for reason, want := range map[string]Stop{"stop": StopEnd, "tool_calls": StopBroken,
		"":          StopBroken,
		"brand_new": StopBroken, "STOP": StopBroken, "length": StopLength, "refusal": StopRefused} {
		out := called(reason)
		expect.That(t, out.Stop == want, "%q: %s %q", reason, out.Stop, out.Why)
	}
}

func TestAnotherRefusalIsNotTakenForOneOfLength(t *testing.T) {
	for _, said := range []string{"max_tokens: must be greater than or equal to 1", "max_tokens: 32384 exceeds the " +
		"limit of 8192",
		"Range of max_tokens should be [1, 8192]", "temperature: Input should be less than or equal to 1",
		"Invalid 'input[3].id': string too long. Expected a string with maximum length 64.",
		"Invalid 'tools[0].function.description': string too long.", "Invalid 'prompt_cache_key': string too long.",
		"tools.0.custom.input_schema: JSON schema is invalid. It exceeds what is allowed."} {
		expect.Is(t, FromStatus("p", 400, nil, said).Kind, BadRequest, said)
	}
}
