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
	"ringi/shared/words/language"
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
		"as published: next_month": {nil, closing(31, 1), "2026-02-01 – 2026-02-28", "2026/3"},
		"current_month": {map[string]any{"month_of_pay_day": "current_month"}, closing(31, 0),
			"2026-02-01 – 2026-02-28", "2026/2"},
		"next": {map[string]any{"month_of_pay_day": "next"}, closing(31, 1),
			"2026-02-01 – 2026-02-28", "2026/3"},
		"current": {map[string]any{"month_of_pay_day": "current"}, closing(31, 0),
			"2026-02-01 – 2026-02-28", "2026/2"},
		"nobody's pay, counted as next": {map[string]any{"month_of_pay_day": nil}, closing(31, 1), "2026-02-01 – 2026-02-28",
			"2026/2 2026/3"},
		"next, but not yet in February": {nil, closing(31, 0), "2026-02-01 – 2026-02-28", "2026/3 2026/2"},
		"closing on the 20th, paid next": {map[string]any{"closing_day": 20}, closing(20, 1), "2026-01-21 – 2026-02-20",
			"2026/3"},
		"always January": {nil, func(time.Time) (string, string) { return "2026-01-01", "2026-01-31" }, "",
			"2026/3 2026/4"},
		"a year": {nil, func(time.Time) (string, string) { return "2025-03-01", "2026-02-28" }, "",
			"2026/3"},
		"no days": {nil, func(time.Time) (string, string) { return "", "" }, "", "2026/3"},
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
	records := []freee.Record{{StartDate: "2026-02-01", EndDate: "2026-02-28"},
		{StartDate: "2026-01-21", EndDate: "2026-02-20"}, {StartDate: "2026-02-01", EndDate: "2026-02-28"}}
	expect.Is(t, freee.Period(records), "2026-01-21 – 2026-02-20, 2026-02-01 – 2026-02-28")
	expect.Is(t, freee.Period(nil), "")
}

func record(id int64, excess, legal, within, holiday int) freee.Record {
	return freee.Record{
		EmployeeID: id, DisplayName: "a", StartDate: "2026-03-01", EndDate: "2026-03-31", WorkDays: 20,
		TotalWorkMins: 20000, TotalExcessStatutoryWorkMins: excess, TotalOvertimeExceptNormalWorkMins: legal,
		TotalOvertimeWithinNormalWorkMins: within, TotalHolidayWorkMins: holiday,
	}
}

func calculated(t *testing.T, records []freee.Record, earlier ...[]freee.Record) freee.Result {
	t.Helper()
	r, problems := freee.Calculate(records, earlier, "en")
	expect.Must(t, len(problems) <= 0, "%v", problems)
	return r
}

func TestLimits(t *testing.T) {
	for name, test := range map[string]struct {
		r    freee.Record
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
			row := calculated(t, []freee.Record{test.r}).Rows[0]
			expect.That(t, row.Flag == test.want && row.OvertimeMins == test.mins,
				"%q %d, want %q %d", row.Flag, row.OvertimeMins, test.want, test.mins)
		})
	}
}

func TestCounts(t *testing.T) {
	r := calculated(t, []freee.Record{record(1, 0, 50*60, 0, 0), record(2, 0, 90*60, 0, 0), record(3, 0, 100*60, 0, 0),
		record(4, 20, 0, 0, 0)})
	if r.Over80hAverage != nil || r.Over360h != nil || r.Months != 1 ||
		!strings.Contains(r.Note, "need more than one month") {
		t.Errorf("one month alone: %+v", r)
	}
	expect.That(t, r.Count == 4 && r.Over45h == 3 && r.Over80h == 2 && r.Over100h == 1 && r.TotalOvertimeHours == 240.33,
		"%+v", r)
}

func TestValidateFindsWhatCannotBe(t *testing.T) {
	if p := freee.Validate([]freee.Record{record(1, 10, 10, 0, 0), record(2, 0, 0, 0, 0)}); len(p) > 0 {
		t.Errorf("sound records: %v", p)
	}
	for name, test := range map[string]struct {
		change func(*freee.Record)
		want   string
	}{
		"negative":          {func(r *freee.Record) { r.TotalHolidayWorkMins = -1 }, "total_holiday_work_mins -1"},
		"more than a month": {func(r *freee.Record) { r.TotalWorkMins = 44_641 }, "total_work_mins 44641"},
		"part above whole": {func(r *freee.Record) { r.TotalNormalWorkMins = 20_001 },
			"total_normal_work_mins 20001 > total_work_mins 20000"},
		"32 days":     {func(r *freee.Record) { r.WorkDays = 32 }, "work_days 32"},
		"no dates":    {func(r *freee.Record) { r.StartDate = "" }, `start_date ""`},
		"ends before": {func(r *freee.Record) { r.EndDate = "2026-02-01" }, `end_date "2026-02-01"`},
	} {
		t.Run(name, func(t *testing.T) {
			r := record(1, 0, 0, 0, 0)
			test.change(&r)
			p := freee.Validate([]freee.Record{r})
			expect.That(t, len(p) == 1 && strings.Contains(p[0], test.want), "%q, want %q", p, test.want)
		})
	}
	expect.Is(t, len(freee.Validate(nil)), 1, "nobody at all")
	if p := freee.Validate([]freee.Record{record(1, 0, 0, 0, 0), record(1, 0, 0, 0, 0)}); len(p) != 1 ||
		!strings.Contains(p[0], "twice") {
		t.Errorf("a person twice: %v", p)
	}
}

