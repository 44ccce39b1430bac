package tool

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"ringi/shared/words/language"
)

// says reports whether a text contains a value as a complete id or name.
//
// An id is ASCII without spaces, with a digit next to a letter or with a mark such as @ - _ or a dot. It may stand
// anywhere as a word of its own: U012 is not in U0123, and b@example.co is neither in a!b@example.co nor in
// b@example.com or 1AbC/../b@example.co. Japanese has no spaces between words, so kana and kanji next to an id end it.
// Before an address only hiragana does, because 山田b@example.com may be another address. Letters of other scripts may
// look like those of an id, so they don't end it. A dot or a slash between the id and further text does not end it
// either: b@example.co is not in b@example.co.会社.
//
// Any other value is a name. It must stand between quotes, or alone between punctuation and the ends of a line: 勤怠 is
// neither in 「勤怠を集計」 nor in 「勤怠 2026-11」.
func says(text, value string) bool {
	switch {
	case !strings.ContainsFunc(value, wordly):
		return false
	case strings.Contains(value, "@"): // addresses are the same in capitals
		text, value = lowerASCII(text), lowerASCII(value)
		if isID(value) {
			return stands(text, value, behindParticles)
		}
	}
	if isID(value) {
		return stands(text, value, asID)
	}
	return stands(text, value, asName)
}

// saysMember reports whether a text sets a member to a value, as in public: true.
func saysMember(text, member, value string) bool {
	const quote = "[\"'`“”「」]?"
	form, err := regexp.Compile(quote + regexp.QuoteMeta(member) + quote + `\s*[:=：]\s*` + quote + regexp.QuoteMeta(value))
	if err != nil { // the name is not valid UTF-8
		return false
	}
	return slices.ContainsFunc(form.FindAllStringIndex(text, -1), func(at []int) bool {
		return behindParticles(placeOf(text, at[0], at[1]))
	})
}

// stands reports whether a text has a value at a place that whole accepts.
func stands(text, value string, whole func(place) bool) bool {
	for from := 0; ; from++ {
		at := strings.Index(text[from:], value)
		if at < 0 {
			return false
		}
		if from += at; whole(placeOf(text, from, from+len(value))) {
			return true
		}
	}
}

// isID reports whether a value is an id and not a name.
func isID(value string) bool {
	letter, digit, mark := false, false, false
	for _, r := range value {
		switch {
		case r <= ' ' || r > '~':
			return false
		case isDigit(r):
			digit = true
		case r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z':
			letter = true
		default:
			mark = true
		}
	}
	return mark || letter && digit
}

// place is an occurrence of a value in a text: its first and last rune, and the visible runes on either side, nearest
// first.
type place struct {
	first, last rune
	left, right []rune
	sheet       bool // the value is the id in a Google spreadsheet's address
}

// beside is how many characters on either side are examined.
const beside = 32

func placeOf(text string, from, to int) place {
	p := place{sheet: opensSheet(text[:from])}
	p.first, _ = utf8.DecodeRuneInString(text[from:])
	p.last, _ = utf8.DecodeLastRuneInString(text[:to])
	for rest := text[:from]; rest != "" && len(p.left) < beside; {
		r, size := utf8.DecodeLastRuneInString(rest)
		rest = rest[:len(rest)-size]
		p.left = appendVisible(p.left, r)
	}
	for rest := text[to:]; rest != "" && len(p.right) < beside; {
		r, size := utf8.DecodeRuneInString(rest)
		rest = rest[size:]
		p.right = appendVisible(p.right, r)
	}
	p.sheet = p.sheet && (closesID(text[to:]) || !goesOn(p.right, p.last, kanaOrKanji))
	return p
}

func appendVisible(runes []rune, r rune) []rune {
	if unicode.In(r, unicode.Cf, unicode.Variation_Selector) {
		return runes
	}
	return append(runes, r)
}

// asID reports whether no text on either side can be a part of the id.
func asID(p place) bool {
	p = p.unmarked()
	return p.sheet || !goesOn(p.left, p.first, kanaOrKanji) && !goesOn(p.right, p.last, kanaOrKanji)
}

// behindParticles is like asID, but the only Japanese letters that may precede the value are hiragana.
func behindParticles(p place) bool {
	p = p.unmarked()
	return !goesOn(p.left, p.first, hiragana) && !goesOn(p.right, p.last, kanaOrKanji)
}

