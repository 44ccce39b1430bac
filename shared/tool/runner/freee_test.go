package runner_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/tool/runner"
	"ringi/shared/tool/wire"
)

// An incomplete list must not look complete.
func TestAListThatDoesNotEnd(t *testing.T) {
	pages := 0
	s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body := `{"companies":[{"id":1,"role":"company_admin"}]}`
		if strings.HasSuffix(r.URL.Path, "/employees") {
			pages++
			body = "[" + strings.TrimSuffix(strings.Repeat(`{"id":7},`, 100), ",") + "]"
		}
		_, _ = w.Write([]byte(body))
	}))
	_, err := freee(s.URL).ListEmployees(t.Context(), true, "", "")
	var e *explain.CallError
	expect.That(t, errors.As(err, &e) && e.Problem == explain.ProblemTooLarge && e.Outcome == explain.CallFailed &&
		pages == 200, "%v after %d pages", err, pages)
}

// The bodies follow freee's schema. Codes that its example lacks are from freee's page about 4xx errors.
func TestWhatFreeesRefusalsMean(t *testing.T) {
	api := expect.Value(vendors.Published("freee"))(t)
	flat := func(code string) map[string]any {
		return api.Example("accessDeniedError", map[string]any{"code": code})
	}
	const denied = "アクセスする権限がありません"
	for name, test := range map[string]struct {
		status  int
		body    map[string]any
		problem explain.Problem
		said    string
	}{
		"403 as published: the token expired": {403, api.Example("accessDeniedError", nil), explain.ProblemUnauthorized, ""},
		"401 with the same body":              {401, api.Example("accessDeniedError", nil), explain.ProblemUnauthorized, ""},
		"401 as published":                    {401, api.Example("unauthorizedError", nil), explain.ProblemUnauthorized, ""},
		"the app asks for more":               {401, flat("re_authorization_required"), explain.ProblemUnauthorized, ""},
		"a person without permission":         {401, flat("user_do_not_have_permission"), explain.ProblemDenied, denied},
		"a plan without the API":              {403, flat("freee_plan_limit"), explain.ProblemDenied, denied},
		"403 that tells nothing":              {403, api.Example("forbiddenError", nil), explain.ProblemForbidden, ""},
		"bad arguments":                       {400, api.Example("error", nil), explain.ProblemRejected, "リクエストの形式が不正です。"},
	} {
		s := expect.Server(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(test.status)
			_ = json.NewEncoder(w).Encode(test.body) // it fails only if the client is gone
		}))
		_, err := freee(s.URL).ListPositions(t.Context())
		e, is := errors.AsType[*explain.CallError](err)
		expect.Must(t, is && e.Problem == test.problem && e.Outcome == explain.CallFailed, "%s: %v", name, err)
		expect.Has(t, explain.FailedCall("ja", e.Problem, e.Args...), test.said, name)
	}
}

