package freee

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

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
func (c *Client) ListAttendance(ctx context.Context, year, month int, employees []Employee,
	departments []string) (Attendance, error) {
	company, err := c.company(ctx)
	if err != nil {
		return Attendance{}, err
	}
	if err := c.confined(ctx, company, employees, departments, monthOf(year, month)); err != nil {
		return Attendance{}, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	records := make([]Record, len(employees))
	next := make(chan int)
	var workers sync.WaitGroup
	var once sync.Once
	for range min(parallel, len(employees)) {
		workers.Go(func() {
			for i := range next {
				r, e := c.record(ctx, company, year, month, employees[i])
				if e != nil {
					once.Do(func() { err = e; cancel(errCancelled) })
					continue
				}
				records[i] = r
			}
		})
	}
	for i := range employees {
		next <- i
	}
	close(next)
	workers.Wait()
	if err != nil {
		return Attendance{}, err
	}
	return Attendance{Year: year, Month: month, Period: Period(records), Count: len(records), Records: records}, nil
}

// record returns an employee's summary of the month of work, which it recognizes by the dates that freee counted. The
// month of payment may have changed or be unknown. So if the summary is of the previous or next month, record fetches
// once more, with the other month of payment. A summary of any other month is refused.
func (c *Client) record(ctx context.Context, company int64, year, month int, e Employee) (Record, error) {
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
		switch beside := monthsBetween(of, asked); {
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

func monthsBetween(from, to time.Time) int {
	return (to.Year()-from.Year())*12 + int(to.Month()) - int(from.Month())
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
//
// Overtime here is work beyond the agreed hours: within the legal day (freee's excess_statutory) plus beyond it
// (overtime_except_normal, and for discretionary work overtime_within_normal). The limits of Article 36 of the Labour
// Standards Act (労働基準法第36条) count only work beyond the legal hours:
//
//   - 45 hours a month and 360 hours a year, without work on legal holidays: paragraphs 3 and 4. An agreement with
//     special clauses may exceed both, in at most six months and up to 720 hours a year (paragraph 5). So a person who
//     is marked need not be in breach.
//   - under 100 hours a month, including work on legal holidays: paragraph 6, item 2.
//   - at most 80 hours on average over this month and the one to five before it, including work on legal holidays:
//     paragraph 6, item 3.
//
// A limit is not judged if it needs more months than were given, and the result says so. The year is the twelve months
// that end with this one; an agreement's year may begin in another month. The rules for single trades and for working
// hours averaged over a year are not known here.
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

// aYear is the most months that are judged.
const aYear = 12

// histories returns for each record the same person's previous months, latest first and up to the first gap. A record's
// month is the one in which the days that freee counted end.
func histories(records []Record, earlier [][]Record) (before [][]Record, problems []string) {
	before = make([][]Record, len(records))
	if len(earlier) == 0 {
		return before, nil
	}
	known := map[int64]map[int]Record{}
	for _, list := range earlier {
		for _, r := range list {
			month, err := monthOfOvertime(r)
			if err != nil {
				problems = append(problems, about(r, err.Error()))
				continue
			}
			if known[r.EmployeeID] == nil {
				known[r.EmployeeID] = map[int]Record{}
			}
			if _, twice := known[r.EmployeeID][month]; twice {
				problems = append(problems, about(r, named(month)+" twice"))
			}
			known[r.EmployeeID][month] = r
		}
	}
	for i, r := range records {
		month, err := monthOfOvertime(r)
		if err != nil {
			problems = append(problems, about(r, err.Error()))
			continue
		}
		for other := range known[r.EmployeeID] {
			if other == month {
				problems = append(problems, about(r, named(month)+" twice"))
			} else if other > month {
				problems = append(problems, about(r, fmt.Sprintf("%s is not before %s", named(other), named(month))))
			}
		}
		for n := 1; n < aYear; n++ {
			was, ok := known[r.EmployeeID][month-n]
			if !ok {
				break
			}
			before[i] = append(before[i], was)
		}
	}
	return before, problems
}

// monthOf numbers months consecutively.
func monthOfOvertime(r Record) (int, error) {
	end, err := time.Parse(time.DateOnly, r.EndDate)
	if err != nil {
		return 0, fmt.Errorf("end_date %q", r.EndDate)
	}
	return end.Year()*12 + int(end.Month()) - 1, nil
}

func named(month int) string { return fmt.Sprintf("%04d-%02d", month/12, month%12+1) }

func about(r Record, what string) string {
	return fmt.Sprintf("%s (%d): %s", r.DisplayName, r.EmployeeID, what)
}

// note says which limits can't be judged from so many months.
func note(locale string, months int) string {
	texts := language.InEach(
		[]string{
			"1 か月分のため、複数月平均 80 時間と年 360 時間の上限は判定できません。",
			"%d か月分で判定。年 360 時間は、この期間だけの合計で判定しています。",
			"%d か月分で判定。年 360 時間は直近 12 か月の合計です (36 協定の起算日とは異なることがあります)。",
		},
		[]string{
			"The multi-month limits (80 h on average, 360 h a year) need more than one month.",
			"Checked across %d months. The 360 h limit counts these months only.",
			"Checked across %d months. The 360 h limit counts the last 12 months, which may differ from your labor " +
				"agreement's year.",
		},
	).In(locale)
	one, some, all := texts[0], texts[1], texts[2]
	switch {
	case months == 1:
		return one
	case months < aYear:
		return fmt.Sprintf(some, months)
	}
	return fmt.Sprintf(all, months)
}
