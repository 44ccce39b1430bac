package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/exports"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// exporter notes what it is asked for.
type exporter struct {
	begun  []string
	broken error
}

func (e *exporter) Begin(_ context.Context, tenant, export string) error {
	e.begun = append(e.begun, tenant+" "+export)
	return e.broken
}

func (e *exporter) Link(_ context.Context, x auditlog.Export) (string, error) {
	return "https://files.example/" + x.Key, nil
}

func TestTheAuditLog(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *world){
		"says who did what, when, in both languages":              auditSays,
		"filters, and says which part of a filter won't do":       auditFilters,
		"names integrations, tools and people":                    auditNames,
		"goes through a thousand entries, each once":              auditPages,
		"is empty before anything happened":                       auditEmpty,
		"is for administrators, and another tenant's is nobody's": auditIsClosed,
		"shows markup as the text that it is":                     auditShowsMarkup,
		"is exported by a file that is fetched for a while":       auditExports,
		"says why there is no file":                               auditExportFails,
	} {
		t.Run(name, func(t *testing.T) { run(t, newWorld(t, db)) })
	}
}

// save changes the settings n times, each an entry of Suzuki's.
func (w *world) save(n int) {
	w.T.Helper()
	for range n {
		w.Later(time.Second)
		s := expect.Value(w.Store.Settings(w.T.Context(), w.tenant.ID))(w.T)
		s.MaxVersions = s.MaxVersions%9 + 1
		expect.Value(w.Store.SaveSettings(w.T.Context(), w.tenant.ID, s, w.By, w.Now()))(w.T)
	}
}

// record commits audit entries as they are, with nothing that they would record.
func (w *world) record(entries ...aggregate.AuditEntry) {
	w.T.Helper()
	w.ask()
	for part := range slices.Chunk(entries, 90) { // a transaction has a hundred actions
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			head := a.Head
			return aggregate.Change{Head: &head, Now: w.Now(), Audit: part}, nil
		})
	}
}

func auditSays(t *testing.T, w *world) {
	w.ask()
	w.Later(time.Minute)
	w.save(1)
	b := w.as(workspace.Suzuki)
	for locale, want := range map[string][]string{
		"ja": {"監査ログ", "設定を変えた", "設定", "変わった項目", "5 → 6", "鈴木"}, "en": {"Audit log", "Changed settings", "Changed fields", "5 → 6"},
	} {
		b.locale = locale
		page := b.get("/console/audit")
		for _, text := range want {
			if page.status != http.StatusOK || !strings.Contains(page.text(), text) {
				t.Errorf("in %s %q is missing: %d %s", locale, text, page.status, page.text())
			}
		}
		if !strings.Contains(page.body, ">"+workspace.Suzuki+"</span>") { // whose name may be anybody's, also Ringi's
			t.Errorf("in %s it does not say by id who acted", locale)
		}
	}
}

func auditFilters(t *testing.T, w *world) {
	w.save(2)
	w.ask()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Priority: task.Medium, TaskType: task.TypeStandard}, w.Now())
	})
	b := w.as(workspace.Suzuki)
	today := w.Now().In(zone).Format(time.DateOnly)
	for query, want := range map[string]int{
		"": 3, "action=settings.updated": 2, "actor=" + workspace.Suzuki: 2, "actor=system": 1, "resource=" + w.Ref.ID: 1,
		"from=" + today + "&to=" + today: 3, "from=2024-01-01&to=2024-01-31": 0, "action=task.created&actor=" + workspace.Suzuki: 0,
	} {
		page := b.get("/console/audit?" + query)
		if got := strings.Count(page.body, `<td class="audit-when `); page.status != http.StatusOK || got != want {
			t.Errorf("%s: %d entries, want %d (%d)", query, got, want, page.status)
		}
	}
	if page := b.get("/console/audit?resource=" + w.Ref.ID); !strings.Contains(page.body, `href="/console/tasks/`+w.Ref.ID+`"`) {
		t.Error("the entry does not lead to its request")
	}
	for query, says := range map[string]string{
		"from=2026-05-01&to=2026-04-01": web.TextsOf("audit", "ja").In("problems", "from"), "to=yesterday": web.TextsOf("audit", "ja").In("problems", "to"),
		"actor=%3Cb%3E": web.TextsOf("audit", "ja").In("problems", "actor"), "action=" + strings.Repeat("x", 65): web.TextsOf("audit", "ja").In("problems", "action"), "resource=a%23b": web.TextsOf("audit", "ja").In("problems", "resource"),
	} {
		if page := b.get("/console/audit?" + query); page.status != http.StatusBadRequest || !strings.Contains(page.text(), says) {
			t.Errorf("%s: %d %s", query, page.status, page.text())
		}
	}
}

