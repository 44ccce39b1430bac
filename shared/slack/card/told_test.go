package card_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// aboveTheStamp returns a call's arguments as the steps' card shows them; atTheGate, as the gate and its dialog do.
func aboveTheStamp(t testing.TB, tool, args string) string {
	return aboveTheStampOf(t, []task.Step{{StepID: "step-1", Order: 1, Title: "x", Tool: tool,
		ToolInput: aggregate.JSON(args), Access: aggregate.Write, ToolVersion: "v1"}})
}

func aboveTheStampOf(t testing.TB, steps []task.Step) string {
	s := planned(t, steps, tenancy.DefaultSettings())
	return drawn(render(s.Aggregate, s.card(processCard), "ja", s.now).Attachments[0].Blocks.BlockSet)
}

func atTheGate(t testing.TB, tool, args string) (onCard, inDialog string) {
	s := calling(t, tool, args, args)
	_, blocks := s.gate(t)
	inDialog, _ = reviewed(t, s, task.CardStep, s.Gates[0].ID)
	return drawn(blocks), inDialog
}

// whole reports whether a card shows all of what it asks about: else the dialog has the button.
func whole(card string) bool { return !strings.Contains(card, "全文を確認") }

// tellsApart fails if two calls with different arguments are drawn alike where people can approve them.
func tellsApart(t testing.TB, tool, a, b string) {
	t.Helper()
	first := aboveTheStamp(t, tool, a)
	expect.That(t, !whole(first) || first != aboveTheStamp(t, tool, b), "the steps' card draws %s as %s: %s", a, b, first)
	card, dialog := atTheGate(t, tool, a)
	otherCard, otherDialog := atTheGate(t, tool, b)
	expect.That(t, !whole(card) || card != otherCard, "the gate draws %s as %s: %s", a, b, card)
	expect.That(t, dialog != otherDialog, "the dialog draws %s as %s: %s", a, b, dialog)
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
	for _, pair := range [][2]string{
		{"*", "＊"}, {"~", "～"}, {"_", "＿"}, {"`", "｀"}, {"✅", "✓"}, {"❌", "✖"}, {"✅", "☑"},
		{"⚠", "!"}, {"a  b", "a b"},
		{"a ", "a"}, {"勤怠 ", "勤怠"}, {"a\tb", "a b"}, {"a\u2028b", "a b"},
		{"a\n\nb", "a\nb"}, {"a*b@example.com", "a＊b@example.com"}, {"5", `"5"`}, {"⟨U+002A⟩", "*"}, {"`*`", "*"},
		{"a" + strings.Repeat("\n", 5) + "b", "a ⟨⏎ ×5⟩ b"},
		{strings.Repeat("*", 4000) + "a", strings.Repeat("*", 4000) + "b"},
	} {
		for _, tool := range []string{"rooms.book", "send_slack_dm"} {
			tellsApart(t, tool, jsonOf(map[string]any{"text": pair[0]}), jsonOf(map[string]any{"text": pair[1]}))
		}
		tellsApart(t, "write_rows_to_google_sheet", jsonOf(map[string]any{"sheet": pair[0]}),
			jsonOf(map[string]any{"sheet": pair[1]}))
		tellsApart(t, "rooms.book", jsonOf(map[string]any{"t": []any{map[string]any{pair[0]: pair[0]}}}),
			jsonOf(map[string]any{"t": []any{map[string]any{pair[1]: pair[1]}}}))
	}
}

// Two values that differ only in what nobody sees differ in what people see.
func TestValuesThatDifferInSpacesAreTold(t *testing.T) {
	for _, pair := range [][2]string{{"営業 部", "営業  部"}, {"営業部", "営業部 "}, {"a\nb", "a \nb"},
		{"U0SATO", "U0SA\u200bTO"}, {"U0SATO", "U0SATO\u200d"}, {"a b", "a\u2060 b"}, {"a b", "a\u00a0b"}, {"a b", "a\tb"},
		{"a b", "a\u3164b"}, {"a", "a\U000e0061"}, {"a␣", "a "}, {"a\u200b", "a⟨U+200B⟩"}, {"ab", "a\u202eb"}} {
		var effects, gates [2]string
		for i, v := range pair {
			args := jsonOf(map[string]any{"recipient": "U1", "text": v,
				"details": []any{map[string]any{"label": v, "value": v}}})
			effects[i] = aboveTheStamp(t, "send_slack_dm", args)
			gates[i], _ = atTheGate(t, "rooms.book", args)
		}
		for _, said := range [][2]string{effects, gates} {
			expect.That(t, seen(said[0]) != seen(said[1]) && !strings.Contains(said[1], "  "), "both are %q", seen(said[0]))
		}
	}
}

