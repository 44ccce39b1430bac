package card

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"ringi/shared/words/language"
)

// units counts UTF-16 units after escaping, the strictest reading of the "characters" in Slack's limits
// (https://docs.slack.dev/reference/block-kit/composition-objects/text-object): most emoji count as two.
//
//go:noinline
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

// cut shortens escaped text to limit units, "..." included, without splitting an entity, a mention, a letter or emoji.
func cut(s string, limit int) string {
	if units(s) <= limit {
		return s
	}
	return s[:breakAt(s, limit-len(ellipsis))] + ellipsis
}

const maxMention = 50 // bytes of a mention that people makes

// breakAt returns where to cut an escaped text so that at most room units remain. More than language.MaxRun combining
// marks in a row may be split, since they could leave pages empty.
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
		belongs := (joined || extends(r)) && run <= language.MaxRun
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

func extends(r rune) bool {
	return r == zwj || r >= 0x300 && unicode.In(r, unicode.Mn, unicode.Me, unicode.Variation_Selector) ||
		r >= 0x1f3fb && r <= 0x1f3ff
}

// pages splits prepared text into parts of at most limit units and maxLines lines. A part ends at a line's end, or else
// between words or sentences, unless that would leave much of the part empty.
func pages(s string, limit int) []string {
	var out []string
	for s != "" {
		end := len(s)
		if units(s) > limit {
			end = max(breakAt(s, limit), 1)
			if line := strings.LastIndexByte(s[:end], '\n'); line > 0 && units(s[:line]) >= limit-pageEnd {
				end = line
			} else if gap := gapBefore(s[:end]); gap > 0 && units(s[:gap]) >= limit-pageEnd {
				end = gap
			}
		}
		end = min(end, endOfLines(s))
		out = append(out, s[:end])
		s = strings.TrimLeftFunc(s[end:], unicode.IsSpace) // Slack refuses a part that has only spaces
	}
	return out
}

// gapBefore returns where the last word or sentence of a text ends, 0 if there is none.
func gapBefore(s string) int {
	gap := strings.LastIndexByte(s, ' ')
	for _, stop := range []string{"。", "、"} {
		if at := strings.LastIndex(s, stop); at >= 0 {
			gap = max(gap, at+len(stop))
		}
	}
	return max(gap, 0)
}

const goesOn = "⟨…⟩" // marks a line that continues in the next part

// codePages is pages for a text with inline code. It closes code at the end of a part and opens it again in the next.
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

func endOfLines(s string) int {
	at := 0
	for range maxLines {
		next := strings.IndexByte(s[at:], '\n')
		if next < 0 {
			return len(s)
		}
		at += next + 1
	}
	return at - 1
}

const pageEnd = 300 // characters of a page that may stay empty

// fenced splits a text into up to most code blocks of at most limit units each, and of one line less than maxLines, so
// that a section has room for a line above. rest reports whether some of it did not fit.
func fenced(text string, limit, most int) (pages []string, rest bool) {
	const fence = "```"
	room := limit - 2*len(fence) - 2
	var page []string
	used := 0
	closePage := func() {
		pages = append(pages, fence+"\n"+strings.Join(page, "\n")+"\n"+fence)
		page, used = nil, 0
	}
	for _, line := range folded(escape(emptyCounted(text)), room) {
		if (used+units(line)+1 > room || len(page) == maxLines-3) && len(page) > 0 {
			closePage()
			if len(pages) == most {
				return pages, true
			}
		}
		page = append(page, line)
		used += units(line) + 1
	}
	closePage()
	return pages, false
}

// maxEmpty is the most empty lines in a row that a code block shows; a longer run is written as its number.
const maxEmpty = 3

func emptyCounted(text string) string {
	var out []string
	empty := 0
	end := func() {
		if empty > maxEmpty {
			out = append(out[:len(out)-empty], fmt.Sprintf("⏎ ×%d", empty))
		}
		empty = 0
	}
	for line := range strings.SplitSeq(text, "\n") {
		if language.Legible(line) {
			end()
			out = append(out, line)
			continue
		}
		out, empty = append(out, line), empty+1
	}
	end()
	return strings.Join(out, "\n")
}

// folded splits an escaped text into lines of at most limit units, between words unless that leaves much of one empty.
func folded(text string, limit int) []string {
	var out []string
	for line := range strings.SplitSeq(text, "\n") {
		for units(line) > limit {
			end := max(breakAt(line, limit-units(goesOn)), 1)
			if gap := gapBefore(line[:end]); units(line[:gap]) >= limit-pageEnd {
				end = gap
			}
			out = append(out, line[:end]+goesOn)
			line = line[end:]
		}
		out = append(out, line)
	}
	return out
}

// visible writes invisible characters, and backticks that would end a block of code, as escapes of the same JSON.
func visible(s string) string {
	s = fenceForm.Get().ReplaceAllStringFunc(strings.ToValidUTF8(s, "\ufffd"), func(ticks string) string {
		return strings.Repeat(`\u0060`, len(ticks))
	})
	var b strings.Builder
	for _, r := range s {
		hidden := r != '\n' && r != ' ' && r != '\u3000' && (language.Ignorable(r) || language.Blank(r))
		switch {
		case !hidden:
			b.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return or(b.String(), "{}")
}

const maxNested = 1000 // brackets: indenting takes time in proportion to depth times size

// pretty indents JSON. It returns other texts, and JSON that may be too deep, unchanged.
func pretty(s string) string {
	var b bytes.Buffer
	if strings.Count(s, "[")+strings.Count(s, "{") > maxNested || json.Indent(&b, []byte(s), "", "  ") != nil {
		return s
	}
	return b.String()
}
