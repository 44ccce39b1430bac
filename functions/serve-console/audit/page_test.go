package audit_test

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/audit"
	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/exports"
	"ringi/shared/words/language"
)

func TestTheAuditLog(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"says who did what, when, in both languages":              auditSays,
		"filters, and says which part of a filter won't do":       auditFilters,
		"names integrations, tools and people":                    auditNames,
		"goes through a thousand entries, each once":              auditPages,
		"is empty before anything happened":                       auditEmpty,
		"is for administrators, and another tenant's is nobody's": auditIsClosed,
		"shows markup as the text that it is":                     auditShowsMarkup,
		"is exported by a file that is fetched for a while":       auditExports,
		"says why there is no file":                               auditExportFails,
	})
}

// save changes the settings n times, each an entry of Suzuki's.
func save(w *consoletest.World, n int) {
	w.T.Helper()
	for range n {
		w.Later(time.Second)
		s := expect.Value(w.Store.Settings(w.T.Context(), w.Tenant.ID))(w.T)
		s.MaxVersions = s.MaxVersions%9 + 1
		expect.Value(w.Store.SaveSettings(w.T.Context(), w.Tenant.ID, s, w.By, w.Now()))(w.T)
	}
}

func auditSays(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Later(time.Minute)
	save(w, 1)
	b := w.As(workspace.Suzuki)
	for locale, want := range map[string][]string{
		"ja": {"監査ログ", "設定を変えた", "設定", "変わった項目", "5 → 6", "鈴木"}, "en": {"Audit log", "Changed settings", "Changed fields", "5 → 6"},
	} {
		b.Locale = locale
		page := b.Get("/console/audit")
		for _, text := range want {
			if page.Status != http.StatusOK || !strings.Contains(page.Text(), text) {
				t.Errorf("in %s %q is missing: %d %s", locale, text, page.Status, page.Text())
			}
		}
		if !strings.Contains(page.Body, ">"+workspace.Suzuki+"</span>") { // whose name may be anybody's, also Ringi's
			t.Errorf("in %s it does not say by id who acted", locale)
		}
	}
}

func auditFilters(t *testing.T, w *consoletest.World) {
	save(w, 2)
	w.Ask()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Extracted(a.Head.Run, task.Extract{Title: "勤怠集計", Priority: task.Medium, TaskType: task.TypeStandard}, w.Now())
	})
	b := w.As(workspace.Suzuki)
	today := w.Now().In(web.Zone).Format(time.DateOnly)
	for query, want := range map[string]int{
		"": 3, "action=settings.updated": 2, "actor=" + workspace.Suzuki: 2, "actor=system": 1, "resource=" + w.Ref.ID: 1,
		"from=" + today + "&to=" + today: 3, "from=2024-01-01&to=2024-01-31": 0, "action=task.created&actor=" + workspace.Suzuki: 0,
	} {
		page := b.Get("/console/audit?" + query)
		if got := strings.Count(page.Body, `<td class="audit-when `); page.Status != http.StatusOK || got != want {
			t.Errorf("%s: %d entries, want %d (%d)", query, got, want, page.Status)
		}
	}
	if page := b.Get("/console/audit?resource=" + w.Ref.ID); !strings.Contains(page.Body, `href="/console/tasks/`+w.Ref.ID+`"`) {
		t.Error("the entry does not lead to its request")
	}
	for query, says := range map[string]string{
		"from=2026-05-01&to=2026-04-01": web.TextsOf("audit", "ja").In("problems", "from"), "to=yesterday": web.TextsOf("audit", "ja").In("problems", "to"),
		"actor=%3Cb%3E": web.TextsOf("audit", "ja").In("problems", "actor"), "action=" + strings.Repeat("x", 65): web.TextsOf("audit", "ja").In("problems", "action"), "resource=a%23b": web.TextsOf("audit", "ja").In("problems", "resource"),
	} {
		if page := b.Get("/console/audit?" + query); page.Status != http.StatusBadRequest || !strings.Contains(page.Text(), says) {
			t.Errorf("%s: %d %s", query, page.Status, page.Text())
		}
	}
}