// worked is a person's record n months before March 2026, with the given hours beyond the legal ones and on holidays.
func worked(n, legal, holiday int) freee.Record {
	r := record(1, 0, legal*60, 0, holiday*60)
	end := time.Date(2026, time.Month(4-n), 0, 0, 0, 0, 0, time.UTC)
	r.StartDate, r.EndDate = end.Format("2006-01-")+"01", end.Format(time.DateOnly)
	return r
}

// year returns the records of the months before March 2026, latest first.
func year(legal ...int) (earlier [][]freee.Record) {
	for i, h := range legal {
		earlier = append(earlier, []freee.Record{worked(i+1, h, 0)})
	}
	return earlier
}

func TestMonthsTogether(t *testing.T) {
	type row struct {
		Flag    string
		Average float64
		Year    float64
		Known   int
	}
	for name, test := range map[string]struct {
		this    freee.Record
		earlier [][]freee.Record
		want    row
	}{
		"80 on average are allowed": {worked(0, 80, 0), year(80), row{"> 45h", 80, 160, 2}},
		"a minute more is not":      {record60(80*60 + 1), year(80), row{"> 80h, > 80h avg", 80.01, 160.02, 2}},
		"holidays count to the average": {worked(0, 40, 45), [][]freee.Record{{worked(1, 40, 40)}},
			row{"> 80h, > 80h avg", 82.5, 80, 2}},
		"a calm month does not undo it": {worked(0, 30, 0), year(95, 95, 95, 95, 95),
			row{"> 80h avg, > 360h/year", 84.17, 505, 6}},
		"the seventh month is over": {worked(0, 0, 0), year(70, 70, 70, 70, 70, 99),
			row{"> 360h/year", 58.33, 449, 7}},
		"the best window does not hide": {worked(0, 70, 0), year(99, 10, 10, 10), row{"> 45h, > 80h avg", 84.5, 199, 5}},
		"360 hours are allowed": {worked(0, 30, 0), year(30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30),
			row{"", 30, 360, 12}},
		"an hour more is not": {worked(0, 31, 0), year(30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30),
			row{"> 360h/year", 30.5, 361, 12}},
		"holidays do not count to 360": {worked(0, 30, 30), year(30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30),
			row{"", 45, 360, 12}},
		"a month that is missing ends it": {worked(0, 40, 0), append(year(50)[:1], []freee.Record{worked(3, 99, 0)}),
			row{"", 45, 90, 2}},
		"the order of months is no matter": {worked(0, 40, 0), [][]freee.Record{{worked(2, 99, 0)}, {worked(1, 99, 0)}},
			row{"", 79.33, 238, 3}},
		"of another year": {worked(0, 40, 0), year(40, 40, 40, 40), row{"", 40, 200, 5}},
		"somebody else's months": {worked(0, 90, 0),
			[][]freee.Record{{func() freee.Record { r := worked(1, 90, 0); r.EmployeeID = 2; return r }()}}, row{"> 80h", 0, 90,
				1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := calculated(t, []freee.Record{test.this}, test.earlier...)
			got := row{r.Rows[0].Flag, 0, r.Rows[0].YearHours, r.Rows[0].MonthsKnown}
			if a := r.Rows[0].AverageHours; a != nil {
				got.Average = *a
			}
			expect.Same(t, test.want, got)
			if *r.Over80hAverage != strings.Count(got.Flag, "avg") || *r.Over360h != strings.Count(got.Flag, "year") ||
				r.Months != 1+len(test.earlier) {
				t.Errorf("counted %+v", r)
			}
		})
	}
}

func record60(mins int) freee.Record {
	r := worked(0, 0, 0)
	r.TotalOvertimeExceptNormalWorkMins = mins
	return r
}

func TestMonthsThatCannotBeTogether(t *testing.T) {
	broken := worked(1, 1, 0)
	broken.EndDate = "March"
	for name, test := range map[string]struct {
		earlier [][]freee.Record
		want    string
	}{
		"the same month":         {[][]freee.Record{{worked(0, 1, 0)}}, "a (1): 2026-03 twice"},
		"an earlier month twice": {[][]freee.Record{{worked(1, 1, 0)}, {worked(1, 1, 0)}}, "a (1): 2026-02 twice"},
		"a month after":          {[][]freee.Record{{worked(-1, 1, 0)}}, "a (1): 2026-04 is not before 2026-03"},
		"no month":               {[][]freee.Record{{broken}}, `a (1): end_date "March"`},
	} {
		r, problems := freee.Calculate([]freee.Record{worked(0, 1, 0)}, test.earlier, "ja")
		expect.That(t, len(problems) == 1 && problems[0] == test.want && len(r.Rows) <= 0, "%s: %q, %+v", name, problems, r)
	}
}

// A fact in a summary has at most 300 bytes.
func TestNotesSayWhatIsNotJudgedInAFewWords(t *testing.T) {
	for _, locale := range language.All {
		seen := map[string]bool{}
		for _, months := range []int{1, 2, 12} {
			r, problems := freee.Calculate([]freee.Record{worked(0, 1, 0)}, year(make([]int, months-1)...), locale)
			if len(problems) > 0 || len(r.Note) == 0 || len(r.Note) > 300 || seen[r.Note] || months > 1 &&
				!strings.Contains(r.Note, fmt.Sprint(months)) {
				t.Errorf("%s, %d months: %q %v", locale, months, r.Note, problems)
			}
			seen[r.Note] = true
		}
	}
}
