package explain_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
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

// lines are the expected lines of one plan's steps, in Japanese. References name a step by its place here.
var lines = []struct{ tool, input, ja string }{
	{"list_employees", `{"department":"営業部","status":"active"}`, "「営業部」と、その下の部署の従業員一覧を読みます (在籍者のみ)"},
	{"list_employees", `{"department":null,"status":"all"}`, "全社の従業員一覧を読みます (退職者・入社前の人を含む)"},
	{"list_attendance", `{"year":2026,"month":11,"employees":{"$ref":"step-1.result.employees"}}`,
		"2026 年 11 月の勤怠を読みます (対象: ステップ1の従業員)"},
	{"calculate_overtime", `{"mode":"calculate","records":{"$ref":"step-3.result.records"}}`, "ステップ3の勤怠から、残業時間を計算します"},
	{"write_rows_to_google_sheet", `{"spreadsheet_id":"1aB","sheet":"2026-11","columns":[{"key":"num",` +
		`"title":"社員番号"},` +
		`{"key":"flag","title":"flag"}],"rows":{"$ref":"step-4.result.rows"}}`,
		"シート「1aB」のタブ「2026-11」に書き込みます — 最大 1,000 行\n· 列 社員番号, flag = (上限)\n· 行 ステップ4の勤怠と残業の表"},
	{"write_rows_to_google_sheet", `{"spreadsheet_id":"1aB","sheet":"x","columns":[{"key":"a","title":"a"}],` +
		`"rows":[{"a":25000000},{"a":"=1"}]}`,
		"シート「1aB」のタブ「x」に書き込みます — 2 行\n· 行 › 1 a: 25000000\n· 行 › 2 a: 「=1」\n· 列 a (aside)"},
	{"send_slack_dm", `{"recipient":"U0SATO","text":"完了です。\n確認してください",` +
		`"details":[{"label":"人数",` +
		`"value":{"$ref":"step-1.result.count"}},{"label":"賞与","value":25000000},{"label":"備考","value":null}]}`,
		"@U0SATO さんに DM を送ります\n> 完了です。\n> 確認してください\n· 「人数」 ステップ1の人数\n· 「賞与」 25000000\n· 「備考」 (なし)"},
	{"send_slack_dm", `{"recipient":"sato@example.com","text":"x","details":[{"label":"a","value":9007199254740993}]}`,
		"「sato@example.com」 さんに DM を送ります\n> x\n· 「a」 9007199254740993"},
	{"send_slack_dm", `{"recipient":{"$ref":"step-1.result.employees.0.email"},"text":{"$ref":"step-4.result"},` +
		`"details":[]}`,
		"ステップ1の結果の「employees › 1 件目 › email」 さんに DM を送ります\n· 本文 ステップ4の結果"},
	{"rooms.book_room", `{"room_id":{"$ref":"step-9.result.rooms.0.id"},"title":"定例",` +
		`"notify":true,"cc":["U1",2,null],` +
		`"acl":{"mallory@evil.example":{"public":false}}}`,
		"rooms の book_room を実行します\n· acl › 「mallory@evil.example」 › public false\n· cc U1、2、(なし)\n" +
			"· notify true\n· room_id ステップ9の結果の「rooms › 1 件目 › id」\n· title 定例"},
	{"gone_tool", `{}`, "gone_tool を実行します"},
	{"list_employees", `{"department":{"$ref":"step-4.result.x"},"status":"odd","more":1}`,
		"ステップ4の結果の「x」と、その下の部署の従業員一覧を読みます (「odd」) · 引数 more: 1"},
	{"send_slack_dm", `not JSON`, "ステップ 13 (完了通知) の引数を読み取れません: 「not JSON」"},
	{"send_slack_dm", `{"text":5,"details":[{"label":"a"},"b"]}`, "DM を送ります\n· 明細 › 1 › 項目名 a\n· 明細 › 2 b\n· 本文 5"},
	{"open_pull_request", `{"title":"Round down","body":"a\nb"}`, "プルリクエスト 「Round down」 を下書きで開きます · 本文: 「a ⏎ b」"},
	{"record_decision", `{"matter":"支出","title":"ペン","amount":1200,"currency":"JPY"}`,
		"「支出」の決裁: 「ペン」\n· 金額 1200\n· 通貨 JPY"},
	{"list_employees", `{"department":null,"status":"active","as_of":null}`, "全社の従業員一覧を読みます (在籍者のみ、今日現在)"},
	{"list_employees", `{"department":"営業部","status":"active","as_of":"2026-10"}`,
		"「営業部」と、その下の部署の従業員一覧を読みます (在籍者のみ、2026-10 時点)"},
	{"list_employees", `{"department":"営業部","status":"all","as_of":"2026-10-31"}`,
		"「営業部」と、その下の部署の従業員一覧を読みます (退職者・入社前の人を含む、2026-10-31 時点)"},
	{"list_attendance", `{"year":2026,"month":4,"employees":[{"id":1},{"id":2}]}`,
		"2026 年 4 月の勤怠を読みます (対象: 2 件)\n· 従業員 › 1 id: 1\n· 従業員 › 2 id: 2"},
	{"list_attendance", `{"year":2026,"month":"4"}`, "2026 年 「4」 月の勤怠を読みます (対象の指定なし)"},
	{"list_positions", `{}`, "会社のすべての役職を読みます"},
	{"list_departments", `{"department":null}`, "会社のすべての部署を読みます"},
	{"list_departments", `{"department":"営業部"}`, "部署「営業部」と、その下の部署を読みます"},
}