// unmarked removes pairs of formatting marks around the value.
func (p place) unmarked() place {
	for len(p.left) > 0 && len(p.right) > 0 && p.left[0] == p.right[0] && strings.ContainsRune("*`'", p.left[0]) {
		p.left, p.right = p.left[1:], p.right[1:]
	}
	return p
}

// asName reports whether the value is a complete name: quotes on both sides or on none, and no words next to it.
func asName(p place) bool {
	if len(p.left) > 0 && len(p.right) > 0 {
		if i := slices.Index(opening, p.left[0]); i >= 0 && closing[i] == p.right[0] {
			return true
		}
	}
	nothing := func(rune) bool { return false }
	if goesOn(p.left, p.first, nothing) || goesOn(p.right, p.last, nothing) {
		return false
	}
	left, right := pastSpaces(p.left), pastSpaces(p.right)
	bullet := len(left) > 1 && left[0] == '-' && left[1] == '\n' || len(left) == 1 && left[0] == '-'
	return (bullet || !ofName(left)) && !ofName(right)
}

// ofName reports whether the text next to a name, beyond spaces, may belong to the name or to the same quotation.
func ofName(side []rune) bool {
	return len(side) > 0 && (wordly(side[0]) || unicode.Is(unicode.Pd, side[0]) || slices.Contains(opening, side[0]) ||
		slices.Contains(closing, side[0]))
}

func pastSpaces(side []rune) []rune {
	for len(side) > 0 && side[0] != '\n' && unicode.IsSpace(side[0]) {
		side = side[1:]
	}
	return side
}

// opening and closing are matching quotes and brackets, in the same order.
var opening, closing = []rune("「『“‘\"'`（(【[［〈《<"), []rune("」』”’\"'`）)】]］〉》>")

// goesOn reports whether a word continues beyond its edge: with a letter, mark or digit, either directly or after a
// character that joins words. ends reports the letters that end the word if they follow it directly or after a colon.
func goesOn(side []rune, edge rune, ends func(rune) bool) bool {
	for i, r := range side {
		switch {
		case r == ',': // 1,000 is one number; U012,U013 are two ids
			return i == 0 && isDigit(edge) && len(side) > 1 && isDigit(side[1])
		case r == '。' || r == '｡': // in a domain they are dots (UTS #46), elsewhere they end a sentence
			return i+1 < len(side) && wordly(side[i+1]) && !kanaOrKanji(side[i+1])
		case ends(r) && (i == 0 || colon(side[:i])):
			return false
		case wordly(r):
			return true
		case !joins(r):
			return false
		}
	}
	return len(side) == beside
}

// colon reports whether marks are a colon, maybe in bold. Text before a colon does not continue after it.
func colon(marks []rune) bool {
	s := string(marks)
	return strings.Contains(s, ":") && strings.Trim(s, ":*`") == ""
}

// kanaOrKanji reports whether a letter may be next to an id. The long vowel mark may not, because it looks like a dash.
func kanaOrKanji(r rune) bool { return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) }

// hiragana is the script of the particles that stand before addresses: 宛先はb@x.example.
func hiragana(r rune) bool { return unicode.Is(unicode.Hiragana, r) }

// wordly reports whether a character is part of a word or an id in any script: letters, digits and numbers of any kind,
// and symbols that contain letters, such as ⓐ and 🅰.
func wordly(r rune) bool {
	return r == '_' || r == '-' || unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.So) &&
		!strings.ContainsRune(bullets, r)
}

// bullets begin items of a list. stops are the other characters, besides spaces, that end an id.
const (
	bullets = "・•‣●○◯◎■□▪▫◆◇▶▷►★☆※→⇒"
	stops   = "、，,;；()（）[]［］<>＜＞\"“”‘’„«»「」『』｢｣【】〈〉《》〔〕…‥："
)

// joins reports whether a character may join parts of an address, a path or a number: all but spaces, bullets and
// stops.
func joins(r rune) bool { return !unicode.IsSpace(r) && !strings.ContainsRune(bullets+stops, r) }

// sheetForm is the beginning of a Google spreadsheet's address.
var sheetForm = language.Regexp{Text: `https://docs\.google\.com/spreadsheets/(u/[0-9]+/)?d/$`}

// opensSheet reports whether a text ends just before the id in a Google spreadsheet's address:
// https://docs.google.com/spreadsheets/d/<id>/edit.
func opensSheet(left string) bool {
	return strings.HasSuffix(left, "/d/") && sheetForm.Get().MatchString(left[max(0, len(left)-100):])
}

