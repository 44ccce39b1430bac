package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/words/legible"
)

// units counts as Slack may count: in UTF-16, never less than in characters. Slack's reference
// (https://docs.slack.dev/reference/block-kit/blocks/section-block, …/header-block and
// …/composition-objects/text-object) says "characters" and not of what, nor whether before or after escaping; Slack's
// SDK for Python (slack_sdk.models) counts code points. So the strictest reading counts here, UTF-16 after escaping: a
// kanji is one, most emoji are two, a joined family is eight. A text may thus be cut earlier than Slack would refuse
// it.
func units(s string) int {
	n := 0
	for _, r := range s {
		n++
		if r > 0xffff {
			n++
		}
	}
	return n
}

// cut shortens escaped text to limit units, "..." included. It cuts neither
// within an entity or a mention nor between a letter or an emoji and what belongs to it.
func cut(s string, limit int) string {
	if units(s) <= limit {
		return s
	}
	return s[:breakAt(s, limit-len(ellipsis))] + ellipsis
}

// maxMention is how long a mention that people makes may be, in bytes.
const maxMention = 50

// breakAt is where a longer escaped text is to be cut so that at most room units stand before. More than legible.MaxRun
// marks in a row belong to no letter: a long run of them would leave whole pages empty.
func breakAt(s string, room int) int {
	whole, used, run, joined := 0, 0, 0, false // whole: where the last letter began
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		if r == '&' {
			if end := strings.IndexByte(s[i:], ';'); end > 0 && end < len("&amp;") {
				size = end + 1
			}
		}
		if r == '<' {
			if end := strings.IndexByte(s[i:], '>'); end > 0 && end <= maxMention {
				size = end + 1
			}
		}
		run++
		belongs := (joined || extends(r)) && run <= legible.MaxRun
		if !belongs {
			whole, run = i, 0
		}
		used += units(s[i : i+size])
		if used > room {
			if belongs && whole > 0 {
				return whole
			}
			return i
		}
		joined = r == zwj
		i += size
	}
	return len(s)
}

// extends reports whether a rune belongs to the one before it.
func extends(r rune) bool {
	return r == zwj || r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Variation_Selector) ||
		r >= 0x1f3fb && r <= 0x1f3ff
}

// pages splits prepared text into parts of at most limit units and maxLines lines, all of it. A part ends
// where a line does, unless that would leave much of it empty.
func pages(s string, limit int) []string {
	var out []string
	for s != "" {
		end := len(s)
		if units(s) > limit {
			end = max(breakAt(s, limit), 1)
			if line := strings.LastIndexByte(s[:end], '\n'); line > 0 && units(s[:line]) >= limit-pageEnd {
				end = line
			}
		}
		end = min(end, endOfLines(s, maxLines))
		out = append(out, s[:end])
		s = strings.TrimLeftFunc(s[end:], unicode.IsSpace) // a part of spaces is refused
	}
	return out
}

// goesOn marks where a line of a value continues on the next one.
const goesOn = "⟨…⟩"

// codePages is pages for lines with code in them: a part in which code does not end closes
// it, and the next one opens it again.
func codePages(s string, limit int) []string {
	out := pages(s, limit-2-units(goesOn))
	rest, open := s, false
	for i, p := range out {
		rest = rest[len(p):]
		after := strings.TrimLeftFunc(rest, unicode.IsSpace)
		if open {
			p = "`" + p
		}
		if rest != "" && after == rest {
			p += goesOn
		}
		if open = strings.Count(p, "`")%2 == 1; open {
			p += "`"
		}
		out[i], rest = p, after
	}
	return out
}

func endOfLines(s string, n int) int {
	at := 0
	for range n {
		next := strings.IndexByte(s[at:], '\n')
		if next < 0 {
			return len(s)
		}
		at += next + 1
	}
	return at - 1
}

// pageEnd is how much of a part stays empty at most, in characters.
const pageEnd = 300
