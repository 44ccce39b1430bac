package demo

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// month counts months from the year 0, so that they can be added and compared.
type month int

func monthOf(year, m int) month { return month(year*12 + m - 1) }

func (m month) name() time.Month  { return time.Month(int(m)%12 + 1) }
func thisMonth(n time.Time) month { return monthOf(n.Year(), int(n.Month())) }

// text is the month as tools have it: 2026-10.
func (m month) text() string { return fmt.Sprintf("%d-%02d", m/12, m.name()) }

func number(digits string) int {
	n, _ := strconv.Atoi(digits) // no digits mean 0
	return n
}

// monthNamed is the number of an English month; 0 for none.
func monthNamed(name string) int {
	t, err := time.Parse("Jan", name[:min(3, len(name))])
	if err != nil {
		return 0
	}
	return int(t.Month())
}

// years are the words for another year than this.
var years = map[string]int{"昨年": -1, "去年": -1, "前年": -1, "last": -1, "来年": 1, "next": 1}

// months are what a token means. sure says that their year is certain; otherwise it is the latest that has begun.
func (t token) months(now time.Time) (from, to month, sure bool) {
	here, x := thisMonth(now), t.named
	if t.means != "" && t.means != "range" {
		from = here + month(number(t.means))
		return from, from, true
	}
	year := number(x["y"])
	if sure = year > 0 || x["rel"] != ""; year == 0 {
		year = now.Year() + years[strings.ToLower(x["rel"])]
	}
	if from = monthOf(year, number(x["m"])+monthNamed(x["mon"])); !sure && from > here {
		from -= 12
	}
	if to = from; t.means == "range" {
		to += month(number(x["to"])-number(x["m"])+12) % 12
	}
	return from, to, sure
}

// periods takes up months and ranges. What joins two of them says whether they are a range; two that nothing joins are
// not both meant.
func (w *wish) periods(all []token) {
	last, dated, end, open := -1, false, month(0), false
	for i := range all {
		t := &all[i]
		if !t.is("month") {
			continue
		}
		from, to, sure := t.months(w.now)
		ranged, joins := false, i > last+1
		for j := last + 1; last >= 0 && j < i; j++ {
			x := &all[j]
			ranged = ranged || x.is("to") || x.is("j") && last > 0 && strings.EqualFold(all[last-1].text, "between")
			joins, x.used = joins && x.is("to", "j", "p"), x.used || x.is("to")
		}
		switch {
		case last >= 0 && dated && !sure: // the next such month
			next := end + 1 + (from-end-1+120)%12
			from, to, joins = next, to+next-from, joins && (ranged || next-end < 7)
		case last >= 0 && sure && !dated && t.named["y"] != "": // the year is that of both
			for j := range w.months {
				w.months[j] -= (w.months[j]-from+11+120)/12*12 - 120
			}
		case ranged && to < end: // November to February
			w.months[len(w.months)-1] -= 12
		}
		if last >= 0 && !joins || open {
			w.stop("noSecond", t.text)
		}
		if ranged {
			from = w.months[len(w.months)-1]
		}
		for m := from; m <= to && m < from+120; m++ {
			w.months = add(w.months, m)
		}
		t.used, last, dated, end = true, i, sure || dated, to
		open = w.around(all, i) || open
	}
	slices.Sort(w.months)
}

// around takes up the words beside a month: “from”, “since”, “on” and 「まで」 behind a range. It reports whether the
// range is open: then it goes to this month, and no further month may follow.
func (w *wish) around(all []token, i int) bool {
	last, here := w.months[len(w.months)-1], thisMonth(w.now)
	before, after := &token{}, &token{}
	if i > 0 {
		before = &all[i-1]
	}
	if i+1 < len(all) {
		after = &all[i+1]
	}
	since := before.is("since") && last < here
	before.used = before.used || since || before.is("from")
	after.used = after.used || after.is("onward") || after.is("upto") && len(w.months) > 1
	for m := last; (since || after.is("onward")) && m <= here; m++ {
		w.months = add(w.months, m)
	}
	return since || after.is("onward")
}

// slot is the day and time of a meeting in Japan.
type slot struct {
	day                  time.Time
	minute, length       int // of the day
	NoDay, NoTime, NoEnd bool
}

func (s slot) Day() string   { return s.day.Format(time.DateOnly) }
func (s slot) Start() string { return fmt.Sprintf("%02d:%02d", s.minute/60, s.minute%60) }
func (s slot) End() string   { return slot{minute: s.minute + s.length}.Start() }

// read takes a token about the time up, and reports false if the text has said as much already.
func (s *slot) read(t token, now time.Time) bool {
	x, minutes := t.named, number(strings.Replace(t.named["min"], "半", "30", 1))
	switch {
	case t.is("day") && s.NoDay:
		s.day, s.NoDay = daySaid(t, now), false
	case t.is("clock") && s.NoTime:
		if s.minute = 60*number(x["h"]) + minutes; slices.Contains([]string{"午後", "pm"}, strings.ToLower(x["half"])) {
			s.minute = s.minute%720 + 720
		}
		s.NoTime = false
	case t.is("length") && s.NoEnd:
		s.length, s.NoEnd = number(t.means)+60*number(x["hours"])+minutes, false
	default:
		return false
	}
	return true
}

// wrong reports whether the time does not exist or is past.
func (s slot) wrong(now time.Time) bool {
	return s.day.IsZero() || s.length == 0 || s.minute >= 24*60 || s.minute+s.length > 24*60 ||
		time.Date(s.day.Year(), s.day.Month(), s.day.Day(), 0, s.minute, 0, 0, now.Location()).Before(now)
}

// daySaid is the next day that a text means, or the zero time if there is none.
func daySaid(t token, now time.Time) time.Time {
	if t.named["d"] == "" {
		return now.AddDate(0, 0, number(t.means))
	}
	year, day := number(t.named["y"]), number(t.named["d"])
	m := time.Month(number(t.named["m"]) + monthNamed(t.named["mon"]))
	then := time.Date(max(year, now.Year()), m, day, 0, 0, 0, 0, now.Location())
	if then.Day() != day { // 31 November
		return time.Time{}
	}
	if year == 0 && then.AddDate(0, 0, 1).Before(now) { // a meeting is ahead
		return then.AddDate(1, 0, 0)
	}
	return then
}
