package runner_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
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
)

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
		hr + "/users/me"}, slices.Sorted(maps.Keys(w.paths.n)))
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
	expect.Patience(t)
	w := newWorld(t)
	w.vendors.Hang("list_attendance", time.Minute)
	e := w.refuse(t, "list_attendance", `{"year":2026,"month":3,"employees":[{"id":3510001},{"id":3510008}]}`)
	expect.That(t, e.Outcome == explain.CallFailed && e.Problem == explain.ProblemTimeout, "%v", e)
}