// inEnglish are lines by their place that English counts, dates or orders in its own way.
var inEnglish = map[int]string{
	0: "Reads the employees of the department “営業部” and those below it, only those employed",
	2: "Reads the attendance of November 2026 for the employees from step 1",
	4: "Writes to the tab “2026-11” of the sheet “1aB” — up to 1,000 rows\n" +
		"· Columns 社員番号, flag = (Limit)\n· Rows the attendance and overtime table from step 4",
	5: "Writes to the tab “x” of the sheet “1aB” — 2 rows\n" +
		"· Rows › 1 a: 25000000\n· Rows › 2 a: “=1”\n· Columns a (aside)",
	8:  "Sends a DM to “employees › item 1 › email” from step 1\n· Text the result of step 4",
	11: "Reads the employees of the department “x” from step 4 and those below it, “odd” · argument more: 1",
	14: "Opens the draft pull request “Round down” · text: “a ⏎ b”",
	19: "Reads the attendance of April 2026 for 2 entries\n· Employees › 1 id: 1\n· Employees › 2 id: 2",
	20: "Reads the attendance of month “4” of 2026 for people not given",
}

func TestEachToolSaysWhatItWouldDo(t *testing.T) {
	var of []string
	for _, l := range lines {
		of = append(of, l.tool, l.input)
	}
	steps := plan(of...)
	for i, l := range lines {
		if f, own := tenancy.OwnToolNamed(l.tool); own {
			steps[i].Access = f.Effect
		}
		in := func(locale string) string {
			_, got, _ := strings.Cut(drawn(explain.EffectOf(locale, steps[i], nil, steps[:i])), ". ")
			return got
		}
		expect.Is(t, in("ja"), l.ja, "step %d", i+1)
		if want, known := inEnglish[i]; known {
			expect.Is(t, in("en"), want, "step %d", i+1)
		}
		expect.That(t, in("en") != in("ja") && !strings.Contains(in("en"), "{"), "step %d in English: %s", i+1, in("en"))
	}
}

// What a server calls its tool stands in quotation marks within a sentence of Ringi's.
func TestAToolIsNamedAsItsServerDoes(t *testing.T) {
	for title, want := range map[string][2]string{
		"": {"rooms の book を実行します", "Runs book on rooms"}, "book": {"rooms の book を実行します", "Runs book on rooms"},
		"Book a room」": {"「Book a room』」 (rooms の book) を実行します", "Runs “Book a room」” (book on rooms)"},
	} {
		s := plan("rooms.book", `{}`)
		s[0].ToolTitle, s[0].Access = title, aggregate.Write
		expect.Is(t, said("ja", s...), want[0])
		expect.Is(t, said("en", s...), want[1])
	}
}

// All of Ringi's own tools have words in each language, and these agree with the catalog about rows.
func TestEveryToolOfTheCatalogHasItsLine(t *testing.T) {
	tried := map[string]bool{}
	for _, l := range lines {
		tried[l.tool] = true
	}
	c := expect.Value(tool.Builtin())(t)
	for _, s := range c.All() {
		own := said("ja", plan(s.Name, `{}`)...)
		expect.That(t, !strings.HasPrefix(own, s.Name),
			"%s has no line: write one into its file in shared/domain/tenancy/tools, or what it does into its \"shown\"", s.Name)
		expect.That(t, tried[s.Name],
			"the line of %s is not tried: add a call of it, and what it says, to lines of "+
				"shared/explain/line_test.go", s.Name)
		source := `{"spreadsheet_id":"a","sheet":"b","columns":[],"rows":{"$ref":"step-1.result.rows"}}`
		rows := said("ja", plan(s.Name, `{}`, "write_rows_to_google_sheet", source)...)
		expect.That(t, strings.Contains(strings.ReplaceAll(rows, ",", ""), fmt.Sprintf("最大 %d 行", s.MaxRows)),
			"rows of %s: %s; want %d, its max_rows", s.Name, rows, s.MaxRows)
	}
}

