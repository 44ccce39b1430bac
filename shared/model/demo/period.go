package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/words/lazy"
)

// month counts months from the year 0, so that they can be added and compared.
type month int

func monthOf(year int, m time.Month) month { return month(year*12 + int(m) - 1) }

func (m month) year() int         { return int(m) / 12 }
func (m month) name() time.Month  { return time.Month(int(m)%12 + 1) }
func (m month) first() time.Time  { return time.Date(m.year(), m.name(), 1, 0, 0, 0, 0, time.UTC) }
func (m month) days() int         { return m.first().AddDate(0, 1, -1).Day() }
func thisMonth(n time.Time) month { return monthOf(n.Year(), n.Month()) }

const maxMonths = 12

// period is the time that a text names.
type period struct {
	months  []month // in order
	part    string  // words for less than whole months
	open    string  // words for a period that has an end and no beginning
	apart   string  // a month that nothing joins to the one before it
	quarter bool    // the text names a quarter, which is taken as one of a fiscal year from April
}

// with adds months that are not in the period yet.
func (p *period) with(from, to month) {
	for m := from; m <= to && m < from+120; m++ {
		if at, found := slices.BinarySearch(p.months, m); !found {
			p.months = slices.Insert(p.months, at, m)
		}
	}
}

const (
	names = `january|february|march|april|may|june|july|august|september|october|november|december|jan|feb|mar|apr|jun|jul|aug|sept|sep|oct|nov|dec`
	until = `\s*(?:〜|~|～|-|–|—|から|より|to|through|thru|until|till)\s*(?:the\s+)?`
)

var (
	daysForm = &lazy.Regexp{Text: `(?i)(?:\b(20\d\d)\s*[年/-]\s*)?\b(1[0-2]|0?[1-9])\s*[月/]\s*([0-3]?\d)日?` + until + `(?:(?:(20\d\d)\s*[年/-]\s*)?(1[0-2]|0?[1-9])\s*[月/]\s*)?([0-3]?\d)(?:日|\b)(?:まで)?(?:の?間)?`}
	// namedDaysForm matches October 1 to 15 or October 1 to October 15.
	namedDaysForm = &lazy.Regexp{Text: `(?i)\b(` + names + `)\.?\s+([0-3]?\d)(?:st|nd|rd|th)?` + until + `(?:(` + names + `)\.?\s+)?([0-3]?\d)(?:st|nd|rd|th)?\b`}
	dayForm       = &lazy.Regexp{Text: `(?i)(?:(20\d\d)\s*[年/-]\s*)?\b(1[0-2]|0?[1-9])\s*(?:月\s*([0-3]?\d)日|/([0-3]?\d)\b)`}
	namedDayForm  = &lazy.Regexp{Text: `(?i)\b(` + names + `)\.?\s+([0-3]?\d)(?:st|nd|rd|th)?\b`}
	weekForm      = &lazy.Regexp{Text: `(?i)今週|先週|前週|昨日|本日|今日|一昨日|おととい|きのう|きょう|\b(?:(?:this|last|previous)\s+week|yesterday|today)\b(?:['’]s\b)?`}
	fiscalForm    = &lazy.Regexp{Text: `(?i)(今|本|当|昨|前|去|来|20\d\d)\s*年度|\b(this|last|previous|next|current)\s+(?:fiscal|financial)\s+year\b|\bfy\s*(20\d\d)\b`}
	yearForm      = &lazy.Regexp{Text: `(?i)(一昨年|今年|本年|昨年|去年|前年)|\b(this|last|previous)\s+year(?:'s)?|(20\d\d)年(?:の?(?:1年間|一年間)|分|中)`}
	quarterForm   = &lazy.Regexp{Text: `(?i)(今|当|前|先|来)\s*四半期|\b(this|current|last|previous|next)\s+quarter(?:'s)?|(?:(20\d\d)\s*年?度?の?\s*)?(?:第\s*([1-4])\s*四半期|\bq([1-4])\b)(?:\s*(?:of\s+)?(?:fy\s*)?(20\d\d))?`}
	lastFewForm   = &lazy.Regexp{Text: `(?i)(?:直近|過去|ここ)\s*(?:の\s*)?(\d{1,2})\s*(?:か|ヶ|カ|ケ|ヵ)月間?|\b(?:last|past|previous)\s+(\d{1,2}|two|three|six|twelve)\s+months\b`}
	monthForm     = &lazy.Regexp{Text: `(?i)(先々月|再来月|先月|前月|今月|当月|来月|翌月|\b(?:this|current|last|previous|next)\s+month(?:'s)?|\bmonth before last\b)|(\d{1,2})\s*(?:か|ヶ|カ|ケ|ヵ)月前|(?:\b(20\d\d)\s*[年/-]\s*|\b)(1[0-2]|0?[1-9])\s*月(?:分|度)?|\b(20\d\d)[/-](1[0-2]|0?[1-9])\b|\b(` + names + `)\b\.?(?:,?\s+(20\d\d)\b)?(?:'s)?`}
	choiceForm    = &lazy.Regexp{Text: `(?i)^\s*(?:か|または|又は|もしくは|あるいは|\bor\b)\s*$`} // stands between months
	betweenForm   = &lazy.Regexp{Text: `(?i)^` + until + `$`}
	andForm       = &lazy.Regexp{Text: `(?i)^\s*(?:and|&)\s*$`}
	bothForm      = &lazy.Regexp{Text: `(?i)\bbetween\s+$`}
	upToForm      = &lazy.Regexp{Text: `(?i)\b(?:until|till|through|thru|to|by|before)\s+(?:the\s+end\s+of\s+)?$`}
	endForm       = &lazy.Regexp{Text: `^\s*末?\s*(?:まで|以前)`}
	sinceForm     = &lazy.Regexp{Text: `^\s*(?:から|以降|以来)`}
	fromForm      = &lazy.Regexp{Text: `(?i)\bsince\s+$`} // “from August” may also mean August's
	onForm        = &lazy.Regexp{Text: `^\s+on\b`}
	mayForm       = &lazy.Regexp{Text: `(?i)\b(?:in|for|of|to|from|through|until|last|and|,)\s+$|^\s*$`}
)

