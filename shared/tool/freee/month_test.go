package freee_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool/freee"
	"ringi/shared/tool/wire"
)

// company answers with freee's published examples, in which a test replaces parts.
type company struct {
	api      vendors.PublishedAPI
	employee map[string]any
	// period returns the days that freee counts for a requested month of payment.
	period func(paid time.Time) (start, end string)
	asked  []string
}

func (c *company) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var out any
	switch parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/"); {
	case strings.HasSuffix(r.URL.Path, "/users/me"):
		me := c.api.Example("ApiV1UsersMeSerializer", nil)
		me["companies"] = []any{c.api.Example("ApiV1UsersCompanySerializer", map[string]any{"role": "company_admin"})}
		out = me
	case strings.HasSuffix(r.URL.Path, "/employees"):
		out = []any{c.api.Example("ApiV1CompaniesEmployeeSerializer", c.employee)}
	default:
		year, month := parts[len(parts)-2], parts[len(parts)-1]
		c.asked = append(c.asked, year+"/"+month)
		paid, err := time.Parse("2006/1", year+"/"+month)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		start, end := c.period(paid)
		out = c.api.Example("ApiV1EmployeesWorkRecordSummarySerializer", map[string]any{"start_date": start, "end_date": end})
	}
	_ = json.NewEncoder(w).Encode(out) // it fails only if the client is gone
}

// client makes a client of a company.
func client(t *testing.T, c *company) *freee.Client {
	t.Helper()
	var err error
	if c.api, err = vendors.Published("freee"); err != nil {
		t.Fatal(err)
	}
	s := httptest.NewServer(c)
	t.Cleanup(s.Close)
	nobody := func(context.Context) (string, error) { return "", nil }
	return freee.New(s.URL, tokens{}, nobody, wire.NewHTTP(), time.Now)
}

// closing returns the days up to the closing day that belong to a month of payment. before is 1 if people are paid in
// the month after the work.
func closing(day int, before int) func(time.Time) (string, string) {
	return func(paid time.Time) (string, string) {
		end := paid.AddDate(0, -before, day-1)
		if day == 31 {
			end = paid.AddDate(0, 1-before, -1)
			return paid.AddDate(0, -before, 0).Format(time.DateOnly), end.Format(time.DateOnly)
		}
		return end.AddDate(0, -1, 1).Format(time.DateOnly), end.Format(time.DateOnly)
	}
}

// ListAttendance returns the requested month of work, in whichever way freee writes or changes the month of payment.
func TestTheMonthIsTheOneThatWasAskedFor(t *testing.T) {
	for name, test := range map[string]struct {
		employee map[string]any
		period   func(time.Time) (string, string)
		want     string // expected days; empty: refused
		asked    string
	}{
		"as published: next_month":       {nil, closing(31, 1), "2026-02-01〜2026-02-28", "2026/3"},
		"current_month":                  {map[string]any{"month_of_pay_day": "current_month"}, closing(31, 0), "2026-02-01〜2026-02-28", "2026/2"},
		"next":                           {map[string]any{"month_of_pay_day": "next"}, closing(31, 1), "2026-02-01〜2026-02-28", "2026/3"},
		"current":                        {map[string]any{"month_of_pay_day": "current"}, closing(31, 0), "2026-02-01〜2026-02-28", "2026/2"},
		"nobody's pay, counted as next":  {map[string]any{"month_of_pay_day": nil}, closing(31, 1), "2026-02-01〜2026-02-28", "2026/2 2026/3"},
		"next, but not yet in February":  {nil, closing(31, 0), "2026-02-01〜2026-02-28", "2026/3 2026/2"},
		"closing on the 20th, paid next": {map[string]any{"closing_day": 20}, closing(20, 1), "2026-01-21〜2026-02-20", "2026/3"},
		"always January":                 {nil, func(time.Time) (string, string) { return "2026-01-01", "2026-01-31" }, "", "2026/3 2026/4"},
		"a year":                         {nil, func(time.Time) (string, string) { return "2025-03-01", "2026-02-28" }, "", "2026/3"},
		"no days":                        {nil, func(time.Time) (string, string) { return "", "" }, "", "2026/3"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &company{employee: test.employee, period: test.period}
			f := client(t, c)
			people := expect.Value(f.ListEmployees(t.Context(), true, "", ""))(t)
			got, err := f.ListAttendance(t.Context(), 2026, 2, people.Employees, nil)
			if e := (*explain.CallError)(nil); test.want == "" && (!errors.As(err, &e) || e.Problem != explain.ProblemPeriod) ||
				test.want != "" && err != nil {
				t.Errorf("%v", err)
			}
			if asked := strings.Join(c.asked, " "); got.Period != test.want || asked != test.asked {
				t.Errorf("counted %q, asked for %s", got.Period, asked)
			}
		})
	}
}

func TestAPaydayThatNobodyKnowsIsRefused(t *testing.T) {
	for _, said := range []string{"weekly", "", "NEXT_MONTH"} {
		c := &company{employee: map[string]any{"month_of_pay_day": said}}
		_, err := client(t, c).ListEmployees(t.Context(), true, "", "")
		var e *explain.CallError
		if !errors.As(err, &e) || e.Problem != explain.ProblemPayMonth ||
			!strings.Contains(explain.FailedCall("ja", e.Problem, e.Args...), fmt.Sprintf("「%s」", said)) {
			t.Errorf("%q: %v", said, err)
		}
	}
}

// Employees with different closing days have different periods, and all of them are named.
func TestPeriodsOfSeveralClosingDays(t *testing.T) {
	records := []freee.Record{{StartDate: "2026-02-01", EndDate: "2026-02-28"}, {StartDate: "2026-01-21", EndDate: "2026-02-20"}, {StartDate: "2026-02-01", EndDate: "2026-02-28"}}
	expect.Is(t, freee.Period(records), "2026-01-21〜2026-02-20, 2026-02-01〜2026-02-28")
	expect.Is(t, freee.Period(nil), "")
}
