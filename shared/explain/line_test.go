package explain_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// plan makes steps of tools and their arguments.
func plan(of ...string) (steps []task.Step) {
	for i := 0; i < len(of); i += 2 {
		n := len(steps) + 1
		steps = append(steps, task.Step{StepID: fmt.Sprintf("step-%d", n), Order: n, Tool: of[i],
			ToolInput: aggregate.JSON(of[i+1])})
	}
	return steps
}

func text(pieces []explain.Piece) string {
	var b strings.Builder
	for _, p := range pieces {
		if p.Kind == explain.Person {
			b.WriteString("@")
		}
		b.WriteString(p.Text)
	}
	return b.String()
}

// lines are the expected lines of one plan's steps, in Japanese and English. References name a step by its place here.
var lines = []struct{ tool, input, ja, en string }{
	{"list_employees", `{"department":"営業部","status":"active"}`, "部署: 「営業部」 · 下位の部署を含む · 在籍者のみ",
		"Department: “営業部” and those below it · only those employed"},
	{"list_employees", `{"department":null,"status":"all"}`, "全社 · 退職者・入社前の人を含む",
		"The whole company · including people who have left or not joined yet"},
	{
		"list_attendance", `{"year":2026,"month":11,"employees":{"$ref":"step-1.result.employees"}}`,
		"2026年11月の勤怠 · 対象: ステップ1の従業員",
		"Attendance 2026-11 · the employees from step 1",
	},
	{
		"calculate_overtime", `{"mode":"calculate","records":{"$ref":"step-3.result.records"},` +
			`"earlier":[{"$ref":"step-3.result.records"}]}`,
		"残業時間を計算 · 勤怠: ステップ3の勤怠 · それ以前の月: [ステップ3の勤怠]",
		"Calculate overtime · attendance: the attendance from step 3 · earlier months: [the attendance from step 3]",
	},
	{
		"write_rows_to_google_sheet", `{"spreadsheet_id":"1aB","sheet":"2026-11","columns":[{"key":"num","title":"社員番号"},` +
			`{"key":"flag","title":"flag"}],"rows":{"$ref":"step-4.result.rows"}}`,
		"スプレッドシート「1aB」のタブ「2026-11」に最大 1,000 行を書き込み (A1 から上書き。表の下と右にあるものは残ります) · 行: ステップ4の残業時間 · 列: 社員番号, flag = (上限)",
		"Write up to 1,000 rows to the tab “2026-11” of the spreadsheet “1aB”, overwriting from A1; cells below and to " +
			"the right are kept · rows: the overtime table from step 4 · columns: 社員番号, flag = (Limit)",
	},
	{
		"write_rows_to_google_sheet", `{"spreadsheet_id":"1aB","sheet":"x","columns":[{"key":"a","title":"a"}],` +
			`"rows":[{"a":25000000},{"a":"=1"}]}`,
		"スプレッドシート「1aB」のタブ「x」に2 行を書き込み (A1 から上書き。表の下と右にあるものは残ります) · 行: [{a: 25000000}, {a: 「=1」}] · 列: a",
		"Write 2 rows to the tab “x” of the spreadsheet “1aB”, overwriting from A1; cells below and to the right are kept " +
			"· rows: [{a: 25000000}, {a: “=1”}] · columns: a",
	},
	{
		"send_slack_dm", `{"recipient":"U0SATO","text":"完了です。\n確認してください","details":[{"label":"人数",` +
			`"value":{"$ref":"step-1.result.count"}},{"label":"賞与","value":25000000},{"label":"備考","value":null}]}`,
		"@U0SATO へ DM: 「完了です。 ⏎ 確認してください」 · 人数: ステップ1の人数 · 賞与: 25000000 · 備考: (なし)",
		"DM to @U0SATO: “完了です。 ⏎ 確認してください” · 人数: the number of people from step 1 · 賞与: 25000000 · 備考: (none)",
	},
	{
		"send_slack_dm", `{"recipient":"sato@example.com","text":"x","details":[{"label":"a","value":9007199254740993}]}`,
		"「sato@example.com」 へ DM: 「x」 · a: 9007199254740993",
		"DM to “sato@example.com”: “x” · a: 9007199254740993",
	},
	{
		"send_slack_dm", `{"recipient":{"$ref":"step-1.result.employees.0.email"},"text":{"$ref":"step-4.result"},` +
			`"details":[]}`,
		"ステップ1の結果 (employees.0.email) へ DM: ステップ4の結果",
		"DM to the result of step 1 (employees.0.email): the result of step 4",
	},
	{
		"rooms.book_room", `{"room_id":{"$ref":"step-9.result.rooms.0.id"},"title":"定例","notify":true,"cc":["U1",2,null],` +
			`"acl":{"mallory@evil.example":{"public":false}}}`,
		"rooms の book_room · acl: {「mallory@evil.example」: {public: false}} · cc: [「U1」, 2, (なし)] · notify: true · " +
			"room_id: ステップ9の結果 (rooms.0.id) · title: 「定例」",
		"book_room on rooms · acl: {“mallory@evil.example”: {public: false}} · cc: [“U1”, 2, (none)] · notify: true · " +
			"room_id: the result of step 9 (rooms.0.id) · title: “定例”",
	},
	{"gone_tool", `{}`, "gone_tool", "gone_tool"},
	{
		"list_employees", `{"department":{"$ref":"step-4.result.x"},"status":"odd","more":1}`,
		"部署: ステップ4の結果 (x) · 下位の部署を含む · 「odd」 · 引数 more: 1",
		"Department: the result of step 4 (x) and those below it · “odd” · argument more: 1",
	},
	{"send_slack_dm", `not JSON`, "引数を読み取れません: 「not JSON」", "Couldn't read the arguments: “not JSON”"},
	{"send_slack_dm", `{"text":5,"details":[{"label":"a"},"b"]}`, "(指定なし) へ DM: 5 · {label: 「a」} · 「b」",
		"DM to (not given): 5 · {label: “a”} · “b”"},
	{
		"open_pull_request", `{"title":"Round down","body":"a\nb"}`, "プルリクエスト 「Round down」 を下書きで開く · 本文: 「a ⏎ b」",
		"Draft pull request “Round down” · text: “a ⏎ b”",
	},
	{"list_employees", `{"department":null,"status":"active","as_of":null}`, "全社 · 在籍者のみ · 今日現在",
		"The whole company · only those employed · as of today"},
	{"list_employees", `{"department":"営業部","status":"active","as_of":"2026-10"}`,
		"部署: 「営業部」 · 下位の部署を含む · 在籍者のみ · 「2026-10」 時点",
		"Department: “営業部” and those below it · only those employed · as of “2026-10”"},
	{"list_employees", `{"department":"営業部","status":"all","as_of":"2026-10-31"}`,
		"部署: 「営業部」 · 下位の部署を含む · 退職者・入社前の人を含む · 「2026-10-31」 時点",
		"Department: “営業部” and those below it · including people who have left or not joined yet · as of “2026-10-31”"},
	{"list_positions", `{}`, "会社のすべての役職", "All positions in the company"},
	{"list_departments", `{"department":null}`, "会社のすべての部署", "All departments in the company"},
	{"list_departments", `{"department":"営業部"}`, "部署: 「営業部」 · 下位の部署を含む", "Department: “営業部” and those below it"},
}

