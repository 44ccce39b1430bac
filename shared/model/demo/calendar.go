package demo

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/words/language"
	"ringi/shared/words/lazy"
)

// month counts months from the year 0, so that they can be added and compared.
type month int

func monthOf(year int, m time.Month) month { return month(year*12 + int(m) - 1) }

func (m month) year() int         { return int(m) / 12 }
func (m month) name() time.Month  { return time.Month(int(m)%12 + 1) }
func thisMonth(n time.Time) month { return monthOf(n.Year(), n.Month()) }

// text is the month as tools have it: 2026-10.
func (m month) text() string { return fmt.Sprintf("%d-%02d", m.year(), m.name()) }

const maxMonths = 12

var (
	digitsForm = &lazy.Regexp{Text: `\d+`}
	eraForm    = &lazy.Regexp{Text: `令和(\d+|元)年`}
	yearForm   = &lazy.Regexp{Text: `20\d\d`}
)

// numbers are the numbers in a text, in order.
func numbers(text string) (out []int) {
	for _, s := range digitsForm.Get().FindAllString(text, -1) {
		out = append(out, number(s))
	}
	return out
}

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // no digits mean 0
	return n
}

// monthNamed is the number of an English month, by its first three letters; 0 for none.
func monthNamed(name string) int {
	for i := 0; i+3 <= len(name); i++ {
		if at := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(name[i:i+3])); at >= 0 && at%3 == 0 &&
			(i == 0 || name[i-1] == ' ') {
			return at/3 + 1
		}
	}
	return 0
}

// shift is the offset that a word stands for: -1 for 前 and last, 1 for 来 and next.
func shift(said string) int {
	switch {
	case has(said, "一昨", "先々", "before last"):
		return -2
	case has(said, "前", "先", "昨", "去", "last", "previous"):
		return -1
	case has(said, "来", "翌", "next"):
		return 1
	}
	return 0
}

// monthSaid reads a month. dated says that its year is certain; otherwise it is the latest that has begun.
func monthSaid(said string, now time.Time) (m month, dated bool) {
	said = strings.ToLower(said)
	if era := eraForm.Get().FindStringSubmatch(said); era != nil {
		said = strings.Replace(said, era[0], fmt.Sprintf("%d年", 2018+max(1, number(era[1]))), 1)
	}
	here, all := thisMonth(now), numbers(said)
	if named := monthNamed(said); named > 0 {
		all = append(all, named)
	}
	if len(all) == 0 {
		return here + month(shift(said)), true
	}
	if strings.Contains(said, "月前") {
		return here - month(all[0]), true
	}
	last := time.Month(all[len(all)-1])
	switch year := yearForm.Get().FindString(said); {
	case year != "":
		return monthOf(number(year), last), true
	case strings.Contains(said, "年度"):
		m = here - (here+9)%12 + 12*month(shift(said)) // April
		return m + (month(last)+8)%12, true
	case has(said, "年", "year"):
		return monthOf(now.Year()+shift(said), last), true
	}
	if m = monthOf(now.Year(), last); m > here {
		m -= 12
	}
	return m, false
}

// spanSaid reads a quarter, a year or the last few months. What goes on now ends with this month. fiscal says that a
// quarter is taken as one of a year that begins in April.
func spanSaid(said string, now time.Time) (from, to month, fiscal bool) {
	said = strings.ToLower(said)
	here := thisMonth(now)
	april := here - (here+9)%12
	year := number(yearForm.Get().FindString(said))
	all := numbers(strings.Replace(said, strconv.Itoa(year), "", 1))
	few := map[string]int{"two": 2, "three": 3, "six": 6, "twelve": 12}
	switch {
	case has(said, "months", "月"):
		for name, n := range few {
			if strings.Contains(said, name) {
				all = []int{n}
			}
		}
		return here - month(all[0]), here - 1, false
	case has(said, "四半期", "quarter") && len(all) == 0:
		from = here - here%3 + 3*month(shift(said))
		return from, from + 2, false
	case has(said, "四半期") || strings.HasPrefix(said, "q"):
		from = april + 12*month(shift(strings.Split(said, "期")[0]))
		if year > 0 {
			from = monthOf(year, time.April)
		}
		if from += 3 * month(all[0]-1); year == 0 && from > here {
			from -= 12
		}
		return from, from + 2, true
	case has(said, "年度", "fiscal", "financial") || strings.HasPrefix(said, "fy"):
		from = april + 12*month(shift(said))
		if year > 0 {
			from = monthOf(year, time.April)
		}
	default:
		from = monthOf(now.Year()+shift(said), time.January)
		if year > 0 {
			from = monthOf(year, time.January)
		}
	}
	if to = from + 11; from <= here && here < to {
		to = here
	}
	return from, to, false
}

