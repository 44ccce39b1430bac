package freee

import (
	"fmt"
	"time"
)

// Validated is the result for records without a problem.
type Validated struct {
	Mode  string `json:"mode"`
	Count int    `json:"count"`
}

const minutesOfAMonth = 31 * 24 * 60

// Validate reports impossible records of a month: no records at all, a person twice, days that don't exist, values that
// are negative or too large, parts larger than the whole.
func Validate(records []Record) (problems []string) {
	if len(records) == 0 {
		return []string{"no records"}
	}
	seen := map[int64]bool{}
	for _, r := range records {
		for _, p := range validate(r) {
			problems = append(problems, about(r, p))
		}
		if seen[r.EmployeeID] {
			problems = append(problems, about(r, "twice"))
		}
		seen[r.EmployeeID] = true
	}
	return problems
}

func validate(r Record) (problems []string) {
	start, err1 := time.Parse(time.DateOnly, r.StartDate)
	end, err2 := time.Parse(time.DateOnly, r.EndDate)
	if err1 != nil || err2 != nil || end.Before(start) {
		problems = append(problems, fmt.Sprintf("start_date %q, end_date %q", r.StartDate, r.EndDate))
	}
	if r.WorkDays < 0 || r.WorkDays > 31 {
		problems = append(problems, fmt.Sprintf("work_days %v", r.WorkDays))
	}
	for _, m := range []struct {
		name string
		mins int
	}{
		{"total_work_mins", r.TotalWorkMins},
		{"total_normal_work_mins", r.TotalNormalWorkMins},
		{"total_excess_statutory_work_mins", r.TotalExcessStatutoryWorkMins},
		{"total_overtime_except_normal_work_mins", r.TotalOvertimeExceptNormalWorkMins},
		{"total_overtime_within_normal_work_mins", r.TotalOvertimeWithinNormalWorkMins},
		{"total_holiday_work_mins", r.TotalHolidayWorkMins},
		{"total_latenight_work_mins", r.TotalLatenightWorkMins},
	} {
		switch {
		case m.mins < 0 || m.mins > minutesOfAMonth:
			problems = append(problems, fmt.Sprintf("%s %d", m.name, m.mins))
		case m.mins > r.TotalWorkMins:
			problems = append(problems, fmt.Sprintf("%s %d > total_work_mins %d", m.name, m.mins, r.TotalWorkMins))
		}
	}
	return problems
}
