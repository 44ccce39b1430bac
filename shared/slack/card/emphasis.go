package card

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/words/lazy"
)

// The marks of formatting in a text whose dialect is not chosen yet. A text itself has none: they are private
// characters, which nobody sees.
const (
	strongMark     = "\ue000" // bold text begins or ends
	starMark       = "\ue001" // a star that formats nothing
	underscoreMark = "\ue002"
)

var headingForm = lazy.Regexp(`^#{1,6} +(.+)$`)

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
	m := headingForm().FindStringSubmatch(line)
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
// stands in one line. Other stars and underscores are marked as such.
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
		mark := string(c)
		if n == 2 {
			mark = strongMark
		}
		b.WriteString(mark + emphasized(inside, false) + mark)
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
	if n > 2 || n == 2 && sign == "_" || beside(lastRune(s[:i]), sign) || unicode.IsSpace(firstRune(rest)) {
		return "", true, false
	}
	end := strings.Index(rest, sign)
	if end < 0 {
		return "", false, false
	}
	after, inside := strings.TrimLeft(rest[end:], sign), rest[:end]
	ok = len(rest)-end-len(after) == n && !unicode.IsSpace(lastRune(inside)) && !beside(firstRune(after), sign)
	return inside, after != "", ok
}

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