// freee makes a client whose token can't be renewed, of nobody's company.
func freee(address string) *runner.Freee {
	chosen := func(context.Context) (string, error) { return "", nil }
	return runner.NewFreee(address, token("token"), chosen, wire.NewHTTP(), time.Now)
}

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
func client(t *testing.T, c *company) *runner.Freee {
	t.Helper()
	var err error
	if c.api, err = vendors.Published("freee"); err != nil {
		t.Fatal(err)
	}
	s := expect.Server(t, c)
	return freee(s.URL)
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
		"as published: next_month": {nil, closing(31, 1), "2026-02-01 – 2026-02-28", "2026/3"},
		"current_month": {map[string]any{"month_of_pay_day": "current_month"}, closing(31, 0),
			"2026-02-01 – 2026-02-28", "2026/2"},
		"next":    {map[string]any{"month_of_pay_day": "next"}, closing(31, 1), "2026-02-01 – 2026-02-28", "2026/3"},
		"current": {map[string]any{"month_of_pay_day": "current"}, closing(31, 0), "2026-02-01 – 2026-02-28", "2026/2"},
		"nobody's pay, counted as next": {map[string]any{"month_of_pay_day": nil}, closing(31, 1), "2026-02-01 – 2026-02-28",
			"2026/2 2026/3"},
		"next, but not yet in February": {nil, closing(31, 0), "2026-02-01 – 2026-02-28", "2026/3 2026/2"},
		"closing on the 20th, paid next": {map[string]any{"closing_day": 20}, closing(20, 1), "2026-01-21 – 2026-02-20",
			"2026/3"},
		"always January": {nil, func(time.Time) (string, string) { return "2026-01-01", "2026-01-31" }, "", "2026/3 2026/4"},
		"a year":         {nil, func(time.Time) (string, string) { return "2025-03-01", "2026-02-28" }, "", "2026/3"},
		"no days":        {nil, func(time.Time) (string, string) { return "", "" }, "", "2026/3"},
	} {
		t.Run(name, func(t *testing.T) {
			c := &company{employee: test.employee, period: test.period}
			f := client(t, c)
			people := expect.Value(f.ListEmployees(t.Context(), true, "", ""))(t)
			got, err := f.ListAttendance(t.Context(), 2026, 2, people.Employees, nil)
			e := (*explain.CallError)(nil)
			expect.That(t, (test.want != "" || errors.As(err, &e) && e.Problem == explain.ProblemPeriod) &&
				(test.want == "" || err == nil), "%v", err)
			asked := strings.Join(c.asked, " ")
			expect.That(t, got.Period == test.want && asked == test.asked, "counted %q, asked for %s", got.Period, asked)
		})
	}
}

func TestAPaydayThatNobodyKnowsIsRefused(t *testing.T) {
	for _, said := range []string{"weekly", "", "NEXT_MONTH"} {
		c := &company{employee: map[string]any{"month_of_pay_day": said}}
		_, err := client(t, c).ListEmployees(t.Context(), true, "", "")
		var e *explain.CallError
		expect.That(t, errors.As(err, &e) && e.Problem == explain.ProblemPayMonth &&
			strings.Contains(explain.FailedCall("ja", e.Problem, e.Args...), fmt.Sprintf("「%s」", said)), "%q: %v", said,
			err)
	}
}

func record(id int64, excess, legal, within, holiday int) runner.Record {
	return runner.Record{EmployeeID: id, DisplayName: "a", StartDate: "2026-03-01", EndDate: "2026-03-31", WorkDays: 20,
		TotalWorkMins: 20000, TotalExcessStatutoryWorkMins: excess, TotalOvertimeExceptNormalWorkMins: legal,
		TotalOvertimeWithinNormalWorkMins: within, TotalHolidayWorkMins: holiday}
}

func TestLimits(t *testing.T) {
	for name, test := range map[string]struct {
		r    runner.Record
		want string
		mins int
	}{
		"none":                    {record(1, 0, 0, 0, 0), "", 0},
		"45 hours are allowed":    {record(1, 0, 45*60, 0, 0), "", 45 * 60},
		"a minute more is marked": {record(1, 0, 45*60+1, 0, 0), "> 45h", 45*60 + 1},
		"hours within the legal day do not count": {record(1, 600, 45*60, 0, 0), "", 45*60 + 600},
		"discretionary work does":                 {record(1, 0, 40*60, 6*60, 0), "> 45h", 46 * 60},
		"holidays do not count to 45":             {record(1, 0, 44*60, 0, 10*60), "", 44 * 60},
		"holidays count to 80":                    {record(1, 0, 70*60, 0, 10*60+1), "> 80h", 70 * 60},
		"80 with holidays are allowed":            {record(1, 0, 40*60, 0, 40*60), "", 40 * 60},
		"100 is too much":                         {record(1, 0, 92*60, 0, 8*60), "≥ 100h", 92 * 60},
		"a minute less is above 80":               {record(1, 0, 92*60, 0, 8*60-1), "> 80h", 92 * 60},
	} {
		t.Run(name, func(t *testing.T) {
			row := runner.Calculate([]runner.Record{test.r}, "en").Rows[0]
			expect.That(t, row.Flag == test.want && row.OvertimeMins == test.mins,
				"%q %d, want %q %d", row.Flag, row.OvertimeMins, test.want, test.mins)
		})
	}
}

