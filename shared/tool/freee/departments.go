package freee

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/failedcall"
	"ringi/shared/tool"
	"ringi/shared/tool/wire"
)

// group is a department in freee's words.
type group struct {
	ID     int64   `json:"id"`
	Name   string  `json:"name"`
	Code   *string `json:"code"`
	Level  int     `json:"level"`
	Parent *int64  `json:"parent_group_id"`
}

func (d group) called(name string) bool { return d.Name == name || d.Code != nil && *d.Code == name }

// maxDepartments is how many a list may have, as the catalog's max_rows says: freee gives all at once.
const maxDepartments = 5000

// Department is what steps may know of a department; Above is the name of the one that it belongs to.
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

// ListDepartments lists departments in freee's order: one, by its name or code and with those below it, or all of the
// company's when none is named. When a constraint lists departments, Above names none outside of them.
func (c *Client) ListDepartments(ctx context.Context, department string, listed []string) (Departments, error) {
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

// departments are all that the company has.
func (c *Client) departments(ctx context.Context, company int64) ([]group, error) {
	var all struct{ Groups []group }
	err := c.wire.Read(ctx, fmt.Sprintf("/groups?company_id=%d", company), &all)
	return all.Groups, err
}

// maxNamed is how much of the departments' names a sentence holds, in characters.
const maxNamed = 150

// unknown says that there is no department of that name, and names those that exist, for the next try.
func unknown(name string, all []group) *failedcall.Error {
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
	return failedcall.Fail(failedcall.ProblemNoDepartment, nil, failedcall.Freee, wire.Short(name), cmp.Or(listed, "—"))
}

// below are the departments of these names or codes, with all that are below them.
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

// members are the ids of those who belong today to departments of these names or codes, or to any below them. Nothing
// else that freee returns about people here is read.
func (c *Client) members(ctx context.Context, company int64, all []group,
	names []string) (ids map[int64]bool, err error) {
	within := below(all, names)
	ids = map[int64]bool{}
	err = pages("list_employees", func(offset int) (int, error) {
		var got struct {
			People []struct {
				ID     int64 `json:"id"`
				Groups []struct {
					ID int64 `json:"group_id"`
				} `json:"group_memberships"`
			} `json:"employee_group_memberships"`
		}
		path := fmt.Sprintf("/employee_group_memberships?company_id=%d&base_date=%s&with_no_payroll_calculation=true&limit=%d&offset=%d",
			company, c.today(), pageSize, offset)
		if err := c.wire.Read(ctx, path, &got); err != nil {
			return 0, err
		}
		for _, p := range got.People {
			for _, g := range p.Groups {
				if within[g.ID] {
					ids[p.ID] = true
				}
			}
		}
		return len(got.People), nil
	})
	return ids, err
}

// confined refuses employees who belong to none of the departments that a constraint allows.
func (c *Client) confined(ctx context.Context, company int64, employees []Employee, departments []string) error {
	if len(departments) == 0 {
		return nil
	}
	all, err := c.departments(ctx, company)
	if err != nil {
		return err
	}
	ids := map[int64]bool{}
	if slices.ContainsFunc(all, func(d group) bool { return slices.ContainsFunc(departments, d.called) }) {
		if ids, err = c.members(ctx, company, all, departments); err != nil {
			return err
		}
	}
	for _, e := range employees {
		if !ids[e.ID] {
			return tool.NotListed("list_attendance", tenancy.OnlyDepartments, fmt.Sprint(e.ID), departments)
		}
	}
	return nil
}

// pages reads a list up to the first page that is not full. read returns a page's length. A list that does not end is
// an error, since a part of it would look like the whole.
func pages(name string, read func(offset int) (int, error)) error {
	for page := range maxPages {
		n, err := read(page * pageSize)
		if err != nil || n < pageSize {
			return err
		}
	}
	return tooMany(name, maxPages*pageSize)
}

// tooMany says that a list has more than a tool gives.
func tooMany(name string, limit int) *failedcall.Error {
	return failedcall.Fail(failedcall.ProblemTooLarge, fmt.Errorf("there are more than %d", limit), name,
		fmt.Sprint(limit))
}

// today is the date in Japan.
func (c *Client) today() string { return c.now().In(tokyo()).Format("2006-01-02") }