// Ordinary values are shown unchanged, without marks or quotation marks of Ringi's.
func TestOrdinaryValuesStandAsTheyAre(t *testing.T) {
	for _, v := range []string{"人事部", "山田 太郎", "2026-11-01", "10:00〜11:00",
		"1aBcD_e-FgHiJkLmNoPqRsTuVwXyZ0123456789abcdefg", "勤怠の集計が終わりました。", "hanako@example.com",
		"https://example.com/a_b?c=d", "E001", "03-1234-5678", "(備考)", "→ 確認・承認"} {
		args := jsonOf(map[string]any{"text": v})
		on, _ := atTheGate(t, "rooms.book", args)
		above := aboveTheStamp(t, "rooms.book", args)
		expect.That(t, strings.Contains(on, "\ntext: `"+v+"`\n") && strings.Contains(above, "\ntext: `"+v+"`\n"),
			"%s is drawn as %s and %s", v, on, above)
	}
	if above := aboveTheStamp(t, "rooms.book", `{"text":"*完了* 10:00~11:00"}`); !strings.Contains(above,
		"text: `*完了* 10:00~11:00`") {
		t.Error(above)
	}
}

// A gate's content never hides a text behind many spaces or line ends.
func TestNothingStandsBehindNothingAtAGate(t *testing.T) {
	t.Parallel()
	for name, blank := range map[string]string{"line ends": "\n", "spaces": " ", "wide spaces": "\u3000",
		"mixed": "\u3000 ", "no width": "\u200b", "line ends and spaces": " \n"} {
		v := "なし" + strings.Repeat(blank, 2800) + "全員の給与を U0EVIL001 に送った"
		row := map[string]any{"n": "鈴木", "p": v}
		for at, call := range map[string][2]string{
			"a text": {"send_slack_dm", jsonOf(map[string]any{"recipient": "U0123ABC", "text": v, "details": []any{}})},
			"a sheet's cell": {"write_rows_to_google_sheet",
				jsonOf(map[string]any{"columns": []map[string]string{{"key": "n", "title": "氏名"},
					{"key": "p", "title": "備考"}},
					"rows": []any{row, row}})},
			"a cell":   {"rooms.book", jsonOf(map[string]any{"items": []any{row}})},
			"a column": {"rooms.book", jsonOf(map[string]any{"items": []any{map[string]any{v: "x"}}})},
			"a sheet's title": {"write_rows_to_google_sheet",
				jsonOf(map[string]any{"columns": []map[string]string{{"key": "n", "title": v}}, "rows": []any{row}})},
			"a name": {"rooms.book", jsonOf(map[string]any{v: "x"})},
		} {
			s := calling(t, call[0], call[1], call[1])
			_, blocks := s.gate(t)
			all, _ := reviewed(t, s, task.CardStep, s.Gates[0].ID)
			for where, text := range map[string]string{"card": drawn(blocks), "dialog": all} {
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
	args := jsonOf(map[string]any{"items": items, "text": strings.Repeat("a\n", 150)})
	m, blocks := calling(t, "rooms.book", args, args).gate(t)
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

// A server's defaults for omitted arguments are shown where people approve the call.
func TestDefaultsOfWhatACallLeavesOutAreSaid(t *testing.T) {
	steps := []task.Step{{StepID: "step-1", Order: 1, Title: "x", Tool: "notes.post", ToolInput: `{"to":"人事部"}`,
		LeftOut: `{"cc":{"$ref":"step-1.result"},"public":true}`, Access: aggregate.Write}}
	above := aboveTheStampOf(t, steps)
	if want := "notes の post を実行します*\n• to: `人事部`\n" +
		"• cc › $ref (サーバーの既定値): `step-1.result`\n• public (サーバーの既定値): `true`\n"; !strings.Contains(above, want) {
		t.Errorf("%s lacks %s", above, want)
	}
	s := calling(t, "notes.post", `{"to":"人事部"}`, `{"to":"人事部"}`)
	s.Process().Steps[1].LeftOut = `{"public":true}`
	all, _ := reviewed(t, s, task.CardStep, s.Gates[0].ID)
	_, blocks := s.gate(t)
	for where, text := range map[string]string{"gate": drawn(blocks), "dialog": all} {
		want := "\n• to: `人事部`\n• public (サーバーの既定値): `true`\n"
		expect.That(t, strings.Contains(text, want), "the %s lacks %s: %s", where, want, text)
	}
}

// Spaces with invisible characters between them count as consecutive spaces.
func TestAPolicyHasNoGapThatJoinersMake(t *testing.T) {
	for name, blank := range map[string]string{
		"a joiner": strings.Repeat("\u3000", 8) + "\u200d", "a non-joiner": strings.Repeat("\u3000", 8) + "\u200c",
		"a selector":      strings.Repeat("\u3000", 8) + "\ufe0f",
		"Egyptian blanks": "\U00013441", "objects that are not there": "\ufffc", "marks of nothing": "\u00a0\u034f",
		"a joiner alone": "\u3000\u200d",
	} {
		content := "勤怠を集計します。" + strings.Repeat(blank, 4000/len([]rune(blank))) +
			"U0EVIL001 に全員の給与を送ります。"
		s := received(t).extracted().drafting()
		s.do(s.FinishPrompt(s.Head.Run, task.Drafted{Content: content}, tenancy.DefaultSettings(), s.now))
		m := render(s.Aggregate, s.card(promptCard), "ja", s.now)
		n := longestNothing(drawn(m.Attachments[0].Blocks.BlockSet))
		expect.That(t, n <= 10, "%s: %d characters in a row show nothing", name, n)
	}
}
