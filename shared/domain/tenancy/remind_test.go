package tenancy

import (
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

func day(text string) Date {
	d, err := ParseDate(text)
	if err != nil {
		panic(err)
	}
	return d
}

// The law's rules (昭和23年法律第178号), apart from the file: fixed days and Mondays, the equinoxes by the formula of
// almanacs, a day off for each holiday on a Sunday, and a day between two holidays.
func TestTheHolidaysThatShipFollowFromTheLaw(t *testing.T) {
	var want []string
	for year := 2026; year <= 2028; year++ {
		on := func(m time.Month, d int) time.Time { return time.Date(year, m, d, 0, 0, 0, 0, time.UTC) }
		monday := func(m time.Month, n int) time.Time {
			return on(m, 1+(8-int(on(m, 1).Weekday()))%7+7*(n-1))
		}
		equinox := func(m time.Month, of1980 float64) time.Time {
			return on(m, int(of1980+0.242194*float64(year-1980))-(year-1980)/4)
		}
		all := []time.Time{on(1, 1), monday(1, 2), on(2, 11), on(2, 23), equinox(3, 20.8431), on(4, 29), on(5, 3), on(5, 4),
			on(5, 5), monday(7, 3), on(8, 11), monday(9, 3), equinox(9, 23.2488), monday(10, 2), on(11, 3), on(11, 23)}
		of := slices.Clone(all)
		for _, d := range of {
			next := d.AddDate(0, 0, 1)
			switch {
			case d.Weekday() == time.Sunday:
				for slices.Contains(of, next) {
					next = next.AddDate(0, 0, 1)
				}
				all = append(all, next)
			case !slices.Contains(of, next) && slices.Contains(of, next.AddDate(0, 0, 1)) && next.Weekday() != time.Sunday:
				all = append(all, next)
			}
		}
		slices.SortFunc(all, time.Time.Compare)
		for _, d := range slices.Compact(all) {
			want = append(want, d.Format(time.DateOnly))
		}
	}
	expect.Same(t, want, strings.Fields(shippedHolidays))
	for _, text := range []string{"2026-05-06", "2026-09-22", "2027-03-22"} { // in the place of a Sunday, and between two
		expect.That(t, slices.Contains(want, text), "%s is no holiday", text)
	}
}

func TestWorkingDays(t *testing.T) {
	for text, want := range map[string]bool{"2026-11-20": true, "2026-11-21": false, "2026-11-22": false,
		"2026-11-23": false, "2026-11-24": true, "2029-11-23": true} {
		expect.Is(t, WorkingDay(day(text)), want, text)
	}
}

func TestWhenPeopleAreReminded(t *testing.T) {
	off := DefaultSettings()
	off.RemindAt = ""
	for _, c := range []struct {
		name string
		s    Settings
		day  string
		now  string
		want string // day, and when
	}{
		{"before its time", DefaultSettings(), "", "2026-11-20 09:29", "2026-11-20 2026-11-20 09:30"},
		{"past its time, the next one", DefaultSettings(), "", "2026-11-20 09:30", "2026-11-24 2026-11-24 09:30"},
		{"when it is its turn", DefaultSettings(), "2026-11-20", "2026-11-20 09:31", "2026-11-20 2026-11-20 09:30"},
		{"late, of the same day", DefaultSettings(), "2026-11-20", "2026-11-20 23:59", "2026-11-20 2026-11-20 09:30"},
		{"not of a day that is over", DefaultSettings(), "2026-11-20", "2026-11-21 00:00", "2026-11-24 2026-11-24 09:30"},
		{"on a day that is due at last", DefaultSettings(), "2026-11-20", "2026-11-24 11:00", "2026-11-24 2026-11-24 09:30"},
		{"never", off, "2026-11-20", "2026-11-20 09:30", " 2026-11-21 09:30"},
	} {
		now := expect.Value(time.ParseInLocation("2006-01-02 15:04", c.now, Zone()))(t)
		var of Date
		if c.day != "" {
			of = day(c.day)
		}
		d, at := c.s.NextReminder(of, now)
		expect.Is(t, d.String()+" "+at.In(Zone()).Format("2006-01-02 15:04"), c.want, c.name)
	}
}
