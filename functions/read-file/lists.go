package main

import (
	"encoding/xml"
	"strconv"
	"strings"
)

// ofLists is the kind of the relation to what a document says of its lists.
const ofLists = "/numbering"

// lists number a document's paragraphs as Word does.
type lists struct {
	kinds  map[string]*list // by the id of their abstract definition
	of     map[string]*list // by the number that paragraphs name
	starts map[string]map[int]int
}

type list struct {
	levels [9]level
	count  [9]int
}

type level struct {
	form, text, style string
	start             int
	goesOn            bool // whatever stands above it
	after             int  // it begins again after levels before this one alone; 0: after all above it
	legal             bool // all numbers in it are Arabic
}

func (p *pack) lists(part string, l *lists) error {
	l.kinds, l.of, l.starts = map[string]*list{}, map[string]*list{}, map[string]map[int]int{}
	var now *list
	num, at := "", -1
	return p.each(part, func(e xml.StartElement) error {
		value := valued(e, "val")
		switch name := e.Name.Local; {
		case name == "abstractNum":
			now = &list{}
			l.kinds[valued(e, "abstractNumId")] = now
		case name == "num":
			num, now = valued(e, "numId"), nil
		case name == "abstractNumId" && l.kinds[value] != nil:
			now = nil
			l.of[num], l.starts[num] = l.kinds[value], map[int]int{}
		case name == "lvl", name == "lvlOverride":
			at = levelOf(valued(e, "ilvl"))
			if name == "lvl" && now == nil {
				delete(l.of, num) // its own levels are not read
			}
		case at < 0:
		case name == "startOverride" && l.starts[num] != nil:
			l.starts[num][at], _ = strconv.Atoi(value)
		case now == nil:
		case name == "start":
			now.levels[at].start, _ = strconv.Atoi(value)
		case name == "numFmt":
			now.levels[at].form = value
		case name == "lvlText":
			now.levels[at].text = value
		case name == "pStyle":
			now.levels[at].style = value
		case name == "lvlRestart":
			n, err := strconv.Atoi(value)
			now.levels[at].after, now.levels[at].goesOn = n, err == nil && n == 0
		case name == "isLgl":
			now.levels[at].legal = isOn(e)
		}
		return nil
	}, nil, nil)
}

func levelOf(s string) int {
	n, _ := strconv.Atoi(s)
	return max(0, min(n, len(list{}.levels)-1))
}

// label counts a paragraph and returns what Word writes before it. ok is false if that is not known.
func (l *lists) label(num, ilvl, style string) (label string, ok bool) {
	of := l.of[num]
	if of == nil {
		return "", false
	}
	at := levelOf(ilvl)
	if ilvl == "" {
		for i := range of.levels {
			if style != "" && of.levels[i].style == style {
				at = i
			}
		}
	}
	from, again := l.starts[num][at]
	delete(l.starts[num], at)
	switch {
	case again:
		of.count[at] = max(1, from+1)
	case of.count[at] == 0:
		of.count[at] = of.levels[at].start + 1
	default:
		of.count[at]++
	}
	for i := at + 1; i < len(of.levels); i++ {
		if is := &of.levels[i]; !is.goesOn && (is.after <= 0 || at < is.after) {
			of.count[i] = 0 // counts are one above the number, so that 0 is none
		}
	}
	is := of.levels[at]
	switch {
	case is.form == "bullet":
		return "• ", true
	case is.form == "" && is.text == "": // of a style elsewhere
		return "", false
	}
	text := is.text
	for i := range of.levels {
		sign := "%" + strconv.Itoa(i+1)
		if !strings.Contains(text, sign) {
			continue
		}
		form := of.levels[i].form
		if is.legal {
			form = "decimal"
		}
		n := of.count[i] - 1
		if of.count[i] == 0 {
			n = of.levels[i].start
		}
		number, known := numeral(form, n)
		if !known {
			return "", false
		}
		text = strings.ReplaceAll(text, sign, number)
	}
	if text = oneLine(text); text != "" {
		text += " "
	}
	return text, true
}

// numeral writes a number in a form of Word's lists.
func numeral(form string, n int) (string, bool) {
	const circled = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"
	const katakana = "アイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワヲン"
	const iroha = "イロハニホヘトチリヌルヲワカヨタレソツネナラムウヰノオクヤマケフコエテアサキユメミシヱヒモセスン"
	signs := map[string]string{"decimalEnclosedCircle": circled, "aiueoFullWidth": katakana, "aiueo": katakana,
		"iroha": iroha, "irohaFullWidth": iroha, "ideographTraditional": "甲乙丙丁戊己庚辛壬癸"}
	switch form {
	case "decimal", "":
		return strconv.Itoa(n), true
	case "none":
		return "", true
	case "decimalZero":
		if n < 10 {
			return "0" + strconv.Itoa(n), true
		}
		return strconv.Itoa(n), true
	case "decimalFullWidth", "decimalFullWidth2":
		return wide.Replace(strconv.Itoa(n)), true
	case "upperRoman":
		return roman(n), n > 0 && n < 4000
	case "lowerRoman":
		return strings.ToLower(roman(n)), n > 0 && n < 4000
	case "upperLetter", "lowerLetter":
		if n < 1 || n > 26*20 {
			return "", false
		}
		s := strings.Repeat(string(rune('A'+(n-1)%26)), (n-1)/26+1)
		if form == "lowerLetter" {
			s = strings.ToLower(s)
		}
		return s, true
	case "japaneseCounting", "chineseCounting", "ideographDigital", "japaneseDigitalTenThousand":
		if n > 0 && (n < 10 || n < 100 && form == "japaneseCounting") {
			return kanji(n), true
		}
	}
	if all := []rune(signs[form]); n > 0 && n <= len(all) {
		return string(all[n-1]), true
	}
	return "", false
}

var wide = strings.NewReplacer("0", "０", "1", "１", "2", "２", "3", "３", "4", "４", "5", "５", "6", "６", "7", "７", "8", "８",
	"9", "９", "-", "－")

func kanji(n int) string {
	digits := []rune("〇一二三四五六七八九")
	s := ""
	if tens := n / 10; tens > 0 {
		if tens > 1 {
			s = string(digits[tens])
		}
		s += "十"
	}
	if n%10 > 0 {
		s += string(digits[n%10])
	}
	return s
}

func roman(n int) (s string) {
	if n <= 0 || n >= 4000 {
		return ""
	}
	for _, r := range []struct {
		n int
		s string
	}{{1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"}, {40, "XL"},
		{10, "X"}, {9, "IX"},

		{5, "V"}, {4, "IV"}, {1, "I"}} {
		for ; n >= r.n; n -= r.n {
			s += r.s
		}
	}
	return s
}
