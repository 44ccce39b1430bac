package card_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// calling brings a task to the gate of a tool's call. planned has the step's arguments, resolved those of the call.
func calling(t testing.TB, name, planned, resolved string) *scenario {
	steps := fiveSteps()
	steps[1].Tool, steps[1].ToolInput, steps[1].RequiresHumanCheck = name, aggregate.JSON(planned), true
	steps[1].Access, steps[1].ToolVersion = aggregate.Write, "v1"
	s := started(t, steps).steps(1)
	return s.do(s.OpenStepGate(s.Head.Run, 2, aggregate.Blob{JSON: aggregate.JSON(resolved), Bytes: len(resolved)},
		aggregate.HashOf(resolved), nil, s.now))
}

// shown draws a card, which is within Slack's limits.
func (s *scenario) shown(key string) (m card.Message, blocks []slack.Block) {
	s.Helper()
	m = render(s.Aggregate, s.card(key), "ja", s.now)
	expect.NoError(s, ringitest.CheckCard(m))
	return m, m.Attachments[0].Blocks.BlockSet
}

func rows(n int) (out []map[string]any) {
	for i := range n {
		out = append(out, map[string]any{"employee_id": 1000 + i, "display_name": fmt.Sprintf("社員%03d", i),
			"total": "160:00"})
	}
	return out
}

func TestWhereACallGoesStandsFirstAndWhole(t *testing.T) {
	for name, tt := range map[string]struct{ tool, arguments, line string }{
		"details full of ampersands": {"send_slack_dm", expect.JSON(map[string]any{
			"recipient": "mallory@example.com", "text": "x",
			"details": slices.Repeat([]map[string]string{{"label": strings.Repeat("&", 100), "value": strings.Repeat("&", 900)}},
				20),
		}), "*「mallory@example.com」 さんに DM を送ります*"},
		"a person": {"send_slack_dm", `{"recipient":"U0123ABC","text":"x","details":[]}`, "*<@U0123ABC> さんに DM を送ります*"},
		"a sheet": {"write_rows_to_google_sheet", `{"columns":[],"rows":[],"sheet":"2026-11","spreadsheet_id":"1aBcD"}`,
			"*シート「1aBcD」のタブ「2026-11」に書き込みます — 0 行*"},
		"a list of a server's": {"mail.send", expect.JSON(map[string]any{"a": "x",
			"to": []string{"a@example.com", "mallory@example.com"}}),
			"• to: 「a@example.com」、「mallory@example.com」\n• a: `x`\n⚠️ *実行すると、Ringi からは取り消せません。*"},
	} {
		t.Run(name, func(t *testing.T) {
			_, blocks := calling(t, tt.tool, tt.arguments, tt.arguments).shown(stepCard)
			got := blocks[3].(*slack.SectionBlock).Text.Text
			expect.That(t, strings.HasPrefix(got+"\n", tt.line+"\n"), "after the step stands %q, want %q", got, tt.line)
		})
	}
}

