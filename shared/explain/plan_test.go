package explain_test

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// written returns the lines of a plan's writes and reads, each after its steps' numbers.
func written(locale string, steps []task.Step) (writes, reads string) {
	for i := range steps {
		steps[i].Access = aggregate.Read
		if f, _ := tenancy.OwnToolNamed(steps[i].Tool); f.Effect == aggregate.Write {
			steps[i].Access = aggregate.Write
		}
	}
	of := func(effects []explain.Effect) string {
		var lines []string
		for _, e := range effects {
			lines = append(lines, drawn(e))
		}
		return strings.Join(lines, "\n")
	}
	w, r := explain.Effects(locale, steps)
	return of(w), of(r)
}

// Each part of a result has its name, in each read.
func TestPartsOfResultsAreNamed(t *testing.T) {
	month := func(of string) string { return `{"year":2026,"month":11,"employees":{"$ref":"` + of + `"}}` }
	const people, employees = "step-1.result.employees", `{"department":null,"status":"active"}`
	const first, second = `{"$ref":"step-2.result.records"}`, `{"$ref":"step-3.result.records"}`
	plan := plan("list_employees", employees, "list_attendance", month(people), "list_attendance", month(people),
		"list_attendance", month("step-1.result.others"), "rooms.find", `{"months":[`+second+`,`+first+`]}`,
		"rooms.find", `{"months":[`+second+`,{"$ref":"step-1.result.count"}]}`, "list_employees", employees)
	writes, reads := written("ja", plan)
	expect.Is(t, reads, "1. 全社の従業員一覧を読みます (在籍者のみ)\n2. 2026 年 11 月の勤怠を読みます (対象: ステップ1の従業員)\n"+
		"3. 2026 年 11 月の勤怠を読みます (対象: ステップ1の従業員)\n"+
		"4. 2026 年 11 月の勤怠を読みます (対象: ステップ1の結果の「others」)\n"+
		"5. rooms の find で読み取ります\n· months ステップ3の勤怠、ステップ2の勤怠\n"+
		"6. rooms の find で読み取ります\n· months ステップ3の勤怠、ステップ1の人数\n7. 全社の従業員一覧を読みます (在籍者のみ)")
	expect.Is(t, writes, "")
}

// Each write stands alone, however alike it is to another.
func TestEachWriteHasItsOwnLine(t *testing.T) {
	sheet := func(tab string) string {
		return `{"spreadsheet_id":"1aB","sheet":"` + tab + `","columns":[],"rows":[]}`
	}
	writes, reads := written("ja", plan("write_rows_to_google_sheet", sheet("a"), "list_positions", `{}`,
		"write_rows_to_google_sheet", sheet("b")))
	const rest = "シート「1aB」のタブ%sに書き込みます — 0 行\n· 列 (空のリスト)\n· 行 (空のリスト)"
	expect.Is(t, writes, fmt.Sprintf("1. "+rest+"\n3. "+rest, "「a」", "「b」"))
	expect.Is(t, reads, "2. 会社のすべての役職を読みます")
}

// No heading is another member's, in any language, and none has a sign that a line uses.
func TestHeadingsTellMembersApart(t *testing.T) {
	for _, f := range expect.Value(tenancy.OwnTools())(t) {
		seen := map[string]string{}
		for _, locale := range language.All {
			expect.That(t, len(f.Headings[locale]) == len(f.Headings["ja"]), "%s lacks headings in %s", f.Name, locale)
			if f.Demo != nil { // its result is shown to people, with how many there are
				for _, member := range []string{"count", f.Demo.Rows, f.Demo.Rows + ".id"} {
					expect.That(t, f.Heading(locale, member) != "", "%s calls %s nothing in %s", f.Name, member, locale)
				}
			}
			for path, heading := range f.Headings[locale] {
				of, _, _ := strings.Cut(path, ".")
				if of == path {
					of = ""
				}
				before, had := seen[of+"."+heading]
				expect.That(t, (!had || before == path) && heading != "" && !strings.ContainsAny(heading, "·,=:/()[]{}「」“”〜、"),
					"%s, %s: %s and %s are %q", f.Name, locale, path, before, heading)
				seen[of+"."+heading] = path
			}
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
		case "list_employees":
			args["department"], args["status"] = one(nil, "a", "b", "a」 / 「b"), one("active", "all", "z", nil)
		default:
			for _, name := range []string{"a", "b"} {
				if rapid.IntRange(0, 2).Draw(t, "with "+name) > 0 {
					args[name] = one(4, 5, 6, "4", "4〜6", "", nil, true, json.Number("4.0"), ref(), []any{4, 5},
						[]any{}, []any{ref()}, []any{ref(), ref()}, map[string]any{"a": 4}, "ステップ1の結果")
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
				_, reads := explain.Effects(locale, steps)
				is := locale
				for _, e := range reads {
					is += "\n" + drawn(e)
				}
				expect.That(t, len(reads) == len(steps), "a step is in no line:\n%s\n%s", does, is)
				before, was := seen[is]
				expect.That(t, !was || before == does, "two plans look alike:\n%s\nand\n%s\n%s", before, does, is)
				seen[is] = does
			}
		}
	})
}

