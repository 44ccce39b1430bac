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
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// drawn writes an effect as surfaces do: all of its texts, without the kinds of their pieces.
func drawn(e explain.Effect) string {
	out := []string{fmt.Sprint(e.Order) + ". " + text(e.Sentence)}
	if e.Words != nil {
		out = append(out, "> "+strings.ReplaceAll(text(e.Words), "\n", "\n> "))
	}
	for _, a := range e.Rest {
		out = append(out, "· "+text(a.Name)+" "+text(a.Value)+map[bool]string{true: " (aside)"}[a.Aside])
	}
	return strings.Join(out, "\n")
}

// ordering is the mark of a tool that orders goods.
func ordering() *rules.Mark {
	return &rules.Mark{Version: "v1", How: rules.HowProduct, Currency: "JPY",
		Pointers: []string{"/items/*/quantity", "/items/*/unit_price"}}
}

// drawnMark draws a mark that may speak of any of these arguments, and may be none that can be saved.
func drawnMark(t *rapid.T) *rules.Mark {
	m := &rules.Mark{Version: "v1"}
	if rapid.Bool().Draw(t, "with an amount") {
		m.How, m.Currency = rapid.SampledFrom([]rules.How{rules.HowSum, rules.HowProduct}).Draw(t, "how"), "JPY"
		m.Pointers = []string{"/items/*/a", "/items/*/b"}
	}
	return m
}

// drawnRows draws arguments with a list of rows that are alike but for one value, in any form.
func drawnRows(t *rapid.T) map[string]any {
	values := []any{nil, "", "5", 5, 0, json.Number("149000"), "149000", "149,000", "¥149,000", json.Number("1.49e5"),
		json.Number("149000.0"), json.Number("0.5"), "null", "a", "a | b", `"a"`, "a\nb", true, []any{}, []any{1},
		map[string]any{"$ref": "step-1.result.a"}}
	rows := []any{}
	for range rapid.IntRange(0, 2).Draw(t, "rows") {
		row := map[string]any{}
		for _, name := range []string{"a", "b", "label", "Subtotal", "単価"} {
			if rapid.Bool().Draw(t, "with "+name) {
				row[name] = rapid.SampledFrom(values).Draw(t, name)
			}
		}
		rows = append(rows, row)
	}
	args := map[string]any{}
	if rapid.IntRange(0, 5).Draw(t, "with rows") > 0 {
		args[rapid.SampledFrom([]string{"items", "items", "a", "others"}).Draw(t, "list")] = rows
	}
	texts := []any{"a", "b", "c", "c\nd", "c\n\nd", "c ⏎ d", "「c」", "", " ", "\n",
		"U012ABC", 5, nil, []any{"a"}, []any{"a", "c"},
		[]any{"c", "d"}, []any{"c", "dとb"}, []any{"cとd", "b"}, []any{"c", "d", "b"}, "c と d", "cとd", "c and d",
		map[string]any{"b": "c"}, map[string]any{"$ref": "step-1.result"}}
	for _, name := range []string{"a", "b"} {
		if _, had := args[name]; !had && rapid.Bool().Draw(t, "with "+name) {
			args[name] = rapid.SampledFrom(texts).Draw(t, name)
		}
	}
	return args
}

// Two calls of one tool under one mark have different effects, whatever the arguments are.
func TestTwoCallsHaveTwoEffects(t *testing.T) {
	for _, x := range lookalikes {
		differentEffects(t, x[0], nil, x[1], x[2])
	}
	_, arguments := someTools(t)
	for tool, own := range arguments {
		for _, name := range own {
			differentEffects(t, tool, nil, `{"`+name+`":"a"}`, `{"`+name+`":"b"}`)
			differentEffects(t, tool, nil, `{"`+name+`":"a"}`, `{"`+name+`":null}`)
			differentEffects(t, tool, nil, `{"`+name+`":5}`, `{}`)
		}
	}
}

