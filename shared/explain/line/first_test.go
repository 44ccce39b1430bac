package line_test

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// A call that can't be in a line with those after it, which can, has its own line.
func TestEveryReadIsInOneLine(t *testing.T) {
	staff := func(department string) string { return `{"department":` + department + `,"status":"active"}` }
	of := func(records, before string) string {
		return `{"mode":"calculate","records":{"$ref":"step-1.result.` + records + `"}` + before + `}`
	}
	for name, calls := range map[string][]string{
		"the whole company first": {"list_employees", staff("null"), "list_employees", staff(`"営業部"`), "list_employees", staff(`"人事部"`)},
		"a month of another form first": {"list_attendance", `{"year":2026,"month":4.0,"employees":[]}`,
			"list_attendance", `{"year":2026,"month":5,"employees":[]}`, "list_attendance", `{"year":2026,"month":6,"employees":[]}`},
		"a series that doesn't begin": {"list_attendance", month(2026, 4, people), "calculate_overtime", of("records", `,"earlier":[{"$ref":"x"}]`),
			"calculate_overtime", of("records", ""), "calculate_overtime", of("others", `,"earlier":[{"$ref":"step-1.result.records"}]`)},
	} {
		for _, locale := range language.All {
			_, reads := written(locale, plan(calls...))
			var numbers []string
			for _, line := range strings.Split(reads, "\n") {
				orders, _, _ := strings.Cut(line, ".")
				numbers = append(numbers, strings.Split(orders, ", ")...)
			}
			expect.That(t, len(numbers) == len(calls)/2, "%s: %d steps, these lines:\n%s", name, len(calls)/2, reads)
		}
	}
}
