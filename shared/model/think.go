package model

import (
	"ringi/shared/words/language"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
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
	begun     bool        // templates have the beginning: Qwen's, DeepSeek's, GLM's, Kimi's, Cohere's
	bare      bool        // of plain words, so that one without its end is a text
	answers   [][2]string // what an answer may stand between; a beginning that is empty is always there
}

// The first has Hunyuan's answer, and that of Granite and Ernie; behind those with a vendor's marks stand Solar's,
// gpt-oss', where a server leaves its special tokens in or out, Gemma's, MedGemma's, MiniMax', LongCat's,
// OpenThinker's, Apriel's and older ones of Granite. Those without an end are the beginning of an answer without a
// thought.
var styles = []style{
	{open: "<think>", end: "</think>", begun: true,
		answers: [][2]string{{"<answer>", "</answer>"}, {"<response>", "</response>"}}},
	{open: "<thinking>", end: "</thinking>"},
	{open: "<thought>", end: "</thought>"},
	{open: "<reasoning>", end: "</reasoning>"},
	{open: "<seed:think>", end: "</seed:think>"},
	{open: "[think]", end: "[/think]"},
	{open: "◁think▷", end: "◁/think▷", begun: true},
	{open: "<|start_thinking|>", end: "<|end_thinking|>", begun: true,
		answers: [][2]string{{"<|start_response|>", "<|end_response|>"}}},
	{open: "<|think|>", end: "<|end|><|begin|>assistant<|content|>"},
	{open: "<|content|>"},
	{open: "<|channel|>analysis", end: final},
	{open: "<|channel|>commentary<|message|>", end: final},
	{open: final},
	{open: "analysis", end: "assistantfinal", bare: true},
	{open: "<|channel>thought", end: "<channel|>"},
	{open: "<unused94>thought", end: "<unused95>"},
	{open: "<mm:think>", end: "</mm:think>"},
	{open: "<longcat_think>", end: "</longcat_think>", begun: true},
	{open: "<|begin_of_thought|>", end: "<|end_of_thought|>",
		answers: [][2]string{{"<|begin_of_solution|>", "<|end_of_solution|>"}}},
	{open: "here are my reasoning steps:\n", end: "[begin final response]", begun: true, bare: true,
		answers: [][2]string{{"", "[end final response]"}}},
	{open: "here is my thought process:\n", end: "here is my response:", bare: true},
	{open: "here's my thought process:\n", end: "here's my response:", bare: true},
}

const final = "<|channel|>final<|message|>"

// ends are the special tokens that end a text of a family of models, and that some servers leave in it.
var ends = []string{"<|im_end|>", "<|eot_id|>", "<|eom_id|>", "<|eot|>", "<|end|>", "<|return|>", "<|flush|>",
	"<|end_of_text|>", "<|endoftext|>", "<|endofturn|>", "[|endofturn|]", "<|end_of_turn_token|>", "<end_of_turn>",
	"<turn|>", "<eos>", "<seed:eos>", "<｜end▁of▁sentence｜>", "<|user|>", "<|observation|>", "[e~[", struck}

// struck ends Mistral's and Llama 2's texts, and in HTML what is struck through.
const struck = "</s>"

// ended returns a text without the tokens at its very end, or if more may come, without what may be one. Behind a space
// or a backtick the text speaks of one.
func ended(text string, whole bool) string {
	if !whole {
		text = text[:len(text)-begun(text)]
	}
	html := strings.Contains(text, "<s>") || strings.Contains(text, "<S>")
	for {
		trimmed := strings.TrimRightFunc(text, space)
		n := token(trimmed, html)
		if n == 0 {
			return text
		}
		text = strings.TrimRightFunc(trimmed[:len(trimmed)-n], space)
	}
}

// token returns the length of the token at a text's end, 0 without one. html says that the text strikes words through.
func token(text string, html bool) int {
	for _, t := range ends {
		begin := len(text) - len(t)
		if begin < 0 || !strings.EqualFold(text[begin:], t) || html && t == struck ||
			begin > 0 && strings.ContainsAny(text[begin-1:begin], " `") {
			continue
		}
		return len(t)
	}
	return 0
}

// begun returns the length of what may be the beginning of a token at a text's end.
func begun(text string) int {
	const longest = 32
	tail := lower(text[max(0, len(text)-longest):])
	for i := range tail {
		rest := tail[i:]
		if slices.ContainsFunc(ends, func(t string) bool { return len(rest) < len(t) && strings.HasPrefix(t, rest) }) {
			return len(rest)
		}
	}
	return 0
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
	for _, a := range s.answers {
		switch {
		case strings.HasPrefix(low, a[0]):
			return upTo(text[len(a[0]):], low[len(a[0]):], a[1], whole), true
		case !whole && strings.HasPrefix(a[0], low):
			return "", true
		}
	}
	return text, false
}

// upTo returns an answer without its end, or if more may come, without what may be its end.
func upTo(text, low, end string, whole bool) string {
	text = strings.TrimLeftFunc(text, space)
	low = strings.TrimRightFunc(low[len(low)-len(text):], space)
	for n := len(end); n > 0; n-- {
		if strings.HasSuffix(low, end[:n]) {
			return strings.TrimRightFunc(text[:len(low)-n], space)
		}
		if whole {
			break
		}
	}
	return text
}

// code finds what begins and ends code.
var code = language.Regexp{Text: "`+|~{3,}"}

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
