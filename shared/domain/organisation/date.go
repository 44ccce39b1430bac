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

// statement is what one row says of a person or a department for some days.
type statement struct {
	row    int
	during Period
	values []string // by field; an empty value says nothing
}

// phase is what rows say together of days on which none of them begins or ends.
type phase struct {
	during Period
	values []string
	rows   []int // by field: a row that says the value
	row    int   // one of the rows
}

// held is what the rows that hold on a day say of one field.
type held struct {
	count int // of rows that say something
	value string
	row   int
	end   Date // of the row that lasts longest, which is named
}

func (h *held) add(s statement, value string) (agrees bool) {
	if value == "" {
		return true
	}
	agrees = h.count == 0 || h.value == value
	if h.count == 0 || s.during.end() > h.end {
		h.value, h.row, h.end = value, s.row, s.during.end()
	}
	h.count++
	return agrees
}

func (h *held) remove(value string) {
	if value == "" {
		return
	}
	if h.count--; h.count == 0 {
		*h = held{}
	}
}

// phases brings together what rows say of one person or department. It calls conflict for each row that says something
// else of a field than another one for the same day.
func phases(said []statement, conflict func(s statement, field, other int)) (all []phase) {
	starts := slices.SortedFunc(slices.Values(said), func(a, b statement) int {
		return cmp.Or(cmp.Compare(a.during.From, b.during.From), cmp.Compare(a.row, b.row))
	})
	ends := slices.SortedFunc(slices.Values(said), func(a, b statement) int {
		return cmp.Compare(a.during.end(), b.during.end())
	})
	fields, present := make([]held, len(said[0].values)), held{}
	for len(ends) > 0 {
		day := nextDay(starts, ends)
		for ; len(ends) > 0 && ends[0].during.end() == day; ends = ends[1:] {
			for i, value := range ends[0].values {
				fields[i].remove(value)
			}
			present.remove("x")
		}
		for ; len(starts) > 0 && starts[0].during.From == day; starts = starts[1:] {
			for i, value := range starts[0].values {
				if other := fields[i].row; !fields[i].add(starts[0], value) {
					conflict(starts[0], i, other)
				}
			}
			present.add(starts[0], "x")
		}
		if present.count > 0 {
			all = append(all, phaseOf(until(day, nextDay(starts, ends)), fields, present.row))
		}
	}
	return all
}

// nextDay is the first day on which a row begins, or no longer holds. There is an end for each start.
func nextDay(starts, ends []statement) Date {
	day := ends[0].during.end()
	if len(starts) > 0 {
		day = min(day, starts[0].during.From)
	}
	return day
}

func phaseOf(during Period, fields []held, row int) phase {
	p := phase{during: during, row: row}
	for _, f := range fields {
		p.values, p.rows = append(p.values, f.value), append(p.rows, f.row)
	}
	return p
}

// joined makes one phase of phases that follow each other and say the same.
func joined(all []phase) (out []phase) {
	for _, p := range all {
		if last := len(out) - 1; last >= 0 && out[last].during.end() == p.during.From &&
			slices.Equal(out[last].values, p.values) {
			out[last].during = until(out[last].during.From, p.during.end())
			continue
		}
		out = append(out, p)
	}
	return out
}
