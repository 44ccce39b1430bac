package vendors

import (
	"encoding/binary"
	"hash/fnv"
	"time"
)

// summary is a month in the format of freee's work_record_summaries.
type summary struct {
	Year      int    `json:"year"`
	Month     int    `json:"month"`
	StartDate string `json:"start_date"`
	EndDate   string `json:"end_date"`

	WorkDays                          float64  `json:"work_days"`
	TotalWorkMins                     int      `json:"total_work_mins"`
	TotalNormalWorkMins               int      `json:"total_normal_work_mins"`
	TotalExcessStatutoryWorkMins      int      `json:"total_excess_statutory_work_mins"`
	TotalOvertimeExceptNormalWorkMins int      `json:"total_overtime_except_normal_work_mins"`
	TotalOvertimeWithinNormalWorkMins int      `json:"total_overtime_within_normal_work_mins"`
	TotalPrescribedHolidayWorkMins    int      `json:"total_prescribed_holiday_work_mins"`
	TotalHolidayWorkMins              int      `json:"total_holiday_work_mins"`
	TotalLatenightWorkMins            int      `json:"total_latenight_work_mins"`
	NumAbsences                       float64  `json:"num_absences"`
	NumPaidHolidays                   float64  `json:"num_paid_holidays"`
	NumPaidHolidaysLeft               float64  `json:"num_paid_holidays_left"`
	TotalLatenessAndEarlyLeavingMins  int      `json:"total_lateness_and_early_leaving_mins"`
	TotalShortageWorkMins             *int     `json:"total_shortage_work_mins"`
	WorkRecords                       []string `json:"work_records"`
}

// month sums up the month that a person is paid for in payYear and payMonth. The numbers depend on the person and the
// month only: three people are always above 45 hours of overtime, and one is above 80. If the month is not over in
// Japan, the sums include its working days so far, but the period is the complete month, as in freee.
func (e employee) month(n, payYear, payMonth int, now time.Time) summary {
	first := time.Date(payYear, time.Month(payMonth), 1, 0, 0, 0, 0, time.UTC)
	if e.MonthOfPayDay != nil && *e.MonthOfPayDay == paidNextMonth {
		first = first.AddDate(0, -1, 0)
	}
	last := first.AddDate(0, 1, -1)
	s := summary{
		Year: payYear, Month: payMonth, StartDate: first.Format(time.DateOnly), EndDate: last.Format(time.DateOnly),
		NumPaidHolidaysLeft: 20, WorkRecords: []string{},
	}
	today, whole := now.In(japan).Format(time.DateOnly), weekdays(first, last)
	for last.Format(time.DateOnly) > today && !last.Before(first) {
		last = last.AddDate(0, 0, -1)
	}
	if last.Before(first) || last.Format(time.DateOnly) < e.EntryDate {
		return s
	}
	vary := chance(e.ID, first)
	until := weekdays(first, last)
	off := min(vary(3), until)
	days := until - off
	s.WorkDays, s.NumPaidHolidays, s.NumPaidHolidaysLeft = float64(days), float64(off), float64(20-off)
	s.TotalNormalWorkMins = days * e.dailyMins
	s.TotalExcessStatutoryWorkMins = days * (8*60 - e.dailyMins) / 2
	switch {
	case n == 12:
		s.TotalOvertimeExceptNormalWorkMins = 74*60 + vary(5*60)
		s.TotalHolidayWorkMins = 8 * 60
	case n == 3, n == 17, n == 31:
		s.TotalOvertimeExceptNormalWorkMins = 46*60 + vary(14*60)
	default:
		s.TotalOvertimeExceptNormalWorkMins = vary(36 * 60)
	}
	s.TotalOvertimeExceptNormalWorkMins = s.TotalOvertimeExceptNormalWorkMins * until / whole
	s.TotalHolidayWorkMins = s.TotalHolidayWorkMins * until / whole
	s.TotalLatenightWorkMins = s.TotalOvertimeExceptNormalWorkMins / 12
	s.TotalWorkMins = s.TotalNormalWorkMins + s.TotalExcessStatutoryWorkMins + s.TotalOvertimeExceptNormalWorkMins + s.TotalHolidayWorkMins
	return s
}

// japan is the company's time zone, which has no summer time.
var japan = time.FixedZone("JST", 9*60*60)

// chance returns a generator of pseudo-random numbers below n that depend on a person and a month.
func chance(id int64, month time.Time) func(n int) int {
	h := fnv.New64a()
	_ = binary.Write(h, binary.BigEndian, []int64{id, month.Unix()}) // writing to a hash never fails
	x := h.Sum64()
	return func(n int) int {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		return int(x % uint64(n))
	}
}

func weekdays(first, last time.Time) int {
	n := 0
	for d := first; !d.After(last); d = d.AddDate(0, 0, 1) {
		if d.Weekday() != time.Saturday && d.Weekday() != time.Sunday {
			n++
		}
	}
	return n
}
