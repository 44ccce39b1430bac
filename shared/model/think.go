package model

import (
	"strings"
	"unicode"

	"ringi/shared/words/lazy"
)

// Marking says whether an answer's text may have thoughts in it.
type Marking int

const (
	Apart  Marking = iota // the vendor tells them from the text: tags in it are words like others
	Opened                // the text may begin with a thought between tags
	Begun                 // the server's template may have the first tag, so that the text begins within the thought
)

// style is how a family of models marks a thought at the beginning of a text.
type style struct {
	open, end string
	begun     bool   // templates have the beginning: Qwen's, DeepSeek's, GLM's, Kimi's, Cohere's
	around    string // what begins the answer behind the thought
}

var styles = []style{
	{open: "<think>", end: "</think>", begun: true},
	{open: "<thinking>", end: "</thinking>"},
	{open: "<thought>", end: "</thought>"},
	{open: "<reasoning>", end: "</reasoning>"},
	{open: "<seed:think>", end: "</seed:think>"},
	{open: "[think]", end: "[/think]"},
	{open: "◁think▷", end: "◁/think▷", begun: true},
	{open: "<|start_thinking|>", end: "<|end_thinking|>", begun: true, around: "<|start_response|>"},
	{open: "<|channel|>analysis", end: "<|channel|>final<|message|>"}, // gpt-oss'
	{open: "<|channel>thought", end: "<channel|>"},                    // Gemma's
}

// marks say how thoughts are marked in a text.
type marks int

const (
	unmarked marks = iota // not at all, so far
	apart                 // they have ended
	within                // one has not ended
)

// spoken returns a text without the thought at its beginning. A tag anywhere else is a word like others: whoever makes
// a model quote one must not hide what it said. If more of the text may come, nothing is returned of what may be a tag.
// JSON that was asked for is left as it is.
func spoken(raw string, how Marking, asJSON, whole bool) (text string, marked marks) {
	begin := strings.TrimLeftFunc(raw, space)
	if how == Apart || asJSON && strings.HasPrefix(begin, "{") {
		return raw, unmarked
	}
	low := lower(begin)
	for _, s := range styles {
		switch {
		case !whole && strings.HasPrefix(s.open, low):
			return "", unmarked
		case strings.HasPrefix(low, s.open):
			if at := s.ends(begin, low, len(s.open), whole); at >= 0 {
				return s.behind(begin, low, at, whole), apart
			}
			return "", within
		}
	}
	if how == Begun {
		for _, s := range styles {
			if at := s.ends(begin, low, 0, whole); s.begun && at >= 0 {
				return s.behind(begin, low, at, whole), apart
			}
		}
	}
	return raw, unmarked
}

func space(r rune) bool { return unicode.IsSpace(r) || r == '\ufeff' }

// lower lowers ASCII letters, so that indices stay.
func lower(s string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// behind returns what follows the end of a thought.
func (s style) behind(text, low string, at int, whole bool) string {
	text, low = text[at:], low[at:]
	cut := len(low) - len(strings.TrimLeftFunc(low, space))
	text, low = text[cut:], low[cut:]
	switch {
	case s.around == "":
	case strings.HasPrefix(low, s.around):
		text = strings.TrimLeftFunc(text[len(s.around):], space)
	case !whole && strings.HasPrefix(s.around, low):
		return ""
	}
	return text
}

// code finds what begins and ends code.
var code = lazy.Regexp{Text: "`+|~{3,}"}

// ends returns the index behind the end of the thought that begins there, -1 without one. The thought speaks of an end
// that stands in inline code. Where the text begins within the thought, it speaks of an end in any code or behind a
// space, too: servers write it behind the last word or on a line of its own.
func (s style) ends(text, low string, from int, whole bool) int {
	for at := from; ; {
		i := strings.Index(low[at:], s.end)
		if i < 0 {
			return -1
		}
		begin, end := at+i, at+i+len(s.end)
		spoken := from == 0 && (strings.HasSuffix(text[:begin], " ") || inCode(text, begin, whole))
		if !spoken && !quoted(text, begin, end, whole) {
			return end
		}
		at = end
	}
}

// quoted reports whether a tag stands between backticks, or may.
func quoted(text string, begin, end int, whole bool) bool {
	return begin > 0 && text[begin-1] == '`' && (end == len(text) && !whole || end < len(text) && text[end] == '`')
}

// inCode reports whether a place is in code, or may be: behind a run of marks and before another of the same length, in
// a line where they are fewer than three.
func inCode(text string, place int, whole bool) bool {
	open, from := "", 0
	for _, at := range code.Get().FindAllStringIndex(text, -1) {
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
