package language

import (
	"encoding/json"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// Visible returns a text as people see it: without characters that are invisible or reorder the text around them, with
// "\n" line ends, and with spaces for letters that are drawn empty. Models get the same text, so that nothing is
// addressed to them that people don't see.
func Visible(s string) string { return visible(s, ' ') }

// VisibleCode is Visible but keeps tabs, which code and tables need.
func VisibleCode(s string) string { return visible(s, '\t') }

// visible is Visible with tab in place of tabs.
func visible(s string, tab rune) string {
	s = strings.ToValidUTF8(s, "\ufffd")
	s = strings.ReplaceAll(s, "\r\n", "\n")
	before, forms := '\n', 0 // before: the previous character; forms: letters so far with a variation
	return strings.Map(func(r rune) rune {
		seen := r
		switch {
		case everyday(r):
		case r == '\t':
			seen = tab
		case r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029' || r == '\u0085' || r == '\v' || r == '\f':
			seen = '\n'
		case Joiner(r) && !fits(r, before) || strikes(r) && !unicode.Is(unicode.Sm, before):
			return -1
		case Joiner(r):
			if unicode.Is(unicode.Variation_Selector, r) && r != emojiStyle && r != textStyle {
				if forms++; forms > maxForms {
					return -1
				}
			}
		case r != '\u3000' && Blank(r):
			seen = ' '
		case Ignorable(r):
			return -1
		}
		before = seen
		return seen
	}, s)
}

// maxForms is how many letters of a text may have a variation, as some in names do. Each could carry one of 256 hidden
// values.
const maxForms = 32

// plainScripts have no letters that joiners change.
var plainScripts = []*unicode.RangeTable{unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Greek, unicode.Cyrillic}

// fits reports whether a joiner changes how the characters around it look. Elsewhere it could only carry a hidden
// message.
func fits(joiner, before rune) bool {
	switch {
	case joiner == emojiStyle || joiner == textStyle:
		return !Joiner(before) && !unicode.IsMark(before) && (!unicode.IsLetter(before) || before == 'ℹ')
	case joiner == zwj && (before == emojiStyle || pictures(before)):
		return true
	case joiner == zwj || joiner == zwnj:
		return before > unicode.MaxLatin1 && !Joiner(before) && !unicode.In(before, plainScripts...) &&
			!unicode.In(before, unicode.P, unicode.N, unicode.Z)
	case joiner < 0x2000:
		return unicode.Is(unicode.Mongolian, before)
	}
	return unicode.Is(unicode.Han, before)
}

// strikes reports whether a mark is drawn across the letter before it. People take such words as deleted, but models
// read them.
func strikes(r rune) bool {
	switch r {
	case 0x1dfb, 0x20d2, 0x20d3, 0x20d8, 0x20d9, 0x20da, 0x20e0, 0x20e5, 0x20e6, 0x20ea, 0x20eb:
		return true
	}
	return r >= 0x334 && r <= 0x338
}

// MaxBlanks is how many blanks in a row are kept: no indentation is deeper.
const MaxBlanks = 8

// Paragraphs returns a text with at most one empty line and MaxBlanks blanks in a row, because nobody looks for text
// after thousands of them. A line without visible characters counts as empty.
func Paragraphs(s string) string {
	s = fewBlanks(s)
	var out []string
	empty := false
	for l := range strings.SplitSeq(s, "\n") {
		was := empty
		if empty = !Legible(l); empty && was {
			continue
		}
		out = append(out, l)
	}
	return strings.Join(out, "\n")
}

// fewBlanks removes blanks after MaxBlanks in a row. Only a visible character or a line end ends a row of blanks;
// combining marks without a letter count as blanks. A joiner next to a visible character is kept.
func fewBlanks(s string) string {
	var b strings.Builder
	blanks, shown, joined := 0, false, false // shown: the previous character is a letter or belongs to one
	for i, r := range s {
		_, size := utf8.DecodeRuneInString(s[i:])
		after, _ := utf8.DecodeRuneInString(s[i+size:])
		was := joined
		joined = Joiner(r)
		switch {
		case r == '\n' || Shows(r):
			blanks, shown = 0, r != '\n'
		case joined:
			if (!shown || was) && (i+size == len(s) || !Shows(after)) {
				continue
			}
		case Blank(r) || !shown:
			shown = false
			if blanks++; blanks > MaxBlanks {
				continue
			}
		}
		b.WriteString(s[i : i+size])
	}
	return b.String()
}

var literal = Regexp{Text: `"(?:[^"\\]|\\.)*"`}

// VisibleJSON applies VisibleCode to all texts of valid JSON, including members' names.
func VisibleJSON(text []byte) []byte {
	return literal.Get().ReplaceAllFunc(text, func(quoted []byte) []byte {
		var s string
		if json.Unmarshal(quoted, &s) != nil { // never fails for valid JSON
			return quoted
		}
		seen := VisibleCode(s)
		if seen == s {
			return quoted
		}
		b, err := json.Marshal(seen)
		if err != nil { // never fails for a text
			return quoted
		}
		return b
	})
}

const (
	zwnj = '\u200c'
	zwj  = '\u200d'
)

// MaxRun is how many marks and joiners in a row belong to one letter. It is the limit of Unicode's stream-safe text
// format (UAX #15, section 13), and no script needs more.
const MaxRun = 30

// Ignorable reports whether a character is invisible and has no width: Unicode's Default_Ignorable_Code_Point, control
// characters and private use.
func Ignorable(r rune) bool {
	switch {
	case everyday(r):
		return false
	case r < 0x80:
		return r < ' ' && r != '\n' && r != '\t' || r == 0x7f
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r): // visible, drawn around digits
		return false
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Cs, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point)
}

