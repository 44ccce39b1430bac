package main

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/xuri/excelize/v2"

	"ringi/shared/runtime/boot"
	"ringi/shared/words/language"
)

// formats shows numbers as a spreadsheet does. excelize knows the formats; it is given one cell after the other, so
// that
// no file makes it hold a whole sheet.
type formats struct {
	from04 bool // days count from 1904
	cell   *excelize.File
	styles map[string]int // of the cell, by code
}

// maxFormats is how many different formats are known at once.
const maxFormats = 1000

// builtIn are the formats that every workbook has without defining them, as Japanese editions have them. Sums have no
// currency there, since that is the reader's own.
var builtIn = map[string]string{
	"1": "0", "2": "0.00", "3": "#,##0", "4": "#,##0.00", "5": "#,##0;-#,##0", "7": "#,##0.00;-#,##0.00", "9": "0%",
	"10": "0.00%", "11": "0.00E+00", "12": "# ?/?", "13": "# ??/??", "14": "yyyy/m/d", "15": "d-mmm-yy", "16": "d-mmm",
	"17": "mmm-yy", "18": "h:mm AM/PM", "19": "h:mm:ss AM/PM", "20": "h:mm", "21": "h:mm:ss", "22": "yyyy/m/d h:mm",
	"27": "[$-411]ge.m.d", "28": `[$-411]ggge"年"m"月"d"日"`, "30": "yyyy/m/d", "31": `yyyy"年"m"月"d"日"`,
	"32": `h"時"mm"分"`, "33": `h"時"mm"分"ss"秒"`, "34": `yyyy"年"m"月"`, "35": `m"月"d"日"`, "41": `#,##0;-#,##0;"-"`,
	"43": `#,##0.00;-#,##0.00;"-"`, "45": "mm:ss", "46": "[h]:mm:ss", "47": "mm:ss.0", "48": "##0.0E+0", "49": "@",
}

// sameAs are formats that are another by a second number.
var sameAs = map[string]string{
	"6": "5", "8": "7", "29": "28", "36": "27", "37": "5", "38": "5", "39": "7", "40": "7", "42": "41", "44": "43",
	"50": "27", "51": "28", "52": "34", "53": "35", "54": "28", "55": "34", "56": "35", "57": "27", "58": "28",
}

// codeOf returns the code of a format without a definition; "" is a number as it is.
func codeOf(id string) string {
	if same, ok := sameAs[id]; ok {
		id = same
	}
	return builtIn[id]
}

// number returns a cell's number as people see it. What can't be read as one stays as it is.
func (f *formats) number(value, code string) string {
	n, err := strconv.ParseFloat(value, 64)
	if err != nil || math.IsInf(n, 0) || math.IsNaN(n) {
		return oneLine(value)
	}
	plain := decimal(n, value)
	code = withoutColors(code)
	if code == "" || code == "@" {
		return plain
	}
	code, n, ok := section(code, n)
	switch {
	case ok && code == "":
		return ""
	case !ok || strings.EqualFold(code, "general"):
		return decimal(n, plain)
	case strings.Contains(noText.Get().ReplaceAllString(code, ""), "@"): // a number is a text there
		return f.text(plain, code)
	}
	date := isDate(code)
	if date && f.from04 && !elapsed.Get().MatchString(code) {
		n += days1904
	}
	code, own := withMarks(code)
	if own && date && (n < 0 || n >= lastDay+1) {
		return plain
	}
	shown := ""
	if ok = false; !date {
		shown, ok = digitsOf(code, n)
	}
	if !ok {
		shown, ok = f.shown(code, strconv.FormatFloat(n, 'f', -1, 64), false)
	}
	if !ok {
		return plain
	}
	if own {
		at := time.Time{}
		if date {
			if at, err = excelize.ExcelDateToTime(n, false); err != nil {
				return plain
			}
		}
		shown = withWords(shown, at, strings.Contains(code, "gannen"), decimal(math.Abs(n), plain))
	}
	return oneLine(strings.TrimSpace(shown))
}

// literal matches what of a format is no sign for a digit, or for a part of a date.
const literal = `"[^"]*"|\\.|_.|\*.|\[[^\]]*\]`

