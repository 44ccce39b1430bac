package runner

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"ringi/shared/explain"
	"ringi/shared/tool/wire"
	"ringi/shared/words/language"
)

// parallel is how many requests about employees run at once: freee answers bursts with 403.
const parallel = 4

// Record is freee's summary of an employee's month. Fields called mins are in minutes.
type Record struct {
	EmployeeID  int64   `json:"employee_id"`
	Num         *string `json:"num"`
	DisplayName string  `json:"display_name"`
	// StartDate and EndDate are the first and last day that freee counted. They depend on the closing day.
	StartDate                         string  `json:"start_date"`
	EndDate                           string  `json:"end_date"`
	WorkDays                          float64 `json:"work_days"`
	TotalWorkMins                     int     `json:"total_work_mins"`
	TotalNormalWorkMins               int     `json:"total_normal_work_mins"`
	TotalExcessStatutoryWorkMins      int     `json:"total_excess_statutory_work_mins"`
	TotalOvertimeExceptNormalWorkMins int     `json:"total_overtime_except_normal_work_mins"`
	TotalOvertimeWithinNormalWorkMins int     `json:"total_overtime_within_normal_work_mins"`
	TotalHolidayWorkMins              int     `json:"total_holiday_work_mins"`
	TotalLatenightWorkMins            int     `json:"total_latenight_work_mins"`
	NumAbsences                       float64 `json:"num_absences"`
	NumPaidHolidays                   float64 `json:"num_paid_holidays"`
}

// Attendance is the result of list_attendance.
type Attendance struct {
	Year    int      `json:"year"`
	Month   int      `json:"month"`
	Period  string   `json:"period"`
	Count   int      `json:"count"`
	Records []Record `json:"records"`
}

// ListAttendance fetches each employee's summary of the month of work, in the given order. freee names months by their
// payment, so it requests the following month for a person who is paid in the month after the work. If departments are
// given, employees outside of them are refused.
func (c *Freee) ListAttendance(ctx context.Context, year, month int, employees []Employee,
	departments []string) (Attendance, error) {
	company, err := c.company(ctx)
	if err != nil {
		return Attendance{}, err
	}
	if err := c.confined(ctx, company, employees, departments, monthOf(year, month)); err != nil {
		return Attendance{}, err
	}
	records := make([]Record, len(employees))
	asked, ctx := errgroup.WithContext(ctx)
	asked.SetLimit(parallel)
	for i, e := range employees {
		asked.Go(func() (err error) {
			records[i], err = c.record(ctx, company, year, month, e)
			return err
		})
	}
	if err := asked.Wait(); err != nil {
		return Attendance{}, err
	}
	return Attendance{Year: year, Month: month, Period: Period(records), Count: len(records), Records: records}, nil
}

// record returns an employee's summary of the month of work, which it recognizes by the dates that freee counted. The
// month of payment may have changed or be unknown. So if the summary is of the previous or next month, record fetches
// once more, with the other month of payment. A summary of any other month is refused.
func (c *Freee) record(ctx context.Context, company int64, year, month int, e Employee) (Record, error) {
	asked := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	paid := asked
	if e.PaidNextMonth {
		paid = paid.AddDate(0, 1, 0)
	}
	var r Record
	for attempt := 0; ; attempt++ {
		r = Record{}
		path := fmt.Sprintf("/employees/%d/work_record_summaries/%d/%d?company_id=%d&work_records=false", e.ID, paid.Year(),
			paid.Month(), company)
		if err := c.wire.Read(ctx, path, &r); err != nil {
			return Record{}, err
		}
		r.EmployeeID, r.Num, r.DisplayName = e.ID, e.Num, e.DisplayName
		of, ok := r.month()
		switch beside := (asked.Year()-of.Year())*12 + int(asked.Month()) - int(of.Month()); {
		case ok && beside == 0:
			return r, nil
		case ok && attempt == 0 && (beside == 1 || beside == -1):
			paid = paid.AddDate(0, beside, 0)
		default:
			return Record{}, explain.Fail(explain.ProblemPeriod, errors.New("a summary is of another month"),
				explain.Freee, fmt.Sprint(e.ID), asked.Format("2006-01"), wire.Short(r.StartDate), wire.Short(r.EndDate))
		}
	}
}

// month returns the month in which a summary's days end. It reports false if the days don't make a month.
func (r Record) month() (time.Time, bool) {
	start, err1 := time.Parse(time.DateOnly, r.StartDate)
	end, err2 := time.Parse(time.DateOnly, r.EndDate)
	if err1 != nil || err2 != nil || end.Before(start) || end.Sub(start) > 31*24*time.Hour {
		return time.Time{}, false
	}
	return time.Date(end.Year(), end.Month(), 1, 0, 0, 0, 0, time.UTC), true
}

