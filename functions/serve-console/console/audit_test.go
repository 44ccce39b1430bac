package console_test

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

func TestTheAuditLog(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"says who did what, when, in both languages":        auditSays,
		"stays in the order of time":                        auditStaysInOrder,
		"filters, and says which part of a filter won't do": auditFilters,
		"names integrations, tools and people":              auditNames,
		"shows markup as the text that it is":               auditShowsMarkup,
		"is saved as a file for spreadsheets":               auditExports,
	})
}

// save changes the settings n times; each change is an audit entry of Suzuki's.
func save(w *consoletest.World, n int) {
	w.T.Helper()
	for range n {
		w.Later(time.Second)
		w.Settings(func(s *tenancy.Settings) { s.MaxVersions = s.MaxVersions%9 + 1 })
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
		b.In(locale).Get("/console/audit").Says(t, http.StatusOK, want...).
			Holds(t, ">"+webapi.Suzuki+"</span>") // whose name may be anybody's, also Ringi's
	}
}

// auditStaysInOrder: what was done about the workspace in the middle of a request stands in the middle of it.
func auditStaysInOrder(t *testing.T, w *consoletest.World) {
	w.Ask()
	w.Draft(tenancy.DefaultSettings())
	save(w, 1)
	w.Later(time.Second)
	w.Cancel()
	page := w.As(webapi.Suzuki).Get("/console/audit").Says(t, http.StatusOK, "ワークスペース")
	last := "9"
	for _, m := range regexp.MustCompile(`data-label="日時">(?:<[^>]*>)?([^<]*)`).FindAllStringSubmatch(page.Body, -1) {
		expect.That(t, m[1] <= last, "%s stands below %s", m[1], last)
		last = m[1]
	}
	expect.That(t, last != "9", "no times: %v", page)
}

func auditFilters(t *testing.T, w *consoletest.World) {
	save(w, 2)
	w.Ask()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		x := task.Extract{Title: "勤怠集計", Priority: task.Medium, TaskType: task.TypeStandard}
		return a.Extracted(a.Head.Run, x, w.Now())
	})
	b := w.As(webapi.Suzuki)
	w.Talked(webapi.Sato, webapi.HR, "channel", "<@"+webapi.Suzuki+"> と <#"+webapi.HR+"> のテスト")
	b.Get("/console/audit").Says(t, 200, "佐藤 花子 依頼した人 (Ringi が記録) 勤怠集計 依頼を受け付けた", "@鈴木 一郎 と #人事 のテスト",
		"設定を変更した バージョンの上限: 5 個 → 6 個")
	today := w.Now().In(tenancy.Zone()).Format(time.DateOnly)
	for query, want := range map[string]int{
		"": 4, "action=settings.updated": 2, "action=task.created": 1, "resource=" + w.Ref.ID: 1,
		"from=" + today + "&to=" + today: 4, "from=2024-01-01&to=2024-01-31": 0,
		"action=settings.updated&resource=" + w.Ref.ID: 0,
	} {
		page := b.Get("/console/audit?" + query)
		got := strings.Count(page.Body, `<td class="audit-when `)
		expect.That(t, page.Status == http.StatusOK && got == want, "%s: %d entries, want %d (%d)", query, got, want,
			page.Status)
	}
	b.Get("/console/audit?resource="+w.Ref.ID).Holds(t, `href="/console/tasks/`+w.Ref.ID+`"`,
		web.TextsOf("audit", "ja").Say("asked"), "("+webapi.Sato+")",
		w.Load().Task.CreatedAt.In(tenancy.Zone()).Format(time.DateTime))
	for _, query := range []string{"from=2020-05-01&to=2020-04-01", "to=yesterday", "action=nothing", "resource=a%23b"} {
		b.Get("/console/audit?"+query).Says(t, http.StatusBadRequest, "入力に誤りがあります")
	}
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
	save(w, rowsOfPage+1)
	b := w.As(webapi.Suzuki)
	month := tenancy.DayOf(w.Now())[:len("2006-01")]
	b.Get("/console/audit").Holds(t, `action="/console/audit/file.csv"`, `value="`+month+`"`)
	file := b.Get("/console/audit/file.csv?month="+month).Says(t, http.StatusOK)
	expect.Is(t, strings.Count(file.Body, `"settings.updated"`), rowsOfPage+1)
	expect.Has(t, file.Header.Get("Content-Disposition"), "ringi-audit-"+month+".csv")
	expect.Is(t, strings.Count(b.Get("/console/audit/file.csv?month=2020-01").Body, "\r\n"), 1, "no entry")
	b.Get("/console/audit/file.csv?month=x").Says(t, http.StatusBadRequest)
}

