package model

import (
	"cmp"
	"strconv"
	"strings"

	"ringi/shared/words/lazy"
)

// thinking is how many tokens a model may think in addition to its answer: vendors count thoughts as a part of it.
const thinking = 16_384

// family is what is known of the models whose names begin alike.
type family struct {
	names  []string
	output int  // the most tokens of an answer, thoughts included
	quiet  bool // they don't think unless asked to
}

// families have the limits of answers as vendors publish them; of several names that fit, the longest counts. Read on
// 2026-11-23 in
//   - https://platform.claude.com/docs/en/models/haiku-5-5/overview and the pages beside it, and of older models in
//     https://platform.claude.com/docs/en/about-claude/models/overview;
//   - https://developers.openai.com/api/docs/models and its models' pages, as github.com/anomalyco/models.dev repeats
//     them, and in the sentences with which OpenAI refuses more;
//   - https://ai.google.dev/gemini-api/docs/models: 65,536, of which Vertex refuses the last one;
//   - https://docs.aws.amazon.com/nova/latest/userguide/what-is-nova.html.
//
// A model that is not here is asked without a limit, and obeys the one that its server's refusal names.
var families = []family{
	{[]string{"claude-fable-", "claude-mythos-", "claude-opus-5", "claude-sonnet-5", "claude-haiku-5"}, 128_000, false},
	{[]string{"claude-opus-4-6", "claude-opus-4-7", "claude-opus-4-8", "claude-sonnet-4-6"}, 128_000, true},
	{[]string{"claude-opus-4-5", "claude-sonnet-4", "claude-haiku-4-5", "claude-3-7-sonnet"}, 64_000, true},
	{[]string{"claude-opus-4"}, 32_000, true},
	{[]string{"claude-3-5"}, 8_192, true},
	{[]string{"claude-3"}, 4_096, true},
	{[]string{"gpt-5"}, 128_000, false},
	{[]string{"gpt-5-chat", "gpt-5.1-chat", "gpt-5.2-chat"}, 16_384, true},
	{[]string{"gpt-4.1"}, 32_768, true},
	{[]string{"gpt-4o"}, 16_384, true},
	{[]string{"gpt-4o-2024-05-13", "gpt-4-turbo", "gpt-3.5-turbo"}, 4_096, true},
	{[]string{"o1", "o3", "o4-mini"}, 100_000, false},
	{[]string{"gemini-2.5", "gemini-3"}, 65_535, false},
	{[]string{"gemini-2.0", "gemini-1.5"}, 8_192, true},
	{[]string{"nova-micro", "nova-lite", "nova-pro"}, 10_000, true},
}

// familyOf finds a model's family by its name with any vendor, endpoint or region before it.
func familyOf(model string) (found family) {
	model = model[strings.LastIndex(model, "/")+1:]
	for _, before := range []string{"anthropic.", "amazon."} { // Bedrock's: us.anthropic.claude-…
		if _, name, ok := strings.Cut(model, before); ok {
			model = name
		}
	}
	longest := 0
	for _, f := range families {
		for _, name := range f.names {
			if strings.HasPrefix(model, name) && len(name) > longest {
				found, longest = f, len(name)
			}
		}
	}
	return found
}

// Quiet reports whether a model is known not to think unless asked to.
func Quiet(model string) bool { return familyOf(model).quiet }

// Output returns how many tokens to ask a model for: those of the answer and, if room is true, of thoughts, within the
// model's limit. full says that the model gives no more.
func (r Request) Output(model string, room bool) (tokens int, full bool) {
	tokens = r.MaxTokens
	if room {
		tokens += thinking
	}
	if r.More {
		tokens *= 2
	}
	if most := familyOf(model).output; most > 0 && tokens >= most {
		return most, true
	}
	return tokens, false
}

// Cut reports whether the answer was cut off and the same request may get a whole one with More.
func (r Response) Cut(of Request) bool { return r.Stop == StopLength && !r.Full && !of.More }

var (
	// outputNamed finds the name of the limit of answers in a refusal.
	outputNamed = lazy.Regexp{Text: `(?i)max_?(?:completion_?|output_?)?tokens|maximum tokens`}
	// outputMost finds the limit in refusals of OpenAI (two forms), Anthropic, Gemini, Bedrock (two), DeepSeek, Groq.
	outputMost = lazy.Regexp{Text: "(?i)supports at most (\\d+)|value <= ?(\\d+)|> (\\d+), which is the maximum|" +
		"to (\\d+) \\(inclusive\\)|model limit of (\\d+)|max_tokens is \\[\\d+, ?(\\d+)\\]|less than or equal to `?(\\d+)"}
	// outputBelow finds the first number that is too much.
	outputBelow = lazy.Regexp{Text: `(?i)to (\d+) \(exclusive\)`}
	// outputWithin finds vLLM's length of a request with its answer, and what the request has of it.
	outputWithin = lazy.Regexp{Text: `(?i)maximum context length is (\d+) tokens and your request has (\d+) input tokens`}
)

// OutputNamed returns the limit of answers that a refusal names, 0 if it names none below what was asked for.
func OutputNamed(said string, asked int) int {
	if !outputNamed.Get().MatchString(said) {
		return 0
	}
	most := 0
	if found := outputWithin.Get().FindStringSubmatch(said); found != nil {
		most = numberIn(found[1:2]) - numberIn(found[2:])
	} else if found := outputBelow.Get().FindStringSubmatch(said); found != nil {
		most = numberIn(found[1:]) - 1
	} else {
		most = numberIn(outputMost.Get().FindStringSubmatch(said))
	}
	if most <= 0 || most >= asked {
		return 0
	}
	return most
}

// Lower obeys the limit of answers that a refusal names, or otherwise if it names none and otherwise is not 0. It
// reports whether to ask again for fewer Tokens, which is once.
func (r *Response) Lower(said string, otherwise int) bool {
	most := cmp.Or(OutputNamed(said, r.Tokens), otherwise)
	if r.Lowered || most <= 0 || most >= r.Tokens {
		return false
	}
	r.Tokens, r.Full, r.Lowered = most, true, true
	return true
}

// numberIn returns the last number of a match, 0 if there is none. A match begins with words.
func numberIn(match []string) (n int) {
	for _, s := range match {
		if x, err := strconv.Atoi(s); err == nil {
			n = x
		}
	}
	return n
}