// closesID reports whether an id in an address ends here. A path with dots or escapes may lead elsewhere, so it is
// refused.
func closesID(right string) bool {
	if path, ok := strings.CutPrefix(right, "/"); ok {
		return !strings.HasPrefix(path, ".") && !strings.HasPrefix(path, "%")
	}
	return strings.HasPrefix(right, "?") || strings.HasPrefix(right, "#")
}

func isDigit(r rune) bool { return r >= '0' && r <= '9' }

// lowerASCII converts only A to Z to lower case: the Kelvin sign and the long s are other letters.
func lowerASCII(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, s)
}

// thousands is a number with commas between its thousands.
var thousands = language.Regexp{Text: `\b[0-9]{1,3}(?:,[0-9]{3})+\b`}

// saysNumber reports whether a text has a number in the same notation, or with commas between its thousands, as an
// amount. 4 is in 4月 and 上限は 4 件, but not in 4,000, 4 000, 0.4, −4, 4万, 4割, 4 k, 4 (千円) or 4 million. Numbers of the
// text's own items don't count: 4. at the beginning of a line, ステップ4, 第4.
func saysNumber(text string, n json.Number) bool {
	text = thousands.Get().ReplaceAllStringFunc(text, func(s string) string { return strings.ReplaceAll(s, ",", "") })
	return stands(text, n.String(), func(p place) bool {
		return asID(p) && !calculated(p.left) && !calculated(p.right) && !multiplied(p.left) && !multiplied(p.right) &&
			!counts(p)
	})
}

// calculated reports whether a sign next to a number, beyond spaces, makes it another number. A dash at the beginning
// of a line does not, because it marks an item of a list.
func calculated(side []rune) bool {
	sign := pastSpaces(side)
	if len(sign) == 0 {
		return false
	}
	r, behind := sign[0], pastSpaces(sign[1:])
	switch {
	case unicode.Is(unicode.Pd, r):
		item := len(sign) < len(side) && (len(behind) == 0 || behind[0] == '\n')
		return !item
	case unicode.Is(unicode.Sm, r):
		return !strings.ContainsRune("=＝|｜"+bullets, r)
	}
	return strings.ContainsRune("%％‰/／", r)
}

// multiplied reports whether the text next to a number, beyond spaces, makes the number larger: digits, a word such as
// million, or a single letter such as k. Words and letters count in brackets, too.
func multiplied(side []rune) bool {
	side = pastSpaces(side)
	if len(side) > 0 && unicode.IsNumber(side[0]) {
		return true
	}
	if len(side) > 0 && slices.Contains(opening, side[0]) {
		side = pastSpaces(side[1:])
	}
	if len(side) == 0 {
		return false
	}
	word := lowerASCII(string(side))
	if strings.ContainsRune("十百千万億兆京拾萬割半", side[0]) || word[0] >= 'a' && word[0] <= 'z' &&
		(len(side) == 1 || !wordly(side[1])) {
		return true
	}
	return slices.ContainsFunc([]string{"dozen", "hundred", "thousand", "million", "billion", "trillion", "percent",
		"per cent", "ダース", "パーセント"}, func(s string) bool { return strings.HasPrefix(word, s) })
}

// counts reports whether a number numbers the text's own items: at the beginning of a line before a mark, after a word
// such as step, or before 番目.
func counts(p place) bool {
	if len(p.right) > 0 && strings.ContainsRune(".)．）:：、", p.right[0]) {
		before := strings.TrimLeft(string(p.left), " \t\u3000#*>_-([（【"+bullets)
		if before == "" || before[0] == '\n' {
			return true
		}
	}
	after := string(pastSpaces(p.right))
	if slices.ContainsFunc([]string{"番目", "つ目", "回目", "個目"}, func(s string) bool { return strings.HasPrefix(after, s) }) {
		return true
	}
	left := slices.Clone(p.left)
	slices.Reverse(left)
	const list = "0123456789 \u3000、,・〜~と&" // of the items before: ステップ 2・3
	before := strings.TrimRight(strings.TrimSuffix(strings.TrimRight(lowerASCII(string(left)), list), "and"), list)
	return slices.ContainsFunc([]string{"ステップ", "手順", "工程", "段階", "第", "step", "steps", "phase", "item", "no.", "#", "№"},
		func(s string) bool { return strings.HasSuffix(before, s) })
}
