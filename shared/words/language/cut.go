package language

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// First returns the first most characters of a text.
func First(s string, most int) string {
	n := 0
	for i := range s {
		if n == most {
			return s[:i]
		}
		n++
	}
	return s
}

// FirstLines is First, but ends with a whole line, or at least with a whole cell or word, so that no value is cut in
// two: half a number reads well. It is cut within one only if that would take more than half of what may be shown.
func FirstLines(s string, most int) string {
	first := First(s, most)
	if first == s || strings.HasPrefix(s[len(first):], "\n") {
		return first
	}
	for _, ends := range []string{"\n", "\t,;。、 \u3000"} {
		end := strings.LastIndexAny(first, ends)
		if end >= len(first)/2 {
			_, n := utf8.DecodeRuneInString(first[end:])
			return first[:end+n]
		}
	}
	return first
}

// FirstBytes returns the beginning of a text, at most most bytes of whole characters.
func FirstBytes(s string, most int) string {
	if len(s) <= most {
		return s
	}
	for most > 0 && !utf8.RuneStart(s[most]) {
		most--
	}
	return s[:most]
}

// Beginning is First with an ellipsis added if the text was cut.
func Beginning(s string, most int) string {
	if first := First(s, most); first != s {
		return first + "…"
	}
	return s
}

// Clip cuts a text to most characters, of which the last is an ellipsis if the text was cut.
func Clip(s string, most int) string {
	if First(s, most) == s {
		return s
	}
	return First(s, most-1) + "…"
}

// Folded returns a name in the form by which file systems and people confuse names: two names with the same form differ
// only in case, in how accents and Hangul are composed, or in width and style (case-folded NFKC).
func Folded(name string) string {
	name = sharp.Replace(norm.NFKD.String(name))
	return norm.NFKC.String(norm.NFKD.String(strings.Map(folded, name)))
}

// sharp spells out the only letters that fold to more than one: NFKD leaves base letters and marks.
var sharp = strings.NewReplacer("ß", "ss", "ẞ", "ss")

// Narrow returns a text without differences of width and style (NFKC). Radicals, which text copied from a PDF has in
// place of kanji, become those: NFKC leaves most of U+2E80 to U+2EF3 as they are.
func Narrow(text string) string {
	return strings.Map(func(r rune) rune {
		if i := int(r) - 0x2e80; i >= 0 && i < len(ofRadicals) {
			return ofRadicals[i]
		}
		return r
	}, norm.NFKC.String(text))
}

// ofRadicals are the kanji of the radicals from U+2E80 on, by Unicode's EquivalentUnifiedIdeograph.
var ofRadicals = []rune("⺀厂乛乚乙亻冂𠘨刀刂卜㔾小小兀尣尢𡯂巳幺彑彐忄心扌攵⺚旡日月歺母民氵氺灬爫爫丬牛犭王𤴔目示礻𥫗糹纟罓罒㓁冗𦉫羊𦍌𦍋耂" +
	"肀聿肉𦥑艹艹艹虎衤覀西见角𧢲讠贝𧾷车辶辶辶邑钅長镸长门𨸏阝雨青韦页风飞食𩙿飠饣𩠐马骨鬼鱼鸟卤麦黄黾斉齐歯齿竜龙龜亀龟")

// folded returns the smallest of the letters that differ from r only in case.
func folded(r rune) rune {
	least := r
	for next := unicode.SimpleFold(r); next != r; next = unicode.SimpleFold(next) {
		least = min(least, next)
	}
	return least
}

const (
	ideographicSpace = '\u3000'
	emojiStyle       = '\ufe0f' // shows a character as a picture
	textStyle        = '\ufe0e' // shows a character in its plain form
)