// A planned literal is shown unchanged, whatever its length and form.
func TestEveryPlannedValueIsShown(t *testing.T) {
	long := strings.Repeat("あ", 2970) + " hanako@example.com 末尾"
	for name, tt := range map[string]struct {
		arguments string
		want      []string
		approves  bool
	}{
		"a Japanese message over 4 KiB": {expect.JSON(map[string]any{"recipient": "U1", "text": long, "details": []any{}}),
			[]string{"hanako@example.com", "末尾"}, true},
		"one line of 2,990 characters": {expect.JSON(map[string]any{"recipient": "U1",
			"text": strings.Repeat("a", 2990) + "END", "details": []any{}}), []string{"END"}, true},
		"numbers and names of addresses": {`{"permissions":{"mallory@example.com":{"public":true,` +
			`"n":12345678901234567890}}}`, []string{"mallory@example.com", "true", "12345678901234567890"}, true},
		"a hundred lines":        {expect.JSON(map[string]any{"rows": rows(60)}), []string{"1059", "社員059"}, true},
		"many rows":              {expect.JSON(map[string]any{"rows": rows(250)}), []string{"社員000"}, false},
		"a thousand rows":        {expect.JSON(map[string]any{"rows": rows(1000)}), []string{"社員000"}, false},
		"thirty columns":         {expect.JSON(map[string]any{"rows": []any{wide(30)}}), []string{"c29", "v29"}, true},
		"signs that nobody sees": {`{"text":"a\u200b\u3164\u202eb"}`, []string{"⟨U+200B⟩⟨U+3164⟩⟨U+202E⟩"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := calling(t, "rooms.book", tt.arguments, tt.arguments)
			m, blocks := s.shown(stepCard)
			for _, want := range tt.want {
				expect.That(t, strings.Contains(strings.ReplaceAll(drawn(blocks), "\n", ""), want), "the card lacks %s", want)
			}
			expect.That(t, offers(m, "approve_step") == tt.approves && offers(m, "review_step") != tt.approves,
				"approve %v, review %v", offers(m, "approve_step"), offers(m, "review_step"))
			all, submits := reviewed(t, s, task.CardStep, s.Gates[0].ID)
			long := name == "a thousand rows" // longer than a dialog
			expect.That(t, submits != long && strings.Contains(all, tt.want[len(tt.want)-1]), "the dialog can be submitted: %v",
				submits)
			expect.That(t, name != "many rows" || strings.Contains(all, "社員249"), "the last row is not in the dialog")
		})
	}
}

func wide(n int) map[string]any {
	out := map[string]any{}
	for i := range n {
		out[fmt.Sprintf("c%02d", i)] = fmt.Sprintf("v%02d", i)
	}
	return out
}

func TestOnlyWhatCameFromAResultIsMasked(t *testing.T) {
	planned := `{"recipient":{"$ref":"step-1.result.email"},"text":"電話 090-1234-5678 へ",` +
		`"details":[{"label":"連絡先",` +
		`"value":{"$ref":"step-1.result.phone"}},{"label":"写し","value":"jiro@example.com"}]}`
	resolved := `{"recipient":"hanako@example.com","text":"電話 090-1234-5678 へ","details":[{"label":"連絡先",` +
		`"value":"080-8765-4321"},{"label":"写し","value":"jiro@example.com"}]}`
	_, blocks := calling(t, "send_slack_dm", planned, resolved).shown(stepCard)
	got := drawn(blocks)
	for _, want := range []string{"hanako@example.com", "090-1234-5678", "jiro@example.com", "***-****-**21",
		"🔒 *明細* に含まれる、前のステップで取得した個人情報は * で伏せて"} {
		expect.That(t, strings.Contains(got, want), "the card lacks %s: %s", want, got)
	}
	expect.That(t, !strings.Contains(got, "080-8765"), "the card shows what a result held: %s", got)
	_, blocks = calling(t, "send_slack_dm", resolved, resolved).shown(stepCard)
	expect.That(t, !strings.Contains(drawn(blocks), "*****"), "what was planned is masked: %s", drawn(blocks))
	all := `{"rows":[{"email":"ichiro@example.com","name":"一郎"}]}`
	_, blocks = calling(t, "write_rows_to_google_sheet", `{"rows":{"$ref":"step-1.result.rows"}}`, all).shown(stepCard)
	expect.That(t, !strings.Contains(drawn(blocks), "ichiro@example.com"), "an address from a result is shown: %s",
		drawn(blocks))
}

// For an MCP server's tool it is unknown which argument says where a call goes, and in which form. So values from
// earlier results are not masked at its gate.
func TestNothingIsMaskedOfWhereAServersCallMayGo(t *testing.T) {
	for _, to := range []string{
		"mallory.smith@evil.example", "Mallory <mallory.smith@evil.example>", "mailto:mallory.smith@evil.example",
		"mallory.smith@evil.example, hanako@example.com",
		"tel:090-1234-5678", "https://evil.example/in?to=mallory.smith@evil.example", "123456780020",
	} {
		for name, arguments := range map[string]any{"text": map[string]any{"to": to},
			"list": map[string]any{"to": []string{to, "x"}}, "member": map[string]any{"to": map[string]any{to: true}},
			"cell": map[string]any{"to": []any{map[string]any{"a": to}}}} {
			m, blocks := calling(t, "mail.send", `{"to":{"$ref":"step-1.result.to"}}`, expect.JSON(arguments)).shown(stepCard)
			got := strings.NewReplacer("&lt;", "<", "&gt;", ">").Replace(drawn(blocks))
			expect.That(t, offers(m, "approve_step") && strings.Contains(got, to) && !strings.Contains(got, "伏せて"),
				"%s: of %q is shown %s", name, to, got)
		}
	}
}