func TestEachToolSaysWhatItWouldDo(t *testing.T) {
	var of []string
	for _, l := range lines {
		of = append(of, l.tool, l.input)
	}
	ja, en := explain.StepLines("ja", plan(of...)), explain.StepLines("en", plan(of...))
	for i, l := range lines {
		gotJa, gotEn := text(ja[i]), text(en[i])
		expect.That(t, gotJa == l.ja && gotEn == l.en, "step %d: %q and %q, want %q and %q", i+1, gotJa, gotEn, l.ja, l.en)
	}
}

// All of Ringi's own tools have words in each language, and these agree with the catalog about rows.
func TestEveryToolOfTheCatalogHasItsLine(t *testing.T) {
	tried := map[string]bool{}
	for _, l := range lines {
		tried[l.tool] = tried[l.tool] || l.ja != l.en
	}
	c := expect.Value(tool.Builtin())(t)
	for _, s := range c.All() {
		own := text(explain.StepLines("ja", plan(s.Name, `{}`))[0])
		expect.That(t, !strings.HasPrefix(own, s.Name),
			"%s has no line: write one into its file in shared/domain/catalog, or into inCode of "+
				"shared/explain/tools.go", s.Name)
		expect.That(t, tried[s.Name],
			"the line of %s is not tried: add a call of it, and what it says in ja and en, to lines of "+
				"shared/explain/line_test.go", s.Name)
		source := `{"spreadsheet_id":"a","sheet":"b","columns":[],"rows":{"$ref":"step-1.result.rows"}}`
		said := text(explain.StepLines("ja", plan(s.Name, `{}`, "write_rows_to_google_sheet", source))[1])
		expect.That(t, strings.Contains(strings.ReplaceAll(said, ",", ""), fmt.Sprintf("最大 %d 行", s.MaxRows)),
			"rows of %s: %s; want %d, its max_rows", s.Name, said, s.MaxRows)
	}
}