// Spelled returns a text in which nothing is hidden. A space at the beginning or end of a line or next to another blank
// becomes ␣. A character that is invisible, or looks like a space without being one, becomes its number, ⟨U+200B⟩. More
// than MaxBlanks of one of these in a row are counted, ⟨␣ ×2800⟩. A letter that looks like another one gets its number
// behind it, a⟨U+0430⟩, and so does the last letter of a right-to-left word that would reorder digits and signs after
// it. Line ends are kept. Different texts have different spellings, because ␣, ⏎ and ⟨ themselves are written as their
// numbers.
func Spelled(s string) string {
	var b strings.Builder
	sign, times := "", 0 // that stands for a character, and is to be written
	end := func() {
		if times > MaxBlanks {
			fmt.Fprintf(&b, "⟨%s ×%d⟩", strings.Trim(sign, "⟨⟩"), times)
		} else {
			b.WriteString(strings.Repeat(sign, times))
		}
		times = 0
	}
	before, base := '\n', '\n'    // base: the last character that is no mark
	latin, posing := false, false // latin: the word of r has ASCII letters or digits
	at := ""                      // that word
	apart := pairs{}
	if norm.NFC.IsNormalString(s) {
		apart = nil
	}
	for i, r := range s {
		if !ofWord(before) && ofWord(r) {
			at = wordAt(s, i)
			latin = strings.ContainsFunc(at, plain)
		}
		if european(r) && !european(base) {
			posing = poses(s[i:])
		}
		_, size := utf8.DecodeRuneInString(s[i:])
		after := '\n'
		if rest := s[i+size:]; rest != "" {
			after, _ = utf8.DecodeRuneInString(rest)
		}
		alone := !Blank(before) && !Blank(after)
		next := ""
		switch {
		case r == utf8.RuneError && size == 1:
			next = fmt.Sprintf("⟨0x%02X⟩", s[i])
		case r == ' ' && !alone:
			next = "␣"
		case r == '\n', r == ' ', r == ideographicSpace && alone, joins(r, before, after), !spells(r):
		default:
			next = fmt.Sprintf("⟨U+%04X⟩", r)
			r = '⟩'
		}
		if next != sign {
			end()
		}
		if sign = next; sign != "" {
			times++
		} else {
			b.WriteRune(r)
			if imitates(r, before, latin || posing && european(r)) || apart.merge(before, r) || apart.merge(base, r) ||
				RightToLeft(r) && turns(s[i+size:]) || (latin || unicode.IsDigit(r)) && strayLetter(r, at) {
				fmt.Fprintf(&b, "⟨U+%04X⟩", r)
			}
		}
		if before = r; !unicode.IsMark(r) {
			base = r
		}
	}
	end()
	return b.String()
}

var lineEnds = Regexp{Text: `\n+`}

// OneLine is Spelled in one line: a line end becomes ⏎, and more than three in a row are counted.
func OneLine(s string) string {
	s = lineEnds.Get().ReplaceAllStringFunc(Spelled(s), func(ends string) string {
		if n := len(ends); n > 3 {
			return fmt.Sprintf(" ⟨⏎ ×%d⟩ ", n)
		}
		return strings.Repeat(" ⏎", len(ends)) + " "
	})
	return strings.Trim(s, " ")
}

// spells reports whether a character is written as its number unless its neighbours make it visible.
func spells(r rune) bool {
	return r == '␣' || r == '⏎' || r == '⟨' || r == utf8.RuneError || r != '\n' && r != ' ' &&
		(Ignorable(r) || Blank(r) || strikes(r))
}

// joins reports whether a character forms one picture with the emoji next to it.
func joins(r, before, after rune) bool {
	picture := pictures(before) || before == emojiStyle
	return picture && (r == emojiStyle && before != emojiStyle || r == zwj && unicode.Is(unicode.So, after))
}

// pictures reports whether a character is a picture, or the skin tone of one.
func pictures(r rune) bool { return unicode.Is(unicode.So, r) || 0x1f3fb <= r && r <= 0x1f3ff }

// Code returns code as people read it: as it is, with "\n" line ends. Only a character that is invisible, ends a line
// without being a line end, or changes how others are drawn becomes its number, ⟨U+202E⟩. Blanks stay, since code has
// many, also no-break spaces. Unlike Spelled, it doesn't tell apart everything that looks alike: nobody stamps this.
func Code(s string) string {
	s = strings.ReplaceAll(s, "\r\n", "\n")
	var b strings.Builder
	before, forms := '\n', 0
	for i, r := range s {
		switch {
		case everyday(r) || r == '\n' || r == '\t':
			b.WriteRune(r)
		case r == '\r':
			b.WriteByte('\n')
		case r == utf8.RuneError && invalidAt(s, i):
			fmt.Fprintf(&b, "⟨0x%02X⟩", s[i])
		case fits(r, before) && Joiner(r) && forms < maxForms:
			if r != emojiStyle && r != textStyle && r != zwj && r != zwnj {
				forms++
			}
			b.WriteRune(r)
		case strikes(r) && !unicode.Is(unicode.Sm, before), Ignorable(r), Blank(r) && !unicode.Is(unicode.Zs, r):
			fmt.Fprintf(&b, "⟨U+%04X⟩", r)
		default:
			b.WriteRune(r)
		}
		before = r
	}
	return b.String()
}

// invalidAt reports whether the byte at i is no UTF-8.
func invalidAt(s string, i int) bool {
	_, size := utf8.DecodeRuneInString(s[i:])
	return size == 1
}

// Capital begins a text with a capital letter, if it has one.
func Capital(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}
