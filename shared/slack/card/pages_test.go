package card_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
)

func TestManyStepsPageOrAreCounted(t *testing.T) {
	for _, tc := range []struct {
		n, width  int
		pages     int
		countLine string
	}{
		{5, 20, 1, ""},
		{30, 20, 1, ""},
		{60, 20, 2, ""},
		{45, 300, 3, ""},
		{60, 300, 2, ""},
		{200, 300, 3, "…ほか"},
	} {
		t.Run(fmt.Sprintf("%d steps of %d", tc.n, tc.width), func(t *testing.T) {
			s := planned(t, fiveSteps(), tenancy.DefaultSettings())
			s.Process().Steps = manySteps(tc.n, tc.width)
			m := render(s.Aggregate, s.card(processCard), "ja", s.now)
			expect.NoError(t, cardtest.Check(m))
			pages, lines, last := 0, 0, ""
			for _, b := range m.Attachments[0].Blocks.BlockSet {
				if sec, ok := b.(*slack.SectionBlock); ok {
					if strings.HasPrefix(sec.Text.Text, "*書き込み・送信*") { // what they would do stands below
						break
					}
					pages++
					all := strings.Split(sec.Text.Text, "\n")
					lines, last = lines+len(all), all[len(all)-1]
				}
			}
			expect.That(t, pages == tc.pages, "%d sections, want %d", pages, tc.pages)
			expect.That(t, tc.countLine != "" || lines == tc.n, "%d lines for %d steps", lines, tc.n)
			expect.That(t, tc.countLine == "" || last == fmt.Sprintf("…ほか %d 件", tc.n-(lines-1)),
				"the last of %d lines is %q", lines, last)
		})
	}
}

// People see all of a policy that they approve, even with 8,000 characters, the most that a model may write.
func TestALongPolicyIsShownWhole(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		pages int
	}{
		"short":               {"方針", 1},
		"one section":         {strings.Repeat("あ", 3000), 1},
		"one line":            {strings.Repeat("あ", 8000), 3},
		"many lines":          {strings.Repeat("目的: 四月の勤怠\n", 240), 3},
		"lines of half a one": {strings.Repeat(strings.Repeat("あ", 1598)+"\n\n", 5), 3},
		"spaces for a page":   {"a" + strings.Repeat(" ", 6000) + "b", 1},
		"escaped":             {strings.Repeat("<&>", 600), 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := received(t).extracted().drafting()
			s.do(s.FinishPrompt(s.Head.Run, tc.text, tenancy.DefaultSettings(), s.now))
			m := render(s.Aggregate, s.card(promptCard), "ja", s.now)
			expect.NoError(t, cardtest.Check(m))
			shown, pages := "", 0
			for _, b := range m.Attachments[0].Blocks.BlockSet {
				if sec, ok := b.(*slack.SectionBlock); ok {
					shown, pages = shown+sec.Text.Text, pages+1
				}
			}
			words := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if want := words(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">",
				"&gt;").Replace(tc.text)); words(shown) != want || pages != tc.pages {
				t.Errorf("%d sections show %d of %d bytes", pages, len(words(shown)), len(want))
			}
		})
	}
}

// A page of the largest call is drawn within the three seconds that Slack waits.
func TestADialogsWorkGrowsAsItsRows(t *testing.T) {
	work := func(rows int) uint64 {
		list := make([]map[string]any, rows)
		for i := range list {
			list[i] = map[string]any{"num": i, "name": "社員 太郎", "total": "160:00"}
		}
		input := jsonOf(map[string]any{"spreadsheet_id": "1aBcD", "sheet": "2026-11", "rows": list, "columns": []any{}})
		s := calling(t, "write_rows_to_google_sheet", input, input)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, ok := card.ReviewModal(s.Aggregate, card.Review{Type: task.CardStep, ID: s.Gates[0].ID}, "ja")
		expect.Must(t, ok, "there is no such gate")
		runtime.ReadMemStats(&after)
		return after.TotalAlloc - before.TotalAlloc
	}
	few, many := work(2000), work(8000)
	expect.That(t, many <= 6*few, "2,000 rows take %d KiB, four times as many %d KiB", few>>10, many>>10)
}