// Each step of any plan is in one effect, and two plans that differ in one argument have different effects.
func TestTwoPlansHaveTwoEffects(t *testing.T) {
	tools, arguments := someTools(t)
	names := []string{"label", "value", "key", "title", "a", "b", "items"}
	for _, own := range arguments {
		names = append(names, own...)
	}
	usual := drawnArguments(names)
	rapid.Check(t, func(t *rapid.T) {
		mark, seen := drawnMark(t), map[string]string{}
		input := func() aggregate.JSON {
			args := drawnRows(t)
			if rapid.Bool().Draw(t, "usual") {
				args = usual.Draw(t, "arguments")
			}
			return aggregate.JSON(expect.Value(json.Marshal(args))(t))
		}
		var steps []task.Step
		for n := range rapid.IntRange(1, 4).Draw(t, "steps") {
			s := plan(rapid.SampledFrom(append(tools, "rooms.book", "rooms.find")).Draw(t, "tool"), string(input()))[0]
			s.StepID, s.Order, s.Access, s.ToolVersion = fmt.Sprintf("step-%d", n+1), n+1, aggregate.Read, "v1"
			if f, own := tenancy.OwnToolNamed(s.Tool); f.Effect == aggregate.Write || !own && s.Tool != "rooms.find" {
				s.Access, s.Mark, s.Declared = aggregate.Write, mark, declared
			}
			steps = append(steps, s)
		}
		for range 12 {
			does := ""
			for _, s := range steps {
				does += s.Tool + " " + canonical(string(s.ToolInput)) + "\n"
			}
			for _, locale := range language.All {
				writes, reads := explain.Effects(locale, steps)
				is := locale
				for _, e := range append(writes, reads...) {
					is += "\n" + drawn(e)
				}
				expect.That(t, len(writes)+len(reads) == len(steps), "a step is in no effect, or in two:\n%s\n%s", does, is)
				before, was := seen[is]
				expect.That(t, !was || before == does, "two plans look alike:\n%s\nand\n%s\n%s", before, does, is)
				seen[is] = does
			}
			steps[rapid.IntRange(0, len(steps)-1).Draw(t, "changed")].ToolInput = input()
		}
	})
}

func FuzzTwoCallsHaveTwoEffects(f *testing.F) {
	for _, x := range lookalikes {
		f.Add(x[0], x[1], x[2])
	}
	f.Fuzz(func(t *testing.T, tool, a, b string) { differentEffects(t, tool, ordering(), a, b) })
}

// differentEffects fails if two calls with different arguments have the same effect.
func differentEffects(t expect.T, tool string, mark *rules.Mark, a, b string) {
	if canonical(a) == canonical(b) {
		return
	}
	for _, locale := range language.All {
		first, second := drawn(effectWith(locale, tool, mark, a)), drawn(effectWith(locale, tool, mark, b))
		expect.That(t, first != second, "%s: two calls, one effect: %s\n %s\n %s\n%+v", tool, first, a, b, mark)
	}
}

// declared are titles that a server has for arguments, some of which look like others.
const declared = `[["/b","a"],["/a","品目"],["/items",""],["/items/*/b","Subtotal"],["/a_b",` +
	`""],["/label","「a」"]]`

// effectWith returns the effect of a step after two others, to whose results its arguments may refer.
func effectWith(locale, tool string, mark *rules.Mark, args string) explain.Effect {
	steps := plan("list_employees", `{}`, "list_attendance", `{}`, tool, args)
	steps[2].Access, steps[2].ToolVersion, steps[2].Mark = aggregate.Write, "v1", mark
	steps[2].Declared = declared
	if f, own := tenancy.OwnToolNamed(tool); own {
		steps[2].Access = f.Effect
	}
	return explain.EffectOf(locale, steps[2], nil, steps[:2])
}

// write makes a step of a tool that writes.
func write(tool string, mark *rules.Mark, input string) task.Step {
	return task.Step{StepID: "step-1", Order: 1, Tool: tool, ToolInput: aggregate.JSON(input), Access: aggregate.Write,
		ToolVersion: "v1", Mark: mark}
}

const laptops = `{"supplier":"アクメ","currency":"JPY","reference":"R-70d3903e","items":[` +
	`{"name":"ノート PC 14 型","quantity":1,"unit_price":149000},{"unit_price":149000,"quantity":1,` +
	`"name":"デスクトップ PC"}]}`

