package freee

import (
	"context"
	"fmt"

	"ringi/shared/explain"
	"ringi/shared/tool/wire"
)

// pageSize is the most rows that freee returns at once.
const pageSize = 100

// maxPages is the most pages of a list. Their number of rows equals the catalog's max_rows.
const maxPages = 200

// Employee has the fields of a person that steps may read.
type Employee struct {
	ID          int64   `json:"id"`
	Num         *string `json:"num"`
	DisplayName string  `json:"display_name"`
	Email       *string `json:"email"`
	EntryDate   *string `json:"entry_date"`
	RetireDate  *string `json:"retire_date"`
	// PaidNextMonth says that a month's work is paid in the next month.
	PaidNextMonth bool `json:"paid_next_month"`
}

// Employees is the result of list_employees.
type Employees struct {
	Count     int        `json:"count"`
	Employees []Employee `json:"employees"`
}

// ListEmployees lists people in freee's order. asOf is a day, a month (whoever was there on one of its days) or "" for
// today. If a department's name or code is given, the list has the people who belonged then to that department and to
// those below it, or else to the whole company. activeOnly omits people who were not employed then.
func (c *Client) ListEmployees(ctx context.Context, activeOnly bool, department, asOf string) (Employees, error) {
	then, err := c.asOf("list_employees", asOf)
	if err != nil {
		return Employees{}, err
	}
	company, err := c.company(ctx)
	if err != nil {
		return Employees{}, err
	}
	var members map[int64]bool
	if department != "" {
		all, err := c.departments(ctx, company)
		if err != nil {
			return Employees{}, err
		}
		known := false
		if members, known, err = c.members(ctx, company, all, []string{department}, then); err != nil {
			return Employees{}, err
		}
		if !known {
			return Employees{}, unknown(department, all)
		}
	}
	out := Employees{Employees: []Employee{}}
	err = pages("list_employees", func(offset int) (int, error) {
		var got []struct {
			Employee
			MonthOfPayDay *string `json:"month_of_pay_day"`
		}
		path := fmt.Sprintf("/companies/%d/employees?limit=%d&offset=%d&with_no_payroll_calculation=true", company, pageSize,
			offset)
		if err := c.wire.Read(ctx, path, &got); err != nil {
			return 0, err
		}
		for _, e := range got {
			if activeOnly && !then.employs(e.Employee) || department != "" && !members[e.ID] {
				continue
			}
			if e.PaidNextMonth, err = paidNextMonth(e.MonthOfPayDay); err != nil {
				return 0, err
			}
			out.Employees = append(out.Employees, e.Employee)
		}
		return len(got), nil
	})
	if err != nil {
		return Employees{}, err
	}
	out.Count = len(out.Employees)
	return out, nil
}

// paidNextMonth reads month_of_pay_day: next_month in freee's schema, next in older answers, null for people whose pay
// freee does not compute. Any other value is an error, because the month would be a guess.
func paidNextMonth(said *string) (bool, error) {
	if said == nil {
		return false, nil
	}
	switch *said {
	case "current_month", "current":
		return false, nil
	case "next_month", "next":
		return true, nil
	}
	return false, explain.Fail(explain.ProblemPayMonth, nil, explain.Freee, wire.Short(*said))
}
