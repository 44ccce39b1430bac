package tenancy

import (
	"fmt"
	"time"
)

// Date is a calendar day, counted from the first day of year 1, which is 1. The zero Date is no day.
type Date int32

// ParseDate reads days of these years.
const (
	firstYear = 1900
	lastYear  = 2999
)

var dayBefore1 = time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC)

// DateOf returns the calendar day of a time in the time's own zone.
func DateOf(t time.Time) Date {
	y, m, d := t.Date()
	return Date((time.Date(y, m, d, 0, 0, 0, 0, time.UTC).Unix() - dayBefore1.Unix()) / (24 * 60 * 60))
}

// ParseDate reads a day such as 2026-04-01.
func ParseDate(s string) (Date, error) {
	t, err := time.Parse(time.DateOnly, s)
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
