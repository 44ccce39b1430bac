package runner

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/explain"
	"ringi/shared/tool/wire"
)

// Freee reads employees, departments, positions and attendance from freee HR for one tenant. It fetches no pay, bank
// or address data, and keeps only the fields that steps need.
type Freee struct {
	wire   wire.Client
	chosen func(context.Context) (string, error)
	now    func() time.Time
}

// NewFreee makes a client. base is the API's address up to and including /hr. chosen returns the id of the company that
// a person chose when connecting, empty for none.
func NewFreee(base string, tokens wire.Tokens, chosen func(context.Context) (string, error), http wire.HTTP,
	now func() time.Time) *Freee {
	return &Freee{
		chosen: chosen,
		wire: wire.Client{Provider: explain.Freee, Base: strings.TrimRight(base, "/") + "/api/v1", Tokens: tokens,
			HTTP: http, Explain: ofFreee},
		now: now,
	}
}

// company returns the id of the company to read: the chosen one, or else the first one that the token's owner
// administers, since only administrators may list employees.
func (c *Freee) company(ctx context.Context) (int64, error) {
	chosen, err := c.chosen(ctx)
	if err != nil {
		return 0, explain.Fail(explain.ProblemLocked, err, explain.Freee)
	}
	var me struct {
		Companies []struct {
			ID   int64  `json:"id"`
			Role string `json:"role"`
		} `json:"companies"`
	}
	if err := c.wire.Read(ctx, "/users/me", &me); err != nil {
		return 0, err
	}
	for _, company := range me.Companies {
		if company.Role == "company_admin" && (chosen == "" || chosen == strconv.FormatInt(company.ID, 10)) {
			return company.ID, nil
		}
	}
	return 0, explain.Fail(explain.ProblemNoCompany,
		fmt.Errorf("none of %d companies is administered by the token's owner; one was chosen: %t", len(me.Companies),
			chosen != ""),
		explain.Freee)
}

// ofFreee reads freee's errors, which have two forms: {status_code, errors: [{type, messages}]}, and the flat
// {error, message, code} of accessDeniedError. The codes are those of developer.freee.co.jp/tips/faq/40x-checkpoint,
// which freee returns with 401 and 403.
func ofFreee(_ int, body []byte) wire.Refusal {
	var e struct {
		Code    string `json:"code"`
		Message string `json:"message"`
		Errors  []struct {
			Type     string   `json:"type"`
			Messages []string `json:"messages"`
		} `json:"errors"`
	}
	_ = json.Unmarshal(body, &e) // an unreadable body has no message
	said, kinds := []string{}, []string{e.Code}
	if e.Message != "" {
		said = append(said, e.Message)
	}
	for _, x := range e.Errors {
		said, kinds = append(said, x.Messages...), append(kinds, x.Type)
	}
	r := wire.Refusal{Said: strings.Join(said, " ")}
	for _, kind := range kinds {
		switch kind {
		case "expired_access_token", "invalid_access_token", "re_authorization_required":
			r.Problem = explain.ProblemUnauthorized
		case "user_do_not_have_permission", "company_not_found", "freee_plan_limit", "source_ip_address_limit":
			r.Problem = explain.ProblemDenied
		case "too_many_requests", "rate_limit_exceeded":
			r.Problem = explain.ProblemRateLimited
		}
	}
	return r
}

// period is the days about which a question is, both included, as YYYY-MM-DD. As texts they are in order.
type period struct{ from, to string }

// asOf reads as_of: a day, a month as YYYY-MM, which means each of its days, or "" for today.
func (c *Freee) asOf(said string) (period, error) {
	if said == "" {
		return period{c.today(), c.today()}, nil
	}
	if day, err := time.Parse(time.DateOnly, said); err == nil {
		return period{day.Format(time.DateOnly), day.Format(time.DateOnly)}, nil
	}
	month, err := time.Parse("2006-01", said)
	if err != nil {
		return period{}, explain.Fail(explain.ProblemBadArguments, fmt.Errorf("as_of: %w", err), "list_employees",
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

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// members returns the ids of employees who belonged to one of these departments on the first or the last day of the
// period: freee answers for one day. It reads no other data of freee's about people.
func (c *Freee) members(ctx context.Context, company int64, within map[int64]bool, p period) (map[int64]bool, error) {
	ids := map[int64]bool{}
	for _, day := range slices.Compact([]string{p.from, p.to}) {
		err := pages(func(offset int) (int, error) {
			var got struct {
				People []struct {
					ID     int64 `json:"id"`
					Groups []struct {
						ID    int64   `json:"group_id"`
						Start string  `json:"start_date"`
						End   *string `json:"end_date"`
					} `json:"group_memberships"`
				} `json:"employee_group_memberships"`
			}
			path := fmt.Sprintf("/employee_group_memberships?company_id=%d&base_date=%s&with_no_payroll_calculation=true"+
				"&limit=%d&offset=%d", company, day, pageSize, offset)
			if err := c.wire.Read(ctx, path, &got); err != nil {
				return 0, err
			}
			for _, one := range got.People {
				for _, g := range one.Groups {
					ids[one.ID] = ids[one.ID] || within[g.ID] && p.meets(g.Start, text(g.End))
				}
			}
			return len(got.People), nil
		})
		if err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// Validated is the result for records without a problem.
type Validated struct {
	Mode  string `json:"mode"`
	Count int    `json:"count"`
}

const minutesOfAMonth = 31 * 24 * 60

// Validate reports impossible records of a month: no records at all, a person twice, days that don't exist, values that
// are negative or too large, parts larger than the whole.
func Validate(records []Record) (problems []string) {
	if len(records) == 0 {
		return []string{"no records"}
	}
	seen := map[int64]bool{}
	for _, r := range records {
		for _, p := range validate(r) {
			problems = append(problems, about(r, p))
		}
		if seen[r.EmployeeID] {
			problems = append(problems, about(r, "twice"))
		}
		seen[r.EmployeeID] = true
	}
	return problems
}

func validate(r Record) (problems []string) {
	start, err1 := time.Parse(time.DateOnly, r.StartDate)
	end, err2 := time.Parse(time.DateOnly, r.EndDate)
	if err1 != nil || err2 != nil || end.Before(start) {
		problems = append(problems, fmt.Sprintf("start_date %q, end_date %q", r.StartDate, r.EndDate))
	}
	if r.WorkDays < 0 || r.WorkDays > 31 {
		problems = append(problems, fmt.Sprintf("work_days %v", r.WorkDays))
	}
	for _, m := range []struct {
		name string
		mins int
	}{
		{"total_work_mins", r.TotalWorkMins},
		{"total_normal_work_mins", r.TotalNormalWorkMins},
		{"total_excess_statutory_work_mins", r.TotalExcessStatutoryWorkMins},
		{"total_overtime_except_normal_work_mins", r.TotalOvertimeExceptNormalWorkMins},
		{"total_overtime_within_normal_work_mins", r.TotalOvertimeWithinNormalWorkMins},
		{"total_holiday_work_mins", r.TotalHolidayWorkMins},
		{"total_latenight_work_mins", r.TotalLatenightWorkMins},
	} {
		switch {
		case m.mins < 0 || m.mins > minutesOfAMonth:
			problems = append(problems, fmt.Sprintf("%s %d", m.name, m.mins))
		case m.mins > r.TotalWorkMins:
			problems = append(problems, fmt.Sprintf("%s %d > total_work_mins %d", m.name, m.mins, r.TotalWorkMins))
		}
	}
	return problems
}