// everyday reports whether a character is one of the most frequent: printable ASCII, kana, kanji and what stands
// between them. They are visible, so they need no lookup in Unicode's tables.
func everyday(r rune) bool {
	return r > ' ' && r < 0x7f || r >= 'ぁ' && r <= 'ゖ' || r >= 'ァ' && r <= 'ー' || r >= '一' && r <= '鿿' ||
		r >= '、' && r <= '】' || r >= '！' && r <= '～'
}

// Blank reports whether a character has a width but is invisible: a space of any kind, or a letter or symbol that is
// drawn empty.
func Blank(r rune) bool {
	switch r {
	case '\u115f', '\u1160', '\u3164', '\uffa0': // Hangul fillers
		return true
	case '\u2800', '\U0001d159', '\U00016fe4': // Braille without dots, a null notehead, a Khitan filler
		return true
	case '\U00013441', '\U00013442', '\ufffc': // Egyptian blanks, full and half; the object replacement character
		return true
	}
	return unicode.IsSpace(r)
}

// Shows reports whether a character is visible by itself.
func Shows(r rune) bool {
	return everyday(r) || unicode.Is(unicode.Prepended_Concatenation_Mark, r) ||
		!Ignorable(r) && !Blank(r) && !unicode.IsMark(r) && unicode.IsGraphic(r)
}

// Legible reports whether a text has a visible character.
func Legible(s string) bool { return strings.ContainsFunc(s, Shows) }

// Joiner reports whether a character is invisible but changes how adjacent letters or emoji look.
func Joiner(r rune) bool {
	return r == zwj || r == zwnj || unicode.Is(unicode.Variation_Selector, r)
}

// RightToLeft reports whether a character is written from right to left. It covers all ranges that Unicode reserves for
// such scripts (DerivedBidiClass.txt, R and AL), including scripts of later versions.
func RightToLeft(r rune) bool {
	switch {
	case r < 0x590:
		return false
	case r <= 0x8ff, r >= 0xfb1d && r <= 0xfdff, r >= 0xfe70 && r <= 0xfefe:
		return true
	}
	return r >= 0x10800 && r <= 0x10fff || r >= 0x1e800 && r <= 0x1efff
}

// Isolated returns a text that can't change the direction of text around it.
func Isolated(s string) string {
	if !strings.ContainsFunc(s, RightToLeft) {
		return s
	}
	return "\u2068" + s + "\u2069"
}

// foreign are scripts with many letters that look like Latin ones.
var foreign = []*unicode.RangeTable{unicode.Cyrillic, unicode.Armenian, unicode.Cherokee, unicode.Coptic, unicode.Lisu,
	unicode.Deseret, unicode.Georgian}

// lookalikes are characters that look like ASCII: Greek and phonetic letters, ligatures, Roman numerals, hyphens,
// slashes, dots, colons and other signs.
const lookalikes = "ΑΒΕΖΗΙΚΜΝΟΡΤΥΧϜϹͿαγικνορτυχϲϳ" + "ﬀﬁﬂﬃﬄﬅﬆĲĳŉǄǅǆǇǈǉǊǋǌǱǲǳ" +
	"ıĸſƖǀǃɑɡɩɪɱɴɢʀʏʙʜʟᴀᴄᴅᴇᴊᴋᴍᴏᴘᴛᴜᴠᴡᴢꜱⅼꟾ" + "ⅠⅤⅩⅬⅭⅮⅯⅰⅴⅹⅼⅽⅾⅿ" + "‐‑‒⁃˗" +
	"⁄∕⧸" + "․∶꞉ː˸" + "╱⍺۔" + "‚−∣∗∼˂ˋʹ"

