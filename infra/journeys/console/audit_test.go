package console

import (
	"encoding/csv"
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/expect"
)

// reader reads pages without a script.
type reader struct {
	t    *testing.T
	http *http.Client
}

// read signs somebody in as a browser without a script would.
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

// hidden is a value that a form of a page carries.
func hidden(t *testing.T, page, name string) string {
	t.Helper()
	m := regexp.MustCompile(`name="` + name + `" value="([^"]*)"`).FindStringSubmatch(page)
	if m == nil {
		t.Fatalf("no %s in %s", name, page)
	}
	return m[1]
}

// TestTheAuditLogIsTakenAwayAndCounted: what happened stands in the log, in a file, and in the numbers of the day.
func TestTheAuditLogIsTakenAwayAndCounted(t *testing.T) {
	t.Parallel()
	done := driver.Ask(t, running, workspace.Sato, "従業員一覧を取得して")
	done.Approve(workspace.Suzuki)
	done.Card(driver.ExecutionCard, "実行完了")

	r := read(t, workspace.Suzuki)
	page := r.get("/console/audit?resource=" + done.Ref.ID)
	if !strings.Contains(page, "実行方針を承認した") || !strings.Contains(page, "鈴木") {
		t.Errorf("the log is %s", page)
	}
	form := url.Values{"form": {hidden(t, page, "form")}, "resource": {done.Ref.ID}, "as": {"csv"}, "from": {""}, "to": {""}}
	asked := expect.Value(r.http.PostForm(running.URL+"/console/audit/exports", form))(t)
	r.text(asked)
	driver.Eventually(t, "the file is written", func() bool { return strings.Contains(r.get(asked.Request.URL.Path), asked.Request.URL.Path+"/file") })
	file := strings.TrimPrefix(r.get(asked.Request.URL.Path+"/file"), "\ufeff") // by which spreadsheets know the encoding
	rows := expect.Value(csv.NewReader(strings.NewReader(file)).ReadAll())(t)
	if len(rows)-1 != len(done.AuditRows()) {
		t.Errorf("the file has %d entries, the log %d", len(rows)-1, len(done.AuditRows()))
	}
	if page := r.get("/console/audit?action=audit.exported"); !strings.Contains(page, "監査ログを書き出した") {
		t.Error("that it was taken is not in the log")
	}
	// Who looks too early sees the day as it was for a minute.
	done.Timeout, done.Poll = 3*time.Minute, time.Second
	done.Eventually("the day's numbers have the decisions and what the models cost", func() bool {
		page := r.get("/console/insights")
		return strings.Contains(page, "list_employees") && !strings.Contains(page, "承認 0 件")
	})
}
