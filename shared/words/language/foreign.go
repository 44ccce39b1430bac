package language

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding/japanese"
)

// Foreign prepares what others wrote for any surface: it removes characters that are invisible or reorder their
// surroundings, replaces letters that look empty by spaces, and replaces the marks that cards use. A text with nothing
// visible becomes empty.
func Foreign(s string) string {
	s = Visible(s)
	if !Legible(s) {
		return ""
	}
	return strings.Map(unmarked, s)
}

// ForeignLine is Foreign in one line: it joins lines and collapses spaces, except ideographic ones.
func ForeignLine(s string) string {
	blank := func(r rune) bool { return unicode.IsSpace(r) && r != '\u3000' }
	return Paragraphs(strings.Join(strings.FieldsFunc(Foreign(s), blank), " "))
}

// unmarked replaces the marks that cards use, and similar ones (🆗, 🉑, 🗹), in texts of people and models. Only a card
// may show 「✅ 承認」.
func unmarked(r rune) rune {
	switch r {
	case '✅', '✔', '☑', '🗸', '🗹', '🆗', '🉑', '🈴', '⭕', '💮', '㊞':
		return '✓'
	case '❌', '✖', '❎', '☒', '🗙', '🗴', '🗵', '🗶', '🗷', '🚫', '⛔', '🈲':
		return '✗'
	case '🔄', '🔃', '🔁':
		return '↻'
	case '⏹':
		return '■'
	case '➡':
		return '→'
	case '↩':
		return '←'
	case '❓', '❔':
		return '?'
	case '⚠':
		return '!'
	case '⬜', '⌛', '⏳', '⏱', '🔍', '🔎', '🚀', '📝', '📋', '📄', '⚙', '🔒', '🚨', '🟢', '🟡', '🔴', '👥', '🔗',
		'🏆', '🏁', '🛠', '💬', '🔵', '✍', '➕', '➖', '👉', '👀', '✉', '✏', '💴':
		return '・'
	}
	return r
}

// Quiet disables words that notify a whole channel, and names of emoji that Slack would draw as marks.
func Quiet(s string) string {
	if !strings.ContainsAny(s, "@:") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		rest := s[i+1:]
		begins := func(word string) bool { return len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) }
		if s[i] == '@' && slices.ContainsFunc(everybody, begins) || s[i] == ':' && namesEmoji(rest) {
			b.WriteString(wordJoiner)
		}
	}
	return b.String()
}

var everybody = []string{"channel", "here", "everyone"}

const maxEmojiName = 100 // characters that Slack allows

// namesEmoji reports whether the text after a colon is an emoji's name and another colon. People name their own emoji,
// so a name may have letters of any script. Digits alone are no name, except for the few below: 10:30:00 is a time.
func namesEmoji(s string) bool {
	name, letters := s, false
	for n := 0; ; n++ {
		r, size := utf8.DecodeRuneInString(s)
		switch {
		case r == ':':
			name = name[:len(name)-len(s)]
			return n > 0 && (letters || name == "100" || name == "1234" || name == "+1" || name == "-1")
		case size == 0, n == maxEmojiName:
			return false
		case unicode.IsLetter(r):
			letters = true
		case !unicode.IsDigit(r) && !unicode.IsMark(r) && !strings.ContainsRune("_-+'", r):
			return false
		}
		s = s[size:]
	}
}

const wordJoiner = "\u2060" // invisible: it keeps Slack from interpreting what it stands in

// unticking replaces what would begin code or strike out text.
var unticking = strings.NewReplacer("\\`", "｀", "`", "｀", "~", "～")

// MarkdownProse prepares prose of a message in Markdown.
func MarkdownProse(s string) string {
	return Quiet(unticking.Replace(strings.Map(unmarked, Visible(s))))
}

// Names of the encodings of files: UTF-8, and Shift_JIS as Excel writes it in Japan. Others are not guessed.
const (
	UTF8     = "UTF-8"
	ShiftJIS = "Shift_JIS"
)

// Decode returns a file as UTF-8, without a byte order mark, and the name of its encoding, which is empty if it is
// neither of the two. In Shift_JIS one character of fifty may be unreadable, such as one that a company made (gaiji).
func Decode(file []byte) (text, as string) {
	if file = bytes.TrimPrefix(file, []byte("\ufeff")); utf8.Valid(file) {
		return string(file), UTF8
	}
	if torn(file) {
		return "", ""
	}
	decoded, err := japanese.ShiftJIS.NewDecoder().Bytes(file)
	lost := bytes.Count(decoded, []byte(string(utf8.RuneError)))
	if err != nil || bytes.IndexByte(file, 0) >= 0 || lost*50 > utf8.RuneCount(decoded) {
		return "", ""
	}
	return string(decoded), ShiftJIS
}

// torn reports whether a file is UTF-8 but for some bytes: it has more whole characters of several bytes than others.
func torn(file []byte) bool {
	whole := 0
	for len(file) > 0 {
		r, n := utf8.DecodeRune(file)
		switch file = file[n:]; {
		case n > 1:
			whole++
		case r == utf8.RuneError:
			whole--
		}
	}
	return whole > 0
}
