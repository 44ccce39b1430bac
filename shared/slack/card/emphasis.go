package card

import (
	"ringi/shared/words/language"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The marks of formatting in a text whose dialect is not chosen yet. A text itself has none: they are private
// characters, which nobody sees.
const (
	strongMark     = "\ue000" // bold text begins or ends
	starMark       = "\ue001" // a star that formats nothing
	underscoreMark = "\ue002"
	edgeMark       = "\ue003" // bold text begins or ends beside a character that hides this from Slack
	looseMark      = "\ue004" // bold text begins or ends where Markdown takes stars for text
)

var headingForm = language.Regexp{Text: `^#{1,6} +(.+)$`}

// formatted marks the formatting of a line. With more the line may go on: then it ends before the words that the rest
// may change.
func formatted(line string, more bool) string {
	if more {
		end := strings.LastIndexAny(line, " 。、"+slot)
		if end < 0 || line[0] == '#' {
			return ""
		}
		_, size := utf8.DecodeRuneInString(line[end:])
		line = line[:end+size]
	}
	m := headingForm.Get().FindStringSubmatch(line)
	if m == nil {
		return emphasized(line, more)
	}
	title := strings.TrimSpace(strings.ReplaceAll(m[1], "**", ""))
	if title == "" || strings.Contains(title, "*") {
		return emphasized(title, false)
	}
	return strongMark + emphasized(title, false) + strongMark
}

// emphasized marks bold and emphasized text where Slack and Markdown agree that it is: it begins and ends a word, and
// stands in one line. Beside characters of languages that are written without spaces, bold text needs no word's edge.
// Other stars and underscores are marked as such.
func emphasized(s string, more bool) string {
	var b strings.Builder
	for i := 0; i < len(s); {
		c := s[i]
		if c != '*' && c != '_' {
			b.WriteByte(c)
			i++
			continue
		}
		n := len(s[i:]) - len(strings.TrimLeft(s[i:], string(c)))
		inside, decided, ok := emphasis(s, i, n)
		switch {
		case more && !decided:
			return b.String()
		case !ok:
			b.WriteString(strings.Repeat(literalMark(s, i, n), n))
			i += n
			continue
		}
		begin, end := string(c), string(c)
		if n == 2 {
			begin, end = strongMarks(s, i, inside)
		}
		b.WriteString(begin + emphasized(inside, false) + end)
		i += 2*n + len(inside)
	}
	return b.String()
}

// literalMark stands for a star or underscore at i that formats nothing. An underscore within a word needs no mark.
func literalMark(s string, i, n int) string {
	if s[i] == '*' {
		return starMark
	}
	before, _ := utf8.DecodeLastRuneInString(s[:i])
	after, _ := utf8.DecodeRuneInString(s[i+n:])
	if n == 1 && word(before) && word(after) && before != '_' && after != '_' {
		return "_"
	}
	return underscoreMark
}

// emphasis reports whether a run of n equal signs at i begins formatted text, and returns that text. It is decided if
// the line's rest does not matter.
func emphasis(s string, i, n int) (inside string, decided, ok bool) {
	sign, rest := s[i:i+1], s[i+n:]
	if rest == "" {
		return "", false, false
	}
	edge := func(out, in rune) bool {
		return !beside(out, sign) || n == 2 && string(out) != sign && (dense(out) || dense(in))
	}
	if n > 2 || n == 2 && sign == "_" || !edge(lastRune(s[:i]), firstRune(rest)) || unicode.IsSpace(firstRune(rest)) {
		return "", true, false
	}
	end := strings.Index(rest, sign)
	if end < 0 {
		return "", false, false
	}
	after, inside := strings.TrimLeft(rest[end:], sign), rest[:end]
	ok = len(rest)-end-len(after) == n && !unicode.IsSpace(lastRune(inside)) &&
		edge(firstRune(after), lastRune(inside))
	return inside, after != "", ok
}

// strongMarks returns the marks around bold text whose stars begin at i. Slack finds stars only beside ASCII or a space.
// Markdown takes stars between a letter and punctuation for text.
func strongMarks(s string, i int, inside string) (begin, end string) {
	before, after := lastRune(s[:i]), firstRune(s[i+len(inside)+4:])
	mark := strongMark
	if beside(before, "") && sign(firstRune(inside)) || beside(after, "") && sign(lastRune(inside)) {
		mark = looseMark
	}
	begin, end = mark, mark
	if before > unicode.MaxASCII || beside(before, "") {
		begin = edgeMark + begin
	}
	if after > unicode.MaxASCII || beside(after, "") {
		end += edgeMark
	}
	return begin, end
}

// dense reports whether a character is of a script that is written without spaces, or with endings that follow a word at
// once: Japanese, Chinese or Korean, with their punctuation.
func dense(r rune) bool {
	return r >= 0x2e80 && r <= 0x9fff || r >= 0xac00 && r <= 0xd7af || r >= 0xf900 && r <= 0xfaff ||
		r >= 0xff00 && r <= 0xffef || r >= 0x20000 && r <= 0x3ffff
}

func sign(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }

func firstRune(s string) rune {
	r, size := utf8.DecodeRuneInString(s)
	if size == 0 {
		return '\n'
	}
	return r
}

func lastRune(s string) rune {
	r, size := utf8.DecodeLastRuneInString(s)
	if size == 0 {
		return '\n'
	}
	return r
}

// beside reports whether a sign next to a character is part of a word.
func beside(r rune, sign string) bool {
	return unicode.IsLetter(r) || unicode.IsNumber(r) || string(r) == sign
}