var (
	colors = language.Regexp{Text: `(?i)^\[(?:black|blue|cyan|green|magenta|red|white|yellow|color ?\d+|[黒青水緑紫赤白黄]|色\d+)\]$`}
	noText = language.Regexp{Text: literal + `|G/標準`}
	noDate = language.Regexp{Text: `(?i)` + literal + `|general|[0#?.]e[+-]`}
	inDate = language.Regexp{Text: `(?i)[ymdhsegrb]|aaa|am/pm`}
	// elapsed matches hours, minutes or seconds that are not those of a day.
	elapsed = language.Regexp{Text: `(?i)\[(?:h+|m+|s+)\]`}
)

// days1904 is the number that the first day of 1904 has where days count from 1900.
const days1904 = 1462

// withoutColors takes out a format's colors: excelize takes the number of one for a digit, and knows none in Japanese.
func withoutColors(code string) string {
	return noText.Get().ReplaceAllStringFunc(code, func(token string) string {
		switch {
		case colors.Get().MatchString(token):
			return ""
		case token == "G/標準":
			return "General"
		}
		return token
	})
}

// isDate reports whether a section shows a number as a date or a time.
func isDate(section string) bool {
	return elapsed.Get().MatchString(section) || inDate.Get().MatchString(noDate.Get().ReplaceAllString(section, ""))
}

// text returns a cell's text as people see it: a format may put something before or after it.
func (f *formats) text(value, code string) string {
	if !strings.Contains(code, "@") || code == "@" || value == "" {
		return value
	}
	shown, ok := f.shown(code, value, true)
	if !ok {
		return value
	}
	return oneLine(strings.TrimSpace(shown))
}

// lastDay is the number of the last day that Excel knows, 31 December 9999.
const lastDay = 2958465

// shown has excelize show a value. ok is false for a format that it can't show.
func (f *formats) shown(code, value string, text bool) (shown string, ok bool) {
	var err error
	defer func() { ok = ok && err == nil }()
	defer boot.Recover(context.Background(), &err)
	const sheet, at = "Sheet1", "A1"
	if f.cell == nil {
		f.cell, f.styles = excelize.NewFile(), map[string]int{}
	}
	style, known := f.styles[code]
	if !known {
		if len(f.styles) == maxFormats {
			return "", false
		}
		if style, err = f.cell.NewStyle(&excelize.Style{CustomNumFmt: &code}); err != nil {
			return "", false
		}
		f.styles[code] = style
	}
	err = f.cell.SetCellStyle(sheet, at, at, style)
	switch {
	case err != nil:
	case text:
		err = f.cell.SetCellStr(sheet, at, value)
	default:
		err = f.cell.SetCellDefault(sheet, at, value)
	}
	if err == nil {
		shown, err = f.cell.GetCellValue(sheet, at)
	}
	return shown, err == nil
}

var (
	oneSection = language.Regexp{Text: `(?:"[^"]*"|\\.|\[[^\]]*\]|[^;"\\\[])*`}
	condition  = language.Regexp{Text: `\[(<=|>=|<>|<|>|=)\s*(-?[0-9.]+)\]`}
)

// section returns a code's section for a number, and the number as that section shows it. Sections without a condition,
// such as [<=99999999], are for positive numbers, negative ones and zero. ok is false if none holds.
func section(code string, n float64) (string, float64, bool) {
	all := splitSections(code)
	if last := len(all) - 1; last > 0 && (last == 3 || strings.Contains(all[last], "@")) {
		all = all[:last] // it is for texts
	}
	if !condition.Get().MatchString(code) {
		switch {
		case n < 0 && len(all) > 1:
			return all[1], -n, true
		case n == 0 && len(all) > 2:
			return all[2], n, true
		}
		return all[0], n, true
	}
	other := -1
	for i, s := range all[:min(3, len(all))] {
		c := condition.Get().FindStringSubmatch(s)
		if c == nil {
			if other < 0 {
				other = i
			}
			continue
		}
		limit, err := strconv.ParseFloat(c[2], 64)
		if err != nil {
			return "", n, false
		}
		holds := map[string]bool{"<": n < limit, "<=": n <= limit, ">": n > limit, ">=": n >= limit, "=": n == limit,
			"<>": n != limit}
		if holds[c[1]] {
			if limit == 0 && c[1][0] == '<' && c[1] != "<>" { // it is for negative numbers, which have no sign there
				n = math.Abs(n)
			}
			return condition.Get().ReplaceAllString(s, ""), n, true
		}
	}
	if other < 0 {
		return "", n, false
	}
	return all[other], n, true
}

