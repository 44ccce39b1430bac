package console_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestTheAuditLog(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"says who did what, when, in both languages":              auditSays,
		"filters, and says which part of a filter won't do":       auditFilters,
		"names integrations, tools and people":                    auditNames,
		"is for administrators, and another tenant's is nobody's": auditIsClosed,
		"shows markup as the text that it is":                     auditShowsMarkup,
		"is saved as a file for spreadsheets":                     auditExports,
	})
}

// save changes the settings n times; each change is an audit entry of Suzuki's.
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
	b := w.As(webapi.Suzuki)
	for locale, want := range map[string][]string{
		"ja": {"監査ログ", "設定を変更した", "設定", "変わった項目", "5 個 → 6 個", "鈴木"},
		"en": {"Audit log", "Changed settings", "Changed fields", "5 versions → 6 versions"},
	} {
		page := b.In(locale).Get("/console/audit")
		for _, text := range want {
			page.Says(t, http.StatusOK, text)
		}
		if !strings.Contains(page.Body, ">"+webapi.Suzuki+"</span>") { // whose name may be anybody's, also Ringi's
			t.Errorf("in %s it does not say by id who acted", locale)
		}
	}
}

func auditFilters(t *testing.T, w *consoletest.World) {
	save(w, 2)
	w.Ask()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		x := task.Extract{Title: "勤怠集計", Priority: task.Medium, TaskType: task.TypeStandard}
		return a.Extracted(a.Head.Run, x, w.Now())
	})
	b := w.As(webapi.Suzuki)
	b.Get("/console/audit").Says(t, 200, "勤怠集計 · 依頼: 佐藤 花子", "設定を変更した バージョンの上限: 5 個 → 6 個 詳細")
	today := w.Now().In(tenancy.Zone()).Format(time.DateOnly)
	for query, want := range map[string]int{
		"": 3, "action=settings.updated": 2, "action=task.created": 1, "resource=" + w.Ref.ID: 1,
		"from=" + today + "&to=" + today: 3, "from=2024-01-01&to=2024-01-31": 0,
		"action=settings.updated&resource=" + w.Ref.ID: 0,
	} {
		page := b.Get("/console/audit?" + query)
		got := strings.Count(page.Body, `<td class="audit-when `)
		expect.That(t, page.Status == http.StatusOK && got == want, "%s: %d entries, want %d (%d)", query, got, want,
			page.Status)
	}
	b.Get("/console/audit?resource="+w.Ref.ID).Holds(t, `href="/console/tasks/`+w.Ref.ID+`"`,
		web.TextsOf("audit", "ja").Say("asked"), ">"+webapi.Sato+"</span>",
		w.Load().Task.CreatedAt.In(tenancy.Zone()).Format(time.DateTime))
	for _, query := range []string{"from=2020-05-01&to=2020-04-01", "to=yesterday", "action=nothing", "resource=a%23b"} {
		b.Get("/console/audit?"+query).Says(t, http.StatusBadRequest, "入力に誤りがあります")
	}
}

func auditIsClosed(t *testing.T, w *consoletest.World) {
	save(w, entriesOfAudit+1)
	other := w.Found("T0OTHER", webapi.Tanaka)
	mine := w.As(webapi.Suzuki)
	next := mine.Get("/console/audit").Link("next")
	expect.Must(t, next != "", "there is no second page")
	theirs := w.Of(other, webapi.Tanaka)
	theirs.Get(next).Says(t, http.StatusBadRequest).Lacks(t, "settings.updated</span>")
	expect.That(t, !strings.Contains(theirs.Get("/console/audit").Body, `<td class="audit-when `),
		"another tenant's entries are shown")
	expect.That(t, !strings.Contains(theirs.Get("/console/audit/file.csv").Body, "settings.updated"),
		"another tenant's file")
}

