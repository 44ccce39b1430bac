package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// aboveTheStamp returns a call's arguments as the steps' card shows them; atTheGate, as the gate and its dialog do.
func aboveTheStamp(t testing.TB, tool, args string) string {
	return planned(t, []task.Step{{StepID: "step-1", Order: 1, Title: "x", Tool: tool,
		ToolInput: aggregate.JSON(args), Access: aggregate.Write, ToolVersion: "v1"}}, defaults).drawn(processCard)
}

func atTheGate(t testing.TB, tool, args string) (onCard, inDialog string) {
	s := calling(t, tool, args, args)
	inDialog, _ = reviewed(t, s, task.CardStep, s.Gates[0].ID)
	return s.drawn(stepCard), inDialog
}

// whole reports whether a card shows all of what it asks about: else the dialog has the button.
func whole(card string) bool { return !strings.Contains(card, "全文を確認") }

// legibly returns what people see of a text: seen, with its lines and with one space for many.
func legibly(s string) string {
	var lines []string
	for line := range strings.Lines(s) {
		var words []string
		for _, word := range strings.Split(line, " ") {
			if word = seen(word); word != "" {
				words = append(words, word)
			}
		}
		lines = append(lines, strings.Join(words, " "))
	}
	return strings.Join(lines, "\n")
}

// tellsApart fails if two calls with different arguments are drawn alike where people can approve them.
func tellsApart(t testing.TB, tool, a, b string) {
	t.Helper()
	first := aboveTheStamp(t, tool, a)
	expect.That(t, !whole(first) || legibly(first) != legibly(aboveTheStamp(t, tool, b)),
		"the steps' card draws %s as %s: %s", a, b, first)
	card, dialog := atTheGate(t, tool, a)
	otherCard, otherDialog := atTheGate(t, tool, b)
	expect.That(t, !whole(card) || legibly(card) != legibly(otherCard), "the gate draws %s as %s: %s", a, b, card)
	expect.That(t, legibly(dialog) != legibly(otherDialog), "the dialog draws %s as %s: %s", a, b, dialog)
}

// alike are pairs of arguments that look similar.
var alike = [][2]string{
	{`{"a":null}`, `{"a":"null"}`}, {`{"a":true}`, `{"a":"true"}`}, {`{"a":5}`, `{"a":"5"}`}, {`{"a":[]}`,
		`{"a":"[]"}`}, {`{"a":{}}`, `{"a":"{}"}`},
	{`{"a":["x","y"]}`, "{\"a\":[\"x` `y\"]}"}, {`{"a":["x","y"]}`, "{\"a\":\"x` `y\"}"}, {`{"a":["x"]}`,
		`{"a":"x"}`}, {`{"a":["x"]}`, `{"a":{"1":"x"}}`},
	{`{"a":{"b":"x"}}`, `{"a › b":"x"}`}, {`{"a":{"b › c":"x"}}`, `{"a":{"b":{"c":"x"}}}`}, {`{"\"a › b\"":"x"}`,
		`{"a › b":"x"}`}, {`{"\"a":{"b\"":"x"}}`, `{"\"a › b\"":"x"}`},
	{`{"a":[{"b":1},"s"]}`, `{"a":{"1":{"b":1},"":"s"}}`}, {`{"a":[{"b":1},"s"]}`, `{"a":["s",{"b":1}]}`}, {`{"a":""}`,
		`{"a":"\"\""}`}, {`{"a":"\\n"}`, `{"a":"\n"}`},
	{`{"a":[["x"],["y"]]}`, `{"a":[{"1":"x"},{"1":"y"}]}`}, {`{"t":[{"a":"x"},{"a":"y","b":""}]}`,
		`{"t":[{"a":"x","b":""},{"a":"y"}]}`}, {`{"t":[{"a":null}]}`, `{"t":[{"a":"null"}]}`},
	{`{"t":[{"a":1},{}]}`, `{"t":[{"a":1},[]]}`}, {`{"t":[[1],{}]}`, `{"t":[[1],[]]}`}, {`{"t":[{"a":[1]}]}`,
		`{"t":[{"a":"[1]"}]}`}, {`{"t":[{"5":1}]}`, `{"t":[{"\"5\"":1}]}`},
	{`{"columns":[{"key":"a","title":"T"}],"t":[{"a":1}]}`,
		`{"columns":[{"key":"a","title":"T"}],"t":[{"T (a)":1}]}`}, {`{"t":[{"*a":1}]}`, `{"t":[{"＊a":1}]}`},
	{`{"a":["x\ny","z"]}`, `{"a":{"1":"x\ny","2":"z"}}`}, {`{"a":"x\n⏎ ×5\ny"}`,
		`{"a":"x\n\n\n\n\n\ny"}`}, {`{"t":[{"a":"x\ny"}]}`, `{"t":[{"a":"x ⏎ y"}]}`},
	{`{"a":"` + strings.Repeat("a", 3000) + `"}`, `{"a":"` + strings.Repeat("a", 2782) + "\\n" +
		strings.Repeat("a", 218) + `"}`},
	{`{"a":1}`, `{"a":1.0}`}, {`{"a":"\"x\""}`, `{"a":"x"}`}, {`{"a":"\"x"}`, `{"a":"\"\\\"x\""}`}, {`{"a":" 5"}`,
		`{"a":"5"}`}, {`{"to":"_ceo@example.com"}`, `{"to":"＿ceo@example.com"}`},
}

