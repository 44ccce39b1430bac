package settings_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/settings"
	"ringi/functions/serve-console/settings/settingsyaml"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
)

func testNoSettingBecomesMarkup(t *testing.T, w *consoletest.World) {
	b := w.As(workspace.Suzuki)
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
		if a := b.Post("/console/settings", f); strings.Contains(a.Body, "<script>alert") {
			t.Errorf("%s: markup of a user's", act)
		}
	}
	if a := b.Post("/console/settings/import", url.Values{"text": {"name: '</textarea>" + evil + "'\n"}}); strings.Contains(a.Body, "<script>alert") || a.Status != http.StatusOK {
		t.Errorf("%d %s", a.Status, a.Body)
	}
	if a := b.Post("/console/settings", opened(w, "name", evil)); a.Status != http.StatusSeeOther {
		t.Fatalf("%d", a.Status)
	}
	if a := b.Get("/console/settings"); strings.Contains(a.Body, "<script>alert") {
		t.Error("markup in the history")
	}
}

func testSettingsTravelAsAFile(t *testing.T, w *consoletest.World) {
	b := w.As(workspace.Suzuki)
	expect.Same(t, http.StatusSeeOther, b.Post("/console/settings", opened(w, "approvers.users", workspace.Sato, "approvers.mode", "list", "max_versions", "7")).Status)
	file := b.Get("/console/settings.yaml")
	if file.Status != http.StatusOK || !strings.Contains(file.Header.Get("Content-Disposition"), "attachment") || !strings.Contains(file.Body, "- "+workspace.Sato+" # 佐藤 花子") || strings.Contains(file.Body, "\nslug:") {
		t.Fatalf("%d %s", file.Status, file.Body)
	}
	if a := b.Post("/console/settings/import", url.Values{"text": {file.Body}}); a.Status != http.StatusOK || !strings.Contains(a.Text(), ja.Say("import_same")) {
		t.Errorf("the same: %d %s", a.Status, a.Text())
	}
	text := strings.ReplaceAll(file.Body, "max_versions: 7", "max_versions: 3")
	shown := b.Post("/console/settings/import", url.Values{"text": {text}})
	if shown.Status != http.StatusOK || w.SettingsNow().MaxVersions != 7 || !strings.Contains(shown.Text(), ja.Label("max_versions")+" 7 3") {
		t.Fatalf("%d %s", shown.Status, shown.Text())
	}
	seen := aggregate.HashOf(string(settings.PlainText([]byte(text))))
	edited := url.Values{"act": {"save"}, "rev": {fmt.Sprint(w.SettingsNow().Rev)}, "seen": {seen}, "text": {strings.ReplaceAll(text, "max_versions: 3", "max_versions: 4")}}
	if a := b.Post("/console/settings/import", edited); a.Status != http.StatusOK || w.SettingsNow().MaxVersions != 7 {
		t.Errorf("what was not shown was saved: %d", a.Status)
	}
	edited.Set("text", strings.ReplaceAll(text, "\n", "\r\n")) // as browsers send it
	if a := b.Post("/console/settings/import", edited); a.Status != http.StatusSeeOther || w.SettingsNow().MaxVersions != 3 {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	if a := b.Post("/console/settings/import", edited); a.Status != http.StatusOK {
		t.Errorf("a revision that is over: %d", a.Status)
	}
}

func testAFilesMistakesAreNamedWithTheirLines(t *testing.T, w *consoletest.World) {
	b := w.As(workspace.Suzuki)
	for text, want := range map[string]string{
		"max_opne_tasks: 1":  "1 行目: max_opne_tasks : " + ja.Rule(settingsyaml.RuleUnknown),
		"\nmax_versions: 99": "1 行目: 作り直しの上限 : 1 から 50 までにしてください。",
		"approvers:\n  users:\n  - " + workspace.Guest + " # 高橋\n  - U0ELSEWHERE # 田中 恵": "4 行目: 承認者 (2): U0ELSEWHERE (田中 恵) : " + ja.Rule(people.RuleOutsider),
		"a: [": ja.Rule(settingsyaml.RuleSyntax),
	} {
		if a := b.Post("/console/settings/import", url.Values{"text": {text}}); a.Status != http.StatusUnprocessableEntity || !strings.Contains(a.Text(), want) {
			t.Errorf("%q: %d %s", text, a.Status, a.Text())
		}
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

// The page says what has been spent, and whoever administers is asked first about self-approval.
func testHomeAndBudgets(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Decide(task.Charge(aggregate.Usage{ID: "1", Calls: 1, Cost: aggregate.USD(2.5)}, w.Now(), func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
	b := w.As(workspace.Suzuki)
	if a := b.Get("/console/settings"); !strings.Contains(a.Text(), ja.Say("spent", "day", "2.50", "month", "2.50")) {
		t.Errorf("%s", a.Text())
	}
	if a := b.Get("/console"); !strings.Contains(a.Text(), ja.Say("choose")) {
		t.Errorf("%s", a.Text())
	}
	if a := w.As(workspace.Sato).Get("/console"); strings.Contains(a.Text(), ja.Say("choose")) {
		t.Error("a member is asked")
	}
}

func testAdmins(t *testing.T, w *consoletest.World) {
	b := w.As(workspace.Suzuki)
	admins := func() []string { return expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t).Admins }
	send := func(act, id string) consoletest.Answer {
		rev := expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t).Rev
		return b.Post("/console/settings/admins", url.Values{"act": {act}, "id": {id}, "rev": {fmt.Sprint(rev)}})
	}
	if a := b.Get("/console/settings/admins?q=" + url.QueryEscape("佐藤")); a.Status != http.StatusOK || !strings.Contains(a.Text(), "鈴木 一郎") || !strings.Contains(a.Text(), "佐藤 花子") {
		t.Errorf("%d %s", a.Status, a.Text())
	}
	for id, act := range map[string]string{workspace.Guest: "add", workspace.Stranger: "add", workspace.Bot: "add", "@sato": "add", "": "add", workspace.Suzuki: "remove", workspace.Sato: "x"} {
		if a := send(act, id); a.Status == http.StatusSeeOther || len(admins()) != 1 {
			t.Errorf("%s %q: %d, %v", act, id, a.Status, admins())
		}
	}
	if a := send("add", workspace.Sato); a.Status != http.StatusSeeOther || len(admins()) != 2 {
		t.Errorf("%d %v", a.Status, admins())
	}
	old := url.Values{"act": {"add"}, "id": {workspace.Tanaka}, "rev": {"0"}}
	if a := b.Post("/console/settings/admins", old); a.Status != http.StatusUnprocessableEntity || len(admins()) != 2 {
		t.Errorf("over another's: %d", a.Status)
	}
	if a := send("remove", workspace.Suzuki); a.Status != http.StatusSeeOther || !slices.Equal(admins(), []string{workspace.Sato}) {
		t.Errorf("%d %v", a.Status, admins())
	}
	if a := send("add", workspace.Suzuki); a.Status != http.StatusForbidden || len(admins()) != 1 {
		t.Errorf("who is no administrator any more acts: %d", a.Status)
	}
	for _, e := range settingsChanges(w) {
		if e.ResourceType != "tenant" || !strings.Contains(string(e.Details), `"admins":{"is":`) {
			t.Errorf("recorded %+v", e)
		}
	}
}