func TestCounts(t *testing.T) {
	r := runner.Calculate([]runner.Record{record(1, 0, 50*60, 0, 0), record(2, 0, 90*60, 0, 0),
		record(3, 0, 100*60, 0, 0), record(4, 20, 0, 0, 0)}, "en")
	for _, limit := range []string{"80 h", "6 months", "360 h", "720 h"} {
		expect.Has(t, r.Note, limit, "a limit that a month doesn't show")
	}
	expect.That(t, r.Count == 4 && r.Over45h == 3 && r.Over80h == 2 && r.Over100h == 1 && r.TotalOvertimeHours == 240.33,
		"%+v", r)
}

func TestValidateFindsWhatCannotBe(t *testing.T) {
	p := runner.Validate([]runner.Record{record(1, 10, 10, 0, 0), record(2, 0, 0, 0, 0)})
	expect.That(t, len(p) == 0, "sound records: %v", p)
	for name, test := range map[string]struct {
		change func(*runner.Record)
		want   string
	}{
		"negative":          {func(r *runner.Record) { r.TotalHolidayWorkMins = -1 }, "total_holiday_work_mins -1"},
		"more than a month": {func(r *runner.Record) { r.TotalWorkMins = 44_641 }, "total_work_mins 44641"},
		"part above whole": {func(r *runner.Record) { r.TotalNormalWorkMins = 20_001 },
			"total_normal_work_mins 20001 > total_work_mins 20000"},
		"32 days":     {func(r *runner.Record) { r.WorkDays = 32 }, "work_days 32"},
		"no dates":    {func(r *runner.Record) { r.StartDate = "" }, `start_date ""`},
		"ends before": {func(r *runner.Record) { r.EndDate = "2026-02-01" }, `end_date "2026-02-01"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(1, 0, 0, 0, 0)
			test.change(&r)
			p := runner.Validate([]runner.Record{r})
			expect.That(t, len(p) == 1 && strings.Contains(p[0], test.want), "%q, want %q", p, test.want)
		})
	}
	expect.Is(t, len(runner.Validate(nil)), 1, "nobody at all")
	p = runner.Validate([]runner.Record{record(1, 0, 0, 0, 0), record(1, 0, 0, 0, 0)})
	expect.That(t, len(p) == 1 && strings.Contains(p[0], "twice"), "a person twice: %v", p)
}

func TestListEmployees(t *testing.T) {
	w := newWorld(t)
	var active, all struct {
		Count     int
		Employees []map[string]any
	}
	w.run(t, "list_employees", listArgs, &active)
	w.run(t, "list_employees", `{"department":null,"status":"all"}`, &all)
	expect.Must(t, active.Count == 42 && len(active.Employees) == 42 && all.Count == 45,
		"%d active, %d in all", active.Count, all.Count)
	var fields []string
	for name := range active.Employees[0] {
		fields = append(fields, name)
	}
	slices.Sort(fields)
	expect.Is(t, strings.Join(fields, " "), "display_name email entry_date id num paid_next_month retire_date", "kept")
}

func TestDepartments(t *testing.T) {
	w := newWorld(t)
	hr := `{"id":701,"code":"HR","name":"人事部","level":1,"above":null}`
	sales := `{"id":702,"code":"Sales","name":"営業部","level":1,"above":null}`
	engineering := `{"id":703,"code":"Engineering","name":"開発部","level":1,"above":null}`
	first := `{"id":704,"code":"Sales 1","name":"第一営業課","level":2,"above":"営業部"}`
	list := func(all ...string) string {
		return fmt.Sprintf(`{"count":%d,"departments":[%s]}`, len(all), strings.Join(all, ","))
	}
	for args, want := range map[string]string{
		`{"department":null}`:    list(hr, sales, engineering, first),
		`{"department":"Sales"}`: list(sales, first),
		`{"department":"第一営業課"}`: list(first),
	} {
		var got json.RawMessage
		if w.run(t, "list_departments", args, &got); string(got) != want {
			t.Errorf("%s: %s", args, got)
		}
	}
	e := w.refuse(t, "list_departments", `{"department":"宇宙部"}`)
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemNoDepartment, "%v: %s", e, e.Detail)
	var got json.RawMessage
	w.run(t, "list_positions", `{}`, &got)
	expect.Same(t, `{"count":3,"positions":[{"id":801,"code":"MGR","name":"部長"},`+
		`{"id":802,"code":"CHIEF","name":"課長"},{"id":803,"code":null,"name":"主任"}]}`, string(got))
}

// If a constraint excludes a department, a list does not show its name as the parent of another one.
func TestDepartmentsNameNoneOutsideOfAConstraint(t *testing.T) {
	w := newWorld(t)
	for listed, above := range map[string]string{"第一営業課": `null`, "営業部": `"営業部"`} {
		got, err := w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: "list_departments",
			Arguments: given(`{"department":"第一営業課"}`), Locale: "ja",
			Bounds: tenancy.Constraints{Departments: []string{listed, "第一営業課"}}})
		want := `{"count":1,"departments":[{"id":704,"code":"Sales 1","name":"第一営業課","level":2,"above":` + above + `}]}`
		expect.That(t, err == nil && string(got) == want, "%s: %s, %v", listed, got, err)
	}
}

// Who was employed in a month, and in which department, is asked as of that month, whatever has changed since.
func TestWhoWasThereThen(t *testing.T) {
	w := newWorld(t)
	w.vendors.AddPeople(
		vendors.Person{Name: "A", Entry: "2020-04-01", Departments: [][2]string{{"2020-04-01", "Sales"}}},
		vendors.Person{Name: "B", Entry: "2020-04-01", Retire: "2026-10-31", Departments: [][2]string{{"2020-04-01", "HR"}}},
		vendors.Person{Name: "C", Entry: "2026-11-02", Departments: [][2]string{{"2026-11-02", "Sales"}}},
		vendors.Person{Name: "D", Entry: "2021-04-01", Departments: [][2]string{{"2021-04-01", "Sales"},
			{"2026-11-01", "HR"}}},
		vendors.Person{Name: "F", Entry: "2026-10-05", Retire: "2026-10-15",
			Departments: [][2]string{{"2026-10-05", "Sales"}}},
		vendors.Person{Name: "G", Entry: "2021-04-01",
			Departments: [][2]string{{"2021-04-01", "HR"}, {"2026-10-10", "Sales 1"}}},
	)
	for args, want := range map[string]string{
		`{"department":null,"status":"active","as_of":"2026-10"}`:    "A B D F G",
		`{"department":"営業部","status":"active","as_of":"2026-10"}`:   "A D G",
		`{"department":"HR","status":"active","as_of":"2026-10"}`:    "B G",
		`{"department":"HR","status":"active","as_of":"2026-10-31"}`: "B",
		`{"department":"HR","status":"active","as_of":"2026-11"}`:    "D",
		`{"department":null,"status":"all","as_of":"2026-10"}`:       "A B C D F G",
	} {
		var out struct{ Employees []runner.Employee }
		w.run(t, "list_employees", args, &out)
		var got []string
		for _, e := range out.Employees {
			if len(e.DisplayName) == 1 {
				got = append(got, e.DisplayName)
			}
		}
		expect.Is(t, strings.Join(got, " "), want, "%s", args)
	}
	ask := func(month int) error {
		_, err := w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: "list_attendance", Locale: "en",
			Bounds:    tenancy.Constraints{Departments: []string{"営業部"}},
			Arguments: given(fmt.Sprintf(`{"year":2026,"month":%d,"employees":[{"id":3700004}]}`, month))})
		return err
	}
	expect.NoError(t, ask(10))
	expect.That(t, ask(11) != nil, "D is read after leaving the department")
	e := w.refuse(t, "list_employees", `{"department":null,"status":"active","as_of":"2026-02-30"}`)
	expect.Is(t, e.Problem, explain.ProblemBadArguments)
}

// A plan may contain ids of people. freee's departments decide whose attendance is read.
func TestAttendanceIsConfinedToDepartments(t *testing.T) {
	w := newWorld(t)
	ask := func(departments string, ids ...int) error {
		var people []string
		for _, id := range ids {
			people = append(people, fmt.Sprintf(`{"id":%d}`, id))
		}
		_, err := w.Run(t.Context(), tool.Call{Tenant: "T1", Tool: "list_attendance", Locale: "en",
			Bounds:    tenancy.Constraints{Departments: strings.Split(departments, ",")},
			Arguments: given(fmt.Sprintf(`{"year":2026,"month":3,"employees":[%s]}`, strings.Join(people, ",")))})
		return err
	}
	const hr, sales, development, team = 3510001, 3510008, 3510015, 3510022
	err := ask("人事部,営業部", hr, sales, team)
	expect.That(t, err == nil, "%v", err)
	before := w.vendors.Calls("list_attendance")
	for name, err := range map[string]error{
		"of another": ask("人事部", hr, development), "unknown to freee": ask("宇宙部", hr), "nobody's": ask("人事部", 1),
	} {
		var e *explain.CallError
		expect.That(t, errors.As(err, &e) && e.Problem == explain.ProblemNotListed &&
			strings.Contains(e.Detail, "Reading the department “"), "%s: %v", name, err)
	}
	expect.Is(t, w.vendors.Calls("list_attendance"), before, "people were asked about")
}

// No address of freee's with pay or bank data is called, no result contains such data, and another tenant gets none.
func TestOnlyWhatStepsNeedIsAskedFor(t *testing.T) {
	w := newWorld(t)
	for name, args := range map[string]string{
		"list_employees":  listArgs,
		"list_attendance": `{"year":2026,"month":3,"employees":[{"id":3510001,"paid_next_month":true}]}`,
	} {
		var result json.RawMessage
		w.run(t, name, args, &result)
		for _, word := range []string{"pay_day", "payroll", "bank", "basic_pay", "closing", "birth", "address", "salary",
			"user_id"} {
			expect.That(t, !strings.Contains(string(result), `"`+word), "%s keeps %s: %.300s", name, word, result)
		}
	}
	const hr = "/freee/hr/api/v1"
	// freee's month of payment for the work of March is April
	expect.Same(t, []string{hr + "/companies/1884310/employees", hr + "/employees/3510001/work_record_summaries/2026/4",
		hr + "/users/me"}, slices.Compact(slices.Sorted(slices.Values(w.paths.all))))
	_, err := w.Run(t.Context(), tool.Call{Tenant: "T2", Tool: "list_employees", Arguments: given(listArgs), Locale: "ja"})
	none, _ := errors.AsType[*explain.CallError](err)
	expect.That(t, none != nil && none.Problem == explain.ProblemNotConnected, "another tenant: %v", err)
}

// An administrator chose a company; a token's owner who doesn't administer it reads no other.
func TestTheChosenCompanyIsRead(t *testing.T) {
	w := newWorld(t)
	w.tokens["company"] = "1884309"
	e := w.refuse(t, "list_employees", listArgs)
	expect.That(t, e.Problem == explain.ProblemNoCompany && w.vendors.Calls("list_employees") == 0, "%v", e)
}

func TestAReadThatHangsFails(t *testing.T) {
	w := newWorld(t)
	w.vendors.Hang("list_attendance", time.Minute)
	w.breaks = func(*http.Request) bool {
		w.expire()
		return false
	}
	e := w.refuse(t, "list_attendance", `{"year":2026,"month":3,"employees":[{"id":3510001},{"id":3510008}]}`)
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemTimeout, "%v", e)
}