// when takes the months out of a text.
func (s *scanner) when(now time.Time) period {
	var p period
	s.yearWords(now)
	s.days(now, &p)
	if said := s.first(weekForm); said != nil {
		p.part = said[0]
		p.with(weekMonths(said[0], now))
	}
	s.years(now, &p)
	for _, m := range s.take(lastFewForm) {
		few := map[string]int{"two": 2, "three": 3, "six": 6, "twelve": 12}[strings.ToLower(m[2])]
		if n, err := strconv.Atoi(m[1] + m[2]); err == nil {
			few = n
		}
		p.with(thisMonth(now)-month(few), thisMonth(now)-1)
	}
	s.months(now, &p)
	return p
}

var (
	yearOfForm   = &lazy.Regexp{Text: `(一昨年|今年|本年|昨年|去年|前年|来年)(度)?\s*の?\s*(?:(1[0-2]|0?[1-9])\s*月|(第\s*[1-4]\s*四半期))`}
	fiscalOfForm = &lazy.Regexp{Text: `(今|本|当|昨|前|去|来)\s*年度\s*の?\s*(?:(1[0-2]|0?[1-9])\s*月|(第\s*[1-4]\s*四半期))`}
	eraForm      = &lazy.Regexp{Text: `令和\s*(\d{1,2}|元)\s*年`}
	shortForm    = &lazy.Regexp{Text: `(^|[^月/\d-])(1[0-2]|0?[1-9])(\s*(?:〜|~|～|-|–|—|から)\s*(?:1[0-2]|0?[1-9])\s*月)`}
	ofYearForm   = &lazy.Regexp{Text: `(?i)\b(` + names + `|q[1-4])\.?,?\s+(?:of\s+)?(this|last|next)\s+year\b`}
	yearsForm    = &lazy.Regexp{Text: `(?i)\b(this|last|next)\s+year['’]?s?\s+(` + names + `|q[1-4])\b`}
)

// yearWords replaces a word such as 今年度 before a month or quarter by the year in figures.
func (s *scanner) yearWords(now time.Time) {
	replace := func(f *lazy.Regexp, with func(m []string) string) {
		s.text = f.Get().ReplaceAllStringFunc(s.text, func(said string) string { return with(f.Get().FindStringSubmatch(said)) })
	}
	replace(eraForm, func(m []string) string { return fmt.Sprintf("%d年", 2018+max(1, number(m[1]))) })
	replace(shortForm, func(m []string) string { return m[1] + m[2] + "月" + m[3] }) // 7〜9月
	replace(fiscalOfForm, func(m []string) string {
		here := thisMonth(now)
		year := (here - (here+9)%12).year() + shift(m[1])
		if m[3] != "" {
			return fmt.Sprintf("%d年度%s", year, m[3])
		}
		if number(m[2]) < 4 {
			year++
		}
		return fmt.Sprintf("%d年%s月", year, m[2])
	})
	replace(yearOfForm, func(m []string) string {
		year := now.Year() + shift(m[1])
		if m[4] != "" {
			return fmt.Sprintf("%d年度%s", year, m[4])
		}
		return fmt.Sprintf("%d年%s月", year, m[3])
	})
	replace(ofYearForm, func(m []string) string {
		return fmt.Sprintf("%s %d", m[1], now.Year()+shift(strings.ToLower(m[2])))
	})
	replace(yearsForm, func(m []string) string {
		return fmt.Sprintf("%s %d", m[2], now.Year()+shift(strings.ToLower(m[1])))
	})
}