var olderLink = regexp.MustCompile(`href="([^"]*)" rel="next"`)

func auditPages(t *testing.T, w *consoletest.World) {
	const n = 1000
	var items []aggregate.AuditEntry
	for i := range n {
		items = append(items, aggregate.AuditEntry{
			TenantID: w.Tenant.ID, Timestamp: w.Now().Add(-time.Duration(i) * time.Minute), ActorType: aggregate.ActorSystem, Action: task.AuditTaskExpired,
			ResourceType: "task", ResourceID: fmt.Sprintf("01TASK%04d", i), AggregateID: fmt.Sprintf("01TASK%04d", i), Details: `{"hours":72}`,
		})
	}
	w.Record(items...)
	b := w.As(workspace.Suzuki)
	seen, pages := map[string]bool{}, 0
	for path := "/console/audit"; path != ""; pages++ {
		page := b.Get(path)
		for _, m := range regexp.MustCompile(`/console/tasks/(01TASK\d+)`).FindAllStringSubmatch(page.Body, -1) {
			if seen[m[1]] {
				t.Errorf("%s stands twice", m[1])
			}
			seen[m[1]] = true
		}
		path = ""
		if m := olderLink.FindStringSubmatch(page.Body); m != nil {
			path = strings.ReplaceAll(m[1], "&amp;", "&")
		}
		if pages > 0 && !strings.Contains(page.Text(), web.TextsOf("audit", "ja").Say("newest")) {
			t.Errorf("page %d does not lead back", pages)
		}
	}
	if len(seen) != n || pages != n/audit.PageSize {
		t.Errorf("%d entries on %d pages", len(seen), pages)
	}
}

func auditEmpty(t *testing.T, w *consoletest.World) {
	b := w.As(workspace.Suzuki)
	if page := b.Get("/console/audit"); page.Status != http.StatusOK || !strings.Contains(page.Text(), web.TextsOf("audit", "ja").Say("empty")) {
		t.Errorf("%d %s", page.Status, page.Text())
	}
}

func auditIsClosed(t *testing.T, w *consoletest.World) {
	save(w, audit.PageSize+1)
	other := w.Found("T0OTHER", workspace.Tanaka)
	mine := w.As(workspace.Suzuki)
	next := olderLink.FindStringSubmatch(mine.Get("/console/audit").Body)
	if next == nil {
		t.Fatal("there is no second page")
	}
	x := begunExport(t, mine)
	log := consoletest.Logged(t)
	for _, path := range []string{"/console/audit", "/console/audit/exports/" + x, "/console/audit/exports/" + x + "/file"} {
		if page := w.As(workspace.Sato).Get(path); page.Status != http.StatusForbidden {
			t.Errorf("a member gets %d at %s", page.Status, path)
		}
		if page := w.Browser().Get(path); page.Status != http.StatusSeeOther || !strings.HasPrefix(page.To, "/console/signin") {
			t.Errorf("nobody gets %d at %s", page.Status, path)
		}
	}
	if a := w.As(workspace.Sato).Post("/console/audit/exports", url.Values{"as": {"csv"}}); a.Status != http.StatusForbidden {
		t.Errorf("a member exports: %d", a.Status)
	}
	if a := mine.Send("POST", "/console/audit/exports", url.Values{"as": {"csv"}}); a.Status != http.StatusForbidden {
		t.Errorf("a form without its token exports: %d", a.Status)
	}
	theirs := w.Of(other, workspace.Tanaka)
	if page := theirs.Get(strings.ReplaceAll(next[1], "&amp;", "&")); page.Status != http.StatusBadRequest || strings.Contains(page.Body, "settings.updated</span>") {
		t.Errorf("another tenant's cursor is answered %d", page.Status)
	}
	if page := theirs.Get("/console/audit"); strings.Contains(page.Body, `<td class="audit-when `) {
		t.Error("another tenant's entries are shown")
	}
	for _, path := range []string{"/console/audit/exports/" + x, "/console/audit/exports/" + x + "/file", "/console/audit/exports/a%23b"} {
		if page := theirs.Get(path); page.Status != http.StatusNotFound {
			t.Errorf("another tenant's export is answered %d at %s", page.Status, path)
		}
	}
	if !strings.Contains(log.String(), "refused") {
		t.Errorf("nothing of it is logged: %s", log)
	}
	if n := len(w.Console.Exports.(*consoletest.Exporter).Begun); n != 1 {
		t.Errorf("%d exports were begun, want the administrator's", n)
	}
}

