package freee_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/tool/freee"
	"ringi/shared/words/language"
)

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
		"80 on average are allowed":        {worked(0, 80, 0), year(80), row{"> 45h", 80, 160, 2}},
		"a minute more is not":             {record60(80*60 + 1), year(80), row{"> 80h, > 80h avg", 80.01, 160.02, 2}},
		"holidays count to the average":    {worked(0, 40, 45), [][]freee.Record{{worked(1, 40, 40)}}, row{"> 80h, > 80h avg", 82.5, 80, 2}},
		"a calm month does not undo it":    {worked(0, 30, 0), year(95, 95, 95, 95, 95), row{"> 80h avg, > 360h/year", 84.17, 505, 6}},
		"the seventh month is over":        {worked(0, 0, 0), year(70, 70, 70, 70, 70, 99), row{"> 360h/year", 58.33, 449, 7}},
		"the best window does not hide":    {worked(0, 70, 0), year(99, 10, 10, 10), row{"> 45h, > 80h avg", 84.5, 199, 5}},
		"360 hours are allowed":            {worked(0, 30, 0), year(30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30), row{"", 30, 360, 12}},
		"an hour more is not":              {worked(0, 31, 0), year(30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30), row{"> 360h/year", 30.5, 361, 12}},
		"holidays do not count to 360":     {worked(0, 30, 30), year(30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30), row{"", 45, 360, 12}},
		"a month that is missing ends it":  {worked(0, 40, 0), append(year(50)[:1], []freee.Record{worked(3, 99, 0)}), row{"", 45, 90, 2}},
		"the order of months is no matter": {worked(0, 40, 0), [][]freee.Record{{worked(2, 99, 0)}, {worked(1, 99, 0)}}, row{"", 79.33, 238, 3}},
		"of another year":                  {worked(0, 40, 0), year(40, 40, 40, 40), row{"", 40, 200, 5}},
		"somebody else's months":           {worked(0, 90, 0), [][]freee.Record{{func() freee.Record { r := worked(1, 90, 0); r.EmployeeID = 2; return r }()}}, row{"> 80h", 0, 90, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			r := calculated(t, []freee.Record{test.this}, test.earlier...)
			got := row{r.Rows[0].Flag, 0, r.Rows[0].YearHours, r.Rows[0].MonthsKnown}
			if a := r.Rows[0].AverageHours; a != nil {
				got.Average = *a
			}
			expect.Same(t, test.want, got)
			if *r.Over80hAverage != strings.Count(got.Flag, "avg") || *r.Over360h != strings.Count(got.Flag, "year") || r.Months != 1+len(test.earlier) {
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
			if len(problems) > 0 || len(r.Note) == 0 || len(r.Note) > 300 || seen[r.Note] || months > 1 && !strings.Contains(r.Note, fmt.Sprint(months)) {
				t.Errorf("%s, %d months: %q %v", locale, months, r.Note, problems)
			}
			seen[r.Note] = true
		}
	}
}
