package freee

import (
	"context"
	"fmt"

	"ringi/shared/task"
	"ringi/shared/tool"
)

// group is a department in freee's words.
type group struct {
	ID     int64   `json:"id"`
	Name   string  `json:"name"`
	Code   *string `json:"code"`
	Parent *int64  `json:"parent_group_id"`
}

func (d group) called(name string) bool { return d.Name == name || d.Code != nil && *d.Code == name }

// members are the ids of those who belong today to departments of these names or
// codes, or to any below them; found counts the names that freee knows. What else
// freee says of people here is not read.
func (c *Client) members(ctx context.Context, company int64, names []string) (ids map[int64]bool, found int, err error) {
	var all struct {
		Groups []group `json:"groups"`
	}
	if err := c.wire.Read(ctx, fmt.Sprintf("/groups?company_id=%d", company), &all); err != nil {
		return nil, 0, err
	}
	within := map[int64]bool{}
	for _, name := range names {
		known := false
		for _, d := range all.Groups {
			if d.called(name) {
				within[d.ID], known = true, true
			}
		}
		if known {
			found++
		}
	}
	for grown := true; grown; {
		grown = false
		for _, d := range all.Groups {
			if d.Parent != nil && within[*d.Parent] && !within[d.ID] {
				within[d.ID], grown = true, true
			}
		}
	}
	ids = map[int64]bool{}
	if len(within) == 0 {
		return ids, found, nil
	}
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
	return ids, found, err
}

// confined refuses employees who belong to none of the departments that a constraint allows.
func (c *Client) confined(ctx context.Context, company int64, employees []Employee, departments []string) error {
	if len(departments) == 0 {
		return nil
	}
	ids, _, err := c.members(ctx, company, departments)
	if err != nil {
		return err
	}
	for _, e := range employees {
		if !ids[e.ID] {
			return tool.NotListed("list_attendance", task.OnlyDepartments, fmt.Sprint(e.ID), departments)
		}
	}
	return nil
}

// pages reads a list until a page is not full; read returns how many it has found.
// A list that does not end is an error: a part of it would look like the whole.
func pages(name string, read func(offset int) (int, error)) error {
	for page := range maxPages {
		n, err := read(page * pageSize)
		if err != nil || n < pageSize {
			return err
		}
	}
	return &tool.Error{
		Outcome: tool.Failed, Problem: tool.ProblemTooLarge, Args: []any{name, fmt.Sprint(maxPages * pageSize)},
		Err: fmt.Errorf("%d pages are full", maxPages),
	}
}

// today is the date in Japan.
func (c *Client) today() string { return c.now().In(tokyo()).Format("2006-01-02") }