// The line of a call for a department says that departments below it are included, as the catalog tells the model.
func TestADepartmentIsSaidToHaveOthersBelow(t *testing.T) {
	c := expect.Value(tool.Builtin())(t)
	said := 0
	for _, s := range c.All() {
		if !strings.Contains(string(s.InputSchema), `"department"`) {
			continue
		}
		said++
		steps := plan(s.Name, `{"department":"営業部"}`)
		ja, en := text(explain.StepLines("ja", steps)[0]), text(explain.StepLines("en", steps)[0])
		expect.That(t, strings.Contains(s.Description, "below it") && strings.Contains(ja, "下位の部署を含む") &&
			strings.Contains(en, "and those below it"), "%s: %q, %q, described as %q", s.Name, ja, en, s.Description)
	}
	expect.That(t, said >= 2, "%d tools take a department", said)
}

// FuzzNothingIsLeftOut checks that a line contains everything in any arguments.
func FuzzNothingIsLeftOut(f *testing.F) {
	for _, seed := range []string{
		`{"recipient":"U0SATO","text":"x","details":[{"label":"a","value":1e3}]}`, `{"rows":[{"a":1}],` +
			`"columns":[{"key":"a","title":"b"}],"sheet":{"x":"y"}}`,
		`{"department":{"$ref":"step-1.result"},"$ref":"x"}`, `{"mode":[],"earlier":{"records":true}}`, `{"status":"all",` +
			`"department":"all"}`,
	} {
		for _, name := range []string{"send_slack_dm", "write_rows_to_google_sheet", "list_employees", "list_attendance",
			"calculate_overtime", "a.b"} {
			f.Add(name, seed)
		}
	}
	f.Fuzz(func(t *testing.T, name, input string) {
		steps := plan(name, input)
		said := text(explain.StepLines("ja", steps)[0])
		effect := strings.NewReplacer(`\"`, `"`, "> ", "").Replace(drawn(explain.EffectOf("ja", steps[0], nil, nil)))
		d := json.NewDecoder(strings.NewReader(input))
		d.UseNumber()
		var args map[string]any
		if d.Decode(&args) != nil || args == nil || d.More() {
			return
		}
		for member, v := range args {
			for _, literal := range literals(v) {
				known := literal == "active" || literal == "all" || literal == "calculate" || literal == "validate"
				expect.That(t, known || strings.Contains(unescaped(said), literal) || strings.Contains(said, literal),
					"%s: %q of %s is not in %q", name, literal, member, said)
				expect.That(t, known || strings.Contains(unescaped(effect), literal) || strings.Contains(effect, literal),
					"%s: %q of %s is not in %q", name, literal, member, effect)
			}
		}
	})
}

func literals(v any) (out []string) {
	switch v := v.(type) {
	case string:
		return []string{v}
	case json.Number:
		return []string{v.String()}
	case []any:
		for _, x := range v {
			out = append(out, literals(x)...)
		}
	case map[string]any:
		for _, x := range v {
			out = append(out, literals(x)...)
		}
	}
	return out
}