// hostile are what a person or a model may write to have a browser run it.
var hostile = []string{
	`<script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, `'><svg onload=alert(1)>`, `</td></table><script>alert(1)</script>`, `<a href="javascript:alert(1)">x</a>`,
	`<iframe srcdoc="<script>alert(1)</script>">`, `{{.Viewer.Form}}`, `</title><script>alert(1)</script>`, `<style>*{display:none}</style>`, `<base href="https://evil.example">`,
	`<meta http-equiv="refresh" content="0;url=https://evil.example">`, `<form action="https://evil.example">`, "<scr\x00ipt>alert(1)</script>", `＜script＞alert(1)＜/script＞<math><mtext></mtext><script>`,
}

func auditShowsMarkup(t *testing.T, w *consoletest.World) {
	var entries []aggregate.AuditEntry
	for i, p := range hostile {
		entries = append(entries, aggregate.AuditEntry{
			TenantID: w.Tenant.ID, Timestamp: w.Now().Add(time.Duration(i) * time.Millisecond), ActorType: aggregate.ActorUser, ActorID: "U" + p, Action: aggregate.Action("x." + p),
			ResourceType: p, ResourceID: p, AggregateID: strings.ReplaceAll(p, "#", ""), Details: aggregate.Details(map[string]any{p: p, "reason": p, "changes": map[string]any{p: []string{p}}}),
		})
	}
	w.Record(entries...)
	b := w.As(workspace.Suzuki)
	for _, locale := range language.All {
		b.Locale = locale
		page := b.Get("/console/audit")
		_, main, _ := strings.Cut(page.Body, "<main")
		if bad := consoletest.Dangerous.FindAllString(main, -1); bad != nil || page.Status != http.StatusOK {
			t.Errorf("%d: a browser would run %q", page.Status, bad)
		}
		if got := strings.Count(main, `<td class="audit-when `); got != len(hostile) {
			t.Errorf("%d of %d entries stand there", got, len(hostile))
		}
		if strings.Count(main, b.Form) != 1 {
			t.Error("the form's token is where it does not belong")
		}
	}
	for _, p := range hostile {
		q := url.Values{"actor": {p}, "resource": {p}, "action": {p}, "from": {p}, "to": {p}, "cursor": {p}}
		page := b.Get("/console/audit?" + q.Encode())
		_, main, _ := strings.Cut(page.Body, "<main")
		if bad := consoletest.Dangerous.FindAllString(main, -1); bad != nil || page.Status != http.StatusBadRequest {
			t.Errorf("%q in the address: %d, a browser would run %q", p, page.Status, bad)
		}
	}
}

func begunExport(t *testing.T, b *consoletest.Browser) string {
	t.Helper()
	a := b.Post("/console/audit/exports", url.Values{"as": {"csv"}, "action": {"settings.updated"}, "from": {""}, "to": {""}})
	id, ok := strings.CutPrefix(a.To, "/console/audit/exports/")
	if a.Status != http.StatusSeeOther || !ok {
		t.Fatalf("%d to %q: %s", a.Status, a.To, a.Text())
	}
	return id
}

