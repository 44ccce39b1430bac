// Package overtime works out overtime from attendance records. It calls nobody.
//
// Overtime here is what was worked beyond the hours agreed on: within the legal
// day (freee's excess_statutory) plus beyond it (overtime_except_normal, and for
// discretionary work overtime_within_normal). The limits of the Labour Standards
// Act count only what is beyond the legal hours:
//
//   - 45 hours a month: Article 36, paragraph 4. Work on legal holidays does not count.
//   - 100 hours a month, and on average 80 hours over 2 to 6 months, work on legal
//     holidays counted in: Article 36, paragraph 6, items 2 and 3.
//   - 360 hours a year (paragraph 4) cannot be seen in one month and is not marked.
package overtime

import (
	"math"

	"ringi/shared/tool/freee"
)

// Flag is the highest limit that a month is above.
type Flag string

const (
	Within   Flag = ""
	Over45h  Flag = "> 45h"
	Over80h  Flag = "> 80h"  // one month above the average that is allowed
	Over100h Flag = "≥ 100h" // 100 hours or more
)

// Row is one person's month.
type Row struct {
	EmployeeID         int64   `json:"employee_id"`
	Num                string  `json:"num"`
	DisplayName        string  `json:"display_name"`
	WorkDays           float64 `json:"work_days"`
	WorkHours          float64 `json:"work_hours"`
	OvertimeMins       int     `json:"overtime_mins"`
	OvertimeHours      float64 `json:"overtime_hours"`
	LegalOvertimeMins  int     `json:"legal_overtime_mins"` // beyond the legal hours: what the limits count
	LegalOvertimeHours float64 `json:"legal_overtime_hours"`
	HolidayWorkHours   float64 `json:"holiday_work_hours"`
	LatenightWorkHours float64 `json:"latenight_work_hours"`
	Flag               Flag    `json:"flag"`
}

// Result is everybody's month. A person above 80 hours is also counted above 45.
type Result struct {
	Mode               string  `json:"mode"`
	Count              int     `json:"count"`
	Over45h            int     `json:"over_45h"`
	Over80h            int     `json:"over_80h"`
	Over100h           int     `json:"over_100h"`
	TotalOvertimeHours float64 `json:"total_overtime_hours"`
	Rows               []Row   `json:"rows"`
}

// Calculate keeps the records' order.
func Calculate(records []freee.Record) Result {
	out := Result{Mode: "calculate", Count: len(records), Rows: []Row{}}
	total := 0
	for _, r := range records {
		row := calculate(r)
		total += row.OvertimeMins
		switch row.Flag {
		case Over100h:
			out.Over100h++
			out.Over80h++
			out.Over45h++
		case Over80h:
			out.Over80h++
			out.Over45h++
		case Over45h:
			out.Over45h++
		}
		out.Rows = append(out.Rows, row)
	}
	out.TotalOvertimeHours = hours(total)
	return out
}

func calculate(r freee.Record) Row {
	legal := r.TotalOvertimeExceptNormalWorkMins + r.TotalOvertimeWithinNormalWorkMins
	overtime := r.TotalExcessStatutoryWorkMins + legal
	row := Row{
		EmployeeID: r.EmployeeID, DisplayName: r.DisplayName, WorkDays: r.WorkDays, WorkHours: hours(r.TotalWorkMins),
		OvertimeMins: overtime, OvertimeHours: hours(overtime), LegalOvertimeMins: legal, LegalOvertimeHours: hours(legal),
		HolidayWorkHours: hours(r.TotalHolidayWorkMins), LatenightWorkHours: hours(r.TotalLatenightWorkMins),
		Flag: flag(legal, r.TotalHolidayWorkMins),
	}
	if r.Num != nil {
		row.Num = *r.Num
	}
	return row
}

func flag(legal, holiday int) Flag {
	switch {
	case legal+holiday >= 100*60:
		return Over100h
	case legal+holiday > 80*60:
		return Over80h
	case legal > 45*60:
		return Over45h
	}
	return Within
}

// hours are minutes in hours, to two decimals.
func hours(mins int) float64 { return math.Round(float64(mins)/60*100) / 100 }
