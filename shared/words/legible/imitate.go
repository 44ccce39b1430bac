package legible

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// foreign are scripts other than Latin, many of whose letters look like Latin ones.
var foreign = []*unicode.RangeTable{unicode.Cyrillic, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu,
	unicode.Deseret, unicode.Georgian}

// lookalikes are characters that look like one of ASCII: Greek letters, those of phonetics, Roman numerals, hyphens,
// slashes, dots and colons.
const lookalikes = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧαγικνορτυχϲϳ" + "ıĸſƖǀǃɑɡɩɪɴɢʀʏʙʜʟᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜱⅼꟾ" + "ⅠⅤⅩⅬⅭⅮⅯⅰⅴⅹⅼⅽⅾⅿ" + "‐‑‒⁃˗" + "⁄∕⧸" + "․∶꞉ː˸"

// singletons are drawn as the characters are that Unicode says they are the same as.
const singletons = "\u037e\u0387\u1fef\u2126\u212a\u212b"

// imitates reports whether a character looks like one of ASCII, so that among such it may be read as that; or, whatever
// stands beside it, is drawn as another character is or changes the letter before it, which then is. latin: its word
// has some of ASCII.
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

// turns reports whether what stands behind a letter that is written from right to left is drawn in another order
// because of it: digits, and signs up to the next such letter. A space between two words is not one of them.
func turns(rest string) bool {
	first, _ := utf8.DecodeRuneInString(rest)
	if RightToLeft(first) || unicode.IsMark(first) { // its word goes on
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

// plain reports whether a character is a letter or a digit of ASCII.
func plain(r rune) bool { return r < 0x80 && (unicode.IsLetter(r) || unicode.IsDigit(r)) }

// wordAt is the word that begins at i, an address whole.
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