// FuzzGate: a step's card has a button to approve only if it shows every name and value of the call. The dialog shows
// all of them.
func FuzzGate(f *testing.F) {
	for _, s := range []string{
		`{"recipient":"U1","rows":[["a",1],["b",null]],` +
			`"n":12345678901234567890}`, `{"a":{},"b":[],"c":[[]],"d":1e999999,"e":[1,{"f":2}]}`,
		`{"":"` + "\u3164" + `","\u0000":" "}`,
		expect.JSON(map[string]any{"rows": rows(150)}), expect.JSON(map[string]any{"text": strings.Repeat("&", 5000)}),
		`{"a":[{"b":[{"c":"` + "```" + `"}]},{"b":"d"}]}`, "not JSON ``` ✅", "",
		expect.JSON(map[string]any{"rows": []any{wide(21), map[string]any{"c00": strings.Repeat("長",
			3000)}}}), `{"x":"שלום","y":["` + strings.Repeat("a\",\"", 900) + `"]}`,
	} {
		f.Add(s)
	}
	base := calling(f, "rooms.book", `{}`, `{}`)
	f.Fuzz(func(t *testing.T, arguments string) {
		g := *base.Gates[0]
		g.Arguments = aggregate.Blob{JSON: aggregate.JSON(arguments), Bytes: len(arguments)}
		a := *base.Aggregate
		a.Gates = []*task.StepGate{&g}
		a.Processes = []*task.Process{new(*base.Process())}
		a.Processes[0].Steps = slices.Clone(a.Processes[0].Steps)
		a.Processes[0].Steps[1].ToolInput = g.Arguments.JSON
		s := &scenario{Aggregate: &a, TB: t, now: base.now}
		m, blocks := s.shown(stepCard)
		all, submits := reviewed(t, s, task.CardStep, g.ID)
		var v map[string]any
		d := json.NewDecoder(strings.NewReader(arguments))
		d.UseNumber()
		if d.Decode(&v) != nil || d.More() {
			return
		}
		expect.That(t, submits || strings.Contains(all, "https://ringi.example/console/"), "%q can't be approved at all",
			arguments)
		on, in := bare(drawn(blocks)), bare(all)
		for _, leaf := range leaves(nil, v) {
			expect.That(t, !offers(m, "approve_step") || strings.Contains(on, bare(leaf)),
				"the card can be approved and lacks %q of %q", leaf, arguments)
			expect.That(t, !submits || strings.Contains(in, bare(leaf)), "the dialog lacks %q of %q", leaf, arguments)
		}
	})
}

// bare returns the letters and digits of a text.
func bare(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r > 0x3040 && r < 0x30ff ||
			r >= 0x4e00 && r < 0x9fff {
			return r
		}
		return -1
	}, strings.NewReplacer("&amp;", "", "&lt;", "", "&gt;", "").Replace(s))
}

// leaves collects the names and values of JSON that consist of letters and digits only.
func leaves(out []string, v any) []string {
	plain := func(s string) {
		if bare(s) == s {
			out = append(out, s)
		}
	}
	switch v := v.(type) {
	case map[string]any:
		for name, x := range v {
			plain(name)
			out = leaves(out, x)
		}
	case []any:
		for _, x := range v {
			out = leaves(out, x)
		}
	case string:
		plain(v)
	case json.Number:
		plain(v.String())
	}
	return out
}

