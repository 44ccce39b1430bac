package vendors

import (
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

// A month that is not over has the working days so far. A month that is over has all of them.
func TestAMonthEndsToday(t *testing.T) {
	e := staff()[12]
	whole := e.month(12, 2026, 12, time.Date(2027, 1, 1, 0, 0, 0, 0, japan)) // November, paid in December
	for day, days := range map[int]int{0: 0, 1: 0, 2: 1, 20: 15, 30: 21} {
		s := e.month(12, 2026, 12, time.Date(2026, 11, day, 9, 0, 0, 0, japan))
		expect.That(t, s.EndDate == "2026-11-30" && int(s.WorkDays+s.NumPaidHolidays) == days && s.WorkDays >= 0 &&
			s.TotalOvertimeExceptNormalWorkMins == whole.TotalOvertimeExceptNormalWorkMins*days/21, "on day %d: %+v", day,
			s)
	}
	expect.That(t, whole.TotalOvertimeExceptNormalWorkMins >= 74*60, "the whole month: %+v", whole)
}