// weekMonths are the first and the last month that a day or a week touches.
func weekMonths(said string, now time.Time) (from, to month) {
	said = strings.ToLower(said)
	day, length := now, 1
	switch {
	case has(said, "一昨日", "おととい"):
		day = now.AddDate(0, 0, -2)
	case has(said, "昨日", "きのう", "yesterday"):
		day = now.AddDate(0, 0, -1)
	case has(said, "週", "week"):
		day, length = now.AddDate(0, 0, -(int(now.Weekday())+6)%7), 7 // from Monday
		if has(said, "先", "前", "last", "previous") {
			day = day.AddDate(0, 0, -7)
		}
	}
	return thisMonth(day), thisMonth(day.AddDate(0, 0, length-1))
}

// days takes out single days and ranges of days. Days that make up complete months count as months.
func (s *scanner) days(now time.Time, p *period) {
	for _, m := range s.take(daysForm) {
		p.span(m[0], now, m[1], number(m[2]), number(m[3]), m[4], number(m[5]), number(m[6]))
	}
	for _, m := range s.take(namedDaysForm) {
		p.span(m[0], now, "", monthNamed(m[1]), number(m[2]), "", monthNamed(m[3]), number(m[4]))
	}
	for _, m := range s.take(dayForm) {
		day := number(m[3] + m[4])
		p.span(m[0], now, m[1], number(m[2]), day, "", 0, day)
	}
	for _, m := range s.take(namedDayForm) {
		p.span(m[0], now, "", monthNamed(m[1]), number(m[2]), "", 0, number(m[2]))
	}
}

// span adds the months from one day to another. If the text names no year, span takes the latest year in which the
// range has begun.
func (p *period) span(said string, now time.Time, fromYear string, fromMonth, fromDay int, toYear string, toMonth,
	toDay int) {
	if toMonth == 0 {
		toMonth = fromMonth
	}
	if toYear == "" && fromMonth <= toMonth {
		toYear = fromYear
	}
	to := monthAt(number(toYear), toMonth, now)
	from := monthAt(number(fromYear), fromMonth, to.first())
	p.with(from, to)
	if fromDay != 1 || toDay != to.days() {
		p.part = strings.TrimSpace(said)
	}
}

// monthAt is a month of a year. For year 0 it is the latest such month that has begun.
func monthAt(year, m int, now time.Time) month {
	at := monthOf(year, time.Month(m))
	if year == 0 {
		if at = monthOf(now.Year(), time.Month(m)); at > thisMonth(now) {
			at -= 12
		}
	}
	return at
}

// years takes out years, fiscal years (which begin in April) and quarters.
func (s *scanner) years(now time.Time, p *period) {
	here := thisMonth(now)
	fiscal := here - (here+9)%12 // April of the current fiscal year
	for _, m := range s.take(quarterForm) {
		switch said := strings.ToLower(m[1] + m[2]); {
		case said != "":
			begin := here - here%3 + 3*month(shift(said))
			p.with(begin, begin+2)
		default:
			begin := fiscal
			if year := m[3] + m[6]; year != "" {
				begin = monthOf(number(year), time.April)
			}
			begin += 3 * month(number(m[4]+m[5])-1)
			if m[3]+m[6] == "" && begin > here {
				begin -= 12
			}
			p.quarter = true
			p.with(begin, begin+2)
		}
	}
	for _, m := range s.take(fiscalForm) {
		begin := fiscal + 12*month(shift(strings.ToLower(m[1]+m[2])))
		if year := number(strings.TrimPrefix(m[1]+m[3], "fy")); year != 0 {
			begin = monthOf(year, time.April)
		}
		p.with(begin, p.begun(begin, begin+11, here))
	}
	for _, m := range s.take(yearForm) {
		begin := monthOf(now.Year(), time.January) + 12*month(shift(strings.ToLower(m[1]+m[2])))
		if m[3] != "" {
			begin = monthOf(number(m[3]), time.January)
		}
		p.with(begin, p.begun(begin, begin+11, here))
	}
}

