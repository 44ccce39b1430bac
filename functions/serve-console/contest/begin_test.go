package contest_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/workspace"
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
		"once, however often the form is sent": beginsOnce, "what can't be is said, and nothing typed is lost": refusesToBegin, "for administrators": beginsForAdministrators,
		"within what the day has left": beginsWithinTheDay,
		"files with mistakes":          showsMistakes, "nobody knows whether it began": doesNotKnow,
	} {
		t.Run(name, func(t *testing.T) {
			w := consoletest.New(t, db)
			b := &consoletest.Beginner{W: w}
			w.Console.Begin = b
			run(t, w, b)
		})
	}
}

// beginForm is the form as the page has it, filled in.
func beginForm(w *consoletest.World, b *consoletest.Browser, prompt string) url.Values {
	w.T.Helper()
	_, key, _ := strings.Cut(b.Get("/console/contests/new").Body, `name="key" value="`)
	key, _, _ = strings.Cut(key, `"`)
	return url.Values{"key": {key}, "prompt": {prompt}, "file": {"configs/contest.toml"}, "max_rounds": {"2"}, "budget_usd": {"0.5"}, "seconds": {"60"}}
}

func beginsOnce(t *testing.T, w *consoletest.World, b *consoletest.Beginner) {
	suzuki := w.As(workspace.Suzuki)
	consoletest.Holds(t, suzuki.Get("/console/contests"), `href="/console/contests/new"`)
	form := beginForm(w, suzuki, "経費精算の方針を\r\n決めて")
	first, second := suzuki.Post("/console/contests", form), suzuki.Post("/console/contests", form)
	if first.Status != http.StatusSeeOther || first.To != second.To || !strings.HasSuffix(first.To, "?done=contest_begun") {
		t.Fatalf("%d %s, %s: %s", first.Status, first.To, second.To, first.Text())
	}
	page := suzuki.Get(first.To)
	consoletest.Holds(t, page, "コンテストを始めました。", "経費精算の方針を\n決めて", "進行中", "単独", "1〜2 回", "data-live", "コンテストを中止する", "鈴木")
	third := suzuki.Post("/console/contests", consoletest.With(form, "prompt", "別の依頼")) // the browser's button back
	if third.Status != http.StatusSeeOther || third.To == first.To {
		t.Errorf("another text from the same form: %d %s", third.Status, third.To)
	}
	all := expect.Value(w.Console.Contests.Contests(t.Context(), w.Tenant.ID, "", 10))(t)
	if len(all.Items) != 2 {
		t.Errorf("%d contests began", len(all.Items))
	}
	log := expect.Value(w.Store.Audit(t.Context(), w.Tenant.ID, store.AuditFilter{Resource: all.Items[1].ExecutionID}, "", 10))(t)
	if len(log.Items) != 1 || log.Items[0].ActorID != workspace.Suzuki || log.Items[0].Action != contest.AuditStarted || !strings.Contains(string(log.Items[0].Details), `"console"`) {
		t.Errorf("recorded: %+v", log.Items)
	}
}

func refusesToBegin(t *testing.T, w *consoletest.World, b *consoletest.Beginner) {
	w.Ask()
	suzuki := w.As(workspace.Suzuki)
	consoletest.Lacks(t, suzuki.Get("/console/contests/new"), "今は ")
	w.Settings(func(s *tenancy.Settings) { s.MaxCostUSD, s.MaxCostDayUSD = 2, 1.5 })
	form := beginForm(w, suzuki, "経費精算の方針")
	consoletest.Holds(t, suzuki.Get("/console/contests/new"), "今は 1.5")
	for name, tt := range map[string]struct{ field, value, says string }{
		"blank": {"prompt", " \u3000\r\n", "依頼の文を入力してください"}, "only what shows nothing": {"prompt", "\u200b\u2060", "依頼の文を入力してください"},
		"too long": {"prompt", strings.Repeat("長", 22_000), "64 KB"}, "no text": {"prompt", "\xff", "64 KB"},
		"no round": {"max_rounds", "0", "1〜10"}, "many rounds": {"max_rounds", "11", "1〜10"}, "half a round": {"max_rounds", "1.5", "1〜10"},
		"short": {"seconds", "9", "10〜3600"}, "long": {"seconds", "3601", "10〜3600"},
		"free": {"budget_usd", "0", "0.01 以上"}, "no number": {"budget_usd", "NaN", "0.01 以上"}, "beyond a request's": {"budget_usd", "2.1", "0.01 以上、2.00 ドル"}, "endless": {"budget_usd", "Inf", "0.01 以上"},
		"no file": {"file", "", "使えるファイル"},
	} {
		a := suzuki.Post("/console/contests", consoletest.With(form, tt.field, tt.value))
		if a.Status != http.StatusBadRequest || !strings.Contains(a.Body, tt.says) || tt.field != "prompt" && !strings.Contains(a.Body, "経費精算の方針</textarea>") {
			t.Errorf("%s: %d %s", name, a.Status, a.Text())
		}
	}
	if len(b.Begun) > 0 {
		t.Errorf("asked for %+v", b.Begun)
	}
	if a := suzuki.Post("/console/contests", consoletest.With(form, "file", "../other.toml")); a.Status != http.StatusBadRequest || !strings.Contains(a.Body, "使えるファイルを選んで") {
		t.Errorf("a file that is none: %d %s", a.Status, a.Text())
	}
	if a := suzuki.Post("/console/contests", consoletest.With(form, "key", "x")); a.Status != http.StatusBadRequest {
		t.Errorf("another form: %d", a.Status)
	}
	b.NotSet = true
	page := suzuki.Get("/console/contests/new")
	consoletest.Holds(t, page, "コンテストのファイルが置かれていない")
	consoletest.Lacks(t, page, "<textarea")
}

