package main

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/settingsyaml"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
)

func testNoSettingBecomesMarkup(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	const evil = `"><script>alert(1)</script>`
	f := w.opened()
	for name := range f {
		if name != "rev" && name != "act" {
			f.Set(name, evil)
		}
	}
	f.Set("find.approvers.users", evil)
	for _, act := range []string{"save", "search"} {
		f.Set("act", act)
		if a := b.post("/console/settings", f); strings.Contains(a.body, "<script>alert") {
			t.Errorf("%s: markup of a user's", act)
		}
	}
	if a := b.post("/console/settings/import", url.Values{"text": {"name: '</textarea>" + evil + "'\n"}}); strings.Contains(a.body, "<script>alert") || a.status != http.StatusOK {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := b.post("/console/settings", w.opened("name", evil)); a.status != http.StatusSeeOther {
		t.Fatalf("%d", a.status)
	}
	if a := b.get("/console/settings"); strings.Contains(a.body, "<script>alert") {
		t.Error("markup in the history")
	}
}

func testSettingsTravelAsAFile(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	expect.Same(t, http.StatusSeeOther, b.post("/console/settings", w.opened("approvers.users", workspace.Sato, "approvers.mode", "list", "max_versions", "7")).status)
	file := b.get("/console/settings.yaml")
	if file.status != http.StatusOK || !strings.Contains(file.header.Get("Content-Disposition"), "attachment") || !strings.Contains(file.body, "- "+workspace.Sato+" # 佐藤 花子") || strings.Contains(file.body, "\nslug:") {
		t.Fatalf("%d %s", file.status, file.body)
	}
	if a := b.post("/console/settings/import", url.Values{"text": {file.body}}); a.status != http.StatusOK || !strings.Contains(a.text(), ja.Say("import_same")) {
		t.Errorf("the same: %d %s", a.status, a.text())
	}
	text := strings.ReplaceAll(file.body, "max_versions: 7", "max_versions: 3")
	shown := b.post("/console/settings/import", url.Values{"text": {text}})
	if shown.status != http.StatusOK || w.settingsNow().MaxVersions != 7 || !strings.Contains(shown.text(), ja.label("max_versions")+" 7 3") {
		t.Fatalf("%d %s", shown.status, shown.text())
	}
	seen := aggregate.HashOf(string(plainText([]byte(text))))
	edited := url.Values{"act": {"save"}, "rev": {fmt.Sprint(w.settingsNow().Rev)}, "seen": {seen}, "text": {strings.ReplaceAll(text, "max_versions: 3", "max_versions: 4")}}
	if a := b.post("/console/settings/import", edited); a.status != http.StatusOK || w.settingsNow().MaxVersions != 7 {
		t.Errorf("what was not shown was saved: %d", a.status)
	}
	edited.Set("text", strings.ReplaceAll(text, "\n", "\r\n")) // as browsers send it
	if a := b.post("/console/settings/import", edited); a.status != http.StatusSeeOther || w.settingsNow().MaxVersions != 3 {
		t.Errorf("%d %s", a.status, a.text())
	}
	if a := b.post("/console/settings/import", edited); a.status != http.StatusOK {
		t.Errorf("a revision that is over: %d", a.status)
	}
}

func testAFilesMistakesAreNamedWithTheirLines(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	for text, want := range map[string]string{
		"max_opne_tasks: 1":  "1 行目: max_opne_tasks : " + ja.rule(settingsyaml.RuleUnknown),
		"\nmax_versions: 99": "1 行目: 作り直しの上限 : 1 から 50 までにしてください。",
		"approvers:\n  users:\n  - " + workspace.Guest + " # 高橋\n  - U0ELSEWHERE # 田中 恵": "4 行目: 承認者 (2): U0ELSEWHERE (田中 恵) : " + ja.rule(people.RuleOutsider),
		"a: [": ja.rule(settingsyaml.RuleSyntax),
	} {
		if a := b.post("/console/settings/import", url.Values{"text": {text}}); a.status != http.StatusUnprocessableEntity || !strings.Contains(a.text(), want) {
			t.Errorf("%q: %d %s", text, a.status, a.text())
		}
	}
	var lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&lines, "field%d: 1\n", i)
	}
	many := b.post("/console/settings/import", url.Values{"text": {lines.String()}})
	if more := ja.Say("more_problems", "n", "4,900"); many.status != http.StatusUnprocessableEntity || !strings.Contains(many.text(), more) {
		t.Errorf("5,000 mistakes: %d, %d bytes", many.status, len(many.body))
	}
}

// The page says what has been spent, and whoever administers is asked first about self-approval.
func testHomeAndBudgets(t *testing.T, w *world) {
	w.ask()
	w.Decide(task.Charge(aggregate.Usage{ID: "1", Calls: 1, Cost: aggregate.USD(2.5)}, w.Now(), func(*task.Aggregate) (aggregate.Change, error) { return aggregate.Change{}, nil }))
	b := w.as(workspace.Suzuki)
	if a := b.get("/console/settings"); !strings.Contains(a.text(), ja.Say("spent", "day", "2.50", "month", "2.50")) {
		t.Errorf("%s", a.text())
	}
	if a := b.get("/console"); !strings.Contains(a.text(), ja.Say("choose")) {
		t.Errorf("%s", a.text())
	}
	if a := w.as(workspace.Sato).get("/console"); strings.Contains(a.text(), ja.Say("choose")) {
		t.Error("a member is asked")
	}
}

func testAdmins(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	admins := func() []string { return expect.Value(w.Store.Tenant(t.Context(), w.tenant.ID))(t).Admins }
	send := func(act, id string) answer {
		rev := expect.Value(w.Store.Tenant(t.Context(), w.tenant.ID))(t).Rev
		return b.post("/console/settings/admins", url.Values{"act": {act}, "id": {id}, "rev": {fmt.Sprint(rev)}})
	}
	if a := b.get("/console/settings/admins?q=" + url.QueryEscape("佐藤")); a.status != http.StatusOK || !strings.Contains(a.text(), "鈴木 一郎") || !strings.Contains(a.text(), "佐藤 花子") {
		t.Errorf("%d %s", a.status, a.text())
	}
	for id, act := range map[string]string{workspace.Guest: "add", workspace.Stranger: "add", workspace.Bot: "add", "@sato": "add", "": "add", workspace.Suzuki: "remove", workspace.Sato: "x"} {
		if a := send(act, id); a.status == http.StatusSeeOther || len(admins()) != 1 {
			t.Errorf("%s %q: %d, %v", act, id, a.status, admins())
		}
	}
	if a := send("add", workspace.Sato); a.status != http.StatusSeeOther || len(admins()) != 2 {
		t.Errorf("%d %v", a.status, admins())
	}
	old := url.Values{"act": {"add"}, "id": {workspace.Tanaka}, "rev": {"0"}}
	if a := b.post("/console/settings/admins", old); a.status != http.StatusUnprocessableEntity || len(admins()) != 2 {
		t.Errorf("over another's: %d", a.status)
	}
	if a := send("remove", workspace.Suzuki); a.status != http.StatusSeeOther || !slices.Equal(admins(), []string{workspace.Sato}) {
		t.Errorf("%d %v", a.status, admins())
	}
	if a := send("add", workspace.Suzuki); a.status != http.StatusForbidden || len(admins()) != 1 {
		t.Errorf("who is no administrator any more acts: %d", a.status)
	}
	for _, e := range settingsChanges(w) {
		if e.ResourceType != "tenant" || !strings.Contains(string(e.Details), `"admins":{"is":`) {
			t.Errorf("recorded %+v", e)
		}
	}
}