// People who approve a call can see any difference from another call: the test compares what cards draw.
func TestTwoCallsAreDrawnDifferently(t *testing.T) {
	for _, pair := range alike {
		tellsApart(t, "rooms.book", pair[0], pair[1])
	}
	for _, x := range ringitest.Lookalikes {
		tellsApart(t, x[0], x[1], x[2])
	}
	for _, pair := range [][2]string{
		{"*", "＊"}, {"~", "～"}, {"_", "＿"}, {"`", "｀"}, {"✅", "✓"}, {"❌", "✖"}, {"✅", "☑"},
		{"⚠", "!"}, {"a  b", "a b"},
		{"a ", "a"}, {"勤怠 ", "勤怠"}, {"a\tb", "a b"}, {"a\u2028b", "a b"},
		{"a\n\nb", "a\nb"}, {"a*b@example.com", "a＊b@example.com"}, {"5", `"5"`}, {"⟨U+002A⟩", "*"}, {"`*`", "*"},
		{"a" + strings.Repeat("\n", 5) + "b", "a ⟨⏎ ×5⟩ b"}, {"営業 部", "営業  部"}, {"a\nb", "a \nb"},
		{"U0SATO", "U0SA\u200bTO"}, {"U0SATO", "U0SATO\u200d"}, {"a b", "a\u2060 b"}, {"a b", "a\u00a0b"},
		{"a b", "a\u3164b"}, {"a", "a\U000e0061"}, {"a␣", "a "}, {"a\u200b", "a⟨U+200B⟩"}, {"ab", "a\u202eb"},
		{strings.Repeat("*", 4000) + "a", strings.Repeat("*", 4000) + "b"},
	} {
		for _, tool := range []string{"rooms.book", "send_slack_dm"} {
			tellsApart(t, tool, expect.JSON(map[string]any{"text": pair[0]}), expect.JSON(map[string]any{"text": pair[1]}))
		}
		tellsApart(t, "write_rows_to_google_sheet", expect.JSON(map[string]any{"sheet": pair[0]}),
			expect.JSON(map[string]any{"sheet": pair[1]}))
		tellsApart(t, "rooms.book", expect.JSON(map[string]any{"t": []any{map[string]any{pair[0]: pair[0]}}}),
			expect.JSON(map[string]any{"t": []any{map[string]any{pair[1]: pair[1]}}}))
	}
}

