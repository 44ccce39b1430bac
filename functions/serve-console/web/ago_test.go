package web_test

import (
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// A time is told by its distance, and the exact one is there to hover over.
func TestTimesAreToldByTheirDistance(t *testing.T) {
	now := time.Date(2026, 4, 18, 12, 0, 0, 0, time.UTC)
	for d, want := range map[time.Duration]map[string]string{
		0:                          {"en": "just now", "ja": "たった今"},
		-59 * time.Second:          {"en": "just now", "ja": "たった今"},
		-time.Minute:               {"en": "1 min ago", "ja": "1 分前"},
		-59 * time.Minute:          {"en": "59 min ago", "ja": "59 分前"},
		-time.Hour:                 {"en": "1 h ago", "ja": "1 時間前"},
		-25 * time.Hour:            {"en": "yesterday", "ja": "1 日前"},
		-72 * time.Hour:            {"en": "3 days ago", "ja": "3 日前"},
		-31 * 24 * time.Hour:       {"en": "2026-03-18", "ja": "2026-03-18"},
		30 * time.Second:           {"en": "now", "ja": "まもなく"},
		90 * time.Minute:           {"en": "in 1 h", "ja": "あと 1 時間"},
		30 * time.Hour:             {"en": "tomorrow", "ja": "あと 1 日"},
		7 * 24 * time.Hour:         {"en": "in 7 days", "ja": "あと 7 日"},
		31 * 24 * time.Hour:        {"en": "2026-05-19", "ja": "2026-05-19"},
		-20 * 365 * 24 * time.Hour: {"en": "2006-04-23", "ja": "2006-04-23"},
	} {
		for locale, want := range want {
			got := string(web.Ago(web.TextsOf("layout", locale), now.Add(d), now))
			exact := now.Add(d).In(tenancy.Zone()).Format("2006-01-02 15:04")
			expect.That(t, strings.Contains(got, ">"+want+"<") && strings.Contains(got, `title="`+exact+`"`), "%v: %s, want %s and %s", d, got, want, exact)
		}
	}
	expect.Is(t, string(web.Ago(web.TextsOf("layout", "en"), time.Time{}, now)), "")
}
