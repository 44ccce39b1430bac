package settings_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
)

func testNoSettingBecomesMarkup(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	const evil = `"><script>alert(1)</script>`
	f := opened(w)
	for name := range f {
		if name != "rev" && name != "act" {
			f.Set(name, evil)
		}
	}
	f.Set("find.approvers.users", evil)
	for _, act := range []string{"save", "search"} {
		f.Set("act", act)
		expect.That(t, !strings.Contains(b.Post("/console/settings", f).Body, "<script>alert"),
			"%s: markup of a user's", act)
	}
	b.Post("/console/settings/import", url.Values{"text": {"name: '</textarea>" + evil + "'\n"}}).Says(t, http.StatusOK).
		Lacks(t, "<script>alert")
	b.Post("/console/settings", opened(w, "name", evil)).Says(t, http.StatusSeeOther)
	expect.That(t, !strings.Contains(b.Get("/console/settings").Body, "<script>alert"), "markup in the history")
}

func testSettingsTravelAsAFile(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	expect.Same(t, http.StatusSeeOther, b.Post("/console/settings",
		opened(w, "approvers.users", webapi.Sato, "approvers.mode", "list", "max_versions", "7")).Status)
	file := b.Get("/console/settings.yaml")
	if file.Status != http.StatusOK || !strings.Contains(file.Header.Get("Content-Disposition"), "attachment") ||
		!strings.Contains(file.Body, "- "+webapi.Sato+" # 佐藤 花子") || strings.Contains(file.Body, "\nslug:") {
		t.Fatalf("%d %s", file.Status, file.Body)
	}
	b.Post("/console/settings/import", url.Values{"text": {file.Body}}).Says(t, http.StatusOK, ja.Say("import_same"))
	text := strings.ReplaceAll(file.Body, "max_versions: 7", "max_versions: 3")
	shown := b.Post("/console/settings/import", url.Values{"text": {text}})
	expect.Must(t, shown.Status == http.StatusOK && w.SettingsNow().MaxVersions == 7 &&
		strings.Contains(shown.Text(), ja.Label("max_versions")+" 7 3"), "%v", shown)
	seen := aggregate.HashOf(string([]byte(strings.Trim(text, "\n"))))
	edited := url.Values{"act": {"save"}, "rev": {fmt.Sprint(w.SettingsNow().Rev)}, "seen": {seen}, "text": {strings.ReplaceAll(text, "max_versions: 3", "max_versions: 4")}}
	b.Post("/console/settings/import", edited).Says(t, http.StatusOK)
	expect.That(t, w.SettingsNow().MaxVersions == 7, "what was not shown was saved")
	edited.Set("text", strings.ReplaceAll(text, "\n", "\r\n")) // as browsers send it
	if a := b.Post("/console/settings/import", edited); a.Status != http.StatusSeeOther || w.SettingsNow().MaxVersions != 3 {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	b.Post("/console/settings/import", edited).Says(t, http.StatusConflict) // a revision that is over
}

func testAFilesMistakesAreNamedWithTheirLines(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	for text, want := range map[string]string{
		"max_opne_tasks: 1":  "1 行目: max_opne_tasks : " + ja.Rule(web.RuleUnknown),
		"\nmax_versions: 99": "1 行目: バージョンの上限 : 1〜50 を入力してください。",
		"approvers:\n  users:\n  - " + webapi.Guest + " # 高橋\n  - U0ELSEWHERE # 田中 恵": "4 行目: 承認者 (2): U0ELSEWHERE (田中 恵) : " + ja.Rule(people.RuleOutsider),
		"a: [": ja.Rule(web.RuleSyntax),
	} {
		b.Post("/console/settings/import", url.Values{"text": {text}}).Says(t, http.StatusUnprocessableEntity, want)
	}
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "field%d: 1\n", i)
	}
	many := b.Post("/console/settings/import", url.Values{"text": {lines.String()}})
	if more := ja.Say("more_problems", "n", "4,900"); many.Status != http.StatusUnprocessableEntity || !strings.Contains(many.Text(), more) {
		t.Errorf("5,000 mistakes: %d, %d bytes", many.Status, len(many.Body))
	}
}

// The page shows what has been spent, and asks the first administrator about self-approval.
func testHomeAndBudgets(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Decide(task.Charge(aggregate.Usage{ID: "1", Calls: 1, Cost: aggregate.USD(2.5)}, w.Now(), func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
	b := w.As(webapi.Suzuki)
	b.Get("/console/settings").Says(t, http.StatusOK, ja.Say("spent", "day", "2.50", "month", "2.50"))
	numbers := web.TextsOf("insights", "ja")
	b.Get("/console").Says(t, http.StatusOK, ja.Say("choose"), numbers.Say("mine"), numbers.Say("spent_day"), numbers.Say("no_budget"), "$2.50")
	w.As(webapi.Sato).Get("/console").Says(t, http.StatusOK, numbers.Say("mine_open")).Lacks(t, numbers.Say("spent_day"),
		"/console/insights")
	expect.That(t, !strings.Contains(w.As(webapi.Sato).Get("/console").Text(), ja.Say("choose")), "a member is asked")
}

func testAdmins(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	admins := func() []string { return expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t).Admins }
	send := func(act, id string) consoletest.Answer {
		rev := expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t).Rev
		return b.Post("/console/settings/admins", url.Values{"act": {act}, "id": {id}, "rev": {fmt.Sprint(rev)}})
	}
	b.Get("/console/settings/admins?q="+url.QueryEscape("佐藤")).Says(t, http.StatusOK, "鈴木 一郎", "佐藤 花子")
	for id, act := range map[string]string{webapi.Guest: "add", webapi.Stranger: "add", webapi.Bot: "add", "@sato": "add",
		"": "add", webapi.Suzuki: "remove", webapi.Sato: "x"} {
		if a := send(act, id); a.Status == http.StatusSeeOther || len(admins()) != 1 {
			t.Errorf("%s %q: %d, %v", act, id, a.Status, admins())
		}
	}
	send("add", webapi.Sato).Says(t, http.StatusSeeOther)
	expect.That(t, len(admins()) == 2, "%+v", admins())
	old := url.Values{"act": {"add"}, "id": {webapi.Tanaka}, "rev": {"0"}}
	b.Post("/console/settings/admins", old).Says(t, http.StatusUnprocessableEntity)
	expect.That(t, len(admins()) == 2, "over another's")
	send("remove", webapi.Suzuki).Says(t, http.StatusSeeOther)
	expect.That(t, slices.Equal(admins(), []string{webapi.Sato}), "%+v", admins())
	send("add", webapi.Suzuki).Says(t, http.StatusForbidden)
	expect.That(t, len(admins()) == 1, "who is no administrator any more acts")
	for _, e := range settingsChanges(w) {
		expect.That(t, e.ResourceType == "tenant" && strings.Contains(string(e.Details), `"admins":{"is":`),
			"recorded %+v", e)
	}
}
