package freee

import (
	"context"
	"fmt"
	"sync"
)

// parallel is how many employees are asked about at once: freee answers bursts with 403.
const parallel = 4

// Record is an employee's month as freee sums it up; minutes where it says mins.
type Record struct {
	EmployeeID  int64   `json:"employee_id"`
	Num         *string `json:"num"`
	DisplayName string  `json:"display_name"`
	// StartDate and EndDate are the days that freee counted: they follow the closing day.
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
	Count   int      `json:"count"`
	Records []Record `json:"records"`
}

// ListAttendance fetches each employee's summary of the month that was worked, in
// the order given. freee names months by when they are paid: a person who is paid
// in the month after is asked for by that month. When departments are given, nobody
// is asked about who belongs to none of them.
func (c *Client) ListAttendance(ctx context.Context, year, month int, employees []Employee, departments []string) (Attendance, error) {
	company, err := c.company(ctx)
	if err != nil {
		return Attendance{}, err
	}
	if err := c.confined(ctx, company, employees, departments); err != nil {
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
	return Attendance{Year: year, Month: month, Count: len(records), Records: records}, nil
}

func (c *Client) record(ctx context.Context, company int64, year, month int, e Employee) (Record, error) {
	payYear, payMonth := payMonth(year, month, e.PaidNextMonth)
	var r Record
	path := fmt.Sprintf("/employees/%d/work_record_summaries/%d/%d?company_id=%d&work_records=false", e.ID, payYear, payMonth, company)
	if err := c.wire.Read(ctx, path, &r); err != nil {
		return Record{}, err
	}
	r.EmployeeID, r.Num, r.DisplayName = e.ID, e.Num, e.DisplayName
	return r, nil
}

// payMonth is the month in which the work of a month is paid.
func payMonth(year, month int, next bool) (int, int) {
	switch {
	case !next:
		return year, month
	case month == 12:
		return year + 1, 1
	}
	return year, month + 1
}