// begun cuts the end of a range to the months that have begun. A range that is completely in the future keeps its end.
func (p *period) begun(from, to, here month) month {
	if from <= here && here < to {
		return here
	}
	return to
}

// shift is the offset that a word stands for: -1 for 前 and last, 1 for 来 and next.
func shift(said string) int {
	switch {
	case has(said, "一昨"):
		return -2
	case has(said, "前", "先", "昨", "去", "last", "previous"):
		return -1
	case has(said, "来", "翌", "next"):
		return 1
	}
	return 0
}

// months takes out single months and ranges of months.
func (s *scanner) months(now time.Time, p *period) {
	var found []monthAsSaid
	for _, at := range monthForm.Get().FindAllStringSubmatchIndex(s.text, -1) {
		group := func(n int) string {
			if at[2*n] < 0 {
				return ""
			}
			return s.text[at[2*n]:at[2*n+1]]
		}
		if strings.EqualFold(group(7), "may") && !mayForm.Get().MatchString(s.text[:at[0]]) {
			continue // may is the verb here
		}
		m, year := monthSaid(now, group)
		found = append(found, monthAsSaid{at[0], at[1], m, year, group(3)+group(5)+group(8) != "", group(7) != ""})
	}
	p.apart = share(s.text, found)
	text := []byte(s.text)
	for i := 0; i < len(found); i++ {
		first, last := found[i], found[i]
		before := s.text[:first.at]
		if i+1 < len(found) {
			next := found[i+1]
			between, after := s.text[first.end:next.at], s.text[next.end:]
			if choiceForm.Get().MatchString(between) {
				p.open = s.text[first.at:next.end]
			}
			if betweenForm.Get().MatchString(between) || andForm.Get().MatchString(between) && bothForm.Get().MatchString(before) ||
				bothEnds(between, after) {
				last, i = next, i+1
			}
		}
		from, to := ordered(first.m, last.m, first.year, last.year)
		switch after := s.text[last.end:]; {
		case first != last:
		case from < thisMonth(now) && (sinceForm.Get().MatchString(after) || fromForm.Get().MatchString(before) ||
			onForm.Get().MatchString(after)):
			to = thisMonth(now)
		case upToForm.Get().MatchString(before) || endForm.Get().MatchString(after):
			p.open = s.text[first.at:first.end] + endForm.Get().FindString(after)
		}
		p.with(from, to)
	}
	for _, f := range found {
		for j := f.at; j < f.end; j++ {
			text[j] = taken
		}
	}
	s.text = string(text)
}

// bothEnds reports whether two months are the ends of a range: 7月と9月の間.
func bothEnds(between, after string) bool {
	return strings.TrimSpace(between) == "と" && strings.HasPrefix(strings.TrimPrefix(strings.TrimSpace(after), "の"), "間")
}

// ordered moves an end that has no year by whole years until the beginning is before the end.
func ordered(from, to month, fromYear, toYear bool) (month, month) {
	for ; fromYear && !toYear && to-from >= 12; to -= 12 {
	}
	for ; from > to && !fromYear; from -= 12 {
	}
	for ; from > to && !toYear; to += 12 {
	}
	return from, to
}

// monthSaid reads a match of monthForm, and reports whether the match has a year.
func monthSaid(now time.Time, group func(int) string) (m month, year bool) {
	here := thisMonth(now)
	switch said := strings.ToLower(group(1)); {
	case has(said, "先々", "before last"):
		return here - 2, true
	case has(said, "再来"):
		return here + 2, true
	case said != "":
		return here + month(shift(said)), true
	case group(2) != "":
		return here - month(number(group(2))), true
	case group(4) != "":
		return monthAt(number(group(3)), number(group(4)), now), group(3) != ""
	case group(5) != "":
		return monthAt(number(group(5)), number(group(6)), now), true
	}
	return monthAt(number(group(8)), monthNamed(group(7)), now), group(8) != ""
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // no digits mean 0
	return n
}

// monthNamed is the number of an English month, by its first three letters; 0 for none.
func monthNamed(name string) int {
	if len(name) < 3 {
		return 0
	}
	at := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(name[:3]))
	return at/3 + 1
}