// unescaped reverses how a line escapes quoted texts.
func unescaped(s string) string {
	return strings.NewReplacer(`\r`, "\r", `\\`, `\`, `\「`, "「", `\『`, "『", `\』`, "』", `\⏎`, "⏎", `\｢`, "｢", `\｣`, "｣",
		`\﹁`, "﹁", `\﹂`, "﹂", "『", "「", "』", "」", " ⏎ ", "\n").Replace(s)
}

// someTools returns all tools of the catalog, one of an MCP server, and one that doesn't exist any more. arguments are
// what the catalog's tools accept.
func someTools(t *testing.T) (tools []string, arguments map[string][]string) {
	tools, arguments = []string{"rooms.book", "gone_tool"}, map[string][]string{}
	for _, s := range expect.Value(tool.Builtin())(t).All() {
		var input struct{ Properties map[string]any }
		expect.NoError(t, json.Unmarshal([]byte(s.InputSchema), &input))
		tools, arguments[s.Name] = append(tools, s.Name), slices.Sorted(maps.Keys(input.Properties))
	}
	return tools, arguments
}

// differ fails if two calls with different arguments have the same line.
func differ(t expect.T, name, a, b string) {
	if canonical(a) == canonical(b) {
		return
	}
	for _, locale := range language.All {
		first, second := drawnWith(locale, name, a), drawnWith(locale, name, b)
		expect.That(t, first != second,
			"%s: two calls, one line: %s\n %s\n %s\nsay all that tells them apart in the line of its file in "+
				"shared/domain/catalog", name, first, a, b)
	}
}

// drawnWith returns the line of a step after two others, to whose results its arguments may refer.
func drawnWith(locale, name, args string) string {
	return text(explain.StepLines(locale, plan("list_employees", `{}`, "list_attendance", `{}`, name, args))[2])
}

// canonical formats arguments in a canonical way. Numbers are not changed.
func canonical(args string) string {
	d := json.NewDecoder(strings.NewReader(args))
	d.UseNumber()
	var v map[string]any
	if d.Decode(&v) != nil || v == nil || d.More() {
		return args
	}
	out, err := json.Marshal(v)
	if err != nil {
		return args
	}
	return string(out)
}

// lookalikes are pairs of arguments of which one imitates the other.
var lookalikes = [][3]string{
	{"rooms.book", `{"to":"a」 · cc: 「b"}`, `{"to":"a","cc":"b"}`},
	{"rooms.book", `{"a":"x","b":"y"}`, `{"a":"x」 · b: 「y"}`},
	{"rooms.book", `{"a":"x","b":"y"}`, `{"a":"x” · b: “y"}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x","details":[{"label":"a","value":"b"}]}`,
		`{"recipient":"U012ABC","text":"x」 · a: 「b","details":[]}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x","details":[{"label":"a","value":5}]}`,
		`{"recipient":"U012ABC","text":"x","details":[],"a":5}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x\ny","details":[]}`,
		`{"recipient":"U012ABC","text":"x ⏎ y","details":[]}`},
	{"send_slack_dm", `{"recipient":"U012ABC","text":"x\r\ny","details":[]}`,
		`{"recipient":"U012ABC","text":"x\ny","details":[]}`},
	{"send_slack_dm", `{"text":"「x」"}`, `{"text":"『x』"}`},
	{"rooms.book", `{"n":5,"b":[]}`, `{"n: 5 · b":[]}`},
	{"rooms.book", `{"restrict":[],"to":"x"}`, `{"restrict: [] · to":"x"}`},
	{"rooms.book", `{"a":{"$ref":"step-1.result.x"}}`, `{"a":{"$ref":"step-1.other.x"}}`},
	{"rooms.book", `{"a":{"$ref":"5"}}`, `{"a":5}`},
	{"list_employees", `{"department":null,"status":"all"}`, `{"status":"all"}`},
	{"write_rows_to_google_sheet", `{"columns":[5]}`, `{"columns":[{"key":"5","title":"5"}]}`},
	{"write_rows_to_google_sheet", `{"columns":[{"key":"a","title":"b = c"}]}`,
		`{"columns":[{"key":"c","title":"a = b"}]}`},
}

