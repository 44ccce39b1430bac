package sandbox

import (
	"regexp"
	"strings"
)

// token matches what Slack's format writes for people and channels.
var token = regexp.MustCompile(`<@([A-Z0-9]+)>|<#([A-Z0-9]+)(?:\|[^>]*)?>`)

var unescape = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// marked matches code and struck words within a line, and fence a block of code.
var (
	marked = regexp.MustCompile("`([^`\n]+)`" + `|(?:^|\s)~([^\s~](?:[^~\n]*[^\s~])?)~(?:\s|$)`)
	fence  = regexp.MustCompile("(?s)```\n?(.+?)\n?```")
)

// richText is the rich_text block that Slack's clients send with a typed text: they turn its marks into styles.
func richText(text string) map[string]any {
	var all []any
	part := func(kind string, elements []any) {
		if len(elements) > 0 {
			all = append(all, map[string]any{"type": kind, "elements": elements})
		}
	}
	lines := func(text string) {
		var said []string
		flush := func() { part("rich_text_section", styled(strings.Join(said, "\n"))); said = nil }
		for line := range strings.SplitSeq(text, "\n") {
			if quote, is := strings.CutPrefix(line, "&gt;"); is {
				flush()
				part("rich_text_quote", words(strings.TrimPrefix(quote, " "), ""))
				continue
			}
			said = append(said, line)
		}
		flush()
	}
	at := 0
	for _, m := range fence.FindAllStringSubmatchIndex(text, -1) {
		lines(text[at:m[0]])
		part("rich_text_preformatted", words(text[m[2]:m[3]], ""))
		at = m[1]
	}
	lines(text[at:])
	return map[string]any{"type": "rich_text", "elements": all}
}

// styled returns a line's elements.
func styled(line string) (out []any) {
	at := 0
	for _, m := range marked.FindAllStringSubmatchIndex(line, -1) {
		style, from, to := "code", m[2], m[3]
		if from < 0 {
			style, from, to = "strike", m[4], m[5]
		}
		out = append(out, words(line[at:from-1], "")...)
		out = append(out, words(line[from:to], style)...)
		at = to + 1
	}
	return append(out, words(line[at:], "")...)
}

// words returns the elements of a text without marks.
func words(text, style string) (out []any) {
	add := func(kind, member, value string) {
		e := map[string]any{"type": kind, member: value}
		if style != "" {
			e["style"] = map[string]any{style: true}
		}
		out = append(out, e)
	}
	literal := func(s string) {
		if s != "" {
			add("text", "text", unescape.Replace(s))
		}
	}
	at := 0
	for _, m := range token.FindAllStringSubmatchIndex(text, -1) {
		literal(text[at:m[0]])
		if m[2] >= 0 {
			add("user", "user_id", text[m[2]:m[3]])
		} else {
			add("channel", "channel_id", text[m[4]:m[5]])
		}
		at = m[1]
	}
	literal(text[at:])
	return out
}
