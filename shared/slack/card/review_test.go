package card_test

import (
	"runtime"
	"testing"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

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
	if few, many := work(2000), work(8000); many > 6*few {
		t.Errorf("2,000 rows take %d KiB, four times as many %d KiB", few>>10, many>>10)
	}
}