// auditNames: the log shows names instead of the ids of people, keys, integrations and tools.
func auditNames(t *testing.T, w *consoletest.World) {
	w.KeyOf(webapi.Sato, "send_slack_dm").Asks("send_slack_dm", `{"recipient":"C0HR","text":"締めます"}`, "", nil)
	var all []aggregate.AuditEntry
	for details, x := range map[string][2]string{
		`{"provider":"google"}`:      {string(tenancy.AuditIntegrationConnected), "integration"},
		`{"provider":"mcp:<rooms>"}`: {string(tenancy.AuditIntegrationConnected), "integration"},
		`{"tool":"record_decision"}`: {string(tenancy.AuditToolPermissionUpdated), "tool_permission"},
		`{"changes":{"clients.google":{"was":"","is":"google-client"},` +
			`"mcp_servers":{"was":[],"is":[{"name":"office","url":"https://office.example/mcp"}]},"sources":{"was":[],"is":[` +
			`{"name":"shop","repository":"acme/shop","ref":"heads/main","people":["everybody"],"ci":"skip"}]},` +
			`"register":{"was":false,"is":true},"retired":{"was":1,"is":2}}}`: {string(tenancy.AuditSettingsUpdated),
			"settings"},
	} {
		all = append(all, aggregate.AuditEntry{TenantID: w.Tenant.ID, Timestamp: w.Now(), ActorType: aggregate.ActorUser,
			ActorID: webapi.Suzuki, Action: aggregate.Action(x[0]), ResourceType: x[1], ResourceID: "01X",
			Details: aggregate.JSON(details)})
	}
	w.Record(all...)
	w.As(webapi.Suzuki).Get("/console/audit").Says(t, http.StatusOK, "外部エージェントのキー: 経理エージェント", "連携: Google",
		"連携: &lt;rooms&gt; (MCP)", "ツールの許可: 決裁を記録 (record_decision)", "ツール 決裁を記録 (record_decision)",
		"アプリの登録 (Google スプレッドシート): (なし) → google-client", "MCP サーバー: (なし) → office ·", "· ほか 2 件",
		"name: shop · repository: acme/shop · ref: heads/main").Lacks(t, "依頼: ")
}

func TestTheRegister(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"is a file for spreadsheets, the newest decision first": files,
		"has a thousand decisions":                              listsAThousand,
	})
}

// register is the file of the year.
func register(w *consoletest.World, locale string) consoletest.Answer {
	year := tenancy.DefaultSettings().FiscalYear(w.Now())
	return w.As(webapi.Suzuki).In(locale).Get(fmt.Sprintf("/console/audit/register.csv?year=%d", year))
}

// decided brings a request of Sato's to an execution with the n-th number. Rules saw this of it.
func decided(w *consoletest.World, n int, seen aggregate.Seen) string {
	w.T.Helper()
	w.Ask()
	w.Later(time.Second)
	o := consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki))
	o.Rule.Numbered, o.Rule.Name, o.Seen = true, "=10万円以上", &seen
	w.PlannedOnRoute(w.SettingsNow(), o, consoletest.Message(1, "締切は金曜です"))
	w.As(webapi.Suzuki).Acts(aggregate.ActApprove, "")
	year := 0
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		settled, _ := a.Unnumbered()
		year = tenancy.DefaultSettings().FiscalYear(settled)
		return a.StartExecution(a.Head.Run, task.Series{Year: year, Last: n - 1}, w.Now())
	})
	return fmt.Sprintf("%d-%06d", year, n)
}

func files(t *testing.T, w *consoletest.World) {
	first := decided(w, 1, aggregate.Seen{Amount: "298000", Currency: "JPY", Department: "営業部"})
	second := decided(w, 2, aggregate.Seen{Why: string(rules.WhyMissing)})
	file := register(w, "ja").Holds(t, `"勤怠集計"`, `"'=10万円以上 (1)"`, `"課長 鈴木 一郎"`, `"298000","JPY"`, "営業部", `"決裁 (実行中)"`,
		"金額の指定なし")
	expect.That(t, strings.Index(file.Body, second) < strings.Index(file.Body, first), "the older one comes first")
	w.Cancel()
	register(w, "en").Holds(t, `"Decision No."`, second, "Cancelled after the decision", "Decided (running)",
		"No amount given")
	b := w.As(webapi.Suzuki)
	b.Get(w.TaskPage()).Says(t, 200, second)
	b.Get("/console/audit/register.csv?year=x").Says(t, http.StatusBadRequest)
	b.Get("/console/audit").Says(t, 200, "決裁台帳").Holds(t, `action="/console/audit/register.csv"`)
}

func listsAThousand(t *testing.T, w *consoletest.World) {
	decided(w, 1, aggregate.Seen{})
	year := tenancy.DefaultSettings().FiscalYear(w.Now())
	var rows []aggregate.Row
	for n := 2; n <= 1000; n++ {
		rows = append(rows, &task.Numbered{Year: year, N: n, TaskID: w.Ref.ID, GateKey: task.ProcessKey(1)})
	}
	of := task.Series{Year: year}.Of()
	expect.NoError(t, w.Store.PutListed(t.Context(), w.Tenant.ID, task.NumbersList, of, rows, nil))
	expect.Is(t, strings.Count(register(w, "ja").Body, "\r\n"), 1001, "lines")
}
