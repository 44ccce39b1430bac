package freee_test

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/tool/freee"
)

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
	r := calculated(t, []freee.Record{record(1, 0, 50*60, 0, 0), record(2, 0, 90*60, 0, 0), record(3, 0, 100*60, 0, 0), record(4, 20, 0, 0, 0)})
	if r.Over80hAverage != nil || r.Over360h != nil || r.Months != 1 || !strings.Contains(r.Note, "need more than one month") {
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
		"part above whole":  {func(r *freee.Record) { r.TotalNormalWorkMins = 20_001 }, "total_normal_work_mins 20001 > total_work_mins 20000"},
		"32 days":           {func(r *freee.Record) { r.WorkDays = 32 }, "work_days 32"},
		"no dates":          {func(r *freee.Record) { r.StartDate = "" }, `start_date ""`},
		"ends before":       {func(r *freee.Record) { r.EndDate = "2026-02-01" }, `end_date "2026-02-01"`},
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
