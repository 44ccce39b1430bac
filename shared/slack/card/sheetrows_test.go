package card_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// sheetCall writes two rows of four members in three columns, one of them twice.
var sheetCall = jsonOf(map[string]any{
	"spreadsheet_id": "1aB", "sheet": "2026-10",
	"rows": []map[string]any{
		{"num": "E001", "average_hours": nil, "overtime": 25.5, "note": ""}, {"num": "E002", "average_hours": 1, "overtime": nil},
	},
	"columns": []map[string]string{{"key": "overtime", "title": "残業時間"}, {"key": "num", "title": "社員番号"}, {"key": "gone", "title": "備考"}},
})

func TestTheGateOfASheetShowsWhatWillStandInIt(t *testing.T) {
	planned := strings.Replace(sheetCall, `"rows":[`, `"rows":{"$ref":"step-1.result.rows"},"x":[`, 1)
	s := calling(t, "write_rows_to_google_sheet", planned, sheetCall)
	m, blocks := s.gate(t)
	at := slices.IndexFunc(blocks, func(b slack.Block) bool { return b.BlockType() == slack.MBTTable })
	expect.Must(t, at >= 0, "there is no table")
	want := jsonOf([]any{
		[]any{raw("残業時間"), raw("社員番号"), raw("備考")}, []any{raw("25.5"), raw("E001"), raw(" ")}, []any{raw(" "), raw("E002"), raw(" ")},
	})
	expect.Same(t, want, jsonOf(blocks[at].(*slack.TableBlock).Rows))
	dialog, _ := reviewed(t, s, task.CardStep, s.Gates[0].ID)
	for where, text := range map[string]string{"card": drawn(blocks),
		"plain card": drawn(m.Plain.Attachments[0].Blocks.BlockSet), "dialog": dialog} {
		for _, line := range []string{"*列*: `残業時間`, `社員番号`, `備考`", "書き込まれない項目: `average_hours`, `note`"} {
			expect.That(t, strings.Contains(text, line), "the %s lacks %s: %s", where, line, text)
		}
		expect.That(t, !strings.Contains(text, "null") && !strings.Contains(text, "`{}`") && !strings.Contains(text, `""`),
			"the %s shows an empty cell as JSON: %s", where, text)
		expect.That(t, where == "card" || strings.Count(text, "(空)") == 3,
			"the %s doesn't say which cells are empty: %s", where, text)
	}
}

// A page shows what its card shows: the columns that are written, and beneath what is not.
func TestAPageShowsWhatWillStandInASheet(t *testing.T) {
	call := task.Step{Tool: "write_rows_to_google_sheet", ToolInput: aggregate.JSON(sheetCall)}
	for locale, unwritten := range map[string]string{"ja": "書き込まれない項目", "en": "Not written"} {
		values, _, _, ok := card.Arguments(call, aggregate.Blob{JSON: call.ToolInput}, locale)
		expect.Must(t, ok && len(values) == 5 && values[2].Name == "" && strings.Contains(values[2].Texts[0], "A1"),
			"%t %+v", ok, values)
		want := &card.Table{Columns: []string{"残業時間", "社員番号", "備考"}, Rows: [][]string{{"25.5", "E001", ""}, {"", "E002", ""}}}
		expect.Same(t, want, values[3].Table)
		expect.Same(t, card.Value{Name: unwritten, Texts: []string{"average_hours", "note"}}, values[4])
	}
	odd := aggregate.JSON(`{"columns":["secret"],"rows":[{"secret":"x1"}]}`)
	values, _, _, _ := card.Arguments(call, aggregate.Blob{JSON: odd}, "ja")
	said := jsonOf(values)
	expect.That(t, strings.Contains(said, "secret") && strings.Contains(said, "x1") && strings.Contains(said, "A1 から上書き"),
		"what the tool does not take: %s", said)
}

// What is not what the tool takes is drawn like any other arguments, whole.
func TestOddColumnsHideNothing(t *testing.T) {
	for _, odd := range []string{
		`{"columns":[],"rows":[{"secret":"x1"}]}`, `{"columns":["secret"],"rows":[{"secret":"x1"}]}`, `{"columns":[{"key":"a","title":"b","more":"secret x1"}],"rows":[{"a":"c"}]}`,
		`{"columns":[{"key":"a","title":"b"}],"rows":[{"a":"c"},"secret x1"]}`, `{"columns":[{"key":"a","title":"b"}],"rows":{"secret":"x1"}}`,
	} {
		_, blocks := calling(t, "write_rows_to_google_sheet", odd, odd).gate(t)
		text := drawn(blocks)
		expect.That(t, strings.Contains(text, "secret") && strings.Contains(text, "x1"),
			"%s: the card lacks a value: %s", odd, text)
	}
}
