package contest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
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
			"<dd>2 ", "data-live", "コンテストを中止する", "鈴木")
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
		"blank": {"prompt", " \u3000\r\n", "文字を入力してください"}, "only what shows nothing": {"prompt",
			"\u200b\u2060",
			"文字を入力してください"},
		"too long": {"prompt", strings.Repeat("長", 22_000), "65,536 バイト"}, "no text": {"prompt", "\xff", "65,536 バイト"},
		"no round": {"max_rounds", "0", "1〜10"}, "many rounds": {"max_rounds", "11", "1〜10"},
		"half a round": {"max_rounds", "1.5", "1〜10"},
		"short":        {"seconds", "9", "10〜3,600"}, "long": {"seconds", "3601", "10〜3,600"},
		"free": {"budget_usd", "0", "0.01〜"}, "no number": {"budget_usd", "NaN",
			"0.01〜"}, "beyond a request's": {"budget_usd", "2.1", "0.01〜2.00 を"}, "endless": {"budget_usd", "Inf", "0.01〜"},
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
	suzuki.Get("/console/contests/new").Holds(t, "コンテストのファイルが設定されていない").Lacks(t, "<textarea")
}

func showsMistakes(t *testing.T, w *consoletest.World, _ *consoletest.Beginner) {
	suzuki := w.As(webapi.Suzuki)
	suzuki.Get("/console/contests/new").
		Holds(t, "使えないファイル", "configs/old.toml: max_rounds: must be 1 to 10",
			"configs/contest.toml (2 チーム、3 ラウンドまで)").
		Lacks(t, `value="configs/old.toml"`, "<b>99").
		Holds(t, "次のファイルのコンテストは始められます", "can&#39;t read anything").
		Lacks(t, "<b>x", "can use only") // the file that can't be used has mistakes to mend first
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
