package card_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/slack-go/slack"
	"pgregory.net/rapid"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// longTool begins names of tools that differ in their last letters.
var longTool = "server." + strings.Repeat("x", 100)

// members are the arguments with which tools are called here.
var members = map[string][]string{
	"list_attendance": {"year", "month", "employees"}, "calculate_overtime": {"mode", "records"},
	"list_employees":             {"department", "status"},
	"write_rows_to_google_sheet": {"spreadsheet_id", "sheet", "rows", "columns"},
	"send_slack_dm":              {"recipient", "text", "details"}, "rooms.find": {"a", "b", "earlier"},
	"rooms.pay": {"a", "b", "c d", "Account", "\u0410ccount", "items"}, "other.pay": {"a", "x", "items"},
	longTool + "read": {"a"}, longTool + "delete": {"a"},
}

// oddValue draws a value of an argument: one that looks like another or like a part of a card, a reference to a step
// before or after, or lists and rows of them.
func oddValue(t *rapid.T, deep bool) any {
	switch kind := rapid.IntRange(0, 5).Draw(t, "kind"); {
	case kind == 0 && deep:
		list := []any{}
		for range rapid.IntRange(0, 2).Draw(t, "length") {
			list = append(list, oddValue(t, false))
		}
		return list
	case kind == 1 && deep:
		rows := []any{}
		for range rapid.IntRange(0, 3).Draw(t, "rows") {
			row := map[string]any{}
			for _, name := range []string{"a", "b", "key", "title", "label", "value", "小計", "x*y", "\u0430b"} {
				if rapid.IntRange(0, 3).Draw(t, "with "+name) == 0 {
					row[name] = oddValue(t, false)
				}
			}
			rows = append(rows, row)
		}
		return rows
	case kind == 2:
		part := rapid.SampledFrom([]string{"", ".employees", ".records", ".rows", ".num", ".x y"}).Draw(t, "part")
		return map[string]any{"$ref": fmt.Sprintf("step-%d.result%s", rapid.IntRange(1, 4).Draw(t, "step"), part)}
	}
	return rapid.SampledFrom(oddValues).Draw(t, "value")
}

// oddPlan draws a plan, one with a mark among its writes.
func oddPlan(t *rapid.T, mark *rules.Mark) (steps []task.Step) {
	for n := range rapid.IntRange(1, 4).Draw(t, "steps") {
		tool := rapid.SampledFrom(slices.Sorted(maps.Keys(members))).Draw(t, "tool")
		s := task.Step{StepID: fmt.Sprintf("step-%d", n+1), Order: n + 1, Title: "t", Tool: tool, Access: aggregate.Read,
			ToolVersion: "v1"}
		if f, own := tenancy.OwnToolNamed(tool); f.Effect == aggregate.Write || !own && !strings.HasSuffix(tool, "find") {
			s.Access, s.RequiresHumanCheck = aggregate.Write, rapid.Bool().Draw(t, "check")
		}
		if strings.HasSuffix(tool, ".pay") {
			s.Mark = mark
		}
		args := map[string]any{}
		for _, name := range members[tool] {
			if rapid.IntRange(0, 3).Draw(t, "with "+name) > 0 {
				args[name] = oddValue(t, true)
			}
		}
		s.ToolInput = aggregate.JSON(expect.JSON(args))
		steps = append(steps, s)
	}
	return steps
}

// changed is a plan with one change: of an argument, or of the places of two steps' arguments.
func changed(t *rapid.T, steps []task.Step) []task.Step {
	steps = slices.Clone(steps)
	s := &steps[rapid.IntRange(0, len(steps)-1).Draw(t, "step")]
	other := &steps[rapid.IntRange(0, len(steps)-1).Draw(t, "other")]
	if other != s && other.Tool == s.Tool {
		s.ToolInput, other.ToolInput = other.ToolInput, s.ToolInput
		return steps
	}
	var args map[string]any
	expect.NoError(t, json.Unmarshal([]byte(s.ToolInput), &args))
	args[rapid.SampledFrom(members[s.Tool]).Draw(t, "member")] = oddValue(t, true)
	s.ToolInput = aggregate.JSON(expect.JSON(args))
	return steps
}

