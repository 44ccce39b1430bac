package card_test

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
	"ringi/shared/words/language"
)

func TestOnlyResultsAreLinks(t *testing.T) {
	for url, links := range map[string]bool{
		"https://docs.google.com/spreadsheets/d/1aB_c-D/edit#gid=0": true, "http://docs.google.com/x": false, "https://x.example/a|承認>": false, "javascript:alert(1)": false,
		"https://localhost/": false, "http://127.0.0.1:3000/sheets/x": true, "http://127.0.0.1.evil.example/x": false, "https://u:p@x.example/": false,
	} {
		s := started(t, fiveSteps()[:1]).claim(1)
		s.finish(1, task.Outcome{Status: task.StepCompleted,
			Result: &aggregate.Blob{JSON: aggregate.JSON(jsonOf(map[string]any{"url": url}))}})
		s.do(s.CompleteExecution(s.Head.Run, "見てください: https://evil.example/ と evil.example", s.now))
		m := render(s.Aggregate, s.card(executionCard), "ja", s.now)
		expect.NoError(t, cardtest.Check(m))
		expect.That(t, strings.Contains(drawn(m.Attachments[0].Blocks.BlockSet), "<"+url+">") == links,
			"%s is a link: %v", url, !links)
		s.Head.Ended = &task.Ended{As: task.TaskCompleted, At: s.now}
		told := card.Copy(s.Aggregate, &aggregate.Card{CardType: task.CardOutcome}, defaults, "", s.now)
		expect.That(t, strings.Contains(drawn(told.Attachments[0].Blocks.BlockSet), "<"+url+">") == links,
			"%s is a link for the requester: %v", url, !links)
	}
	for _, st := range states { // no text becomes a link by itself
		s := st.scenario(t)
		for _, c := range s.Cards {
			m := render(s.Aggregate, c, "ja", s.now)
			for _, a := range m.Attachments {
				for _, b := range a.Blocks.BlockSet {
					if sec, ok := b.(*slack.SectionBlock); ok && sec.Text != nil && sec.Text.Type == slack.MarkdownType &&
						!sec.Text.Verbatim {
						t.Fatalf("%s: Slack may make links in %q", c.Key(), sec.Text.Text)
					}
				}
			}
		}
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
		`{"updated_rows":21,"rows_below":21}`:                     {"ステップ 4: 書き込んだ表の下に、以前の行が 21 行残っています", "Step 4: older rows below the new table: 21."},
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
				expect.NoError(t, cardtest.Check(m))
				said := drawn(m.Attachments[0].Blocks.BlockSet)
				if want[i] != "" && !strings.Contains(said, want[i]) || want[i] == "" && strings.Contains(said, "⚠️") {
					t.Errorf("%s, %s, %s: %s", name, locale, result, said)
				}
			}
		}
	}
}

// The gate of a write to a sheet says that the write removes nothing else.
func TestAGateSaysWhatStaysInASheet(t *testing.T) {
	arguments := `{"columns":[{"key":"n","title":"N"}],"rows":[{"n":1}],"sheet":"2026-11","spreadsheet_id":"1aBcD"}`
	_, blocks := calling(t, "write_rows_to_google_sheet", arguments, arguments).gate(t)
	if said := drawn(blocks); !strings.Contains(said, "A1 から上書きします。表の下と右にあるものは残ります。") {
		t.Error(said)
	}
	_, blocks = calling(t, "send_slack_dm", `{"text":"x"}`, `{"text":"x"}`).gate(t)
	if said := drawn(blocks); strings.Contains(said, "上書き") {
		t.Error(said)
	}
}
