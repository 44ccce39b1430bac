package console

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/auditlog"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/records"
)

// reader reads pages without JavaScript.
type reader struct {
	t    *testing.T
	http *http.Client
}

// read signs a person in without JavaScript.
func read(t *testing.T, user string) reader {
	t.Helper()
	r := reader{t, &http.Client{Jar: expect.Value(cookiejar.New(nil))(t)}}
	page := r.get("/console/signin/begin?next=/console/audit")
	link := regexp.MustCompile(`href="([^"]*user=` + user + `[^"]*)"`).FindStringSubmatch(page)
	if link == nil {
		t.Fatalf("nobody is %s at %s", user, page)
	}
	r.get(html.UnescapeString(link[1]))
	return r
}

func (r reader) get(path string) string {
	r.t.Helper()
	to := expect.Value(url.Parse(running.URL))(r.t)
	return r.text(expect.Value(r.http.Get(expect.Value(to.Parse(path))(r.t).String()))(r.t))
}

func (r reader) text(a *http.Response) string {
	r.t.Helper()
	defer a.Body.Close()
	body := string(expect.Value(io.ReadAll(a.Body))(r.t))
	if a.StatusCode != http.StatusOK {
		r.t.Fatalf("%s: %d %s", a.Request.URL, a.StatusCode, body)
	}
	return body
}

// hidden returns a hidden value of a page's form.
func hidden(t *testing.T, page, name string) string {
	t.Helper()
	m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no %s in %s", name, page)
	}
	return m[1]
}

// TestTheAuditLogIsTakenAwayAndCounted: events appear in the log, in an exported file, and in the numbers of the day.
func TestTheAuditLogIsTakenAwayAndCounted(t *testing.T) {
	t.Parallel()
	done := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	done.Approve(webapi.Suzuki)
	done.Card(driver.ExecutionCard, "実行完了")

	for i, w := range windows {
		as := []string{"csv", "jsonl"}[i]
		t.Run(w.name, func(t *testing.T) {
			tab := signIn(t, browser.Start(t), w.Window, webapi.Suzuki, "/console/audit")
			takesAway(administering{t, tab, w.name}, done, as)
		})
	}
	r := read(t, webapi.Suzuki)
	// The page may show numbers that are up to a minute old.
	done.Timeout, done.Poll = 3*time.Minute, time.Second
	done.Eventually("the day's numbers have the decisions and what the models cost", func() bool {
		page := r.get("/console/insights")
		return strings.Contains(page, "list_employees") && !strings.Contains(page, "承認 0 件")
	})
}

// takesAway exports the entries of one request, waits for the file on its page, and counts its entries.
func takesAway(a administering, done *driver.Request, as string) {
	a.tab.Type("#resource", done.Ref.ID)
	a.tab.Press(".filters button")
	a.tab.Until(fmt.Sprintf(`location.search.includes(%q) && document.querySelectorAll("table.audit tbody tr").length === %d`, "resource="+done.Ref.ID, len(done.AuditRows())))
	a.shows("table.audit tbody th", map[string]string{"csv": "実行方針を承認した", "jsonl": "policy"}[as])
	a.tab.Press(fmt.Sprintf(`button[name="as"][value="%s"]`, as))
	a.tab.Until(`location.pathname.startsWith("/console/audit/exports/") && document.querySelector("#export .badge-good")`)
	a.look("export")
	name, file := a.tab.Download(a.t.TempDir(), "#export a.button-primary")
	n := bytes.Count(file, []byte("\n"))
	if as == "csv" {
		n = len(expect.Value(csv.NewReader(bytes.NewReader(bytes.TrimPrefix(file, []byte("\ufeff")))).ReadAll())(a.t)) - 1
	}
	if n != len(done.AuditRows()) || !strings.HasSuffix(name, "."+as) {
		a.t.Errorf("the file %s has %d entries, the log %d", name, n, len(done.AuditRows()))
	}
	a.visit("/console/audit?action=audit.exported")
	a.tab.Until(`document.querySelector("table.audit tbody tr")`)
}

// TestAnExportThatCantBeginKeepsNoPlace: the console's role may mark the export as failed; otherwise three such exports
// would block everybody's.
func TestAnExportThatCantBeginKeepsNoPlace(t *testing.T) {
	t.Parallel()
	as := running.AWS.Copy()
	as.Credentials = credentials.NewStaticCredentialsProvider("ServeConsoleFunction", "local", "")
	rows, tenant := store.NewTasks(dynamodb.NewFromConfig(as), running.TableName), aggregate.TenantID("T0EXPORTS")
	for range auditlog.MaxAtOnce + 1 {
		now := time.Now()
		x := expect.Value(auditlog.New(aggregate.NewID(), tenant, webapi.Suzuki, auditlog.CSV, auditlog.Filter{}, "ja",
			now))(t)
		expect.NoError(t, records.ExportsOf(rows.Table()).BeginExport(t.Context(), x, now))
		expect.NoError(t, records.ExportsOf(rows.Table()).FailExport(t.Context(), x, auditlog.Broken, now))
	}
}