// Period returns the days that records count, as a text. Employees with different closing days have different periods.
func Period(records []Record) string {
	var all []string
	for _, r := range records {
		if p := r.StartDate + " – " + r.EndDate; r.EndDate != "" && !slices.Contains(all, p) {
			all = append(all, p)
		}
	}
	slices.Sort(all)
	if more := len(all) - maxPeriods; more > 0 {
		all = append(all[:maxPeriods], fmt.Sprintf("… +%d", more))
	}
	return strings.Join(all, ", ")
}

// maxPeriods is how many periods are listed. A company has only a few closing days.
const maxPeriods = 5

// The marks of a row: the highest limit that its month exceeds.
const (
	over45h  = "> 45h"
	over80h  = "> 80h" // in a single month
	over100h = "≥ 100h"
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
	Flag               string  `json:"flag"` // a mark, empty within all limits
}

// Result has everybody's month. A person above 80 hours is also counted above 45.
type Result struct {
	Mode               string  `json:"mode"`
	Count              int     `json:"count"`
	Period             string  `json:"period"`
	Over45h            int     `json:"over_45h"`
	Over80h            int     `json:"over_80h"`
	Over100h           int     `json:"over_100h"`
	TotalOvertimeHours float64 `json:"total_overtime_hours"`
	Note               string  `json:"note"` // what is not judged
	Rows               []Row   `json:"rows"`
}

// Calculate judges everybody's month, in the order of the records.
//
// Overtime here is work beyond the agreed hours: within the legal day (freee's excess_statutory) plus beyond it
// (overtime_except_normal, and for discretionary work overtime_within_normal). The limits of Article 36 of the Labour
// Standards Act (労働基準法第36条) count only work beyond the legal hours:
//
//   - 45 hours a month, without work on legal holidays: paragraph 4. An agreement with special clauses may exceed it in
//     at most six months (paragraph 5). So a person who is marked need not be in breach.
//   - under 100 hours a month, including work on legal holidays: paragraph 6, item 2.
//
// The law's limits over several months (80 hours on average, six months a year above 45, 360 hours a year, 720 under
// special clauses) are not judged, and the result says so. Nor are the rules for single trades and for working hours
// averaged over a year.
func Calculate(records []Record, locale string) Result {
	out := Result{Mode: "calculate", Count: len(records), Period: Period(records), Rows: []Row{}, Note: notes.In(locale)}
	total := 0
	for _, r := range records {
		row := calculate(r)
		total += row.OvertimeMins
		switch row.Flag {
		case over100h:
			out.Over100h++
			fallthrough
		case over80h:
			out.Over80h++
			fallthrough
		case over45h:
			out.Over45h++
		}
		out.Rows = append(out.Rows, row)
	}
	out.TotalOvertimeHours = hours(total)
	return out
}

func calculate(r Record) Row {
	legal := r.TotalOvertimeExceptNormalWorkMins + r.TotalOvertimeWithinNormalWorkMins
	overtime := r.TotalExcessStatutoryWorkMins + legal
	row := Row{
		EmployeeID: r.EmployeeID, DisplayName: r.DisplayName, Period: Period([]Record{r}), WorkDays: r.WorkDays,
		WorkHours:    hours(r.TotalWorkMins),
		OvertimeMins: overtime, OvertimeHours: hours(overtime), LegalOvertimeMins: legal,
		LegalOvertimeHours: hours(legal),
		HolidayWorkHours:   hours(r.TotalHolidayWorkMins), LatenightWorkHours: hours(r.TotalLatenightWorkMins),
		Flag: mark(legal, r.TotalHolidayWorkMins),
	}
	if r.Num != nil {
		row.Num = *r.Num
	}
	return row
}

func mark(legal, holiday int) string {
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

func about(r Record, what string) string {
	return fmt.Sprintf("%s (%d): %s", r.DisplayName, r.EmployeeID, what)
}

// notes say which limits one month doesn't show.
var notes = language.InEach("1 か月分のため、複数月平均 80 時間、月 45 時間超は年 6 回まで、年 360 時間 (特別条項では 720 時間) の上限は判定できません。",
	"One month can't show these limits: 80 h on average over 2 to 6 months, at most 6 months a year above 45 h, 360 h a "+
		"year (720 h with special clauses).")