var olderLink = regexp.MustCompile(`href="([^"]*)" rel="next"`)

func auditPages(t *testing.T, w *world) {
	const n = 1000
	var items []aggregate.AuditEntry
	for i := range n {
		items = append(items, aggregate.AuditEntry{
			TenantID: w.tenant.ID, Timestamp: w.Now().Add(-time.Duration(i) * time.Minute), ActorType: aggregate.ActorSystem, Action: task.AuditTaskExpired,
			ResourceType: "task", ResourceID: fmt.Sprintf("01TASK%04d", i), AggregateID: fmt.Sprintf("01TASK%04d", i), Details: `{"hours":72}`,
		})
	}
	w.record(items...)
	b := w.as(workspace.Suzuki)
	seen, pages := map[string]bool{}, 0
	for path := "/console/audit"; path != ""; pages++ {
		page := b.get(path)
		for _, m := range regexp.MustCompile(`/console/tasks/(01TASK\d+)`).FindAllStringSubmatch(page.body, -1) {
			if seen[m[1]] {
				t.Errorf("%s stands twice", m[1])
			}
			seen[m[1]] = true
		}
		path = ""
		if m := olderLink.FindStringSubmatch(page.body); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
		if pages > 0 && !strings.Contains(page.text(), web.TextsOf("audit", "ja").Say("newest")) {
			t.Errorf("page %d does not lead back", pages)
		}
	}
	if len(seen) != n || pages != n/auditPage {
		t.Errorf("%d entries on %d pages", len(seen), pages)
	}
}

func auditEmpty(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	if page := b.get("/console/audit"); page.status != http.StatusOK || !strings.Contains(page.text(), web.TextsOf("audit", "ja").Say("empty")) {
		t.Errorf("%d %s", page.status, page.text())
	}
}

func auditIsClosed(t *testing.T, w *world) {
	w.save(auditPage + 1)
	other := w.found("T0OTHER", workspace.Tanaka)
	mine := w.as(workspace.Suzuki)
	next := olderLink.FindStringSubmatch(mine.get("/console/audit").body)
	if next == nil {
		t.Fatal("there is no second page")
	}
	x := begunExport(t, mine)
	log := logged(t)
	for _, path := range []string{"/console/audit", "/console/audit/exports/" + x, "/console/audit/exports/" + x + "/file"} {
		if page := w.as(workspace.Sato).get(path); page.status != http.StatusForbidden {
			t.Errorf("a member gets %d at %s", page.status, path)
		}
		if page := w.browser().get(path); page.status != http.StatusSeeOther || !strings.HasPrefix(page.to, "/console/signin") {
			t.Errorf("nobody gets %d at %s", page.status, path)
		}
	}
	if a := w.as(workspace.Sato).post("/console/audit/exports", url.Values{"as": {"csv"}}); a.status != http.StatusForbidden {
		t.Errorf("a member exports: %d", a.status)
	}
	if a := mine.send("POST", "/console/audit/exports", url.Values{"as": {"csv"}}); a.status != http.StatusForbidden {
		t.Errorf("a form without its token exports: %d", a.status)
	}
	theirs := w.of(other, workspace.Tanaka)
	if page := theirs.get(strings.ReplaceAll(next[1], "&amp;", "&")); page.status != http.StatusBadRequest || strings.Contains(page.body, "settings.updated</span>") {
		t.Errorf("another tenant's cursor is answered %d", page.status)
	}
	if page := theirs.get("/console/audit"); strings.Contains(page.body, `<td class="audit-when `) {
		t.Error("another tenant's entries are shown")
	}
	for _, path := range []string{"/console/audit/exports/" + x, "/console/audit/exports/" + x + "/file", "/console/audit/exports/a%23b"} {
		if page := theirs.get(path); page.status != http.StatusNotFound {
			t.Errorf("another tenant's export is answered %d at %s", page.status, path)
		}
	}
	if !strings.Contains(log.String(), "refused") {
		t.Errorf("nothing of it is logged: %s", log)
	}
	if n := len(w.c.Exports.(*exporter).begun); n != 1 {
		t.Errorf("%d exports were begun, want the administrator's", n)
	}
}

