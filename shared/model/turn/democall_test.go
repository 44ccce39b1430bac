package turn

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"ringi/shared/runtime/expect"
)

func TestTheDemoAsksWhoJoinedAndCounts(t *testing.T) {
	for text, want := range map[string]string{
		"10 月の入社は?":                `{"department":null,"status":"all"}`,
		"October's joiners?":       `{"department":null,"status":"all"}`,
		"「営業部」に 4 月に入った人は?":        `{"department":"営業部","status":"all"}`,
		"ファイルを作って":                 "",
		"we join hands in October": "",
	} {
		input, ok := demoCall(text, "x")
		var got struct{ Arguments string }
		expect.Is(t, ok, want != "", text)
		if ok {
			expect.NoError(t, json.Unmarshal([]byte(input), &got))
			expect.Is(t, got.Arguments, want, text)
		}
	}
	expect.Is(t, demoMonthOf("October's joiners?"), time.October)
	expect.Is(t, demoMonthOf("13 月"), 0)
	en := func(_, en string) string { return en }
	said, ok := demoCounted(`Done.{"count":3,"employees":[{"display_name":"A","entry_date":"2026-10-01"},{"display_name":"B","entry_date":"2026-04-01"},{"display_name":"C","entry_date":null}]}More.`,
		"who joined in October?", en)
	expect.That(t, ok && strings.Contains(said, "1 of 3 people match") && strings.Contains(said, "A (2026-10-01)") &&
		!strings.Contains(said, "B ("), "%q", said)
	_, ok = demoCounted("Done.", "who joined?", en)
	expect.That(t, !ok, "it counted nothing")
}
