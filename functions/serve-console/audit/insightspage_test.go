package audit_test

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func TestInsights(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"say what the facts of the days come to, in both languages": insightsSay,
		"round limits, and leave out those without a decision":      insightsRounded,
		"are empty before anything happened":                        insightsEmpty,
		"are for administrators, of their own tenant":               insightsAreClosed,
		"span the days that are asked for, and not too many":        insightsSpan,
		"show a tool's name as the text that it is":                 insightsShowMarkup,
		"add a thousand facts up":                                   insightsOfThousand,
	})
}

// happened returns a day's facts: a request whose policy was rejected once and then approved, and whose execution
// failed.
func happened(tenant, task string, at time.Time) []tenancy.DailyFact {
	took := func(d time.Duration) *int64 { ms := d.Milliseconds(); return &ms }
	all := []tenancy.DailyFact{
		{Created: true}, {Gate: "prompt", Verdict: tenancy.Rejected, Waited: took(4 * time.Minute)}, {Gate: "prompt",
			Verdict: tenancy.Approved, Waited: took(3 * time.Second)},
		{Gate: "process", Verdict: tenancy.Returned}, {Gate: "process", Verdict: tenancy.Denied},
		{Gate: "process", Verdict: tenancy.Approved},
		{Ended: "failed", Tools: map[string]tenancy.DailyCalls{"sheets_append": {Completed: 1,
			Failed: 1}}}, {Spent: &tenancy.DailySpent{Calls: 1, Input: 12345, Output: 678, Cost: 1_230_000, Unpriced: 1}},
	}
	for i := range all {
		all[i].Tenant, all[i].Task, all[i].Source, all[i].At = tenant, task, fmt.Sprintf("01E%d", i), at
	}
	return all
}

func insightsSay(t *testing.T, w *consoletest.World) {
	expect.NoError(t, store.CounterOf(w.Store.Table(), w.Store.Kinds()).PutFacts(t.Context(),
		happened(w.Tenant.ID, "t1", w.Now())))
	b := w.As(webapi.Suzuki)
	for locale, want := range map[string][]string{
		"ja": {"約 10 秒まで", "約 5 分まで", "承認 2 件、却下 2 件、差し戻し 1 件", "実行ステップ 1 0 1 1 0 33%", "却下による作り直し 1 件", "50%", "1.00", "sheets_append", "$1.23", "12,345", "ほかに失敗 1 件、中止 0 件",
			"料金不明の呼び出し", tenancy.DayOf(w.Now())},
		"en": {"Up to about 10 s", "Up to about 5 min", "2 approved, 2 rejected, 1 returned", "Rejected for good", "1 after a rejection", "Failures by tool", "Plus 1 failed and 0 cancelled"},
	} {
		page := b.In(locale).Get("/console/insights")
		for _, text := range want {
			page.Says(t, http.StatusOK, text)
		}
		expect.That(t, !strings.Contains(page.Body, "style=") && strings.Count(page.Body, `<svg class="chart"`) == 2 &&
			regexp.MustCompile(`<rect x="\d+" y="35" width="16" height="65">`).MatchString(page.Body),
			"its charts are %s", page.Body)
		day := tenancy.DayOf(w.Now())[len("2026-"):]
		page.Holds(t, "<span>20,000</span><span>10,000</span><span>0</span>", "<span>$2.00</span>", "<span>"+day+"</span>",
			`<details id="by-day">`)
	}
}

// The buckets end at 22.5 and 33.8 seconds, and so on.
func insightsRounded(t *testing.T, w *consoletest.World) {
	var all []tenancy.DailyFact
	for i, d := range []time.Duration{20 * time.Second, 30 * time.Second, time.Minute, time.Hour, 12 * time.Hour,
		20 * 24 * time.Hour} {
		f := happened(w.Tenant.ID, fmt.Sprintf("t%d", i), w.Now())[2]
		*f.Waited = d.Milliseconds()
		all = append(all, f)
	}
	expect.NoError(t, store.CounterOf(w.Store.Table(), w.Store.Kinds()).PutFacts(t.Context(), all))
	page := w.As(webapi.Suzuki).Get("/console/insights").Text()
	_, rows, _ := strings.Cut(page, "判断にかかった時間の分布")
	expect.Has(t, rows, "約 25 秒まで 1 約 35 秒まで 1 約 80 秒まで 1 約 75 分まで 1 約 18 時間まで 1 約 25 日まで 1")
}