// Two plans that would do different things never look alike where people approve them: whatever tools are called with,
// under a mark, or asked about once more.
func TestTwoPlansNeverLookAlike(t *testing.T) {
	t.Parallel()
	s := planned(t, fiveSteps(), defaults)
	rapid.Check(t, func(t *rapid.T) {
		seenBefore := map[string]string{}
		steps := oddPlan(t, shownMark(t))
		for range 6 {
			var does strings.Builder
			for _, step := range steps {
				does.WriteString(fmt.Sprintf("%s %s %v\n", step.Tool, step.ToolInput, step.RequiresHumanCheck))
			}
			s.Process().Steps = steps
			for _, locale := range language.All {
				differ(t, s, locale, seenBefore, does.String())
			}
			steps = changed(t, steps)
		}
	})
}

// Nor do two lists of many rows of which one value differs, though what most rows have is said once.
func TestTwoListsNeverLookAlike(t *testing.T) {
	t.Parallel()
	s := planned(t, fiveSteps(), defaults)
	rapid.Check(t, func(t *rapid.T) {
		odd := rapid.SampledFrom([]any{"", nil, "(空)", "x", "#7 x", "6 行とも x", "b と同じ", "ほか", 1, json.Number("1.50"), "1"})
		rows := make([]map[string]any, rapid.IntRange(6, 12).Draw(t, "rows"))
		for i := range rows {
			rows[i] = map[string]any{"a": i, "b": odd.Draw(t, "b"), "c": "x"}
			rows[i]["d"] = rows[i]["b"]
		}
		seenBefore := map[string]string{}
		for range 8 {
			does := expect.JSON(rows)
			s.Process().Steps = []task.Step{{StepID: "step-1", Order: 1, Tool: "rooms.pay", Access: aggregate.Write,
				ToolInput: aggregate.JSON(`{"items":` + does + `}`)}}
			for _, locale := range language.All {
				differ(t, s, locale, seenBefore, does)
			}
			rapid.SampledFrom(rows).Draw(t, "row")[rapid.SampledFrom([]string{"b", "c", "d"}).Draw(t, "name")] =
				odd.Draw(t, "value")
		}
	})
}

// Nor do two lists whose columns share a title, where a line names one of them.
func TestColumnsOfOneTitleStandInTheTable(t *testing.T) {
	for i, values := range [][3]string{{"a", "b", "a"}, {"a", "b", "b"}, {"x", "x", "y"}} {
		var rows []explain.Argument
		for n := range 6 {
			row := explain.Argument{Name: []explain.Piece{{Kind: explain.Words, Text: "行"}, {Kind: explain.Words,
				Text: strconv.Itoa(n + 1)}}}
			for k, v := range append([]string{"氏名"}, values[:]...) {
				row.Cells = append(row.Cells, explain.Argument{
					Name:  []explain.Piece{{Kind: explain.Words, Text: []string{"氏名", "振込先", "振込先", "送金先"}[k]}},
					Value: []explain.Piece{{Kind: explain.Value, Text: v + strconv.Itoa(n)}}})
			}
			rows = append(rows, row)
		}
		for k := range 4 {
			expect.That(t, explain.Alike("ja", rows, k, 5).Value == nil, "list %d: column %d is a line", i, k)
		}
	}
}

// hashes are of all that a card or a tab shows, in the ids of its blocks.
var hashes = regexp.MustCompile("[0-9a-f]{64}")

// differ fails if another plan is drawn like s on the card, with a button there.
func differ(t *rapid.T, s *scenario, locale string, seenBefore map[string]string, does string) {
	m := render(s.Aggregate, s.card(processCard), locale, s.now)
	expect.NoError(t, ringitest.CheckCard(m))
	text := expect.JSON(m.Attachments)
	if !strings.Contains(text, "approve_process") {
		return
	}
	shown := locale + seen(hashes.ReplaceAllString(text, ""))
	before, was := seenBefore[shown]
	expect.Must(t, !was || before == does, "two plans look alike:\n%s\n%s\n%s", before, does, shown)
	seenBefore[shown] = does
}

// oddValues are values of arguments and cells that look like each other, or like a part of a card.
var oddValues = []any{"x", "y", "取引先", "", " ", "\n", "a\n> b", "a\nb", "a ⏎ b", "`", "```", "⟨U+0060⟩", "*x*",
	"x · b: `y`", "> x", "• x", "合計", "–", "「」", "(空)", "(なし)", "5", 5, json.Number("5.0"), json.Number("149000"),
	"149000", "¥149,000", true, "true", nil, "null", "\u200b", "א", "א 5", "&lt;", "<", "_x_", "@channel", ":tada:",
	[]any{}, map[string]any{}, []any{"x"}, []any{"x", "y"}, []any{"x", "yとz"}, []any{"xとy", "z"}, []any{"x", "y", "z"},
	[]any{nil, "x"}, map[string]any{"b": "x"}, map[string]any{"$ref": "step-1.result"}, "1. x", "✏️ 2. x"}