func auditShowsMarkup(t *testing.T, w *consoletest.World) {
	var entries []aggregate.AuditEntry
	for i, p := range consoletest.Payloads {
		entries = append(entries, aggregate.AuditEntry{TenantID: w.Tenant.ID,
			Timestamp: w.Now().Add(time.Duration(i) * time.Millisecond), ActorType: aggregate.ActorUser, ActorID: "U" + p,
			Action: aggregate.Action("x." + p), ResourceType: p, ResourceID: p, AggregateID: strings.ReplaceAll(p, "#", ""),
			Details: aggregate.Details(map[string]any{p: p, "reason": p, "changes": map[string]any{p: []string{p}}})})
	}
	w.Record(entries...)
	b := w.As(webapi.Suzuki)
	for _, locale := range language.All {
		page := b.In(locale).Get("/console/audit")
		consoletest.Harmless(t, "the log", page.Says(t, http.StatusOK))
		got := strings.Count(page.Body, `<td class="audit-when `)
		expect.That(t, got == len(consoletest.Payloads), "%d of %d entries stand there", got, len(consoletest.Payloads))
	}
	for _, p := range consoletest.Payloads {
		q := url.Values{"resource": {p}, "action": {p}, "from": {p}, "to": {p}, "cursor": {p}}
		consoletest.Harmless(t, "a filter", b.Get("/console/audit?"+q.Encode()).Says(t, http.StatusBadRequest))
	}
}

func auditExports(t *testing.T, w *consoletest.World) {
	save(w, entriesOfAudit+1)
	b := w.As(webapi.Suzuki)
	month := tenancy.DayOf(w.Now())[:len("2006-01")]
	b.Get("/console/audit").Holds(t, `action="/console/audit/file.csv"`, `value="`+month+`"`)
	file := b.Get("/console/audit/file.csv?month="+month).Says(t, http.StatusOK)
	expect.Is(t, strings.Count(file.Body, `"settings.updated"`), entriesOfAudit+1)
	expect.Has(t, file.Header.Get("Content-Disposition"), "ringi-audit-"+month+".csv")
	expect.Is(t, strings.Count(b.Get("/console/audit/file.csv?month=2020-01").Body, "\r\n"), 1, "no entry")
	b.Get("/console/audit/file.csv?month=x").Says(t, http.StatusBadRequest)
}

// auditNames: the log shows names instead of the ids of people and integrations.
func auditNames(t *testing.T, w *consoletest.World) {
	w.KeyOf(webapi.Sato, "send_slack_dm").Asks("send_slack_dm", `{"recipient":"C0HR","text":"締めます"}`, "", nil)
	w.As(webapi.Suzuki).Get("/console/audit").Says(t, http.StatusOK, "外部エージェントのキー: 経理エージェント")
	entry := func(action aggregate.Action, typ string, details aggregate.JSON) aggregate.AuditEntry {
		return aggregate.AuditEntry{TenantID: w.Tenant.ID, Timestamp: w.Now(), ActorType: aggregate.ActorUser,
			ActorID: webapi.Suzuki, Action: action, ResourceType: typ, ResourceID: "01X", Details: details}
	}
	w.Record(
		entry(tenancy.AuditIntegrationConnected, "integration",
			`{"provider":"google"}`), entry(tenancy.AuditIntegrationConnected, "integration", `{"provider":"mcp:<rooms>"}`),
		entry(tenancy.AuditToolPermissionUpdated, "tool_permission", `{"tool":"slack.dm.send"}`),
		entry(tenancy.AuditToolPermissionUpdated, "tool_permission", `{"tool":"record_decision"}`),
		entry(tenancy.AuditSettingsUpdated, "settings", `{"changes":{"clients.google":{"was":"","is":"google-client"},`+
			`"mcp_servers":{"was":[],"is":[{"name":"office","url":"https://office.example/mcp"}]},"sources":{"was":[],"is":[`+
			`{"name":"shop","repository":"acme/shop","ref":"heads/main","people":["everybody"],"ci":"skip"}]},`+
			`"register":{"was":false,"is":true},"retired":{"was":1,"is":2}}}`),
	)
	b := w.As(webapi.Suzuki)
	page := b.Get("/console/audit")
	page.Says(t, http.StatusOK, "連携: Google", "連携: &lt;rooms&gt; (MCP)", "ツールの許可: slack.dm.send",
		"ツールの許可: 決裁を記録 (record_decision)", "ツール 決裁を記録 (record_decision)")
	page.Says(t, http.StatusOK, "アプリの登録 (Google スプレッドシート): (なし) → google-client",
		"MCP サーバー: (なし) → office ·", "· ほか 2 件",
		"name: shop · repository: acme/shop · ref: heads/main")
}