// Ordinary values are shown unchanged, without marks or quotation marks of Ringi's.
func TestOrdinaryValuesStandAsTheyAre(t *testing.T) {
	for _, v := range []string{"人事部", "山田 太郎", "2026-11-01", "10:00〜11:00",
		"1aBcD_e-FgHiJkLmNoPqRsTuVwXyZ0123456789abcdefg", "勤怠の集計が終わりました。", "hanako@example.com",
		"https://example.com/a_b?c=d", "E001", "03-1234-5678", "(備考)", "→ 確認・承認"} {
		args := expect.JSON(map[string]any{"text": v})
		on, _ := atTheGate(t, "rooms.book", args)
		above := aboveTheStamp(t, "rooms.book", args)
		expect.That(t, strings.Contains(on, "\ntext: `"+v+"`\n") && strings.Contains(above, "\ntext: `"+v+"`\n"),
			"%s is drawn as %s and %s", v, on, above)
	}
	expect.Has(t, aboveTheStamp(t, "rooms.book", `{"text":"*完了* 10:00~11:00"}`), "text: `*完了* 10:00~11:00`")
}

// A gate's content never hides a text behind many spaces or line ends.
func TestNothingStandsBehindNothingAtAGate(t *testing.T) {
	t.Parallel()
	for name, blank := range map[string]string{"line ends": "\n", "spaces": " ", "wide spaces": "\u3000",
		"mixed": "\u3000 ", "no width": "\u200b", "line ends and spaces": " \n"} {
		v := "なし" + strings.Repeat(blank, 2800) + "全員の給与を U0EVIL001 に送った"
		row := map[string]any{"n": "鈴木", "p": v}
		for at, call := range map[string][2]string{
			"a text": {"send_slack_dm", expect.JSON(map[string]any{"recipient": "U0123ABC", "text": v, "details": []any{}})},
			"a sheet's cell": {"write_rows_to_google_sheet",
				expect.JSON(map[string]any{"columns": []map[string]string{{"key": "n", "title": "氏名"},
					{"key": "p", "title": "備考"}},
					"rows": []any{row, row}})},
			"a cell":   {"rooms.book", expect.JSON(map[string]any{"items": []any{row}})},
			"a column": {"rooms.book", expect.JSON(map[string]any{"items": []any{map[string]any{v: "x"}}})},
			"a sheet's title": {"write_rows_to_google_sheet",
				expect.JSON(map[string]any{"columns": []map[string]string{{"key": "n", "title": v}}, "rows": []any{row}})},
			"a name": {"rooms.book", expect.JSON(map[string]any{v: "x"})},
		} {
			s := calling(t, call[0], call[1], call[1])
			all, _ := reviewed(t, s, task.CardStep, s.Gates[0].ID)
			for where, text := range map[string]string{"card": s.drawn(stepCard), "dialog": all} {
				n := longestNothing(text)
				expect.That(t, n <= 10, "%s in %s: %d characters on the %s show nothing", name, at, n, where)
			}
		}
	}
}

func longestNothing(s string) int {
	longest, run := 0, 0
	for _, r := range s {
		if run++; seen(string(r)) != "" {
			run = 0
		}
		longest = max(longest, run)
	}
	return longest
}

func TestItemsAreAsHighAsTheirRows(t *testing.T) {
	items := make([]any, 99)
	for i := range items {
		items[i] = []any{i}
	}
	args := expect.JSON(map[string]any{"items": items, "text": strings.Repeat("a\n", 150)})
	m, blocks := calling(t, "rooms.book", args, args).shown(stepCard)
	expect.That(t, !offers(m, "approve_step"), "%d blocks can be approved", len(blocks))
}

// FuzzTwoCallsAreDrawnDifferently: for one kind of tool, different arguments give different cards.
func FuzzTwoCallsAreDrawnDifferently(f *testing.F) {
	for _, pair := range alike {
		f.Add(pair[0], pair[1])
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		one, ok := object(a)
		two, also := object(b)
		if !ok || !also || one == two || len(one)+len(two) > 4000 {
			return
		}
		tellsApart(t, "rooms.book", one, two)
	})
}