func beginsForAdministrators(t *testing.T, w *consoletest.World, b *consoletest.Beginner) {
	form := beginForm(w, w.As(workspace.Suzuki), "方針")
	member := w.As(workspace.Sato)
	member.Get("/console/contests/new").Says(t, http.StatusForbidden)
	if a := member.Post("/console/contests", form); a.Status != http.StatusForbidden || len(b.Begun) > 0 {
		t.Errorf("a member: %d", a.Status)
	}
	if a := w.As(workspace.Suzuki).Send("POST", "/console/contests", form); a.Status != http.StatusForbidden || len(b.Begun) > 0 {
		t.Errorf("without the session's token: %d", a.Status)
	}
}

func showsMistakes(t *testing.T, w *consoletest.World, _ *consoletest.Beginner) {
	suzuki := w.As(workspace.Suzuki)
	page := suzuki.Get("/console/contests/new")
	consoletest.Holds(t, page, "使えないファイル", "configs/old.toml: max_rounds: must be 1 to 10", "configs/contest.toml (2 チーム、3 ラウンドまで)")
	consoletest.Lacks(t, page, `value="configs/old.toml"`, "<b>99")
	suzuki.Locale = "en"
	consoletest.Holds(t, suzuki.Get("/console/contests/new"), "Files that can’t be used", "Begin the contest")
}

func doesNotKnow(t *testing.T, w *consoletest.World, b *consoletest.Beginner) {
	suzuki := w.As(workspace.Suzuki)
	form := beginForm(w, suzuki, "経費精算の方針")
	b.Down = true
	a := suzuki.Post("/console/contests", form)
	if a.Status != http.StatusServiceUnavailable || !strings.Contains(a.Body, form.Get("key")) {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	consoletest.Holds(t, a, "経費精算の方針</textarea>", "2 つ始まることはありません")
}

func beginsWithinTheDay(t *testing.T, w *consoletest.World, b *consoletest.Beginner) {
	w.Ask()
	suzuki := w.As(workspace.Suzuki)
	w.Settings(func(s *tenancy.Settings) { s.MaxCostDayUSD = 1 })
	b.MostOfDay = aggregate.USD(1)
	form := consoletest.With(beginForm(w, suzuki, "経費精算の方針"), "budget_usd", "0.75")
	first, again := suzuki.Post("/console/contests", form), suzuki.Post("/console/contests", form) // the second finds too little left, and its own contest
	if first.Status != http.StatusSeeOther || again.To != first.To {
		t.Errorf("%d %s, %d %s", first.Status, first.To, again.Status, again.To)
	}
	page := suzuki.Get("/console/contests/new")
	consoletest.Holds(t, page, "今は 0.25 ドルまで")
	other := suzuki.Post("/console/contests", consoletest.With(beginForm(w, suzuki, "別の方針"), "budget_usd", "0.5"))
	if other.Status != http.StatusBadRequest || !strings.Contains(other.Body, "予算の残りを超えています") || !strings.Contains(other.Body, "別の方針</textarea>") {
		t.Errorf("%d %s", other.Status, other.Text())
	}
	consoletest.Holds(t, suzuki.Get("/console/settings"), "今日 $0.75", "終わるまで予算の全額を含みます")
	if rest := suzuki.Post("/console/contests", consoletest.With(beginForm(w, suzuki, "別の方針"), "budget_usd", "0.25")); rest.Status != http.StatusSeeOther {
		t.Errorf("the rest: %d %s", rest.Status, rest.Text())
	}
	consoletest.Holds(t, suzuki.Get("/console/contests/new"), "予算を使い切っているため")
}
