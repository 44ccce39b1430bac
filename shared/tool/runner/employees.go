package runner

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool"
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
// today. If a department's name or code is given, the list has the people who belonged to that department, or to one
// below it, when that time began or ended, or else to the whole company. activeOnly omits people who were not employed
// then.
func (c *Freee) ListEmployees(ctx context.Context, activeOnly bool, department, asOf string) (Employees, error) {
	then, err := c.asOf(asOf)
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
		within := below(all, []string{department})
		if len(within) == 0 {
			return Employees{}, unknown(department, all)
		}
		if members, err = c.members(ctx, company, within, then); err != nil {
			return Employees{}, err
		}
	}
	out := Employees{Employees: []Employee{}}
	err = pages(func(offset int) (int, error) {
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
			// who leaves works until that day
			if activeOnly && !then.meets(text(e.EntryDate), text(e.RetireDate)) || department != "" && !members[e.ID] {
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

// group is a department, which freee calls a group.
type group struct {
	ID     int64   `json:"id"`
	Name   string  `json:"name"`
	Code   *string `json:"code"`
	Level  int     `json:"level"`
	Parent *int64  `json:"parent_group_id"`
}

func (d group) called(name string) bool { return d.Name == name || d.Code != nil && *d.Code == name }

// maxDepartments is the most departments of a list, equal to the catalog's max_rows. freee returns all of them at once.
const maxDepartments = 5000

// Department has the fields of a department that steps may read. Above is the name of its parent.
type Department struct {
	ID    int64   `json:"id"`
	Code  *string `json:"code"`
	Name  string  `json:"name"`
	Level int     `json:"level"`
	Above *string `json:"above"`
}

// Departments is the result of list_departments.
type Departments struct {
	Count       int          `json:"count"`
	Departments []Department `json:"departments"`
}

// ListDepartments lists departments in freee's order. If a name or code is given, the list has that department and
// those below it, or else all of the company's. If a constraint lists departments, Above names only those.
func (c *Freee) ListDepartments(ctx context.Context, department string, listed []string) (Departments, error) {
	company, err := c.company(ctx)
	if err != nil {
		return Departments{}, err
	}
	all, err := c.departments(ctx, company)
	if err != nil {
		return Departments{}, err
	}
	within := below(all, []string{department})
	if department != "" && len(within) == 0 {
		return Departments{}, unknown(department, all)
	}
	nameable := below(all, listed)
	out := Departments{Departments: []Department{}}
	for _, d := range all {
		if department != "" && !within[d.ID] {
			continue
		}
		one := Department{ID: d.ID, Code: d.Code, Name: d.Name, Level: d.Level}
		if i := slices.IndexFunc(all, func(x group) bool { return d.Parent != nil && x.ID == *d.Parent }); i >= 0 &&
			(len(listed) == 0 || nameable[all[i].ID]) {
			one.Above = &all[i].Name
		}
		out.Departments = append(out.Departments, one)
	}
	if out.Count = len(out.Departments); out.Count > maxDepartments {
		return Departments{}, tooMany("list_departments", maxDepartments)
	}
	return out, nil
}

func (c *Freee) departments(ctx context.Context, company int64) ([]group, error) {
	var all struct{ Groups []group }
	err := c.wire.Read(ctx, fmt.Sprintf("/groups?company_id=%d", company), &all)
	return all.Groups, err
}

// maxNamed is how many characters of department names an error message has.
const maxNamed = 150

// unknown returns the error that no department has that name. It lists existing departments for the next attempt.
func unknown(name string, all []group) *explain.CallError {
	var names []string
	used := 0
	for _, d := range all {
		if used += utf8.RuneCountInString(d.Name) + 2; used > maxNamed {
			break
		}
		names = append(names, d.Name)
	}
	listed := strings.Join(names, ", ")
	if left := len(all) - len(names); left > 0 {
		listed += fmt.Sprintf(" … (+%d)", left)
	}
	return explain.Fail(explain.ProblemNoDepartment, nil, explain.Freee, wire.Short(name), cmp.Or(listed, "—"))
}

// below returns the departments with these names or codes, and all departments below them.
func below(all []group, names []string) map[int64]bool {
	within := map[int64]bool{}
	for _, d := range all {
		if slices.ContainsFunc(names, d.called) {
			within[d.ID] = true
		}
	}
	for grown := true; grown; {
		grown = false
		for _, d := range all {
			if d.Parent != nil && within[*d.Parent] && !within[d.ID] {
				within[d.ID], grown = true, true
			}
		}
	}
	return within
}

// confined refuses employees who belonged in the period to none of the departments that a constraint allows.
func (c *Freee) confined(ctx context.Context, company int64, employees []Employee, departments []string,
	p period) error {
	if len(departments) == 0 {
		return nil
	}
	all, err := c.departments(ctx, company)
	if err != nil {
		return err
	}
	ids, err := c.members(ctx, company, below(all, departments), p)
	if err != nil {
		return err
	}
	for _, e := range employees {
		if !ids[e.ID] {
			return tool.NotListed("list_attendance", tenancy.OnlyDepartments, fmt.Sprint(e.ID), departments)
		}
	}
	return nil
}

// pages reads a list up to the first incomplete page. read returns a page's length. A list without an end is an error,
// because a part of it would look like the complete list.
func pages(read func(offset int) (int, error)) error {
	for page := range maxPages {
		n, err := read(page * pageSize)
		if err != nil || n < pageSize {
			return err
		}
	}
	return tooMany("list_employees", maxPages*pageSize)
}

// tooMany returns the error that a list is longer than a tool returns.
func tooMany(name string, limit int) *explain.CallError {
	return explain.Fail(explain.ProblemTooLarge, fmt.Errorf("there are more than %d", limit), name,
		fmt.Sprint(limit))
}

func (c *Freee) today() string { return c.now().In(tenancy.Zone()).Format("2006-01-02") }

// maxPositions is the most positions of a list, equal to the catalog's max_rows. freee returns all of them at once.
const maxPositions = 5000

// Position has the fields of a position that steps may read.
type Position struct {
	ID   int64   `json:"id"`
	Code *string `json:"code"`
	Name string  `json:"name"`
}

// Positions is the result of list_positions.
type Positions struct {
	Count     int        `json:"count"`
	Positions []Position `json:"positions"`
}

// ListPositions lists the company's positions in freee's order.
func (c *Freee) ListPositions(ctx context.Context) (Positions, error) {
	company, err := c.company(ctx)
	if err != nil {
		return Positions{}, err
	}
	out := Positions{Positions: []Position{}}
	if err := c.wire.Read(ctx, fmt.Sprintf("/positions?company_id=%d", company), &out); err != nil {
		return Positions{}, err
	}
	if out.Count = len(out.Positions); out.Count > maxPositions {
		return Positions{}, tooMany("list_positions", maxPositions)
	}
	return out, nil
}
