package explain_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// written returns the lines of a plan's writes and reads, each after its steps' numbers.
func written(locale string, steps []task.Step) (writes, reads string) {
	for i := range steps {
		steps[i].Access = aggregate.Read
		if f, _ := catalog.Named(steps[i].Tool); f.Effect == aggregate.Write {
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

func month(year, month int, of string) string {
	return fmt.Sprintf(`{"year":%d,"month":%d,"employees":{"$ref":"%s"}}`, year, month, of)
}

const people, other = "step-1.result.employees", "step-1.result.others"

func TestReadsThatDifferInOneArgumentAreOneLine(t *testing.T) {
	employees := func(department, status string) string {
		return `{"department":` + department + `,"status":"` + status + `"}`
	}
	of := func(step, before string) string {
		return `{"mode":"calculate","records":{"$ref":"` + step + `.result.records"}` + before + `}`
	}
	first := []string{"list_employees", employees(`"営業部"`, "active")}
	for name, tc := range map[string]struct {
		plan   []string
		ja, en string
	}{
		"half a year": {append(first, "list_attendance", month(2026, 11, people), "list_attendance", month(2026, 12, people),
			"list_attendance", month(2027, 1, people)), "2, 3, 4. 勤怠 2026-11〜2027-01 の 3 か月 · 対象: ステップ1の従業員",
			"2, 3, 4. Attendance 2026-11 to 2027-01 (3 months) · the employees from step 1"},
		"a gap": {append(first, "list_attendance", month(2026, 4, people), "list_attendance", month(2026, 6, people)),
			"2, 3. 勤怠 2026-04、2026-06 · 対象: ステップ1の従業員", "2, 3. Attendance 2026-04, 2026-06 · the employees from step 1"},
		"backwards": {append(first, "list_attendance", month(2026, 5, people), "list_attendance", month(2026, 4, people)),
			"2, 3. 勤怠 2026-05、2026-04 · 対象: ステップ1の従業員", "2, 3. Attendance 2026-05, 2026-04 · the employees from step 1"},
		"somebody else's month": {append(first, "list_attendance", month(2026, 4, people), "list_attendance",
			month(2026, 5, other)), "2. 2026年4月の勤怠 · 対象: ステップ1の従業員\n3. 2026年5月の勤怠 · 対象: ステップ1の結果 (others)",
			"2. Attendance 2026-4 · the employees from step 1\n3. Attendance 2026-5 · the result of step 1 (others)"},
		"departments": {append(first, "list_employees", employees(`"人事部"`, "active"), "list_employees",
			employees("null", "active"), "list_employees", employees(`"総務"`, "all")),
			"1, 2. 部署: 「営業部」 / 「人事部」 · 下位の部署を含む · 在籍者のみ\n3. 全社 · 在籍者のみ\n4. 部署: 「総務」 · 下位の部署を含む · " +
				"退職者・入社前の人を含む",
			"1, 2. Department: “営業部” / “人事部” and those below it · only those employed\n3. The whole company · only those " +
				"employed\n4. Department: “総務” and those below it · including people who have left or not joined yet"},
		"each with all before it": {append(first, "list_attendance", month(2026, 4, people), "calculate_overtime",
			of("step-2", ""), "list_attendance", month(2026, 5, people), "calculate_overtime", of("step-4",
				`,"earlier":[{"$ref":"step-2.result.records"}]`)),
			"2, 4. 勤怠 2026-04〜2026-05 の 2 か月 · 対象: ステップ1の従業員\n3, 5. 残業時間を計算 (1 か月ずつ) · 勤怠: ステップ2, 4の勤怠 · それ以前の月: 順に、その月より前のすべて",
			"2, 4. Attendance 2026-04 to 2026-05 (2 months) · the employees from step 1\n3, 5. Calculate overtime, month by " +
				"month · attendance: the attendance from steps 2, 4 · earlier months: all listed before it"},
		"each with another before it": {append(first, "list_attendance", month(2026, 4, people), "calculate_overtime",
			of("step-2", ""), "calculate_overtime", of("step-2", `,"earlier":[{"$ref":"step-1.result.records"}]`)),
			"2. 2026年4月の勤怠 · 対象: ステップ1の従業員\n3. 残業時間を計算 · 勤怠: ステップ2の勤怠\n4. 残業時間を計算 · 勤怠: ステップ2の勤怠 · それ以前の月: [ステップ1の結果 (records)]",
			"2. Attendance 2026-4 · the employees from step 1\n3. Calculate overtime · attendance: the attendance from step " +
				"2\n4. Calculate overtime · attendance: the attendance from step 2 · earlier months: [the result of step 1 " +
				"(records)]"},
		"numbers": {[]string{"rooms.find", `{"floor":4,"seats":6}`, "rooms.find", `{"floor":5,"seats":6}`, "rooms.find",
			`{"floor":6,"seats":6}`, "rooms.find", `{"floor":6.0,"seats":7}`},
			"1, 2, 3. rooms の find · floor: 4〜6 · seats: 6\n4. rooms の find\n· floor 6.0\n· seats 7",
			"1, 2, 3. find on rooms · floor: 4 to 6 · seats: 6\n4. find on rooms\n· floor 6.0\n· seats 7"},
		"numbers with a gap": {[]string{"rooms.find", `{"floor":4}`, "rooms.find", `{"floor":5}`, "rooms.find",
			`{"floor":7}`}, "1, 2, 3. rooms の find · floor: 4 / 5 / 7", "1, 2, 3. find on rooms · floor: 4 / 5 / 7"},
		"parts of results": {append(first, "rooms.find", `{"a":{"$ref":"step-1.result.employees"}}`, "rooms.find",
			`{"a":{"$ref":"step-1.result.count"}}`),
			"2, 3. rooms の find · a: ステップ1の従業員 / ステップ1の人数", "2, 3. find on rooms · a: the employees from step 1 / the number " +
				"of people from step 1"},
		"the same": {[]string{"rooms.find", `{"floor":4}`, "rooms.find", `{"floor":4}`}, "1, 2. rooms の find · floor: 4",
			"1, 2. find on rooms · floor: 4"},
		"more than one": {[]string{"rooms.find", `{"floor":4,"seats":6}`, "rooms.find", `{"floor":5,"seats":7}`},
			"1. rooms の find\n· floor 4\n· seats 6\n2. rooms の find\n· floor 5\n· seats 7",
			"1. find on rooms\n· floor 4\n· seats 6\n2. find on rooms\n· floor 5\n· seats 7"},
		"what one lacks": {[]string{"rooms.find", `{"floor":4}`, "rooms.find", `{}`},
			"1. rooms の find\n· floor 4\n2. rooms の find", "1. find on rooms\n· floor 4\n2. find on rooms"},
	} {
		for locale, want := range map[string]string{"ja": tc.ja, "en": tc.en} {
			writes, reads := written(locale, plan(tc.plan...))
			if rest, ok := strings.CutPrefix(reads, "1. "); ok && !strings.HasPrefix(want, "1") {
				_, reads, _ = strings.Cut(rest, "\n")
			}
			expect.That(t, writes == "" && reads == want, "%s, %s:\n%s\nwant\n%s", name, locale, reads, want)
		}
	}
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
	expect.Is(t, reads, "2. 会社のすべての役職")
}

// No heading is another member's, in any language, and none has a sign that a line uses.
func TestHeadingsTellMembersApart(t *testing.T) {
	for _, f := range expect.Value(catalog.Files())(t) {
		seen := map[string]string{}
		for _, locale := range language.All {
			expect.That(t, len(f.Headings[locale]) == len(f.Headings["ja"]), "%s lacks headings in %s", f.Name, locale)
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
				_, reads := explain.Effects(locale, steps)
				of, is := map[string]bool{}, locale
				for _, e := range reads {
					is += "\n" + drawn(e)
					for _, order := range e.Orders {
						expect.That(t, !of[order], "step %s is in two lines:\n%s\n%s", order, does, is)
						of[order] = true
					}
				}
				expect.That(t, len(of) == len(steps), "a step is in no line:\n%s\n%s", does, is)
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
	for _, p := range explain.Problems {
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
	expect.Has(t, explain.FailedCall("ja", explain.ProblemTimeout, explain.Google), "Google スプレッドシート")
}