func TestEverySentenceIsThereInBothLanguages(t *testing.T) {
	args := map[explain.Problem][]any{
		explain.ProblemRejected:     {explain.Google, "400 bad"},
		explain.ProblemDown:         {explain.Google, 500},
		explain.ProblemBadArguments: {"send_slack_dm", "text is missing"},
		explain.ProblemBadData:      {3, "A twice"},
		explain.ProblemNoRecipient:  {"U1"},
		explain.ProblemChanged:      {explain.Provider("mcp:rooms"), "book_room"},
		explain.ProblemInternal:     {"send_slack_dm"},
		explain.ProblemNotListed:    {"send_slack_dm", "recipients", "U1", "U2, U3"},
		explain.ProblemNoValue:      {"list_employees", "department", "1", "departments.0.above"},
		explain.ProblemTooMany:      {"write_rows_to_google_sheet", "max_rows", 10, 11},
		explain.ProblemTooLong:      {"send_slack_dm", "details.3.value", 4001, 4000},
		explain.ProblemUnbound:      {"send_slack_dm", "constraints.x is no constraint"},
		explain.ProblemTooLarge:     {"list_employees", "8 MiB"},
		explain.ProblemPayMonth:     {explain.Freee, "weekly"},
		explain.ProblemPeriod:       {explain.Freee, "3510001", "2026-02", "2026-01-01", "2026-01-31"},
		explain.ProblemDenied:       {explain.Freee, "no"},
		explain.ProblemLimitedUntil: {explain.Freee, "18:00"},
		explain.ProblemSheetFull:    {explain.Google, 10_000_001, 10_000_000},
		explain.ProblemCellTooLong:  {explain.Google, 2, "B", "理由", 50_001, 50_000},
		explain.ProblemNoDepartment: {explain.Freee, "人事部", "営業部, 開発部"},
	}
	source := string(expect.Value(os.ReadFile("tools.go"))(t))
	known := regexp.MustCompile(`Problem\w+ +Problem = "(\w+)"`).FindAllStringSubmatch(source, -1)
	expect.That(t, len(known) > 30, "found %d", len(known))
	for _, m := range known {
		p := explain.Problem(m[1])
		a, ok := args[p]
		if !ok {
			a = []any{explain.Freee}
		}
		for _, locale := range language.All {
			s := explain.FailedCall(locale, p, a...)
			expect.That(t, s != string(p) && !strings.Contains(s, "%!") && !strings.Contains(s, "%v") &&
				!strings.Contains(s, "%["), "%s %s: %q", locale, p, s)
		}
	}
	for locale, want := range map[string]string{"ja": "「営業』への送信」", "en": `“a\” is allowed”`} {
		value := map[string]string{"ja": "営業」への送信", "en": "a” is allowed"}[locale]
		for _, constraint := range []string{"recipients", "x"} { // a model's words don't end the quotation
			expect.Has(t, explain.FailedCall(locale, explain.ProblemNotListed, "x", constraint, value, "U1"), want)
		}
	}
	expect.Has(t, explain.FailedCall("ja", explain.ProblemTimeout, explain.Google), "Google スプレッドシート")
}
