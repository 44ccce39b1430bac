package main

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/errorclass"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/contests"
	"ringi/shared/store/storetest"
)

func TestAContestBeginsAtTheConsole(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world, *beginner){
		"once, however often the form is sent": beginsOnce, "what can't be is said, and nothing typed is lost": refusesToBegin, "for administrators": beginsForAdministrators,
		"within what the day has left": beginsWithinTheDay,
		"files with mistakes":          showsMistakes, "nobody knows whether it began": doesNotKnow,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, db)
			b := &beginner{w: w}
			w.c.Begin = b
			run(t, w, b)
		})
	}
}

// beginner is the function that reads the files.
type beginner struct {
	w      *world
	down   bool
	notSet bool
	begun  []contests.Alone
	// mostOfDay is what the day may come to; 0: anything.
	mostOfDay aggregate.MicroUSD
}

func (b *beginner) Ask(ctx context.Context, asked contests.Asked) (contests.Answered, error) {
	if b.down {
		return contests.Answered{}, errorclass.ErrUnavailable
	}
	teams := []contest.Entry{{TeamID: "a", TeamName: "堅実"}, {TeamID: "b", TeamName: "速攻"}}
	if x := asked.Begin; x != nil {
		b.begun = append(b.begun, *x)
		if x.File != "configs/contest.toml" {
			return contests.Answered{}, nil
		}
		err := b.w.c.Contests.Begin(ctx, contest.Order{
			Execution: x.Execution, Tenant: x.Tenant, Prompt: x.Prompt, Locale: x.Locale, Teams: teams, MaxRounds: x.MaxRounds, MinRounds: 1,
			TeamTimeoutSeconds: 300, TimeoutSeconds: x.Seconds, Budget: x.Budget, By: x.By, MostOfDay: b.mostOfDay,
		})
		if errors.As(err, new(aggregate.ErrFull)) {
			return contests.Answered{OverBudget: true}, nil
		}
		if errors.Is(err, aggregate.ErrExists) {
			err = nil
		}
		return contests.Answered{Begun: err == nil}, err
	}
	return contests.Answered{NotSet: b.notSet, Contests: []contests.Described{
		{File: "configs/contest.toml", Teams: teams, MinRounds: 1, MaxRounds: 3, TeamSeconds: 300},
		{File: "configs/old.toml", Wrong: []string{`configs/old.toml: max_rounds: must be 1 to 10, got <b>99</b>`}},
	}}, nil
}

// beginForm is the form as the page has it, filled in.
func (w *world) beginForm(b *browser, prompt string) url.Values {
	w.T.Helper()
	_, key, _ := strings.Cut(b.get("/console/contests/new").body, `name="key" value="`)
	key, _, _ = strings.Cut(key, `"`)
	return url.Values{"key": {key}, "prompt": {prompt}, "file": {"configs/contest.toml"}, "max_rounds": {"2"}, "budget_usd": {"0.5"}, "seconds": {"60"}}
}

func beginsOnce(t *testing.T, w *world, b *beginner) {
	suzuki := w.as(workspace.Suzuki)
	holds(t, suzuki.get("/console/contests"), `href="/console/contests/new"`)
	form := w.beginForm(suzuki, "経費精算の方針を\r\n決めて")
	first, second := suzuki.post("/console/contests", form), suzuki.post("/console/contests", form)
	if first.status != http.StatusSeeOther || first.to != second.to || !strings.HasSuffix(first.to, "?done=contest_begun") {
		t.Fatalf("%d %s, %s: %s", first.status, first.to, second.to, first.text())
	}
	page := suzuki.get(first.to)
	holds(t, page, "コンテストを始めました。", "経費精算の方針を\n決めて", "進行中", "単独", "1〜2 回", "data-live", "コンテストを中止する", "鈴木")
	third := suzuki.post("/console/contests", with(form, "prompt", "別の依頼")) // the browser's button back
	if third.status != http.StatusSeeOther || third.to == first.to {
		t.Errorf("another text from the same form: %d %s", third.status, third.to)
	}
	all := expect.Value(w.c.Contests.Contests(t.Context(), w.tenant.ID, "", 10))(t)
	if len(all.Items) != 2 {
		t.Errorf("%d contests began", len(all.Items))
	}
	log := expect.Value(w.Store.Audit(t.Context(), w.tenant.ID, store.AuditFilter{Resource: all.Items[1].ExecutionID}, "", 10))(t)
	if len(log.Items) != 1 || log.Items[0].ActorID != workspace.Suzuki || log.Items[0].Action != contest.AuditStarted || !strings.Contains(string(log.Items[0].Details), `"console"`) {
		t.Errorf("recorded: %+v", log.Items)
	}
}