// drawnArguments draws arguments of these and other names, with texts that imitate what lines write.
func drawnArguments(names []string) *rapid.Generator[map[string]any] {
	slices.Sort(names)
	signs := rapid.SampledFrom([]string{"a", "b", "5", "true", "(なし)", "「", "」", "『", "』", "“", "”", `"`, `\`, "⏎", "\n",
		"\r", " ", " · ", ": ", ", ", " = ", "[", "]", "{", "}", "(", ")", "$ref", ".", "-", "引数 ", "ステップ1の結果"})
	word := rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(signs, 0, 4).Draw(t, "signs"), "")
	})
	name := rapid.OneOf(word, rapid.SampledFrom(slices.Compact(names)))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		plain := []*rapid.Generator[any]{
			rapid.Map(word, func(s string) any { return s }),
			rapid.SampledFrom([]any{nil, true, 5, "active", "all", "U012ABC", map[string]any{"$ref": "step-1.result"},
				map[string]any{"$ref": "step-1.result.a"}}),
		}
		if depth == 0 {
			return rapid.OneOf(plain...)
		}
		list := rapid.Map(rapid.SliceOfN(value(depth-1), 0, 2), func(v []any) any { return v })
		object := rapid.Map(rapid.MapOfN(name, value(depth-1), 0, 2), func(v map[string]any) any { return v })
		return rapid.OneOf(append(plain, list, object)...)
	}
	return rapid.MapOfN(name, value(2), 0, 3)
}

func TestTwoCallsHaveTwoLines(t *testing.T) {
	for _, x := range lookalikes {
		differ(t, x[0], x[1], x[2])
	}
	tools, arguments := someTools(t)
	names := []string{"label", "value", "key", "title"} // of members
	for tool, own := range arguments {
		names = append(names, own...)
		for _, name := range own {
			differ(t, tool, `{"`+name+`":"a"}`, `{"`+name+`":"b"}`)
			differ(t, tool, `{"`+name+`":"a"}`, `{"`+name+`":null}`)
			differ(t, tool, `{"`+name+`":5}`, `{}`)
		}
	}
	if t.Failed() {
		return
	}
	args := drawnArguments(names)
	rapid.Check(t, func(t *rapid.T) {
		tool := rapid.SampledFrom(tools).Draw(t, "tool")
		seen := map[string]string{}
		for range 12 {
			raw := expect.Value(json.Marshal(args.Draw(t, "arguments")))(t)
			line := drawnWith("ja", tool, string(raw))
			if before, was := seen[line]; was {
				differ(t, tool, before, string(raw))
			}
			seen[line] = string(raw)
		}
	})
}

func FuzzTwoCallsHaveTwoLines(f *testing.F) {
	for _, x := range lookalikes {
		f.Add(x[0], x[1], x[2])
	}
	f.Fuzz(func(t *testing.T, name, a, b string) { differ(t, name, a, b) })
}

func TestWhatStepsWriteTo(t *testing.T) {
	step := func(tool string, access aggregate.Access) task.Step { return task.Step{Tool: tool, Access: access} }
	read, sheet := step("list_employees", aggregate.Read), step("write_rows_to_google_sheet", aggregate.Write)
	message, other := step("send_slack_dm", aggregate.Write), step("book_room", aggregate.Write)
	for _, tt := range []struct {
		steps []task.Step
		want  []explain.Written
		en    string
	}{
		{nil, []explain.Written{explain.WritesNothing}, "None"},
		{[]task.Step{read}, []explain.Written{explain.WritesNothing}, "None"},
		{[]task.Step{read, sheet, sheet}, []explain.Written{explain.WritesSheet}, "Sheet ×2"},
		{[]task.Step{message, other}, []explain.Written{explain.WritesMessage, explain.WritesOther}, "Message · book_room"},
	} {
		var got []explain.Written
		for _, to := range []explain.Written{explain.WritesSheet, explain.WritesMessage, explain.WritesOther,
			explain.WritesNothing} {
			if explain.WritesTo(tt.steps, to) {
				got = append(got, to)
			}
		}
		expect.Same(t, tt.want, got)
		expect.Same(t, tt.en, explain.Writes("en", tt.steps))
	}
}
