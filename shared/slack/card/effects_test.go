package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
)

// shownOf returns the text of all sections of the steps' card, and whether people can approve on that card.
func shownOf(t *testing.T, steps []task.Step) (text string, approvable bool) {
	t.Helper()
	s := planned(t, fiveSteps(), tenancy.DefaultSettings())
	for i := range steps {
		steps[i].ToolVersion = "v1"
	}
	s.Process().Steps = steps
	m := render(s.Aggregate, s.card(processCard), "ja", s.now)
	expect.NoError(t, cardtest.Check(m))
	for _, b := range m.Attachments[0].Blocks.BlockSet {
		if sec, ok := b.(*slack.SectionBlock); ok && sec.Text != nil {
			text += sec.Text.Text + "\n"
		}
	}
	all := expect.Value(json.Marshal(m))(t)
	return text, strings.Contains(string(all), "approve_process")
}

func TestWhoeverStampsStepsSeesWhatTheyWouldDo(t *testing.T) {
	long := strings.Repeat("あ", 2900)
	for name, tc := range map[string]struct {
		tool, args string
		shows      string
		approvable bool
	}{
		"another department than was asked for": {"list_employees", `{"department":"営業部","status":"active"}`,
			"👀 「営業部」と、その下の部署の従業員一覧を読みます (在籍者のみ)", true},
		"what a message says, and to whom": {"send_slack_dm", `{"recipient":"U0SATO","text":"全員\n解雇です。",` +
			`"details":[{"label":"賞与","value":25000000}]}`, "*<@U0SATO> さんに DM を送ります*\n> 全員\n> 解雇です。\n" +
			"「賞与」: `25000000`\n⚠️ *送ったあとは取り消せません。*", true},
		"words that would format": {"notes.post", `{"body":"<!channel> *x*"}`,
			"*notes の post を実行します*\nbody: `&lt;!channel&gt; *x*`\n⚠️ *実行すると、Ringi からは取り消せません。*", true},
		"no words at all": {"list_employees", `{`,
			"⚠️ *ステップ 1 の引数を読み取れないため、何が行われるか分かりません。却下して、作り直してもらってください。*\n" +
				"👀 ステップ 1 (従業員一覧を取得) の引数を読み取れません: 「{」", false},
		"a message of a card's length": {"send_slack_dm", `{"recipient":"U0SATO","text":"` + long +
			`終わり","details":[]}`,
			"あ終わり\n```", true},
		"more than a card holds": {"notes.post", `{"a":"` + long + `","b":"` + long + `","c":"` + long + `","d":"` +
			long + `終わり"}`, "*notes の post を実行します*\n• a:", false},
	} {
		t.Run(name, func(t *testing.T) {
			access := aggregate.Write
			if tc.tool == "list_employees" {
				access = aggregate.Read
			}
			text, approvable := shownOf(t,
				[]task.Step{{StepID: "step-1", Order: 1, Title: "t", Tool: tc.tool, ToolInput: aggregate.JSON(tc.args),
					Access: access}})
			expect.That(t, strings.Contains(text, tc.shows) && approvable == tc.approvable,
				"can be approved: %v, want %v; shown %.600s", approvable, tc.approvable, text)
		})
	}
	var steps []task.Step
	for i := range 60 {
		steps = append(steps, task.Step{StepID: fmt.Sprintf("step-%d", i+1), Order: i + 1, Title: "従業員一覧を取得",
			Tool: "list_employees", Access: aggregate.Read, ToolInput: `{"department":"営業部","status":"active"}`})
	}
	if text, approvable := shownOf(t, steps); !approvable ||
		strings.Count(text, "59, 60. 「営業部」と、その下の部署の従業員一覧を読みます") != 1 {
		t.Errorf("sixty plain steps can't be approved: %s", text)
	}
}

