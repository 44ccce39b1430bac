package explain_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain"
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
		"the whole company first": {
			"list_employees", staff("null"), "list_employees", staff(`"営業部"`), "list_employees", staff(`"人事部"`),
		},
		"a month of another form first": {"list_attendance", `{"year":2026,"month":4.0,"employees":[]}`,
			"list_attendance", `{"year":2026,"month":5,"employees":[]}`, "list_attendance", `{"year":2026,"month":6,"employees":[]}`},
		"a series that doesn't begin": {"list_attendance", month(2026, 4, people),
			"calculate_overtime", of("records", `,"earlier":[{"$ref":"x"}]`), "calculate_overtime", of("records", ""),
			"calculate_overtime", of("others", `,"earlier":[{"$ref":"step-1.result.records"}]`)},
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

// readsOf draws the calls of a plan of one tool, or of several: with the same values of another type, references to
// steps before and after, gaps, and arguments that are missing, empty or nested.
func readsOf(t *rapid.T) (calls []string) {
	one := func(of ...any) any { return rapid.SampledFrom(of).Draw(t, "value") }
	ref := func() any {
		part := rapid.SampledFrom([]string{"", ".records", ".employees", ".count"}).Draw(t, "part")
		return map[string]any{"$ref": fmt.Sprintf("step-%d.result%s", rapid.IntRange(1, 4).Draw(t, "step"), part)}
	}
	tools := []string{"list_attendance", "calculate_overtime", "list_employees", "rooms.find"}
	usual := rapid.SampledFrom(tools).Draw(t, "tool")
	for range rapid.IntRange(2, 5).Draw(t, "calls") {
		tool, args := usual, map[string]any{}
		if rapid.IntRange(0, 3).Draw(t, "another") == 0 {
			tool = rapid.SampledFrom(tools).Draw(t, "tool")
		}
		switch tool {
		case "list_attendance":
			args["year"], args["month"] = one(2026, 2027, "2026"), one(1, 2, 3, 11, 12, "2", json.Number("2.0"), ref())
			args["employees"] = one(ref(), []any{}, nil)
		case "calculate_overtime":
			args["mode"], args["records"] = one("calculate", "validate"), ref()
			if rapid.Bool().Draw(t, "with earlier") {
				args["earlier"] = one([]any{}, []any{ref()}, []any{ref(), ref()}, nil, "x")
			}
		case "list_employees":
			args["department"], args["status"] = one(nil, "a", "b", "a」 / 「b"), one("active", "all", "z", nil)
		default:
			for _, name := range []string{"a", "b"} {
				if rapid.IntRange(0, 2).Draw(t, "with "+name) > 0 {
					args[name] = one(4, 5, 6, "4", "4〜6", "", nil, true, json.Number("4.0"), ref(), []any{4, 5},
						map[string]any{"a": 4}, "ステップ1の結果")
				}
			}
		}
		calls = append(calls, tool, string(expect.Value(json.Marshal(args))(t)))
	}
	return calls
}

func TestEachReadOfAnyPlanIsInOneLineThatTellsItApart(t *testing.T) {
	seen := map[string]string{}
	rapid.Check(t, func(t *rapid.T) {
		for range 20 {
			calls := readsOf(t)
			steps, does := plan(calls...), strings.Join(calls, "\n")
			for i := range steps {
				steps[i].Access = aggregate.Read
			}
			for _, locale := range language.All {
				_, reads := explain.PlanEntries(locale, steps)
				of, drawn := map[string]bool{}, locale
				for _, e := range reads {
					drawn += "\n" + strings.Join(e.Orders, ", ") + ". " + text(e.Line)
					for _, order := range e.Orders {
						expect.That(t, !of[order], "step %s is in two lines:\n%s\n%s", order, does, drawn)
						of[order] = true
					}
				}
				expect.That(t, len(of) == len(steps), "a step is in no line:\n%s\n%s", does, drawn)
				before, was := seen[drawn]
				expect.That(t, !was || before == does, "two plans look alike:\n%s\nand\n%s\n%s", before, does, drawn)
				seen[drawn] = does
			}
		}
	})
}
