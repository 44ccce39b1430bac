package freee

import (
	"context"
	"fmt"
	"maps"
	"ringi/shared/explain"
	"slices"
	"time"
)

// period is the days about which a question is, both included, as YYYY-MM-DD. As texts they are in order.
type period struct{ from, to string }

// asOf reads as_of: a day, a month as YYYY-MM, which means each of its days, or "" for today.
func (c *Client) asOf(tool, said string) (period, error) {
	if said == "" {
		return period{c.today(), c.today()}, nil
	}
	if day, err := time.Parse(time.DateOnly, said); err == nil {
		return period{day.Format(time.DateOnly), day.Format(time.DateOnly)}, nil
	}
	month, err := time.Parse("2006-01", said)
	if err != nil {
		return period{}, explain.Fail(explain.ProblemBadArguments, fmt.Errorf("as_of: %w", err), tool,
			"as_of must be a day that exists (2026-10-31) or a month (2026-10)")
	}
	return monthOf(month.Year(), int(month.Month())), nil
}

func monthOf(year, month int) period {
	first := time.Date(year, time.Month(month), 1, 0, 0, 0, 0, time.UTC)
	return period{first.Format(time.DateOnly), first.AddDate(0, 1, -1).Format(time.DateOnly)}
}

// meets reports whether the days from start to end have a day of the period. An empty start or end is open.
func (p period) meets(start, end string) bool {
	return start <= p.to && (end == "" || end >= p.from)
}

// employs reports whether a person was employed on a day of the period. Who leaves works until that day.
func (p period) employs(e Employee) bool {
	return p.meets(text(e.EntryDate), text(e.RetireDate))
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// membership is a person's time in a department.
type membership struct {
	Start  string  `json:"start_date"`
	End    *string `json:"end_date"`
	ID     int64   `json:"group_id"`
	Code   *string `json:"group_code"`
	Name   string  `json:"group_name"`
	Level  int     `json:"level"`
	Parent *int64  `json:"parent_group_id"`
}

// memberships returns who belonged to which departments in a period, by the employee's id. freee answers for one day
// only, so it is asked for the last day and then for the days before and after which that answer says somebody came,
// moved or left. It reads no other data of freee's about people.
func (c *Client) memberships(ctx context.Context, company int64, p period) (map[int64][]membership, error) {
	of := map[int64][]membership{}
	asked, ask := map[string]bool{}, []string{p.from, p.to}
	for len(ask) > 0 {
		day := ask[0]
		if ask = ask[1:]; asked[day] || day < p.from || day > p.to {
			continue
		}
		asked[day] = true
		err := pages("list_employees", func(offset int) (int, error) {
			var got struct {
				People []struct {
					ID     int64        `json:"id"`
					Entry  *string      `json:"entry_date"`
					Retire *string      `json:"retire_date"`
					Groups []membership `json:"group_memberships"`
				} `json:"employee_group_memberships"`
			}
			path := fmt.Sprintf("/employee_group_memberships?company_id=%d&base_date=%s&with_no_payroll_calculation=true&limit=%d&offset=%d",
				company, day, pageSize, offset)
			if err := c.wire.Read(ctx, path, &got); err != nil {
				return 0, err
			}
			for _, one := range got.People {
				ask = append(ask, text(one.Entry), text(one.Retire))
				for _, g := range one.Groups {
					ask = append(ask, g.Start, beside(g.Start, -1), text(g.End), beside(text(g.End), 1))
					if p.meets(g.Start, text(g.End)) && !slices.ContainsFunc(of[one.ID], g.is) {
						of[one.ID] = append(of[one.ID], g)
					}
				}
			}
			return len(got.People), nil
		})
		if err != nil {
			return nil, err
		}
	}
	return of, nil
}

func (g membership) is(other membership) bool { return g.ID == other.ID && g.Start == other.Start }

// beside returns the day before or after another, "" without one.
func beside(day string, by int) string {
	t, err := time.Parse(time.DateOnly, day)
	if err != nil {
		return ""
	}
	return t.AddDate(0, 0, by).Format(time.DateOnly)
}

// then adds to today's departments those that people belonged to by other names, or that are no more.
func then(all []group, of map[int64][]membership) []group {
	all = slices.Clip(all)
	for _, id := range slices.Sorted(maps.Keys(of)) {
		for _, g := range of[id] {
			if !slices.ContainsFunc(all, func(d group) bool { return d.ID == g.ID && d.Name == g.Name }) {
				all = append(all, group{ID: g.ID, Name: g.Name, Code: g.Code, Level: g.Level, Parent: g.Parent})
			}
		}
	}
	return all
}

// members returns the ids of employees who belonged in the period to departments with these names or codes, or to any
// below them. It returns false if there is no such department.
func (c *Client) members(ctx context.Context, company int64, all []group, names []string, p period) (
	ids map[int64]bool, known bool, err error) {
	of, err := c.memberships(ctx, company, p)
	if err != nil {
		return nil, false, err
	}
	within := below(then(all, of), names)
	ids = map[int64]bool{}
	for id, groups := range of {
		ids[id] = slices.ContainsFunc(groups, func(g membership) bool { return within[g.ID] })
	}
	return ids, len(within) > 0, nil
}

// peopled are the departments that people belonged to in the period, and those above them, in freee's order.
func (c *Client) peopled(ctx context.Context, company int64, all []group, p period) ([]group, error) {
	of, err := c.memberships(ctx, company, p)
	if err != nil {
		return nil, err
	}
	had := map[int64]bool{}
	for _, groups := range of {
		for _, g := range groups {
			had[g.ID] = true
		}
	}
	all = then(all, of)
	for grown := true; grown; {
		grown = false
		for _, d := range all {
			if had[d.ID] && d.Parent != nil && !had[*d.Parent] {
				had[*d.Parent], grown = true, true
			}
		}
	}
	return slices.DeleteFunc(all, func(d group) bool { return !had[d.ID] }), nil
}