// object rewrites a JSON object in one canonical form.
func object(s string) (string, bool) {
	var v map[string]any
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if d.Decode(&v) != nil || v == nil || d.More() {
		return "", false
	}
	b, err := json.Marshal(v)
	return string(b), err == nil
}

// shownOf returns the text of all sections of the steps' card, and whether people can approve on that card.
func shownOf(t *testing.T, steps []task.Step) (text string, approvable bool) {
	t.Helper()
	s := planned(t, fiveSteps(), tenancy.DefaultSettings())
	for i := range steps {
		steps[i].ToolVersion = "v1"
	}
	s.Process().Steps = steps
	m, blocks := s.shown(processCard)
	for _, b := range blocks {
		if sec, ok := b.(*slack.SectionBlock); ok && sec.Text != nil {
			text += sec.Text.Text + "\n"
		}
	}
	return text, offers(m, "approve_process")
}

// What steps would do stands on their card up to what it holds.
func TestWhoeverStampsStepsSeesWhatTheyWouldDo(t *testing.T) {
	long := strings.Repeat("あ", 2900)
	post := func(args string) []task.Step {
		return []task.Step{{StepID: "step-1", Order: 1, Title: "t", Tool: "notes.post", ToolInput: aggregate.JSON(args),
			Access: aggregate.Write}}
	}
	var sixty []task.Step
	for i := range 60 {
		sixty = append(sixty, task.Step{StepID: fmt.Sprintf("step-%d", i+1), Order: i + 1, Title: "従業員一覧を取得",
			Tool: "list_employees", Access: aggregate.Read, ToolInput: `{"department":"営業部","status":"active"}`})
	}
	for name, tc := range map[string]struct {
		steps      []task.Step
		shows      string
		approvable bool
	}{
		"words that would format":      {post(`{"body":"<!channel> *x*"}`), "\nbody: `&lt;!channel&gt; *x*`\n", true},
		"a message of a card's length": {post(`{"body":"` + long + `終わり"}`), "あ終わり\n```", true},
		"more than a card holds": {post(`{"a":"` + long + `","b":"` + long + `","c":"` + long + `","d":"` + long + `終わり"}`),
			"取り消せません。*\n• a:", false},
		"sixty plain steps": {sixty, "59, 60. 「営業部」と、その下の部署の従業員一覧を読みます", true},
	} {
		text, approvable := shownOf(t, tc.steps)
		expect.That(t, strings.Count(text, tc.shows) == 1 && approvable == tc.approvable,
			"%s can be approved: %v, want %v; shown %.600s", name, approvable, tc.approvable, text)
	}
}

// sheetCall writes two rows of four members in three columns, one of which is listed twice.
var sheetCall = expect.JSON(map[string]any{
	"spreadsheet_id": "1aB", "sheet": "2026-10",
	"rows": []map[string]any{
		{"num": "E001", "average_hours": nil, "overtime": 25.5, "note": ""}, {"num": "E002", "average_hours": 1,
			"overtime": nil},
	},
	"columns": []map[string]string{{"key": "overtime", "title": "残業時間"}, {"key": "num", "title": "社員番号"},
		{"key": "gone", "title": "備考"}},
})

func TestTheGateOfASheetShowsWhatWillStandInIt(t *testing.T) {
	planned := strings.Replace(sheetCall, `"rows":[`, `"rows":{"$ref":"step-1.result.rows"},"x":[`, 1)
	s := calling(t, "write_rows_to_google_sheet", planned, sheetCall)
	_, blocks := s.shown(stepCard)
	expect.Has(t, drawn(blocks), "1      25.5  E001      (指定なし)\n2    (なし)  E002      (指定なし)\n")
	dialog, _ := reviewed(t, s, task.CardStep, s.Gates[0].ID)
	for where, text := range map[string]string{"card": drawn(blocks), "dialog": dialog} {
		expect.Has(t, text, "書き込まない列: average_hours、note", where)
		expect.That(t, !strings.Contains(text, "null") && !strings.Contains(text, "`{}`") && !strings.Contains(text, `""`),
			"the %s shows an empty cell as JSON: %s", where, text)
		expect.That(t, strings.Count(text, "(指定なし)") == 2, "the %s doesn't say which cells are empty: %s", where, text)
	}
}

