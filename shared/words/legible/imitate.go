package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// foreign are scripts with many letters that look like Latin ones.
var foreign = []*unicode.RangeTable{unicode.Cyrillic, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu,
	unicode.Deseret, unicode.Georgian}

// lookalikes are characters that look like ASCII: Greek and phonetic letters, Roman numerals, hyphens, slashes, dots
// and colons.
const lookalikes = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορτυχϲϳ" + "ıĸſƖǀǃɑɡɩɪɴɢʀʏʙʜʟᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜱⅼꟾ" + "ⅠⅤⅩⅬⅭⅮⅯⅰⅴⅹⅼⅽⅾⅿ" + "‐‑‒⁃˗" + "⁄∕⧸" + "․∶꞉ː˸"

// singletons are characters that Unicode defines as the same as another one, so that they look alike.
const singletons = "\u037e\u0387\u1fef\u2126\u212a\u212b"

// imitates reports whether a character can be mistaken: it looks like an ASCII character and its word has ASCII letters
// or digits (latin), or it always looks like another character or changes the look of the letter before it.
func imitates(r, before rune, latin bool) bool {
	switch {
	case r < 0x80:
		return false
	case unicode.IsMark(r) && !unicode.Is(unicode.Variation_Selector, r):
		return unicode.In(before, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hiragana, unicode.Katakana)
	case strings.ContainsRune(singletons, r):
		return true
	case unicode.In(r, foreign...), strings.ContainsRune(lookalikes, r), r >= 0x1d400 && r <= 0x1d7ff:
		return latin
	}
	return false
}

// turns reports whether a right-to-left letter changes the display order of rest, the text after it: of digits, and of
// signs up to the next such letter. A space between two words does not count.
func turns(rest string) bool {
	first, _ := utf8.DecodeRuneInString(rest)
	if RightToLeft(first) || unicode.IsMark(first) { // the word continues
		return false
	}
	signs := false
	for _, r := range rest {
		switch {
		case r == '\n':
			return false
		case unicode.IsDigit(r) || RightToLeft(r) && signs:
			return true
		case unicode.IsLetter(r):
			return false
		case r != ' ':
			signs = true
		}
	}
	return false
}

func plain(r rune) bool { return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// wordAt returns the word that begins at i. An e-mail or web address is one word.
func wordAt(s string, i int) string {
	if end := strings.IndexFunc(s[i:], func(r rune) bool { return !ofWord(r) }); end >= 0 {
		return s[i : i+end]
	}
	return s[i:]
}

func ofWord(r rune) bool {
	return unicode.In(r, unicode.L, unicode.M, unicode.N) || strings.ContainsRune("@._-/:+%~", r) || r >= 0x80 &&
		strings.ContainsRune(lookalikes, r)
}