// cyrillic are the letters of Cyrillic and Armenian that look like Latin ones, or like a digit, in any word.
const cyrillic = "АВЕЗЅІЈКМНОРСТУХЬҮҺӀԌԚԜѴаекорсухѕіјһӏԁԛԝѵү" + "ՍՕՏԼօոսհցքզ"

// european reports whether a character is no ASCII, and of an alphabet with letters like Latin ones in the usual width.
func european(r rune) bool {
	return r >= 0x80 && !everyday(r) && (r < 0xff00 && unicode.In(r, unicode.Latin, unicode.Greek) || styled(r) ||
		unicode.In(r, foreign...))
}

// styled reports whether a character is a letter or digit of formulas.
func styled(r rune) bool { return r >= 0x1d400 && r <= 0x1d7ff }

// technical are Greek letters that stand alone every day, as in α版 and χ値.
const technical = "αγικνχ"

// poses reports whether the letters that begin a text can be taken for a Latin word, whichever they are: all of them
// look Latin. A small letter alone can if it looks like one of ASCII and is not technical.
func poses(text string) bool {
	n, alone := 0, false // alone: the last letter would be taken for a Latin one also alone
	for _, r := range text {
		if unicode.IsMark(r) {
			continue
		}
		if !european(r) {
			break
		}
		base, _ := utf8.DecodeRuneInString(norm.NFD.String(string(r)))
		if !unicode.Is(unicode.Latin, base) && !strings.ContainsRune(lookalikes+cyrillic, base) && !styled(base) &&
			!unicode.In(base, unicode.Cherokee, unicode.Coptic, unicode.Lisu, unicode.Deseret) {
			return false
		}
		n, alone = n+1, unicode.IsUpper(r) || unicode.In(base, foreign...) || unicode.IsLetter(base) &&
			strings.ContainsRune(lookalikes, base) && !strings.ContainsRune(technical, base)
	}
	return n > 1 || alone
}

// twin reports whether Unicode has a character or others that look the same: those that it defines as equal and, of
// kanji and right-to-left letters, as compatible, and radicals, which look like kanji.
func twin(r rune) bool {
	s := string(r)
	return !norm.NFC.IsNormalString(s) || unicode.Is(unicode.Radical, r) ||
		(unicode.Is(unicode.Han, r) || RightToLeft(r)) && !norm.NFKC.IsNormalString(s)
}

// pairs are those of a text of which it is known whether Unicode has another text that looks the same. nil: none has.
type pairs map[[2]rune]bool

// merge reports whether Unicode has another text that looks the same as two characters in a row.
func (p pairs) merge(a, b rune) bool {
	pair := [2]rune{a, b}
	does, known := p[pair]
	if !known && p != nil {
		does = norm.NFC.String(string(pair[:])) != norm.NFC.String(string(a))+norm.NFC.String(string(b))
		p[pair] = does
	}
	return does
}

// imitates reports whether a character can be mistaken: it looks like an ASCII character and its word is Latin or can
// be taken for it (latin), or it always looks like another character or changes the look of the letter before it.
func imitates(r, before rune, latin bool) bool {
	switch {
	case everyday(r):
		return false
	case twin(r):
		return true
	case unicode.IsMark(r) && !unicode.Is(unicode.Variation_Selector, r):
		return unicode.In(before, unicode.Latin, unicode.Greek, unicode.Cyrillic, unicode.Hiragana, unicode.Katakana)
	}
	return latin && (unicode.In(r, foreign...) || strings.ContainsRune(lookalikes, r) || styled(r))
}

// settled are the scripts whose letters may stand beside Latin ones in a word.
var settled = []*unicode.RangeTable{unicode.Latin, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul,
	unicode.Bopomofo, unicode.Greek, unicode.Common, unicode.Inherited}

// strayLetter reports whether a letter or digit of another script stands in a word with ASCII ones.
func strayLetter(r rune, word string) bool {
	switch {
	case r < 0x250 || everyday(r):
		return false
	case unicode.IsDigit(r): // those of full width are common
		return r < '０' || r > '９'
	}
	return unicode.IsLetter(r) && !unicode.In(r, settled...) &&
		strings.ContainsFunc(word, func(r rune) bool { return r < 0x80 && unicode.IsLetter(r) })
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

// Literal puts a text in quotation marks if it could be taken for a value of another type, as "5", and escapes those
// inside.
func Literal(s string) string {
	if strings.HasPrefix(s, `"`) || s == "" || json.Valid([]byte(s)) {
		return Quoted(s)
	}
	return s
}

// Quoted puts a text in quotation marks and escapes those inside.
func Quoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}