// said returns the sentence of the last step.
func said(locale string, steps ...task.Step) string {
	last := len(steps) - 1
	if f, own := tenancy.OwnToolNamed(steps[last].Tool); own {
		steps[last].Access = f.Effect
	}
	return text(explain.EffectOf(locale, steps[last], nil, steps[:last]).Sentence)
}

// FuzzNothingIsLeftOut checks that an effect contains everything in any arguments.
func FuzzNothingIsLeftOut(f *testing.F) {
	for _, seed := range []string{
		`{"recipient":"U0SATO","text":"x","details":[{"label":"a","value":1e3}]}`, `{"rows":[{"a":1}],` +
			`"columns":[{"key":"a","title":"b"}],"sheet":{"x":"y"}}`,
		`{"department":{"$ref":"step-1.result"},"$ref":"x"}`, `{"mode":[],"records":{"records":true}}`, `{"status":"all",` +
			`"department":"all"}`,
	} {
		for _, name := range []string{"send_slack_dm", "write_rows_to_google_sheet", "list_employees", "list_attendance",
			"calculate_overtime", "a.b"} {
			f.Add(name, seed)
		}
	}
	f.Fuzz(func(t *testing.T, name, input string) {
		steps := plan(name, input)
		effect := strings.NewReplacer(`\"`, `"`, "> ", "").Replace(drawn(explain.EffectOf("ja", steps[0], nil, nil)))
		d := json.NewDecoder(strings.NewReader(input))
		d.UseNumber()
		var args map[string]any
		if d.Decode(&args) != nil || args == nil || d.More() {
			return
		}
		if name == "write_rows_to_google_sheet" {
			leaveUnwritten(args)
		}
		for member, v := range args {
			for _, literal := range literals(v) {
				known := literal == "active" || literal == "all" || literal == "calculate" || literal == "validate"
				expect.That(t, known || strings.Contains(unescaped(effect), literal) || strings.Contains(effect, literal),
					"%s: %q of %s is not in %q", name, literal, member, effect)
			}
		}
	})
}

// leaveUnwritten removes from a sheet's rows, of which each cell is shown, what no column has, and from its columns the
// names by which rows have what stands below their titles.
func leaveUnwritten(args map[string]any) {
	rows, _ := args["rows"].([]any)
	columns, _ := args["columns"].([]any)
	written, some := map[string]bool{}, false
	for _, x := range columns {
		c, _ := x.(map[string]any)
		key, text := c["key"].(string)
		_, titled := c["title"].(string)
		if !text || !titled || len(c) != 2 {
			return
		}
		written[key] = true
	}
	for _, x := range rows {
		row, is := x.(map[string]any)
		if _, ref := row["$ref"]; !is || ref {
			return
		}
		for _, v := range row {
			if _, list := v.([]any); list || reflect.ValueOf(v).Kind() == reflect.Map {
				return
			}
			some = true
		}
	}
	if !some || columns == nil {
		return
	}
	for _, x := range columns {
		delete(x.(map[string]any), "key")
	}
	for _, x := range rows {
		maps.DeleteFunc(x.(map[string]any), func(name string, _ any) bool { return !written[name] })
	}
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
	return strings.NewReplacer(`\r`, "\r", `\\`, `\`, `\「`, "「", `\『`, "『", `\』`, "』", `\⏎`, "⏎",
		`\｢`, "｢", `\｣`, "｣",
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

// lookalikes are those of cards, and a pair that a line tells apart by what it leaves out.
var lookalikes = append(ringitest.Lookalikes,
	[3]string{"list_employees", `{"department":null,"status":"all"}`, `{"status":"all"}`})

// drawnArguments draws arguments of these and other names, with texts that imitate what lines write.
func drawnArguments(names []string) *rapid.Generator[map[string]any] {
	slices.Sort(names)
	signs := rapid.SampledFrom([]string{"a", "b", "5", "true", "(なし)", "「", "」", "『", "』", "“",
		"”", `"`, `\`, "⏎", "\n",
		"\r", " ", " · ", ": ", ", ", " = ", "[", "]", "{", "}", "(", ")", "$ref", ".", "-", "引数 ",
		"ステップ1の結果"})
	word := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOfN(signs, 0, 4).Draw(t, "signs"), "") })
	name := rapid.OneOf(word, rapid.SampledFrom(slices.Compact(names)))
	var value func(depth int) *rapid.Generator[any]
	value = func(depth int) *rapid.Generator[any] {
		plain := []*rapid.Generator[any]{
			rapid.Map(word, func(s string) any { return s }),
			rapid.SampledFrom([]any{nil, true, 5, json.Number("5.0"), 11, 12, "11", 2026, "active", "all", "calculate",
				"U012ABC", map[string]any{"$ref": "step-1.result"},
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