// periods takes up months and ranges. What joins two of them says whether they are a range; two that nothing joins are
// not both meant.
func (r *reading) periods(all []token) {
	last, dated, end := -1, false, month(0)
	for i := range all {
		t := &all[i]
		if !slices.Contains([]string{"month", "months", "span"}, t.tag) {
			continue
		}
		from, to, sure := r.period(*t)
		ranged, joins := false, true
		for j := last + 1; last >= 0 && j < i; j++ {
			x := &all[j]
			ranged = ranged || x.tag == "to" || x.tag == "j" && last > 0 && strings.EqualFold(all[last-1].text, "between")
			joins = joins && (x.tag == "to" || x.tag == "j" || x.tag == "p")
			x.used = x.used || x.tag == "to"
		}
		switch {
		case last >= 0 && (!joins || i == last+1):
			r.stop(r.words.Say["noSecond"], t.text)
		case last >= 0 && dated && !sure: // the next such month
			if r.words.Locale == language.English && !ranged {
				r.stop(r.words.Say["noSecond"], t.text)
			}
			for ; from-12 > end; from, to = from-12, to-12 {
			}
			for ; from <= end; from, to = from+12, to+12 {
			}
		case last >= 0 && sure && !dated && yearForm.Get().MatchString(t.text): // the year is that of both
			for j := range r.months {
				r.months[j] -= (r.months[j]-from+11+120)/12*12 - 120
			}
		case ranged && to < end: // November to February
			r.months[len(r.months)-1] -= 12
		}
		if ranged {
			from = r.months[len(r.months)-1]
		}
		for m := from; m <= to && m < from+120; m++ {
			r.months = add(r.months, m)
		}
		t.used, last, dated, end = true, i, sure || dated, to
		r.around(all, i)
	}
	slices.Sort(r.months)
}

// around takes up the words beside a month: “from”, “since”, “on” and 「まで」 behind a range.
func (r *reading) around(all []token, i int) {
	beside := func(at int, tag string) bool { return at >= 0 && at < len(all) && all[at].tag == tag }
	last := r.months[len(r.months)-1]
	since, onward := beside(i-1, "since") && last < thisMonth(r.now), beside(i+1, "onward")
	if since || beside(i-1, "from") {
		all[i-1].used = true
	}
	if onward || beside(i+1, "upto") && len(r.months) > 1 {
		all[i+1].used = true
	}
	for m := last; (since || onward) && m <= thisMonth(r.now); m++ {
		r.months = add(r.months, m)
	}
}

// period is the months of a token. sure says that their year is certain.
func (r *reading) period(t token) (from, to month, sure bool) {
	switch t.tag {
	case "span":
		from, to, r.fiscal = spanSaid(t.text, r.now)
		return from, to, true
	case "months":
		first, last, _ := strings.Cut(strings.NewReplacer("から", "~", "〜", "~", "-", "~", "–", "~").Replace(t.text), "~")
		from, sure = monthSaid(first+"月", r.now)
		to, _ = monthSaid(last, r.now)
		for ; from > to && !sure; from -= 12 {
		}
		for ; to < from; to += 12 {
		}
		for ; to-from >= 12; to -= 12 {
		}
		return from, to, sure
	}
	from, sure = monthSaid(t.text, r.now)
	return from, from, sure
}

// slot is the day and time of a meeting in Japan.
type slot struct {
	day                  time.Time
	start, end           int // minutes of the day
	noDay, noTime, noEnd bool
}

func clock(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }

