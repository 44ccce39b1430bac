package web_test

import (
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/runtime/expect"
)

// A time is told by its distance, and the exact one is there to hover over.
func TestTimesAreToldByTheirDistance(t *testing.T) {
	now := time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration][2]string{
		0:                          {"just now", "たった今"},
		-59 * time.Second:          {"just now", "たった今"},
		-time.Minute:               {"1 min ago", "1 分前"},
		-59 * time.Minute:          {"59 min ago", "59 分前"},
		-time.Hour:                 {"1 h ago", "1 時間前"},
		-25 * time.Hour:            {"yesterday", "1 日前"},
		-72 * time.Hour:            {"3 days ago", "3 日前"},
		-31 * 24 * time.Hour:       {"2026-03-18", "2026-03-18"},
		30 * time.Second:           {"now", "まもなく"},
		90 * time.Minute:           {"in 1 h", "あと 1 時間"},
		30 * time.Hour:             {"tomorrow", "あと 1 日"},
		7 * 24 * time.Hour:         {"in 7 days", "あと 7 日"},
		31 * 24 * time.Hour:        {"2026-05-19", "2026-05-19"},
		-20 * 365 * 24 * time.Hour: {"2006-04-23", "2006-04-23"},
	} {
		for i, locale := range []string{"en", "ja"} {
			got := string(web.Ago(web.TextsOf("layout", locale), now.Add(d), now))
			exact := now.Add(d).In(web.Zone).Format("2006-01-02 15:04")
			expect.That(t, strings.Contains(got, ">"+want[i]+"<") && strings.Contains(got, `title="`+exact+`"`), "%v: %s, want %s and %s", d, got, want[i], exact)
		}
	}
	expect.Is(t, string(web.Ago(web.TextsOf("layout", "en"), time.Time{}, now)), "")
}