// sectionOf returns a code's section for a value, or "".
func sectionOf(code, value string, text bool) string {
	if all := splitSections(code); text {
		if len(all) > 3 || strings.Contains(all[len(all)-1], "@") {
			return all[min(3, len(all)-1)]
		}
		return ""
	}
	n, err := strconv.ParseFloat(value, 64)
	if err != nil {
		return ""
	}
	s, _, _ := section(code, n)
	return s
}

// splitSections splits a code at semicolons that are no text.
func splitSections(code string) (all []string) {
	for {
		s := oneSection.Get().FindString(code)
		all = append(all, s)
		if len(s) >= len(code) || code[len(s)] != ';' {
			return all
		}
		code = code[len(s)+1:]
	}
}

// Marks stand for what is put in after excelize has shown a number: the names of eras, years within them, days of the
// week in Japanese, Buddhist years, and the number as it is. excelize begins eras a day early, and has days in English.
const (
	markEra, markShort, markLetter = "\uf8e0", "\uf8e1", "\uf8e2"
	markYear, markTwoDigits        = "\uf8e3", "\uf8e4"
	markDay, markDayShort          = "\uf8e5", "\uf8e6"
	markThai, markThaiTwo          = "\uf8e7", "\uf8e8"
	markNumber                     = "\uf8e9"
)

var marks = map[string]string{"g": markLetter, "gg": markShort, "ggg": markEra, "e": markYear, "ee": markTwoDigits,
	"r": markTwoDigits, "rr": markEra + markTwoDigits, "aaa": markDayShort, "aaaa": markDay, "b": markThaiTwo,
	"bb": markThaiTwo, "bbb": markThai, "bbbb": markThai, "general": markNumber}

var japanese = language.Regexp{Text: `(?i)` + literal + `|general|am/pm|a/p|[0#?.]e[+-]|g+|e+|r+|b+|aaaa?`}

// withMarks puts marks into a code; any is false if it needs none.
func withMarks(code string) (marked string, any bool) {
	marked = japanese.Get().ReplaceAllStringFunc(code, func(token string) string {
		mark := marks[strings.ToLower(token)]
		if mark == "" {
			return token
		}
		any = true
		return `"` + mark + `"`
	})
	return marked, any
}

// eras of Japan, the newest first.
var eras = []struct {
	from                time.Time
	name, short, letter string
}{
	{time.Date(2019, 5, 1, 0, 0, 0, 0, time.UTC), "令和", "令", "R"}, {time.Date(1989, 1, 8, 0, 0, 0, 0, time.UTC), "平成",
		"平", "H"},
	{time.Date(1926, 12, 25, 0, 0, 0, 0, time.UTC), "昭和", "昭", "S"}, {time.Date(1912, 7, 30, 0, 0, 0, 0, time.UTC), "大正",
		"大", "T"},
	{time.Date(1868, 1, 25, 0, 0, 0, 0, time.UTC), "明治", "明", "M"},
}

// withWords puts words in place of the marks. first says that an era's first year has a name and no number.
func withWords(shown string, at time.Time, first bool, number string) string {
	era := eras[len(eras)-1]
	for _, e := range eras {
		if !at.Before(e.from) {
			era = e
			break
		}
	}
	n := at.Year() - era.from.Year() + 1
	year, two := strconv.Itoa(n), strconv.Itoa(100 + n)[1:]
	if n == 1 && first {
		year, two = "元", "元"
	}
	day := string([]rune("日月火水木金土")[at.Weekday()])
	thai := strconv.Itoa(at.Year() + 543)
	return strings.NewReplacer(markEra, era.name, markShort, era.short, markLetter, era.letter, markYear, year,
		markTwoDigits,
		two, markDay, day+"曜日", markDayShort, day, markThai, thai, markThaiTwo, thai[len(thai)-2:], markNumber,
		number).Replace(shown)
}

// decimal returns a number with the 15 digits that Excel keeps, without an exponent where that stays short.
func decimal(n float64, value string) string {
	if size := math.Abs(n); size != 0 && (size < 1e-6 || size >= 1e15) {
		return oneLine(value)
	}
	s, err := strconv.ParseFloat(strconv.FormatFloat(n, 'g', 15, 64), 64)
	if err != nil {
		return oneLine(value)
	}
	return strconv.FormatFloat(s, 'f', -1, 64)
}
