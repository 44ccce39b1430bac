package freee

import (
	"context"
	"fmt"
)

// pageSize is the most that freee returns at once.
const pageSize = 100

// maxPages ends a listing that never ends.
const maxPages = 200

// Employee is what steps may know of a person.
type Employee struct {
	ID          int64   `json:"id"`
	Num         *string `json:"num"`
	DisplayName string  `json:"display_name"`
	Email       *string `json:"email"`
	EntryDate   *string `json:"entry_date"`
	RetireDate  *string `json:"retire_date"`
	// PaidNextMonth: the work of a month is paid in the month after.
	PaidNextMonth bool `json:"paid_next_month"`
}

// Employees is the result of list_employees.
type Employees struct {
	Count     int        `json:"count"`
	Employees []Employee `json:"employees"`
}

// ListEmployees lists the company's people in freee's order. Who is active has
// not retired before today, in Japan.
func (c *Client) ListEmployees(ctx context.Context, activeOnly bool) (Employees, error) {
	company, err := c.company(ctx)
	if err != nil {
		return Employees{}, err
	}
	today := c.now().In(tokyo()).Format("2006-01-02")
	out := Employees{Employees: []Employee{}}
	for page := range maxPages {
		var got []struct {
			Employee
			MonthOfPayDay string `json:"month_of_pay_day"` // current or next
		}
		path := fmt.Sprintf("/companies/%d/employees?limit=%d&offset=%d&with_no_payroll_calculation=true", company, pageSize, page*pageSize)
		if err := c.wire.Read(ctx, path, &got); err != nil {
			return Employees{}, err
		}
		for _, e := range got {
			if activeOnly && e.RetireDate != nil && *e.RetireDate < today {
				continue
			}
			e.PaidNextMonth = e.MonthOfPayDay == "next"
			out.Employees = append(out.Employees, e.Employee)
		}
		if len(got) < pageSize {
			break
		}
	}
	out.Count = len(out.Employees)
	return out, nil
}
