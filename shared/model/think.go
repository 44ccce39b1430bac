package model

import (
	"slices"
	"strings"

	"ringi/shared/words/lazy"
)

// Servers that don't tell thoughts from answers leave them in the text, between tags. The tag at the beginning may be
// missing, because the server's template has it: then all that precedes the end is a thought.
var (
	thoughtTags = []string{"<think>", "</think>", "<thinking>", "</thinking>", "<thought>", "</thought>",
		"<seed:think>", "</seed:think>", "[think]", "[/think]"}
	// thoughtMarks finds those tags, and what begins and ends code, in which they are words like others.
	thoughtMarks = lazy.Regexp{Text: "(?i)```|`|\n|</?(?:think(?:ing)?|thought|seed:think)>|\\[/?THINK\\]"}
)

// marks say how thoughts are marked in a text.
type marks int

const (
	unmarked marks = iota // not at all, so far
	apart                 // they have ended
	within                // one has not ended
)

// spoken returns a text without the thoughts in it. If more of the text may come, it lacks the end that may be a part
// of a tag. JSON that was asked for is left as it is.
func spoken(raw string, asJSON, whole bool) (text string, marked marks) {
	if asJSON && strings.HasPrefix(strings.TrimSpace(raw), "{") || !strings.ContainsAny(raw, "<[") {
		return raw, unmarked
	}
	var out strings.Builder
	from, code := 0, ""
	for _, at := range thoughtMarks.Get().FindAllStringIndex(raw, -1) {
		mark, rest := raw[at[0]:at[1]], raw[at[1]:]
		switch {
		case marked == within && (!ends(mark) || quoted(raw, at, whole)):
		case marked == within:
			from, marked = at[1], apart
		case code != "":
			if mark == code || code == "`" && mark == "\n" {
				code = ""
			}
		case mark == "```" && (!whole || strings.Contains(rest, mark)), mark == "`" && closes(rest):
			code = mark
		case mark[0] == '`' || mark == "\n":
		case ends(mark):
			out.Reset()
			from, marked = at[1], apart
		default:
			out.WriteString(raw[from:at[0]])
			marked = within
		}
	}
	if marked == unmarked {
		return cutTag(raw, whole), unmarked
	}
	if marked == apart {
		out.WriteString(cutTag(raw[from:], whole))
	}
	return strings.TrimLeft(out.String(), " \t\r\n"), marked
}

func ends(mark string) bool { return len(mark) > 1 && mark[1] == '/' }

// quoted reports whether a tag in a thought stands in inline code, or may: then the thought speaks of it.
func quoted(raw string, at []int, whole bool) bool {
	return at[0] > 0 && raw[at[0]-1] == '`' && (at[1] == len(raw) && !whole || at[1] < len(raw) && raw[at[1]] == '`')
}

// closes reports whether inline code ends on its line.
func closes(rest string) bool {
	line, _, _ := strings.Cut(rest, "\n")
	return strings.Contains(line, "`")
}

// cutTag removes the beginning of a tag from the end of a text of which more may come.
func cutTag(text string, whole bool) string {
	at := max(strings.LastIndexByte(text, '<'), strings.LastIndexByte(text, '['))
	if whole || at < 0 {
		return text
	}
	begun := strings.ToLower(text[at:])
	if slices.ContainsFunc(thoughtTags, func(tag string) bool { return strings.HasPrefix(tag, begun) }) {
		return text[:at]
	}
	return text
}