func TestWhatAStepDoes(t *testing.T) {
	for name, c := range map[string]struct {
		step task.Step
		want string
	}{
		"an order": {write("rooms.place_order", ordering(), laptops),
			"1. rooms の place_order を実行します\n· currency JPY\n· items › 1 name: 「ノート PC 14 型」 · quantity: 1 · unit_price: " +
				"149000\n" +
				"· items › 2 name: 「デスクトップ PC」 · quantity: 1 · unit_price: 149000\n· reference R-70d3903e\n· supplier アクメ"},
		"a sheet": {write("write_rows_to_google_sheet", nil, `{"spreadsheet_id":"1aB","sheet":"2026-10 営業部",`+
			`"columns":[{"key":"num","title":"社員番号"},{"key":"name","title":"氏名"}],`+
			`"rows":{"$ref":"step-1.result.rows"}}`),
			"1. シート「1aB」のタブ「2026-10 営業部」に書き込みます — 最大 20,000 行\n· 列 社員番号 = num, 氏名 = name\n· 行 › $ref step-1.result.rows"},
		"what a sheet won't have": {write("write_rows_to_google_sheet", nil, `{"spreadsheet_id":"1aB","sheet":"a",`+
			`"columns":[{"key":"name","title":"氏名"}],"rows":[{"num":1,"name":"x","secret_code":"y"}]}`),
			"1. シート「1aB」のタブ「a」に書き込みます — 1 行\n· 行 › 1 氏名: x\n· 列 氏名 = name (aside)\n" + "· 書き込まない列 num、secret_code"},
		"only what nobody has a title for": {write("write_rows_to_google_sheet", nil, `{"spreadsheet_id":"1aB","sheet":"a",`+
			`"columns":[{"key":"num","title":"社員番号"}],"rows":[{"num":1,"secret_code":"y","b":1}]}`),
			"1. シート「1aB」のタブ「a」に書き込みます — 1 行\n· 行 › 1 社員番号: 1\n· 列 社員番号 = num (aside)\n" + "· 書き込まない列 b、secret_code"},
		"a message": {write("send_slack_dm", nil, `{"recipient":"U0SATO","text":"完了です。\n確認を","details":[`+
			`{"label":"人数","value":25}]}`),
			"1. @U0SATO さんに DM を送ります\n> 完了です。\n> 確認を\n· 「人数」 25"},
		"nested arguments": {write("rooms.book", nil, `{"acl":{"mallory@evil.example":{"public":false}},"cc":["U1",2,null],`+
			`"none":[],"room":{},"days":[{"at":[1]},"x"]}`),
			"1. rooms の book を実行します\n· acl › 「mallory@evil.example」 › public false\n" +
				"· cc U1、2、(なし)\n· days › 1 › at › 1 1\n· days › 2 x\n· none (空のリスト)\n· room (空のオブジェクト)"},
	} {
		got := drawn(explain.EffectOf("ja", c.step, nil, nil))
		expect.Is(t, got, c.want, name)
		c.step.Mark = nil // which says what moves, not what is done
		expect.Is(t, drawn(explain.EffectOf("ja", c.step, nil, nil)), got, name)
		expect.That(t, !strings.ContainsAny(drawn(explain.EffectOf("en", c.step, nil, nil)), "{}は"), "%s in English", name)
	}
}

func TestArgumentsAreCalledAsTheServerDoes(t *testing.T) {
	s := write("rooms.place_order", nil, `{"note_to_supplier":"x","supplier":"A","currency":"JPY",`+
		`"items":[{"unit_price":5,"name":"PC"}],"Account":1,"account_no":2}`)
	s.Declared = `[["/supplier","Supplier of the goods"],["/items",""],["/items/*/unit_price","Unit price"],` +
		`["/items/*/name","Item"],["/currency","Currency"],["/account_no","Account"],["/note_to_supplier",""]]`
	expect.Is(t, drawn(explain.EffectOf("en", s, nil, nil)), "1. Runs place_order on rooms\n"+
		"· “Supplier of the goods” (supplier) A\n· items › 1 unit price: 5 · “Item” (name): PC\n· currency JPY\n"+
		"· “Account” (account_no) 2\n· note to supplier x\n· Account 1")
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