func insightsEmpty(t *testing.T, w *consoletest.World) {
	w.As(webapi.Suzuki).Get("/console/insights").Says(t, http.StatusOK, web.TextsOf("insights", "ja").Say("empty")).
		Lacks(t, "<svg")
}

func insightsAreClosed(t *testing.T, w *consoletest.World) {
	expect.NoError(t, store.CounterOf(w.Store.Table(), w.Store.Kinds()).PutFacts(t.Context(),
		happened(w.Tenant.ID, "t1", w.Now())))
	other := w.Found("T0OTHER", webapi.Tanaka)
	w.Of(other, webapi.Tanaka).Get("/console/insights").Says(t, http.StatusOK,
		web.TextsOf("insights", "ja").Say("empty"))
}

func insightsSpan(t *testing.T, w *consoletest.World) {
	last := w.Now().AddDate(0, 0, -10)
	expect.NoError(t, store.CounterOf(w.Store.Table(), w.Store.Kinds()).PutFacts(t.Context(),
		happened(w.Tenant.ID, "t1", last)))
	b := w.As(webapi.Suzuki)
	for query, says := range map[string]string{
		"from=" + tenancy.DayOf(last) + "&to=" + tenancy.DayOf(last):       "$1.23",
		"from=" + tenancy.DayOf(w.Now()) + "&to=" + tenancy.DayOf(w.Now()): web.TextsOf("insights", "ja").Say("empty"),
		"":                              "$1.23",
		"from=2026-01-01&to=2027-01-01": "92 日以内", "from=x": "92 日以内", "to=%3Cscript%3E": "92 日以内",
		"from=2026-05-02&to=2026-05-01": "92 日以内",
	} {
		page := b.Get("/console/insights?" + query)
		page.Says(t, http.StatusOK, says).Lacks(t, "<script>")
		if strings.HasPrefix(says, "92") {
			page.Says(t, http.StatusOK, "最近 30 日間を表示しています", "$1.23")
		}
	}
}

func insightsShowMarkup(t *testing.T, w *consoletest.World) {
	f := happened(w.Tenant.ID, "t1", w.Now())[3]
	f.Tools = map[string]tenancy.DailyCalls{}
	for _, p := range consoletest.Payloads {
		f.Tools[p] = tenancy.DailyCalls{Failed: 1}
	}
	expect.NoError(t, store.CounterOf(w.Store.Table(), w.Store.Kinds()).PutFacts(t.Context(), []tenancy.DailyFact{f}))
	page := w.As(webapi.Suzuki).Get("/console/insights")
	_, main, _ := strings.Cut(page.Body, "<main")
	main = strings.ReplaceAll(main, "<svg class=\"", "")
	bad := consoletest.Dangerous.FindAllString(main, -1)
	expect.That(t, bad == nil &&
		strings.Count(main, `<th scope="row" data-label="ツール">`) == len(consoletest.Payloads),
		"a browser would run %q", bad)
}

func insightsOfThousand(t *testing.T, w *consoletest.World) {
	var all []tenancy.DailyFact
	for n := range 200 {
		all = append(all, happened(w.Tenant.ID, fmt.Sprintf("t%d", n), w.Now().AddDate(0, 0, -n%20))...)
	}
	expect.NoError(t, store.CounterOf(w.Store.Table(), w.Store.Kinds()).PutFacts(t.Context(), all))
	page := w.As(webapi.Suzuki).Get("/console/insights")
	for _, text := range []string{"承認 400 件、却下 400 件、差し戻し 200 件", "$246.00", "ほかに失敗 200 件、中止 0 件"} {
		expect.That(t, strings.Contains(page.Text(), text), "%q is missing: %v", text, page)
	}
	got := strings.Count(page.Body, `<th scope="row" data-label="日付">`+tenancy.DayOf(w.Now())[:4])
	expect.That(t, got == 20, "%d days are listed", got)
}
