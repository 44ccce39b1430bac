package contest_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

func TestAContestBeginsAtTheConsole(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *consoletest.World, *consoletest.Beginner){
		"once, however often the form is sent":             beginsOnce,
		"what can't be is said, and nothing typed is lost": refusesToBegin,
		"within what the day has left":                     beginsWithinTheDay,
		"files with mistakes":                              showsMistakes, "nobody knows whether it began": doesNotKnow,
	} {
		t.Run(name, func(t *testing.T) {
			w := consoletest.New(t, db)
			b := &consoletest.Beginner{W: w}
			w.Console.Begin = b.Ask
			run(t, w, b)
		})
	}
}

// beginForm is the page's form, filled in.
func beginForm(w *consoletest.World, b *consoletest.Browser, prompt string) url.Values {
	w.T.Helper()
	_, key, _ := strings.Cut(b.Get("/console/contests/new").Body, `name="key" value="`)
	key, _, _ = strings.Cut(key, `"`)
	return url.Values{"key": {key}, "prompt": {prompt}, "file": {"configs/contest.toml"}, "max_rounds": {"2"},
		"budget_usd": {"0.5"}, "seconds": {"60"}}
}

func beginsOnce(t *testing.T, w *consoletest.World, b *consoletest.Beginner) {
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get("/console/contests").Holds(t, `href="/console/contests/new"`)
	form := beginForm(w, suzuki, "経費精算の方針を\r\n決めて")
	first, second := suzuki.Post("/console/contests", form), suzuki.Post("/console/contests", form)
	expect.Must(t, first.Status == http.StatusSeeOther && first.To == second.To &&
		strings.HasSuffix(first.To, "?done=contest_begun"), "%d %s, %s: %v", first.Status, first.To, second.To, first)
	suzuki.Get(first.To).
		Holds(t, "コンテストを始めました。", "経費精算の方針を\n決めて", "進行中", "依頼とは別",
			"1〜2 回", "data-live", "コンテストを中止する", "鈴木")
	// the browser's button back
	third := suzuki.Post("/console/contests", consoletest.With(form, "prompt", "別の依頼"))
	expect.That(t, third.Status == http.StatusSeeOther && third.To != first.To,
		"another text from the same form: %d %s", third.Status, third.To)
	all := expect.Value(w.Console.Contests.Contests(t.Context(), w.Tenant.ID, "", 10))(t)
	expect.That(t, len(all.Items) == 2, "%d contests began", len(all.Items))
	log := w.Audited(store.AuditFilter{Resource: all.Items[1].ExecutionID})
	expect.That(t, len(log) == 1 && log[0].ActorID == webapi.Suzuki && log[0].Action == contest.AuditStarted &&
		strings.Contains(string(log[0].Details), `"console"`), "recorded: %+v", log)
}

func refusesToBegin(t *testing.T, w *consoletest.World, b *consoletest.Beginner) {
	w.Ask()
	suzuki := w.As(webapi.Suzuki)
	w.Settings(func(s *tenancy.Settings) { s.MaxCostUSD, s.MaxCostDayUSD = 2, 1.5 })
	form := beginForm(w, suzuki, "経費精算の方針")
	for name, tt := range map[string]struct{ field, value, says string }{
		"blank": {"prompt", " \u3000\r\n", "依頼の文: 入力してください"}, "only what shows nothing": {"prompt",
			"\u200b\u2060",
			"依頼の文: 入力してください"},
		"too long": {"prompt", strings.Repeat("長", 22_000), "64 KB"}, "no text": {"prompt", "\xff", "64 KB"},
		"no round": {"max_rounds", "0", "1〜10"}, "many rounds": {"max_rounds", "11", "1〜10"},
		"half a round": {"max_rounds",
			"1.5", "1〜10"},
		"short": {"seconds", "9", "10〜3600"}, "long": {"seconds", "3601", "10〜3600"},
		"free": {"budget_usd", "0", "0.01〜"}, "no number": {"budget_usd", "NaN",
			"0.01〜"}, "beyond a request's": {"budget_usd", "2.1", "0.01〜2.00 ドル"}, "endless": {"budget_usd", "Inf",
			"0.01〜"},
		"no file": {"file", "", "使えるファイル"},
	} {
		a := suzuki.Post("/console/contests", consoletest.With(form, tt.field, tt.value))
		expect.That(t, a.Status == http.StatusUnprocessableEntity && strings.Contains(a.Body, tt.says) &&
			(tt.field == "prompt" || strings.Contains(a.Body, "経費精算の方針</textarea>")), "%s: %v", name, a)
	}
	expect.That(t, len(b.Begun) == 0, "asked for %+v", b.Begun)
	suzuki.Post("/console/contests", consoletest.With(form, "file", "../other.toml")).
		Says(t, http.StatusUnprocessableEntity).Holds(t, "使えるファイルを選んで")
	suzuki.Post("/console/contests", consoletest.With(form, "key", "x")). // another release's form
										Says(t, http.StatusUnprocessableEntity).Holds(t, "経費精算の方針</textarea>").Lacks(t, `name="key" value="x"`)
	b.NotSet = true
	suzuki.Get("/console/contests/new").Holds(t, "コンテストのファイルが設定されていない").Lacks(t,
		"<textarea")
}

