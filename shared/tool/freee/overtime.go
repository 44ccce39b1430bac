package freee

import (
	"math"
	"slices"
	"strings"
)

// The marks of a row: the highest limit that its month exceeds, and the limits that its months together exceed.
const (
	over45h        = "> 45h"
	over80h        = "> 80h" // in a single month
	over100h       = "≥ 100h"
	over80hAverage = "> 80h avg"
	over360h       = "> 360h/year"
)

// Row is one person's month.
type Row struct {
	EmployeeID         int64   `json:"employee_id"`
	Num                string  `json:"num"`
	DisplayName        string  `json:"display_name"`
	Period             string  `json:"period"` // the days that were counted
	WorkDays           float64 `json:"work_days"`
	WorkHours          float64 `json:"work_hours"`
	OvertimeMins       int     `json:"overtime_mins"`
	OvertimeHours      float64 `json:"overtime_hours"`
	LegalOvertimeMins  int     `json:"legal_overtime_mins"` // beyond the legal hours: what the limits count
	LegalOvertimeHours float64 `json:"legal_overtime_hours"`
	HolidayWorkHours   float64 `json:"holiday_work_hours"`
	LatenightWorkHours float64 `json:"latenight_work_hours"`
	// MonthsKnown counts this month and the months before it up to the first gap, at most 12.
	MonthsKnown int `json:"months_known"`
	// AverageHours is the highest average over 2 to 6 months, with work on legal holidays; null with only this month.
	AverageHours *float64 `json:"average_hours"`
	YearHours    float64  `json:"year_hours"` // of the months known
	Flag         string   `json:"flag"`       // marks, empty within all limits
}

// Result has everybody's month. A person above 80 hours is also counted above 45.
type Result struct {
	Mode               string  `json:"mode"`
	Count              int     `json:"count"`
	Months             int     `json:"months"`
	Period             string  `json:"period"`
	Over45h            int     `json:"over_45h"`
	Over80h            int     `json:"over_80h"`
	Over100h           int     `json:"over_100h"`
	Over80hAverage     *int    `json:"over_80h_average"` // null when only one month is given
	Over360h           *int    `json:"over_360h"`        // above it in the months given; null for one month
	TotalOvertimeHours float64 `json:"total_overtime_hours"`
	Note               string  `json:"note"` // what could not be judged
	Rows               []Row   `json:"rows"`
}

// Calculate judges everybody's month together with the previous months, which may be in any order. The result keeps the
// order of the records. problems names months that occur twice or come later; then there is no result.
func Calculate(records []Record, earlier [][]Record, locale string) (out Result, problems []string) {
	before, problems := histories(records, earlier)
	if len(problems) > 0 {
		return Result{}, problems
	}
	months := 1 + len(earlier)
	out = Result{Mode: "calculate", Count: len(records), Months: months, Period: Period(records), Rows: []Row{},
		Note: note(locale, months)}
	total, average, year := 0, 0, 0
	for i, r := range records {
		row := calculate(append([]Record{r}, before[i]...))
		total += row.OvertimeMins
		for mark, n := range map[string][]*int{
			over45h: {&out.Over45h}, over80h: {&out.Over45h, &out.Over80h},
			over100h:       {&out.Over45h, &out.Over80h, &out.Over100h},
			over80hAverage: {&average}, over360h: {&year},
		} {
			if slices.Contains(strings.Split(row.Flag, ", "), mark) {
				for _, count := range n {
					*count++
				}
			}
		}
		out.Rows = append(out.Rows, row)
	}
	if months > 1 {
		out.Over80hAverage, out.Over360h = &average, &year
	}
	out.TotalOvertimeHours = hours(total)
	return out, nil
}

// calculate makes a person's row from the month in question and those before it.
func calculate(months []Record) Row {
	r := months[0]
	overtime := r.TotalExcessStatutoryWorkMins + legal(r)
	row := Row{
		EmployeeID: r.EmployeeID, DisplayName: r.DisplayName, Period: Period([]Record{r}), WorkDays: r.WorkDays,
		WorkHours:    hours(r.TotalWorkMins),
		OvertimeMins: overtime, OvertimeHours: hours(overtime), LegalOvertimeMins: legal(r),
		LegalOvertimeHours: hours(legal(r)),
		HolidayWorkHours:   hours(r.TotalHolidayWorkMins), LatenightWorkHours: hours(r.TotalLatenightWorkMins),
		MonthsKnown: len(months),
	}
	if r.Num != nil {
		row.Num = *r.Num
	}
	var marks []string
	if m := monthly(legal(r), r.TotalHolidayWorkMins); m != "" {
		marks = append(marks, m)
	}
	year, whole, above, highest := 0, 0, false, 0.0
	for i, m := range months {
		year += legal(m)
		whole += legal(m) + m.TotalHolidayWorkMins
		if n := i + 1; n >= 2 && n <= 6 {
			above = above || whole > 80*60*n
			highest = max(highest, float64(whole)/float64(n))
		}
	}
	row.YearHours = hours(year)
	if len(months) > 1 {
		row.AverageHours = new(math.Round(highest/60*100) / 100)
	}
	if above {
		marks = append(marks, over80hAverage)
	}
	if year > 360*60 {
		marks = append(marks, over360h)
	}
	row.Flag = strings.Join(marks, ", ")
	return row
}

// legal returns the minutes beyond the legal hours.
func legal(r Record) int {
	return r.TotalOvertimeExceptNormalWorkMins + r.TotalOvertimeWithinNormalWorkMins
}

func monthly(legal, holiday int) string {
	switch {
	case legal+holiday >= 100*60:
		return over100h
	case legal+holiday > 80*60:
		return over80h
	case legal > 45*60:
		return over45h
	}
	return ""
}

func hours(mins int) float64 { return math.Round(float64(mins)/60*100) / 100 }