// hostile are what a person or a model may write to have a browser run it.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`, `</td></table><script>alert(1)</script>`, `<a href="javascript:alert(1)">x</a>`,
	`<iframe srcdoc="<script>alert(1)</script>">`, `{{.Viewer.Form}}`, `</title><script>alert(1)</script>`, `<style>*{display:none}</style>`, `<base href="https://evil.example">`,
	`<meta http-equiv="refresh" content="0;url=https://evil.example">`, `<form action="https://evil.example">`, "<scr\x00ipt>alert(1)</script>", `＜script＞alert(1)＜/script＞<math><mtext></mtext><script>`,
}

var dangerous = regexp.MustCompile(`(?i)<(script|img|svg|iframe|style|base|math|form action="https)|<meta http-equiv|(href|src)="\s*javascript:`)

func auditShowsMarkup(t *testing.T, w *world) {
	var entries []aggregate.AuditEntry
	for i, p := range hostile {
		entries = append(entries, aggregate.AuditEntry{
			TenantID: w.tenant.ID, Timestamp: w.Now().Add(time.Duration(i) * time.Millisecond), ActorType: aggregate.ActorUser, ActorID: "U" + p, Action: aggregate.Action("x." + p),
			ResourceType: p, ResourceID: p, AggregateID: strings.ReplaceAll(p, "#", ""), Details: aggregate.Details(map[string]any{p: p, "reason": p, "changes": map[string]any{p: []string{p}}}),
		})
	}
	w.record(entries...)
	b := w.as(workspace.Suzuki)
	for _, locale := range language.All {
		b.locale = locale
		page := b.get("/console/audit")
		_, main, _ := strings.Cut(page.body, "<main")
		if bad := dangerous.FindAllString(main, -1); bad != nil || page.status != http.StatusOK {
			t.Errorf("%d: a browser would run %q", page.status, bad)
		}
		if got := strings.Count(main, `<td class="audit-when `); got != len(hostile) {
			t.Errorf("%d of %d entries stand there", got, len(hostile))
		}
		if strings.Count(main, b.form) != 1 {
			t.Error("the form's token is where it does not belong")
		}
	}
	for _, p := range hostile {
		q := url.Values{"actor": {p}, "resource": {p}, "action": {p}, "from": {p}, "to": {p}, "cursor": {p}}
		page := b.get("/console/audit?" + q.Encode())
		_, main, _ := strings.Cut(page.body, "<main")
		if bad := dangerous.FindAllString(main, -1); bad != nil || page.status != http.StatusBadRequest {
			t.Errorf("%q in the address: %d, a browser would run %q", p, page.status, bad)
		}
	}
}

func begunExport(t *testing.T, b *browser) string {
	t.Helper()
	a := b.post("/console/audit/exports", url.Values{"as": {"csv"}, "action": {"settings.updated"}, "from": {""}, "to": {""}})
	id, ok := strings.CutPrefix(a.to, "/console/audit/exports/")
	if a.status != http.StatusSeeOther || !ok {
		t.Fatalf("%d to %q: %s", a.status, a.to, a.text())
	}
	return id
}