func refusesToBegin(t *testing.T, w *world, b *beginner) {
	w.ask()
	suzuki := w.as(workspace.Suzuki)
	lacks(t, suzuki.get("/console/contests/new"), "今は ")
	w.Settings(func(s *tenancy.Settings) { s.MaxCostUSD, s.MaxCostDayUSD = 2, 1.5 })
	form := w.beginForm(suzuki, "経費精算の方針")
	holds(t, suzuki.get("/console/contests/new"), "今は 1.5")
	for name, tt := range map[string]struct{ field, value, says string }{
		"blank": {"prompt", " \u3000\r\n", "依頼の文を入力してください"}, "only what shows nothing": {"prompt", "\u200b\u2060", "依頼の文を入力してください"},
		"too long": {"prompt", strings.Repeat("長", 22_000), "64 KB"}, "no text": {"prompt", "\xff", "64 KB"},
		"no round": {"max_rounds", "0", "1〜10"}, "many rounds": {"max_rounds", "11", "1〜10"}, "half a round": {"max_rounds", "1.5", "1〜10"},
		"short": {"seconds", "9", "10〜3600"}, "long": {"seconds", "3601", "10〜3600"},
		"free": {"budget_usd", "0", "0.01 以上"}, "no number": {"budget_usd", "NaN", "0.01 以上"}, "beyond a request's": {"budget_usd", "2.1", "0.01 以上、2.00 ドル"}, "endless": {"budget_usd", "Inf", "0.01 以上"},
		"no file": {"file", "", "使えるファイル"},
	} {
		a := suzuki.post("/console/contests", with(form, tt.field, tt.value))
		if a.status != http.StatusBadRequest || !strings.Contains(a.body, tt.says) || tt.field != "prompt" && !strings.Contains(a.body, "経費精算の方針</textarea>") {
			t.Errorf("%s: %d %s", name, a.status, a.text())
		}
	}
	if len(b.begun) > 0 {
		t.Errorf("asked for %+v", b.begun)
	}
	if a := suzuki.post("/console/contests", with(form, "file", "../other.toml")); a.status != http.StatusBadRequest || !strings.Contains(a.body, "使えるファイルを選んで") {
		t.Errorf("a file that is none: %d %s", a.status, a.text())
	}
	if a := suzuki.post("/console/contests", with(form, "key", "x")); a.status != http.StatusBadRequest {
		t.Errorf("another form: %d", a.status)
	}
	b.notSet = true
	page := suzuki.get("/console/contests/new")
	holds(t, page, "コンテストのファイルが置かれていない")
	lacks(t, page, "<textarea")
}

func beginsForAdministrators(t *testing.T, w *world, b *beginner) {
	form := w.beginForm(w.as(workspace.Suzuki), "方針")
	member := w.as(workspace.Sato)
	member.get("/console/contests/new").says(t, http.StatusForbidden)
	if a := member.post("/console/contests", form); a.status != http.StatusForbidden || len(b.begun) > 0 {
		t.Errorf("a member: %d", a.status)
	}
	if a := w.as(workspace.Suzuki).send("POST", "/console/contests", form); a.status != http.StatusForbidden || len(b.begun) > 0 {
		t.Errorf("without the session's token: %d", a.status)
	}
}

func showsMistakes(t *testing.T, w *world, _ *beginner) {
	suzuki := w.as(workspace.Suzuki)
	page := suzuki.get("/console/contests/new")
	holds(t, page, "使えないファイル", "configs/old.toml: max_rounds: must be 1 to 10", "configs/contest.toml (2 チーム、3 ラウンドまで)")
	lacks(t, page, `value="configs/old.toml"`, "<b>99")
	suzuki.locale = "en"
	holds(t, suzuki.get("/console/contests/new"), "Files that can’t be used", "Begin the contest")
}

func doesNotKnow(t *testing.T, w *world, b *beginner) {
	suzuki := w.as(workspace.Suzuki)
	form := w.beginForm(suzuki, "経費精算の方針")
	b.down = true
	a := suzuki.post("/console/contests", form)
	if a.status != http.StatusServiceUnavailable || !strings.Contains(a.body, form.Get("key")) {
		t.Errorf("%d %s", a.status, a.text())
	}
	holds(t, a, "経費精算の方針</textarea>", "2 つ始まることはありません")
}

func beginsWithinTheDay(t *testing.T, w *world, b *beginner) {
	w.ask()
	suzuki := w.as(workspace.Suzuki)
	w.Settings(func(s *tenancy.Settings) { s.MaxCostDayUSD = 1 })
	b.mostOfDay = aggregate.USD(1)
	form := with(w.beginForm(suzuki, "経費精算の方針"), "budget_usd", "0.75")
	first, again := suzuki.post("/console/contests", form), suzuki.post("/console/contests", form) // the second finds too little left, and its own contest
	if first.status != http.StatusSeeOther || again.to != first.to {
		t.Errorf("%d %s, %d %s", first.status, first.to, again.status, again.to)
	}
	page := suzuki.get("/console/contests/new")
	holds(t, page, "今は 0.25 ドルまで")
	other := suzuki.post("/console/contests", with(w.beginForm(suzuki, "別の方針"), "budget_usd", "0.5"))
	if other.status != http.StatusBadRequest || !strings.Contains(other.body, "予算の残りを超えています") || !strings.Contains(other.body, "別の方針</textarea>") {
		t.Errorf("%d %s", other.status, other.text())
	}
	holds(t, suzuki.get("/console/settings"), "今日 $0.75", "終わるまで予算の全額を含みます")
	if rest := suzuki.post("/console/contests", with(w.beginForm(suzuki, "別の方針"), "budget_usd", "0.25")); rest.status != http.StatusSeeOther {
		t.Errorf("the rest: %d %s", rest.status, rest.text())
	}
	holds(t, suzuki.get("/console/contests/new"), "予算を使い切っているため")
}
