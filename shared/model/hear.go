package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/words/language"
)

// stops are the reasons to stop that are known. The first say that an answer is whole. With any other reason, and with
// none, it broke off. Published in
//   - https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons;
//   - https://developers.openai.com/api/reference: finish_reason of Chat Completions.
var stops = map[string]Stop{
	"stop": StopEnd, "end_turn": StopEnd, "stop_sequence": StopEnd, "tool_calls": StopEnd, "tool_use": StopEnd,
	"length": StopLength, "max_tokens": StopLength, "model_context_window_exceeded": StopLength,
	"refusal": StopRefused, "content_filter": StopRefused,
}

// Thought is a block of thoughts that a vendor wants back with the call after it, signed or sealed.
type Thought struct {
	Text      string `json:"text,omitempty"`
	Signature string `json:"signature,omitempty"`
	Sealed    []byte `json:"sealed,omitempty"`
}

// Complete says why the model stopped, and completes an answer that has its text, its calls and, estimated, the tokens
// of the thoughts beside them. All wires share it, so that all take the same answers and none takes half of one: the
// answer broke off if it lacks something. tags says that the text may begin with a thought between tags, because the
// vendor doesn't tell it from the text.
func (out *Response) Complete(reason string, tags bool) {
	whole := true
	if text := out.Text; tags {
		out.Text, whole = spoken(text)
		out.Thought += Tokens(text) - Tokens(out.Text)
	}
	lacks, none := "", len(out.Calls) == 0
	for i := range out.Calls {
		lacks = cmp.Or(lacks, out.Calls[i].complete())
	}
	known := false
	if out.Stop, known = stops[reason]; !known {
		out.Stop = StopBroken
	}
	out.Why = word(reason)
	out.Full = out.Full || reason == "model_context_window_exceeded" // more tokens don't help
	switch {
	case reason == "":
		lacks = "no reason"
	case out.Stop != StopEnd:
		return
	case none && (reason == "tool_calls" || reason == "tool_use"):
		lacks = "a call that did not come"
	case none && !whole:
		lacks = "thoughts without an end"
	}
	if lacks != "" {
		out.Stop, out.Why = StopBroken, lacks
	}
}

// complete completes a call, and returns what can't be read of it. Such a call goes nowhere: what a person would decide
// about, or a tool do, would be another one than the model meant.
func (c *Call) complete() (unreadable string) {
	if text := strings.TrimSpace(string(c.Input)); text == "" || text == "null" { // of a tool without arguments
		c.Input = json.RawMessage("{}")
	}
	if !isObject(c.Input) {
		return fmt.Sprintf("a call that can't be read: the arguments of %s, %d bytes, are not one JSON object",
			cmp.Or(word(c.Name), "a tool"), len(c.Input))
	}
	return ""
}

// isObject reports whether a text is one JSON object.
func isObject(text []byte) bool {
	var members map[string]json.RawMessage
	return json.Unmarshal(text, &members) == nil && members != nil
}

// spoken returns a text without the thought at its beginning. A tag anywhere else is a word like others: whoever makes
// a model quote one must not hide what it said. whole is false if the thought has no end.
func spoken(text string) (said string, whole bool) {
	const open, end = "<think>", "</think>"
	thought, thinks := strings.CutPrefix(strings.TrimSpace(text), open)
	if !thinks {
		return text, true
	}
	_, said, whole = strings.Cut(thought, end)
	return strings.TrimSpace(said), whole
}

// Limits of what a model may write, in characters.
const (
	MaxTitle       = 150
	MaxDescription = 3000
	MaxPolicy      = task.MaxPolicy
	MaxSummary     = 2000
	MaxRemarks     = 2000
	// MaxStepText is the limit of a step's description and of its expected output.
	MaxStepText = 1000
)

// line joins a text into one line: each run of spaces and line ends becomes one space.
func line(s string) string { return strings.Join(strings.Fields(prose(s)), " ") }

// maxNamed is the length to which names and ids of a vendor's server are cut.
const maxNamed = 150

// Named formats a name from a vendor's server for rows and logs: one line of at most 150 characters.
func Named(s string) string {
	return language.First(line(s), maxNamed)
}

// RequestID returns a request id from a vendor's server for rows and logs, or an empty text if it can't be one. It is
// never cut, because vendors look up only complete ids.
func RequestID(s string) string {
	if len(s) > maxNamed || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return ""
	}
	return s
}

// prose trims a text, and removes invisible characters and repeated empty lines.
func prose(s string) string { return strings.TrimSpace(language.Paragraphs(language.Visible(s))) }

// bounded returns the problem of a field that is blank or too long.
func bounded(field, s string, limit int) []string {
	switch n := utf8.RuneCountInString(s); {
	case !language.Legible(s):
		return []string{field + " is empty"}
	case n > limit:
		return []string{fmt.Sprintf("%s has %d characters, the limit is %d", field, n, limit)}
	}
	return nil
}

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

// inSlack is the length of a text as Slack counts: escaped, in UTF-16 units.
func inSlack(s string) int { return len(utf16.Encode([]rune(escapes.Replace(s)))) }

// Tokens estimates a text's tokens from above: three bytes of ASCII to a token, and one and a half tokens to any other
// character.
func Tokens(text string) int {
	ascii, other := 0, 0
	for _, r := range text {
		if r < utf8.RuneSelf {
			ascii++
		} else {
			other++
		}
	}
	return (ascii+2)/3 + (other*3+1)/2
}

// Tokens estimates the tokens of a request.
func (r Request) Tokens() int {
	n := Tokens(r.System) + Tokens(r.Standing) + Tokens(string(r.Schema))
	for _, t := range r.Tools {
		n += Tokens(t.Name) + Tokens(t.Description) + Tokens(string(t.Schema))
	}
	for _, m := range r.Messages {
		n += m.Tokens()
	}
	return n
}

// Tokens estimates the tokens of a message.
func (m Message) Tokens() (n int) {
	for _, p := range m.Parts {
		n += Tokens(p.Text)
		switch {
		case p.Image != nil:
			n += imageTokens
		case p.Call != nil:
			n += p.Call.Tokens()
		case p.Result != nil:
			n += Tokens(p.Result.Text)
		}
	}
	return n
}

// Tokens estimates the tokens of a call with what its vendor hung on it.
func (c Call) Tokens() int {
	n := Tokens(c.Name) + Tokens(string(c.Input))
	if c.Opaque != nil {
		n += Tokens(string(c.Opaque.Data))
	}
	return n
}

// imageTokens is what vendors count for a large image.
const imageTokens = 1_600

// Of rejections, the newest reasons are repeated in full, and older ones cut to so many characters.
const wholeReasons, maxOldReason = 12, 100

// shortened returns the i-th of n reasons, oldest first, as a prompt repeats it.
func shortened(reason string, i, n int) string {
	if i < n-wholeReasons {
		return language.Beginning(reason, maxOldReason)
	}
	return reason
}