func auditExports(t *testing.T, w *world) {
	w.save(2)
	b := w.as(workspace.Suzuki)
	id := begunExport(t, b)
	if begun := w.c.Exports.(*exporter).begun; len(begun) != 1 || begun[0] != w.tenant.ID+" "+id {
		t.Errorf("begun are %v", begun)
	}
	path := "/console/audit/exports/" + id
	if page := b.get(path); !strings.Contains(page.body, `data-live="`+path+`"`) || !strings.Contains(page.text(), web.TextsOf("export", "ja").Say("waiting")) {
		t.Errorf("it waits as %s", page.body)
	}
	if page := b.get(path + "/file"); page.status != http.StatusNotFound {
		t.Errorf("a file that is not there is answered %d", page.status)
	}
	x := expect.Value(exports.Of(w.Store.Table()).TryExport(t.Context(), w.tenant.ID, id, w.Now()))(t)
	if want := (auditlog.Filter{Action: "settings.updated"}); x.Filter != want || x.By != workspace.Suzuki || x.Locale != "ja" {
		t.Errorf("it is asked for as %+v", x)
	}
	x.Rows, x.Bytes = 2, 12345
	expect.NoError(t, exports.Of(w.Store.Table()).FinishExport(t.Context(), x, w.Now()))
	page := b.get(path)
	for _, text := range []string{web.TextsOf("export", "ja").Say("done"), "12,345", "15 分", "24 時間"} {
		if !strings.Contains(page.text(), text) {
			t.Errorf("%q is missing: %s", text, page.text())
		}
	}
	if strings.Contains(page.body, "data-live") || strings.Contains(page.body, "files.example") {
		t.Error("a page that is done asks again, or has a link that lasts")
	}
	if a := b.get(path + "/file"); a.status != http.StatusSeeOther || a.to != "https://files.example/"+x.File() || a.header.Get("Cache-Control") != "no-store" {
		t.Errorf("it leads to %d %s", a.status, a.to)
	}
	owner := expect.Value(w.Store.Tenant(t.Context(), w.tenant.ID))(t)
	was := owner.Admins
	owner.Admins = []string{workspace.Sato}
	expect.NoError(t, w.Store.SaveTenant(t.Context(), owner, w.By, w.Now()))
	if a := b.get(path + "/file"); a.status != http.StatusForbidden {
		t.Errorf("who was an administrator until now is given a link: %d", a.status)
	}
	owner = expect.Value(w.Store.Tenant(t.Context(), w.tenant.ID))(t)
	owner.Admins = was
	expect.NoError(t, w.Store.SaveTenant(t.Context(), owner, w.By, w.Now()))
	log := expect.Value(w.Store.Audit(t.Context(), w.tenant.ID, store.AuditFilter{Action: auditlog.ActionExported}, "", 10))(t).Items
	if len(log) != 1 || !strings.Contains(string(log[0].Details), `"rows":2`) || !strings.Contains(string(log[0].Details), "settings.updated") {
		t.Errorf("recorded is %+v", log)
	}
}

func auditExportFails(t *testing.T, w *world) {
	b := w.as(workspace.Suzuki)
	for range auditlog.MaxAtOnce {
		begunExport(t, b)
	}
	if a := b.post("/console/audit/exports", url.Values{"as": {"csv"}}); a.status != http.StatusTooManyRequests || !strings.Contains(a.text(), web.TextsOf("fault", "ja").In("title", "exports_busy")) {
		t.Errorf("one too many: %d %s", a.status, a.text())
	}
	w.Later(auditlog.GivenUp)
	b = w.as(workspace.Suzuki)
	id := begunExport(t, b)
	x := expect.Value(exports.Of(w.Store.Table()).TryExport(t.Context(), w.tenant.ID, id, w.Now()))(t)
	expect.NoError(t, exports.Of(w.Store.Table()).FailExport(t.Context(), x, auditlog.TooMany, w.Now()))
	if page := b.get("/console/audit/exports/" + id); !strings.Contains(page.text(), web.TextsOf("export", "ja").In("problems", auditlog.TooMany)) {
		t.Errorf("it says %s", page.text())
	}
	w.c.Exports.(*exporter).broken = errors.New("no such function")
	if a := b.post("/console/audit/exports", url.Values{"as": {"jsonl"}}); a.status != http.StatusInternalServerError {
		t.Errorf("a function that is not there: %d", a.status)
	}
	for _, bad := range []url.Values{{"as": {"xlsx"}}, {"as": {"csv"}, "from": {"x"}}, {}} {
		if a := b.post("/console/audit/exports", bad); a.status != http.StatusBadRequest {
			t.Errorf("%v: %d", bad, a.status)
		}
	}
}
