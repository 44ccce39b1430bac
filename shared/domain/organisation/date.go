package organisation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// Date is a calendar day, counted from the first day of year 1, which is 1. The zero Date is no day.
type Date int32

// Files may have days of these years.
const (
	firstYear = 1900
	lastYear  = 2999
)

// never is a day after every day of a file.
const never Date = math.MaxInt32

var dayBefore1 = time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC)

// DateOf returns the calendar day of a time in the time's own zone.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date((time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() - dayBefore1.Unix()) / (24 * 60 * 60))
}

// ParseDate reads a day such as 2026-04-01, 2026/4/1 or 20260401.
func ParseDate(s string) (Date, error) {
	form := "2006-1-2"
	if len(s) == 8 && !strings.ContainsAny(s, "-/") {
		form = "20060102"
	}
	t, err := time.Parse(form, strings.ReplaceAll(s, "/", "-"))
	if err != nil || t.Year() < firstYear || t.Year() > lastYear {
		return 0, fmt.Errorf("%q is no day", s)
	}
	return DateOf(t), nil
}

// String returns the day as 2026-04-01, and nothing for no day.
func (d Date) String() string {
	if d <= 0 {
		return ""
	}
	return dayBefore1.AddDate(0, 0, int(d)).Format(time.DateOnly)
}

func (d Date) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

func (d *Date) UnmarshalText(text []byte) (err error) {
	*d, err = ParseDate(string(text))
	return err
}

// Period is from its first to its last day. A From of 0 means since ever, a To of 0 means for ever.
type Period struct {
	From Date `json:"valid_from,omitempty"`
	To   Date `json:"valid_to,omitempty"`
}

// Has reports whether a day is in the period.
func (p Period) Has(d Date) bool { return p.From <= d && d < p.end() }

// begins is From, for the phases that have a Period.
func (p Period) begins() Date { return p.From }

// on returns the phase of a day, of phases in their order, or nothing.
func on[T interface {
	Has(Date) bool
	begins() Date
}](all []T, day Date) (phase T, ok bool) {
	after, _ := slices.BinarySearchFunc(all, day+1, func(x T, d Date) int { return cmp.Compare(x.begins(), d) })
	if after == 0 || !all[after-1].Has(day) {
		return phase, false
	}
	return all[after-1], true
}

// end is the day after the last.
func (p Period) end() Date {
	if p.To == 0 {
		return never
	}
	return p.To + 1
}

// until is the period from a day to the day before end.
func until(from, end Date) Period {
	if end == never {
		return Period{From: from}
	}
	return Period{From: from, To: end - 1}
}

// union returns the days that are in any of some periods, as periods with days between them.
func union(all []Period) (out []Period) {
	all = slices.SortedFunc(slices.Values(all), func(a, b Period) int { return cmp.Compare(a.From, b.From) })
	for _, p := range all {
		if last := len(out) - 1; last >= 0 && p.From <= out[last].end() {
			out[last] = until(out[last].From, max(out[last].end(), p.end()))
			continue
		}
		out = append(out, p)
	}
	return out
}

// uncovered returns the first day of a period that is in none of some periods, which are a union.
func uncovered(p Period, by []Period) (Date, bool) {
	day := p.From
	if b, ok := on(by, day); ok {
		day = b.end()
	}
	return day, day < p.end()
}