// shownMark draws a mark that an administrator can save and that speaks of items.
func shownMark(t *rapid.T) *rules.Mark {
	m := &rules.Mark{Version: "v1", How: rules.HowNothing}
	if rapid.Bool().Draw(t, "amount") {
		m.How, m.Currency = rapid.SampledFrom([]rules.How{rules.HowSum, rules.HowProduct}).Draw(t, "how"), "JPY"
		m.Pointers = []string{"/items/*/a", "/items/*/b"}
	}
	if len(m.Problems()) > 0 {
		t.Skip()
	}
	return m
}

// halfYear is a plan of twenty steps, as the demo makes it for overtime of six months with a sheet for each, or a
// year's without sheets, of which each month is compared with those before it.
func halfYear(months int, sheets bool) (steps []task.Step) {
	add := func(tool, args string, access aggregate.Access) string {
		n := len(steps) + 1
		id := fmt.Sprintf("step-%d", n)
		steps = append(steps, task.Step{StepID: id, Order: n, Title: "残業時間の確認 2026-04 営業部", Tool: tool,
			ToolInput: aggregate.JSON(args), Access: access})
		return id
	}
	ref := func(id, part string) string { return `{"$ref":"` + id + `.result.` + part + `"}` }
	people, earlier, details := add("list_employees", `{"department":"営業部","status":"active"}`,
		aggregate.Read), "", []string{}
	for m := range months {
		records := add("list_attendance", fmt.Sprintf(`{"year":%d,"month":%d,"employees":%s}`, 2026+(m+3)/12, (m+3)%12+1,
			ref(people, "employees")), aggregate.Read)
		tool, args := "calculate_overtime", `{"mode":"calculate","records":`+ref(records, "records")+`}`
		if !sheets && earlier != "" {
			tool, args = "rooms.compare", `{"records":`+ref(records, "records")+`,"earlier":[`+earlier+`]}`
		}
		rows := add(tool, args, aggregate.Read)
		earlier = strings.TrimSuffix(ref(records, "records")+","+earlier, ",")
		if sheets {
			add("write_rows_to_google_sheet",
				fmt.Sprintf(`{"spreadsheet_id":"ringi-demo-sheet","sheet":"残業 %d 営業部","rows":%s,"columns":[{"key":"num",`+
					`"title":"社員番号"},{"key":"display_name","title":"氏名"},{"key":"overtime_hours","title":"残業時間"},`+
					`{"key":"legal_overtime_hours","title":"法定時間外"},{"key":"period",`+
					`"title":"集計期間"}]}`, m, ref(rows, "rows")), aggregate.Write)
		}
		details = append(details, fmt.Sprintf(`{"label":"80 時間超(残業 %d 営業部)","value":%s}`, m, ref(rows, "over_80h")))
	}
	add("send_slack_dm", `{"recipient":"U0SUZUKI","text":"残業時間の確認が完了しました。","details":[`+strings.Join(details, ",")+`]}`,
		aggregate.Write)
	return steps
}

// A card holds twenty steps: what they do, and the list of the specification. What is read has a line each.
func TestTwentyStepsFitACard(t *testing.T) {
	for name, tc := range map[string]struct {
		steps []task.Step
		reads string
	}{
		"half a year with sheets": {halfYear(6, true), "👀 1. 「営業部」と、その下の部署の従業員一覧を読みます (在籍者のみ)\n" +
			"👀 2. 2026 年 4 月の勤怠を読みます (対象: ステップ1の従業員)\n👀 3. ステップ2の勤怠から、残業時間を計算します\n"},
		"a year without": {halfYear(12, false),
			"25. rooms の compare で読み取ります\n• earlier: ステップ22の勤怠、ステップ20の勤怠、ステップ18の勤怠、ステップ16の勤怠、" +
				"ステップ14の勤怠、ステップ12の勤怠、ステップ10の勤怠、ステップ8の勤怠、ステップ6の勤怠、ステップ4の勤怠、ステップ2の勤怠\n" +
				"• records: ステップ24の勤怠\n1. "},
	} {
		text, approvable := shownOf(t, tc.steps)
		expect.That(t, approvable && strings.Contains(text, tc.reads), "%s can be approved: %v\n%s", name, approvable, text)
		writes, _, _ := strings.Cut(text, "👀")
		expect.That(t, strings.Contains(writes, "\n• 「80 時間超(残業 5 営業部)」: ステップ"),
			"%s: the message isn't whole: %s", name, writes)
	}
}

