package model

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/words/lazy"
)

// Marking says whether an answer's text may have thoughts in it.
type Marking int

const (
	Apart  Marking = iota // the vendor tells them from the text: tags in it are words like others
	Opened                // the text may begin with a thought between tags
	Begun                 // the server's template may have the first tag, so that the text begins within the thought
)

// style is how a family of models marks a thought at the beginning of a text, and some of them the answer behind it.
type style struct {
	open, end string
	begun     bool // templates have the beginning: Qwen's, DeepSeek's, GLM's, Kimi's, Cohere's
	bare      bool // of plain words, so that one without its end is a text
	answer    string
	answered  string // the answer's end
}

// The first has Hunyuan's answer; behind those with a vendor's marks stand gpt-oss', where a server leaves its special
// tokens in or out, Gemma's, MedGemma's, MiniMax', LongCat's, OpenThinker's and Apriel's.
var styles = []style{
	{open: "<think>", end: "</think>", begun: true, answer: "<answer>", answered: "</answer>"},
	{open: "<thinking>", end: "</thinking>"},
	{open: "<thought>", end: "</thought>"},
	{open: "<reasoning>", end: "</reasoning>"},
	{open: "<seed:think>", end: "</seed:think>"},
	{open: "[think]", end: "[/think]"},
	{open: "◁think▷", end: "◁/think▷", begun: true},
	{open: "<|start_thinking|>", end: "<|end_thinking|>", begun: true, answer: "<|start_response|>",
		answered: "<|end_response|>"},
	{open: "<|channel|>analysis", end: "<|channel|>final<|message|>", answered: "<|return|>"},
	{open: "analysis", end: "assistantfinal", bare: true},
	{open: "<|channel>thought", end: "<channel|>"},
	{open: "<unused94>thought", end: "<unused95>"},
	{open: "<mm:think>", end: "</mm:think>"},
	{open: "<longcat_think>", end: "</longcat_think>", begun: true},
	{open: "<|begin_of_thought|>", end: "<|end_of_thought|>", answer: "<|begin_of_solution|>",
		answered: "<|end_of_solution|>"},
	{open: "here are my reasoning steps:\n", end: "[begin final response]", begun: true, bare: true,
		answered: "[end final response]"},
}

// marks say how thoughts are marked in a text.
type marks int

const (
	unmarked marks = iota // not at all, so far
	apart                 // they have ended
	within                // one has not ended
)

// spoken returns a text without the thoughts at its beginning. A tag anywhere else is a word like others: whoever makes
// a model quote one must not hide what it said. If more of the text may come, nothing is returned of what may be a tag.
// JSON that was asked for is left as it is.
func spoken(raw string, how Marking, asJSON, whole bool) (text string, marked marks) {
	if how == Apart || asJSON && strings.HasPrefix(strings.TrimLeftFunc(raw, space), "{") {
		return raw, unmarked
	}
	for text = raw; ; how = Opened { // a second thought has its first tag
		begin := strings.TrimLeftFunc(text, space)
		low := lower(begin)
		s, at, held := first(begin, low, how, whole)
		switch {
		case held:
			return "", marked
		case at == 0:
			return text, marked
		case at < 0:
			return "", within
		}
		marked = apart
		var answers bool
		if text, answers = s.behind(begin, low, at, whole); answers {
			return text, marked
		}
	}
}

// first returns the style of the thought at the beginning of a text and the index behind it: 0 without one, -1 if it
// has no end. held says that what came may be one. Where thoughts come apart, servers leave the end of one in the text
// (vllm-project/vllm#39697).
func first(text, low string, how Marking, whole bool) (s style, at int, held bool) {
	for _, s := range styles {
		open := strings.HasPrefix(low, s.open) && !(s.bare && s.goesOn(text))
		switch at := s.ends(text, low, len(s.open), whole, open); {
		case !whole && (strings.HasPrefix(s.open, low) || s.begun && strings.HasPrefix(s.end, low)):
			return s, 0, true
		case s.begun && strings.HasPrefix(low, s.end):
			return s, len(s.end), false
		case !open:
		case at >= 0, !s.bare:
			return s, at, false
		case !whole:
			return s, 0, true
		}
	}
	if how == Begun {
		for _, s := range styles {
			if at := s.ends(text, low, 0, whole, s.begun); at >= 0 {
				return s, at, false
			}
		}
	}
	return style{}, 0, false
}

// goesOn reports whether a text that begins with a style's word goes on as a text does.
func (s style) goesOn(text string) bool {
	next, _ := utf8.DecodeRuneInString(text[len(s.open):])
	return !strings.HasSuffix(s.open, "\n") && (unicode.IsSpace(next) || unicode.IsPunct(next))
}