func TestOnlyResultsAreLinks(t *testing.T) {
	for url, links := range map[string]bool{
		"https://docs.google.com/spreadsheets/d/1aB_c-D/edit#gid=0": true, "http://docs.google.com/x": false,
		"https://x.example/a|承認>": false, "javascript:alert(1)": false,
		"https://localhost/": false, "http://127.0.0.1:3000/sheets/x": true, "http://127.0.0.1.evil.example/x": false,
		"https://u:p@x.example/": false,
	} {
		s := started(t, fiveSteps()[:1]).claim(1)
		s.finish(1, task.Outcome{Status: task.StepCompleted,
			Result: &aggregate.Blob{JSON: aggregate.JSON(expect.JSON(map[string]any{"url": url}))}})
		s.do(s.CompleteExecution(s.Head.Run, "見てください: https://evil.example/ と "+url+" です", s.now))
		text, link := s.drawn(executionCard), "<"+url+"|開く"
		if strings.HasPrefix(url, "https:") { // with the host, which a server chose
			link += " (docs.google.com)"
		}
		expect.That(t, (strings.Count(text, link+">") == 1) == links, "%s is a link once: %v", url, !links)
		expect.That(t, strings.Contains(text, "https://evil.example/ と "), "what isn't a result is a link: %s", text)
		s.Head.Ended = &task.Ended{As: task.TaskCompleted, At: s.now}
		told := copyOf(s.Aggregate, &aggregate.Card{CardType: task.CardOutcome}, defaults, "", s.now)
		expect.That(t, strings.Contains(drawn(told.Attachments[0].Blocks.BlockSet), link+">") == links,
			"%s is a link for the requester: %v", url, !links)
	}
}

// A sheet may have older rows below the table. The card says how many, however the attempt ended, and says nothing
// about results without that count.
func TestACardSaysWhichRowsStandBelowATable(t *testing.T) {
	ends := map[string]func(s *scenario) *scenario{
		"completed": func(s *scenario) *scenario { return s.steps(5).do(s.CompleteExecution(s.Head.Run, "21 行", s.now)) },
		"failed": func(s *scenario) *scenario {
			return s.failedAt(5, task.Outcome{Status: task.StepFailed, Reason: task.ReasonToolFailed})
		},
		"cancelled": func(s *scenario) *scenario { return s.cancelTask() },
	}
	for result, want := range map[string][2]string{
		`{"updated_rows":21,"rows_below":21}`: {"ステップ 4: 書き込んだ表の下に、以前の行が 21 行残っています",
			"Step 4: older rows below the new table: 21."},
		`{"updated_rows":21,"rows_below":9000,"more_below":true}`: {"9000 行以上残っています", "9000 or more."},
		`{"updated_rows":21,"rows_below":null}`:                   {"確認できませんでした", "couldn't check"},
		`{"updated_rows":21,"rows_below":0}`:                      {},
		`{"updated_rows":21,"url":"https://docs.google.com/x"}`:   {},
		`{"updated_rows":21,"rows_below":"<!channel>"}`:           {"確認できませんでした", "couldn't check"},
		`["rows_below"]`: {},
	} {
		for name, end := range ends {
			s := started(t, fiveSteps()).steps(1, 2, 3).claim(4)
			s = end(s.finish(4, task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: aggregate.JSON(result)}}))
			for i, locale := range language.All {
				m := render(s.Aggregate, s.card(executionCard), locale, s.now)
				expect.NoError(t, ringitest.CheckCard(m))
				said := drawn(m.Attachments[0].Blocks.BlockSet)
				expect.That(t, (want[i] == "" || strings.Contains(said, want[i])) &&
					(want[i] != "" || !strings.Contains(said, "⚠️")), "%s, %s, %s: %s", name, locale, result, said)
			}
		}
	}
}