func showsMistakes(t *testing.T, w *consoletest.World, _ *consoletest.Beginner) {
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get("/console/contests/new").
		Holds(t, "使えないファイル", "configs/old.toml: max_rounds: 1〜10 にしてください",
			"configs/contest.toml (2 チーム、3 ラウンドまで)").
		Lacks(t, `value="configs/old.toml"`, "<b>99").
		Holds(t, "次のファイルのコンテストは始められます",
								"teams[0].members[0].capabilities: 効果がありません (メンバー)").
		Lacks(t, "<b>x", "max_concurrent_teams") // the file that can't be used has mistakes to mend first
	suzuki.In("en").Get("/console/contests/new").Holds(t, "Unusable files", "Start contest")
}

func doesNotKnow(t *testing.T, w *consoletest.World, b *consoletest.Beginner) {
	suzuki := w.As(webapi.Suzuki)
	form := beginForm(w, suzuki, "経費精算の方針")
	b.Down = true
	a := suzuki.Post("/console/contests", form)
	a.Says(t, http.StatusServiceUnavailable).Holds(t, form.Get("key"))
	a.Holds(t, "経費精算の方針</textarea>", "二重に始まることはありません")
}

func beginsWithinTheDay(t *testing.T, w *consoletest.World, b *consoletest.Beginner) {
	w.Ask()
	suzuki := w.As(webapi.Suzuki)
	w.Settings(func(s *tenancy.Settings) { s.MaxCostDayUSD = 1 })
	b.MostOfDay = aggregate.USD(1)
	form := consoletest.With(beginForm(w, suzuki, "経費精算の方針"), "budget_usd", "0.75")
	first, again := suzuki.Post("/console/contests", form), suzuki.Post("/console/contests",
		form) // the second finds too little left, and its own contest
	expect.That(t, first.Status == http.StatusSeeOther && again.To == first.To,
		"%d %s, %d %s", first.Status, first.To, again.Status, again.To)
	suzuki.Post("/console/contests", consoletest.With(beginForm(w, suzuki, "別の方針"), "budget_usd", "0.5")).Says(t,
		http.StatusUnprocessableEntity).Holds(t, "残りを超えています", "別の方針</textarea>")
	suzuki.Get("/console/settings").Holds(t, "今日 $0.00", "ほかに $0.75 をコンテスト用に確保")
	suzuki.Post("/console/contests", consoletest.With(beginForm(w, suzuki, "別の方針"), "budget_usd", "0.25")).Says(t,
		http.StatusSeeOther) // the rest
}

var contestLink = regexp.MustCompile(`<th scope="row"><a href="/console/contests/([0-9a-f-]{36})">`)

// varied makes contests in every state that the history shows, some with long texts.
func varied(now time.Time) func(n int, k *contest.Contest) {
	return func(n int, k *contest.Contest) {
		score := 0.5 + float64(n%50)/100
		k.UserPrompt = "経費精算のルールを、新しく入った人向けに 5 行でまとめてください" +
			strings.Repeat("。くわしく", n%90)
		k.Status = []contest.Status{contest.Closed, contest.Closed, contest.Running, contest.Cancelled,
			contest.Abandoned}[n%5]
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
	ids := competed(w, 1000, varied(w.Now()))
	for locale, says := range map[string][]string{
		"ja": {"今月の勤怠をまとめる", "依頼の実行方針の作成", "完了", "進行中", "中止", "中断"},
		"en": {"今月の勤怠をまとめる", "Policy of a request", "Completed", "Running", "Cancelled", "Interrupted"},
	} {
		b := w.As(webapi.Suzuki).In(locale)
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
			expect.That(t, (page.Link("prev") == "") == (pages == 0), "page %d leads back to %q", pages, page.Link("prev"))
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

// competed writes the rows of n contests as the store does, and returns their ids, newest first.
func competed(w *consoletest.World, n int, of func(n int, k *contest.Contest)) []string {
	w.T.Helper()
	var puts []types.WriteRequest
	var ids []string
	for i := range n {
		made := w.Now().Add(-time.Duration(i) * time.Second)
		k := contest.Contest{ExecutionID: contest.NewID(), TenantID: w.Tenant.ID, Locale: "ja", TotalTeams: 3,
			CreatedAt: made}
		of(i, &k)
		at := aggregate.TimeText(made)
		puts = append(puts, w.Row(k, at, map[string]any{
			"PK": "CONTEST#" + w.Tenant.ID + "#" + k.ExecutionID, "SK": k.Key(), "type": "contest", "rev": 1,
			"GSI1PK": contest.All(w.Tenant.ID), "GSI1SK": at + "#" + k.ExecutionID,
		}))
		ids = append(ids, k.ExecutionID)
	}
	w.Put(puts)
	return ids
}
