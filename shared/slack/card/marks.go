package card

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

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
		'🏆', '🏁', '🛠', '💬', '🔵', '✍', '➖', '👉':
		return '・'
	}
	return r
}

// breakMentions disables words that notify a whole channel, and names of emoji that Slack would draw as marks.
func breakMentions(s string) string {
	if !strings.ContainsAny(s, "@:") {
		return s
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		rest := s[i+1:]
		if s[i] == '@' && (hasWord(rest, "channel") || hasWord(rest, "here") || hasWord(rest, "everyone")) ||
			s[i] == ':' && namesEmoji(rest) {
			b.WriteString(joiner)
		}
	}
	return b.String()
}

// hasWord reports whether s begins with a word, ignoring the case of ASCII letters.
func hasWord(s, word string) bool {
	if len(s) < len(word) {
		return false
	}
	for i := range len(word) {
		if s[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

// maxEmojiName is the greatest length of an emoji's name, in characters; Slack allows 100.
const maxEmojiName = 100

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
