package contest_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

var contestLink = regexp.MustCompile(`<th scope="row"><a href="/console/contests/([0-9a-f-]{36})">`)

// varied makes contests in every state that the history shows, some with long texts.
func varied(now time.Time) func(n int, k *contest.Contest) {
	return func(n int, k *contest.Contest) {
		score := 0.5 + float64(n%50)/100
		k.UserPrompt = "経費精算のルールを、新しく入った人向けに 5 行でまとめてください" + strings.Repeat("。くわしく", n%90)
		k.Status = []contest.Status{contest.Closed, contest.Closed, contest.Running, contest.Cancelled, contest.Abandoned}[n%5]
		if n%3 == 0 {
			k.ForKind, k.ForID, k.Title = task.Kind.Name, aggregate.NewID(), "今月の勤怠をまとめる"
		}
		if k.Status == contest.Running {
			return
		}
		settled := now.Add(time.Minute)
		k.SettledAt, k.Usage.Cost = &settled, 30_000
		if k.Status == contest.Closed {
			k.Outcome, k.BestTeamName, k.BestScore = contest.SummaryCompleted, "慎重チーム", &score
		}
	}
}

// TestAThousandContestsArePagedThrough walks the history to its end and back in both languages: each contest is there
// once, newest first, and the last page takes no longer than the first.
func TestAThousandContestsArePagedThrough(t *testing.T) {
	w := consoletest.Start(t)
	ids := w.Competed(1000, varied(w.Now()))
	for locale, says := range map[string][]string{
		"ja": {"今月の勤怠をまとめる", "依頼の実行方針の作成", "完了", "進行中", "中止", "中断"},
		"en": {"今月の勤怠をまとめる", "Policy of a request", "Completed", "Running", "Cancelled", "Interrupted"},
	} {
		b := w.As(webapi.Suzuki)
		b.Locale = locale
		var seen []string
		var first, last, longest time.Duration
		pages, at, before := 0, "/console/contests", ""
		for at != "" {
			began := time.Now()
			page := b.Get(at)
			last = time.Since(began)
			if longest = max(longest, last); pages == 0 {
				first = last
			}
			page.Says(t, http.StatusOK, says...)
			for _, m := range contestLink.FindAllStringSubmatch(page.Body, -1) {
				seen = append(seen, m[1])
			}
			if (page.Link("prev") == "") != (pages == 0) {
				t.Errorf("page %d leads back to %q", pages, page.Link("prev"))
			}
			pages++
			before, at = page.Link("prev"), page.Link("next")
		}
		t.Logf("%s: %d pages, the first in %s, the last in %s, none longer than %s", locale, pages, first, last, longest)
		expect.Same(t, 20, pages)
		expect.Same(t, ids, seen)
		back := contestLink.FindStringSubmatch(b.Get(before).Body)
		expect.That(t, len(back) != 0 && back[1] == ids[900], "the page before the last begins with %v", back)
	}
}