var (
	clockForm   = &lazy.Regexp{Text: `(?i)(午前|午後|朝|夜)?(\d{1,2})(?:時(半|\d+分)?|:(\d\d))? ?(a|p)?\.?m?`}
	weekdayForm = &lazy.Regexp{Text: `(?i)([月火水木金土日])曜?日?$|(mon|tues|wednes|thurs|fri|satur|sun)day`}
)

// minutesOf is a time of the day. late is the half of the day if the text names none.
func minutesOf(m []string, late string) int {
	hour, minute := number(m[2]), number(m[4])+number(strings.TrimSuffix(m[3], "分"))
	if m[3] == "半" {
		minute = 30
	}
	if has(cmp.Or(m[1]+strings.ToLower(m[5]), late), "午後", "夜", "p") && hour < 12 {
		hour += 12
	}
	return hour*60 + minute
}

// read takes a token about the time up, and reports false if the text has said as much already.
func (s *slot) read(t token, now time.Time) bool {
	said := strings.NewReplacer("noon", "12", "正午", "12時").Replace(strings.ToLower(t.text))
	times, length := clockForm.Get().FindAllStringSubmatch(said, 2), s.end-s.start
	switch {
	case t.tag == "day" && s.noDay:
		s.day, s.noDay = daySaid(t, now), false
	case t.tag == "clock" && s.noTime:
		s.start, s.noTime = minutesOf(times[0], ""), false
		s.end = s.start + length
	case t.tag == "clocks" && s.noTime && s.noEnd:
		s.end = minutesOf(times[1], "")
		if s.start = minutesOf(times[0], times[1][5]); s.start >= s.end { // 11 to 1 pm
			s.start = minutesOf(times[0], "")
		}
		s.noTime, s.noEnd = false, false
	case t.tag == "length" && s.noEnd:
		n := append(numbers(strings.ReplaceAll(said, "two", "2")), 1)[0]
		if has(said, "half an") {
			n = 30
		} else if has(said, "時間", "hour") {
			n *= 60
		}
		if has(said, "時間半") {
			n += 30
		}
		s.end, s.noEnd = s.start+n, false
	default:
		return false
	}
	return true
}

// wrong reports whether the time does not exist or is past.
func (s slot) wrong(now time.Time) bool {
	return s.day.IsZero() || s.start >= 24*60 || s.end > 24*60 || s.end <= s.start ||
		time.Date(s.day.Year(), s.day.Month(), s.day.Day(), 0, s.start, 0, 0, now.Location()).Before(now)
}

// daySaid is the next day that a text means, or the zero time if there is none.
func daySaid(t token, now time.Time) time.Time {
	said := strings.ToLower(t.text)
	all := numbers(said)
	if has(said, "日後", "in ") && len(all) == 1 {
		return now.AddDate(0, 0, all[0])
	}
	if t.means != "" {
		return now.AddDate(0, 0, number(t.means))
	}
	if m := weekdayForm.Get().FindStringSubmatch(said); m != nil && len(all) == 0 {
		return weekday(said, m[1]+m[2], now)
	}
	if named := monthNamed(strings.TrimPrefix(said, "on ")); named > 0 {
		all = append([]int{named}, all...)
	}
	year := now.Year()
	if len(all) == 3 {
		year, all = all[0], all[1:]
	}
	then := time.Date(year, time.Month(all[0]), all[1], 0, 0, 0, 0, now.Location())
	if then.Day() != all[1] { // 31 November
		return time.Time{}
	}
	if then.AddDate(0, 0, 1).Before(now) && year == now.Year() && !yearForm.Get().MatchString(said) { // a meeting is ahead
		then = then.AddDate(1, 0, 0)
	}
	return then
}

// weekday is the next date on that day of the week. Weeks begin on Monday.
func weekday(said, name string, now time.Time) time.Time {
	want := slices.IndexFunc([]string{"月mon", "火tues", "水wednes", "木thurs", "金fri", "土satur", "日sun"},
		func(s string) bool { return strings.Contains(s, name) })
	at := now.AddDate(0, 0, want-(int(now.Weekday())+6)%7)
	switch {
	case has(said, "再来週"):
		return at.AddDate(0, 0, 14)
	case has(said, "来週", "next"):
		return at.AddDate(0, 0, 7)
	case at.Before(now):
		return at.AddDate(0, 0, 7)
	}
	return at
}