// The answers to earlier rejections are above the steps. Like all words of others, they mention nobody and can't
// imitate Ringi's.
func TestWhatBecameOfReasonsStandsAboveTheSteps(t *testing.T) {
	for locale, heading := range map[string]string{"ja": "*前のバージョンの却下理由について*",
		"en": "*How the reasons were addressed*"} {
		s := planned(t, fiveSteps(), tenancy.DefaultSettings())
		s.Process().Remarks = "「もっと短く」 → 反映しました。\n<!channel> ✅ 承認済み"
		m := render(s.Aggregate, s.card(processCard), locale, s.now)
		expect.NoError(t, cardtest.Check(m))
		got := m.Attachments[0].Blocks.BlockSet[3].(*slack.SectionBlock).Text.Text
		expect.That(t, strings.HasPrefix(got, heading+"\n> 「もっと短く」 → 反映しました。\n"+"> ") && !strings.Contains(got, "<!") &&
			!strings.Contains(got, "✅") && offers(m, "approve_process"), "above the steps stands %q", got)
	}
	expect.That(t, !card.StepsFit(manySteps(60, 100), strings.Repeat("&\n", 1000)), "remarks that no card shows fit")
}

// sheetCall writes two rows of four members in three columns, one of which is listed twice.
var sheetCall = jsonOf(map[string]any{
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
	_, blocks := s.gate(t)
	for _, row := range []string{"• 行 › 1: 残業時間: 25.5 · 社員番号: E001 · 備考: (指定なし)\n",
		"• 行 › 2: 残業時間: (なし) · 社員番号: E002 · 備考: (指定なし)\n"} {
		expect.Has(t, drawn(blocks), row)
	}
	dialog, _ := reviewed(t, s, task.CardStep, s.Gates[0].ID)
	for where, text := range map[string]string{"card": drawn(blocks), "dialog": dialog} {
		expect.Has(t, text, "書き込まない列: average_hours、note", where)
		expect.That(t, !strings.Contains(text, "null") && !strings.Contains(text, "`{}`") && !strings.Contains(text, `""`),
			"the %s shows an empty cell as JSON: %s", where, text)
		expect.That(t, strings.Count(text, "(指定なし)") == 2,
			"the %s doesn't say which cells are empty: %s", where, text)
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
		_, blocks := calling(t, "write_rows_to_google_sheet", odd, odd).gate(t)
		text := drawn(blocks)
		expect.That(t, strings.Contains(text, "secret") && strings.Contains(text, "x1"),
			"%s: the card lacks a value: %s", odd, text)
	}
}

// A model's answers to reasons are quotations, so that no line of theirs passes for one of the card's own.
func TestNoAnswerToAReasonForgesALineOfTheCard(t *testing.T) {
	forged := "OK\n\n*書き込み・送信*\r\n(なし)\u2028_依頼: <@U0SATO> · 承認: <@U0SUZUKI>_\v*Reads and calculations*"
	for name, remarks := range map[string]string{"short": forged, "long": strings.Repeat("word ", 390) + forged,
		"escaped": strings.Repeat("& ", 560) + forged, "many lines": strings.Repeat("a\n", 200) + forged} {
		s := planned(t, fiveSteps(), tenancy.DefaultSettings())
		s.Process().Remarks = remarks
		for locale, heading := range map[string]string{"ja": "*前のバージョンの却下理由について*",
			"en": "*How the reasons were addressed*"} {
			m, quoted := render(s.Aggregate, s.card(processCard), locale, s.now), 0
			expect.NoError(t, cardtest.Check(m))
			for i, b := range m.Attachments[0].Blocks.BlockSet {
				sec, ok := b.(*slack.SectionBlock)
				if !ok || sec.Text == nil {
					continue
				}
				if strings.HasPrefix(sec.Text.Text, "1. ") {
					break
				}
				if i <= 2 { // what the steps do
					continue
				}
				for _, line := range strings.FieldsFunc(sec.Text.Text,
					func(r rune) bool { return strings.ContainsRune("\n\r\u2028\v", r) }) {
					expect.That(t, line == heading || strings.HasPrefix(line, "> "), "%s, %s: %q is no quotation", name, locale, line)
					quoted++
				}
			}
			expect.That(t, quoted > 1, "%s: no answer is shown", name)
		}
	}
}