// A section ends between two items of a line, and the next one says whose rest it is.
func TestASectionEndsBetweenItems(t *testing.T) {
	detail := func(n int) string {
		return fmt.Sprintf(`{"label":"Item %02d","value":"%s"}`, n, strings.Repeat("several words ", 18))
	}
	var details []string
	for n := range 20 {
		details = append(details, detail(n))
	}
	text, approvable := shownOf(t, []task.Step{{StepID: "step-1", Order: 1, Title: "t", Tool: "send_slack_dm",
		Access:    aggregate.Write,
		ToolInput: aggregate.JSON(`{"recipient":"U0SATO","text":"x","details":[` + strings.Join(details, ",") + `]}`)}})
	expect.That(t, approvable && strings.Contains(text, "\n1. (続き)\n• 「Item"), "approvable %v: %s", approvable, text)
	for n := range 20 {
		whole := fmt.Sprintf("「Item %02d」: `%s", n, strings.Repeat("several words ", 17))
		expect.That(t, strings.Contains(text, whole), "item %d is torn", n)
	}
	words := strings.Repeat("unbreakable ", 400)
	s := planned(t, []task.Step{{StepID: "step-1", Order: 1, Title: "t", Tool: "notes.post", Access: aggregate.Write,
		ToolInput: aggregate.JSON(`{"body":"` + words + `"}`)}}, defaults)
	_, blocks := s.shown(processCard)
	for _, b := range blocks {
		if sec, ok := b.(*slack.SectionBlock); ok && sec.Text != nil {
			for _, word := range strings.FieldsFunc(sec.Text.Text,
				func(r rune) bool { return strings.ContainsRune(" \n「」`⟨⟩…", r) }) {
				expect.That(t, !strings.HasPrefix("unbreakable", word) && !strings.HasSuffix("unbreakable", word) ||
					word == "unbreakable", "a word is torn: %q", word)
			}
		}
	}
}

// A message arrives with its characters: it says so where Slack would format them.
func TestAMessageSaysThatItIsSentAsItIs(t *testing.T) {
	for text, says := range map[string]bool{
		"*至急* 明日まで": true, "至急 :sparkles:": true, "_明日まで_": true, "10:30 に a_b_c": false,
	} {
		args := `{"recipient":"U0SATO","text":"` + text + `","details":[]}`
		gate := calling(t, "send_slack_dm", args, args)
		shown := gate.drawn(stepCard)
		expect.That(t, strings.Contains(shown, "`*…*`") == says, "%s: %s", text, shown)
	}
}

// Code in an argument is legible: it stands in a block, where only three backticks in a row are spelled.
func TestBackticksAreLegible(t *testing.T) {
	for value, want := range map[string]string{
		"`npm test` and ``x``": "```\n`npm test` and ``x``\n```",
		"a ```b``` c":          "```\na ⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩b⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩ c\n```",
		"plain":                "`plain`",
	} {
		args := expect.JSON(map[string]any{"body": value})
		_, blocks := calling(t, "notes.post", args, args).shown(stepCard)
		expect.That(t, strings.Contains(drawn(blocks), want), "%q is drawn as %s", value, drawn(blocks))
	}
	for text, want := range map[string]string{`["a ` + "`b`" + `"]`: "`b`", `["` + "```" + `"]`: `\u0060\u0060\u0060`} {
		_, blocks := calling(t, "notes.post", text, text).shown(stepCard)
		expect.That(t, strings.Contains(drawn(blocks), want), "%s is drawn as %s", text, drawn(blocks))
	}
}

// The line of many reads may go on in another section, below their numbers.
func TestTheLineOfManyReadsFitsSections(t *testing.T) {
	for _, long := range []int{20, 45, 80, 130} {
		var steps []task.Step
		for n := range task.MaxSteps {
			args := fmt.Sprintf(`{"a":"%s %d","b":"%s"}`, strings.Repeat("x", long), n, strings.Repeat("y ", 1300))
			steps = append(steps, task.Step{StepID: fmt.Sprintf("step-%d", n+1), Order: n + 1, Title: "t",
				Tool: "rooms.find", Access: aggregate.Read, ToolInput: aggregate.JSON(args)})
		}
		text, _ := shownOf(t, steps)
		expect.Has(t, text, "60.", "their numbers")
	}
}