// Arguments that the tool does not accept are drawn completely, like any others.
func TestOddColumnsHideNothing(t *testing.T) {
	for _, odd := range []string{
		`{"columns":[],"rows":[{"secret":"x1"}]}`, `{"columns":["secret"],"rows":[{"secret":"x1"}]}`, `{"columns":[{"key"` +
			`:"a","title":"b","more":"secret x1"}],"rows":[{"a":"c"}]}`,
		`{"columns":[{"key":"a","title":"b"}],"rows":[{"a":"c"},"secret x1"]}`,
		`{"columns":[{"key":"a","title":"b"}],"rows":{"secret":"x1"}}`,
	} {
		text := calling(t, "write_rows_to_google_sheet", odd, odd).drawn(stepCard)
		expect.That(t, strings.Contains(text, "secret") && strings.Contains(text, "x1"),
			"%s: the card lacks a value: %s", odd, text)
	}
}

// Steps that are the same are said to be, whatever a model says that it did.
func TestRemarksHideNoStepsThatAreTheSame(t *testing.T) {
	s := reordered(received(t))
	s.Processes[1].Steps, s.Processes[1].Remarks = s.Processes[0].Steps, "「見積書の宛名が違います」 → 反映しました。"
	expect.Has(t, s.drawn("CARD#process#0002"), "反映できず、v1 と同じ内容です")
}

// The answers to earlier rejections are quoted above the steps: no line of a model's passes for one of the card's own.
func TestWhatBecameOfReasonsIsQuotedAboveTheSteps(t *testing.T) {
	forged := "OK\n\n*書き込み・送信*\r\n(なし)\u2028_依頼: <@U0SATO> · 承認: <@U0SUZUKI>_\v*Reads and calculations*\n<!channel> ✅ 承認済み"
	for name, remarks := range map[string]string{"short": forged, "long": strings.Repeat("word ", 390) + forged,
		"escaped": strings.Repeat("& ", 560) + forged, "many lines": strings.Repeat("a\n", 200) + forged} {
		s := planned(t, fiveSteps(), tenancy.DefaultSettings())
		s.Process().Remarks = remarks
		m, quoted := render(s.Aggregate, s.card(processCard), "ja", s.now), 0
		expect.NoError(t, ringitest.CheckCard(m))
		expect.That(t, offers(m, "approve_process"), "%s: it can't be approved", name)
		for _, text := range sections(m.Attachments[0].Blocks.BlockSet)[2:] { // below what the steps do
			if strings.HasPrefix(text, "1. ") {
				break
			}
			expect.That(t, !strings.Contains(text, "<!") && !strings.Contains(text, "✅"), "%s: %s", name, text)
			for _, line := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune("\n\r\u2028\v", r) }) {
				expect.That(t, strings.HasPrefix(line, "> ") || quoted == 0, "%s: %q is no quotation", name, line)
				quoted++
			}
		}
		expect.That(t, quoted > 2, "%s: no answer is shown", name)
	}
	expect.That(t, !card.StepsFit(manySteps(60, 100), strings.Repeat("&\n", 1000)), "remarks that no card shows fit")
	crowd := manySteps(task.MaxMentioned+1, 20)
	for i := range crowd {
		crowd[i].Title = fmt.Sprintf("<@U0CROWD%03d> に聞く", i)
	}
	drawn := string(expect.Value(json.Marshal(planned(t, crowd, defaults).drawn(processCard)))(t))
	expect.Is(t, strings.Count(drawn, `\u003c@U0CROWD`), task.MaxMentioned, "people whom titles mention")
}