func auditExports(t *testing.T, w *consoletest.World) {
	save(w, 2)
	b := w.As(workspace.Suzuki)
	id := begunExport(t, b)
	if begun := w.Console.Exports.(*consoletest.Exporter).Begun; len(begun) != 1 || begun[0] != w.Tenant.ID+" "+id {
		t.Errorf("begun are %v", begun)
	}
	path := "/console/audit/exports/" + id
	if page := b.Get(path); !strings.Contains(page.Body, `data-live="`+path+`"`) || !strings.Contains(page.Text(), web.TextsOf("export", "ja").Say("waiting")) {
		t.Errorf("it waits as %s", page.Body)
	}
	if page := b.Get(path + "/file"); page.Status != http.StatusNotFound {
		t.Errorf("a file that is not there is answered %d", page.Status)
	}
	x := expect.Value(exports.Of(w.Store.Table()).TryExport(t.Context(), w.Tenant.ID, id, w.Now()))(t)
	if want := (auditlog.Filter{Action: "settings.updated"}); x.Filter != want || x.By != workspace.Suzuki || x.Locale != "ja" {
		t.Errorf("it is asked for as %+v", x)
	}
	x.Rows, x.Bytes = 2, 12345
	expect.NoError(t, exports.Of(w.Store.Table()).FinishExport(t.Context(), x, w.Now()))
	page := b.Get(path)
	for _, text := range []string{web.TextsOf("export", "ja").Say("done"), "12,345", "15 分", "24 時間"} {
		if !strings.Contains(page.Text(), text) {
			t.Errorf("%q is missing: %s", text, page.Text())
		}
	}
	if strings.Contains(page.Body, "data-live") || strings.Contains(page.Body, "files.example") {
		t.Error("a page that is done asks again, or has a link that lasts")
	}
	if a := b.Get(path + "/file"); a.Status != http.StatusSeeOther || a.To != "https://files.example/"+x.File() || a.Header.Get("Cache-Control") != "no-store" {
		t.Errorf("it leads to %d %s", a.Status, a.To)
	}
	owner := expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t)
	was := owner.Admins
	owner.Admins = []string{workspace.Sato}
	expect.NoError(t, w.Store.SaveTenant(t.Context(), owner, w.By, w.Now()))
	if a := b.Get(path + "/file"); a.Status != http.StatusForbidden {
		t.Errorf("who was an administrator until now is given a link: %d", a.Status)
	}
	owner = expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t)
	owner.Admins = was
	expect.NoError(t, w.Store.SaveTenant(t.Context(), owner, w.By, w.Now()))
	log := expect.Value(w.Store.Audit(t.Context(), w.Tenant.ID, store.AuditFilter{Action: auditlog.ActionExported}, "", 10))(t).Items
	if len(log) != 1 || !strings.Contains(string(log[0].Details), `"rows":2`) || !strings.Contains(string(log[0].Details), "settings.updated") {
		t.Errorf("recorded is %+v", log)
	}
}

func auditExportFails(t *testing.T, w *consoletest.World) {
	b := w.As(workspace.Suzuki)
	for range auditlog.MaxAtOnce {
		begunExport(t, b)
	}
	if a := b.Post("/console/audit/exports", url.Values{"as": {"csv"}}); a.Status != http.StatusTooManyRequests || !strings.Contains(a.Text(), web.TextsOf("fault", "ja").In("title", "exports_busy")) {
		t.Errorf("one too many: %d %s", a.Status, a.Text())
	}
	w.Later(auditlog.GivenUp)
	b = w.As(workspace.Suzuki)
	id := begunExport(t, b)
	x := expect.Value(exports.Of(w.Store.Table()).TryExport(t.Context(), w.Tenant.ID, id, w.Now()))(t)
	expect.NoError(t, exports.Of(w.Store.Table()).FailExport(t.Context(), x, auditlog.TooMany, w.Now()))
	if page := b.Get("/console/audit/exports/" + id); !strings.Contains(page.Text(), web.TextsOf("export", "ja").In("problems", auditlog.TooMany)) {
		t.Errorf("it says %s", page.Text())
	}
	w.Console.Exports.(*consoletest.Exporter).Broken = errors.New("no such function")
	if a := b.Post("/console/audit/exports", url.Values{"as": {"jsonl"}}); a.Status != http.StatusInternalServerError {
		t.Errorf("a function that is not there: %d", a.Status)
	}
	for _, bad := range []url.Values{{"as": {"xlsx"}}, {"as": {"csv"}, "from": {"x"}}, {}} {
		if a := b.Post("/console/audit/exports", bad); a.Status != http.StatusBadRequest {
			t.Errorf("%v: %d", bad, a.Status)
		}
	}
}