// Rows of a list stand below their names, in as many tables as fit a card's width.
func TestRowsOfAListAreATable(t *testing.T) {
	var wide []string
	for i := range 40 {
		wide = append(wide, fmt.Sprintf(`"f%02d":"東京都千代田区丸の内"`, i))
	}
	for name, tc := range map[string]struct{ rows, want string }{
		"with the same names": {`[{"item":"ノート PC","n":2,"ok":true},{"item":"机","n":10,"ok":null}]`,
			"\n• items:\n```\n#  item            n  ok\n1  「ノート PC」   2  true\n2  机             10  (なし)\n```\n"},
		"with other names": {`[{"item":"机","n":2},{"item":"椅子"}]`,
			"\n• items › 1: item: 机 · n: 2\n• items › 2: item: 椅子\n"},
		"a single one": {`[{"item":"机","n":2}]`, "\n• items:\n```\n#  item  n\n1  机    2\n```\n"},
		"a wide one": {`[{"a":"` + strings.Repeat("x", 50) + `","b":"` + strings.Repeat("y", 40) + `"},{"a":"x","b":"y"}]`,
			"\n1  " + strings.Repeat("x", 50) + "\n2  x\n\n#  b" +
				"\n1  " + strings.Repeat("y", 40) + "\n2  y"},
		"one without room": {`[{"a":"` + strings.Repeat("x", 80) + `"},{"a":"x"},{"a":"y"}]`,
			"\n• items:\n```\n#  a\n2  x\n3  y\n```\n"},
		"one value in each": {"[" + strings.Repeat(`{"item":"机","n":2},`, 5) + `{"item":"椅子","n":2}]`,
			"\n6  椅子\n```\n• items › n: 6 行とも 2\n"},
		"one value in most": {"[" + strings.Repeat(`{"item":"机","n":2},`, 5) + `{"item":"机","n":3}]`,
			"\n```\n• items › n: #6 3、ほかの 5 行は 2\n"},
		"one value in few": {"[" + strings.Repeat(`{"item":"机","n":""},`, 6) + `{"item":"椅子","n":3},{"item":"椅子","n":3}]`,
			"• items › n: #7 #8 3、ほかの 6 行は (空)\n"},
		"others in few": {"[" + strings.Repeat(`{"item":"机","n":1},`, 6) + `{"item":"椅子","n":3},{"item":"椅子","n":4}]`,
			"• items › n: #7 3、#8 4、ほかの 6 行は 1\n"},
		"as in another column": {`[{"a":"x","m":1,"n":1},{"a":"x","m":2,"n":2},{"a":"y","m":3,"n":3},{"a":"z","m":4,"n":4},` +
			`{"a":"y","m":5,"n":50},{"a":"x","m":6,"n":6}]`, "• items › n: #5 50、ほかの 5 行は m と同じ\n"},
		"more than a line has room for": {`[{"a":"x","b":"` + strings.Repeat("y", 30) + `","c":"` + strings.Repeat("z", 30) +
			`"},{"a":"w","b":"y","c":"z"}]`, "\n#  a  c\n1  x  " + strings.Repeat("z", 30) + "\n2  w  z\n"},
		"decimals": {`[{"a":"x","n":24.5},{"a":"y","n":1},{"a":"z","n":null}]`,
			"#  a       n\n1  x    24.5\n2  y     1  \n3  z  (なし)\n"},
		"two lists": {`[{"a":"x"},{"a":"y"}],"more":[{"a":"z"},{"a":"w"}]`,
			"\n• items:\n```\n#  a\n1  x\n2  y\n```\n• more:\n```\n#  a\n1  z\n2  w\n```\n"},
		"what ends a block": {"[{\"a```\":\"```\"},{\"a```\":\"b\"}]",
			"#  「a⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩」\n1  「⟨U+0060⟩⟨U+0060⟩⟨U+0060⟩」\n2  b\n```\n"},
		"too many for a block": {`[` + strings.Repeat(`{"a":"x"},`, 99) + `{"a":"x"}]`,
			"50  x\n```\n• items:\n```\n#    a\n51   x\n"},
		"one too long for a block": {"[{" + strings.Join(wide, ",") + "}]", "\n• items › 1: f00: 東京都千代田区丸の内 · f01"},
	} {
		t.Run(name, func(t *testing.T) {
			args := `{"items":` + tc.rows + `,"supplier":"アクメ"}`
			expect.Has(t, calling(t, "rooms.order", args, args).drawn(stepCard), tc.want, "the rows")
		})
	}
}