func space(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// lower lowers ASCII letters, so that indices stay.
func lower(s string) string {
	low := []byte(s)
	for i, c := range low {
		if 'A' <= c && c <= 'Z' {
			low[i] += 'a' - 'A'
		}
	}
	return string(low)
}

// behind returns what follows the end of a thought, without the marks of the answer if it has them.
func (s style) behind(text, low string, at int, whole bool) (rest string, answers bool) {
	text, low = text[at:], low[at:]
	cut := len(low) - len(strings.TrimLeftFunc(low, space))
	text, low = text[cut:], low[cut:]
	switch {
	case s.answered == "":
	case strings.HasPrefix(low, s.answer):
		return s.within(text[len(s.answer):], low[len(s.answer):], whole), true
	case !whole && strings.HasPrefix(s.answer, low):
		return "", true
	}
	return text, false
}

// within returns an answer without its end, or if more may come, without what may be its end.
func (s style) within(text, low string, whole bool) string {
	text = strings.TrimLeftFunc(text, space)
	low = strings.TrimRightFunc(low[len(low)-len(text):], space)
	for n := len(s.answered); n > 0; n-- {
		if strings.HasSuffix(low, s.answered[:n]) {
			return strings.TrimRightFunc(text[:len(low)-n], space)
		}
		if whole {
			break
		}
	}
	return text
}

// code finds what begins and ends code.
var code = lazy.Regexp{Text: "`+|~{3,}"}

// ends returns the index behind the end of the thought that begins there, -1 without one. The thought speaks of an end
// that stands in inline code. Where the text begins within the thought, it speaks of an end in any code or behind a
// space, too: servers write it behind the last word or on a line of its own. Without open, no thought begins there.
func (s style) ends(text, low string, from int, whole, open bool) int {
	var marks [][]int // of code, found once
	for at := from; open; {
		i := strings.Index(low[at:], s.end)
		if i < 0 {
			return -1
		}
		begin, end := at+i, at+i+len(s.end)
		spoken := (from == 0 || s.bare) && (strings.HasSuffix(text[:begin], " ") || inCode(text, &marks, begin, whole))
		if !spoken && !quoted(text, begin, end, whole) {
			return end
		}
		at = end
	}
	return -1
}

// quoted reports whether a tag stands between backticks, or may.
func quoted(text string, begin, end int, whole bool) bool {
	return begin > 0 && text[begin-1] == '`' && (end == len(text) && !whole || end < len(text) && text[end] == '`')
}

// inCode reports whether a place is in code, or may be: behind a run of marks and before another of the same length, in
// a line where they are fewer than three.
func inCode(text string, marks *[][]int, place int, whole bool) bool {
	if *marks == nil {
		*marks = append([][]int{}, code.Get().FindAllStringIndex(text, -1)...)
	}
	open, from := "", 0
	for _, at := range *marks {
		mark := text[at[0]:at[1]]
		between := text[from:at[0]]
		if len(open) < 3 && strings.Contains(between, "\n") {
			open = ""
		}
		switch {
		case open == "" && at[0] > place:
			return false
		case open == "":
			open, from = mark, at[1]
		case mark == open && at[0] > place:
			return true
		case mark == open:
			open = ""
		}
	}
	rest := text[from:]
	return open != "" && !whole && (len(open) >= 3 || !strings.Contains(rest, "\n"))
}

// spellings begin a call in the text of families of models whose server does not read it: Hermes, Qwen and GLM; Qwen
// Coder; Mistral; Llama; DeepSeek, older and newer; Kimi; MiniMax; Anthropic's older form; gpt-oss.
var spellings = []string{"<tool_call>", "<function=", "[TOOL_CALLS]", "<|python_tag|>",
	"<｜tool▁call▁begin｜>", "<｜DSML｜", "<|tool_call_begin|>", ":tool_call>", "<invoke name=",
	"<|channel|>commentary to=functions."}

// near is within how many bytes of its beginning a call has its tool's name.
const near = 200

// called reports whether a text has a call of one of the tools, outside of code.
func called(text string, tools []Tool) bool {
	var marks [][]int
	for _, s := range spellings {
		for from := 0; ; {
			i := strings.Index(text[from:], s)
			if i < 0 {
				break
			}
			begin := from + i
			from = begin + len(s)
			rest := text[from:min(len(text), from+near)]
			if slices.ContainsFunc(tools, func(t Tool) bool { return strings.Contains(rest, t.Name) }) &&
				!inCode(text, &marks, begin, true) {
				return true
			}
		}
	}
	return false
}

// spelled reports whether a call may begin in a text, or in what its last piece completes.
func spelled(text string, piece int) bool {
	end := text[max(0, len(text)-piece-len(spellings[len(spellings)-1])):]
	return slices.ContainsFunc(spellings, func(s string) bool { return strings.Contains(end, s) })
}
