package web_test

import (
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Filters count days, and pages show times, in one zone, tenancy.Zone, which the page names; no script converts times.
func TestDaysAndTimesAreOfOneZone(t *testing.T) {
	w := consoletest.Start(t)
	morning := w.Now().In(tenancy.Zone()).Truncate(time.Hour).AddDate(0, 0, 1)
	morning = time.Date(morning.Year(), morning.Month(), morning.Day(), 8, 30, 0, 0, tenancy.Zone()) // yesterday in London
	w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Title: "朝の依頼", After: morning.Sub(w.Now())})
	day, before := morning.Format(time.DateOnly), morning.AddDate(0, 0, -1).Format(time.DateOnly)
	b := w.As(webapi.Suzuki)
	for _, list := range []string{"/console/tasks", "/console/audit"} {
		b.Get(list+"?from="+day+"&to="+day).Says(t, http.StatusOK, "日本時間です").Holds(t, day+" 08:30")
		b.Get(list+"?from="+before+"&to="+before).Lacks(t, day+" 08:30")
	}
	b.Get("/console/assets/console.js").Says(t, http.StatusOK).Lacks(t, "new Date(") // no times of its own
}

func TestTimesThatStandSideBySideAreToldApart(t *testing.T) {
	began := time.Date(2026, 5, 1, 21, 37, 5, 0, time.UTC)
	for ends, want := range map[time.Duration]string{40 * time.Second: "2026-05-02 06:37:05", 55 * time.Second: "2026-05-02 06:37", time.Hour: "2026-05-02 06:37"} {
		got := string(web.Apart(began, began.Add(ends)))
		expect.That(t, strings.Contains(got, ">"+want+"<"), "beside %s later: %s", ends, got)
	}
}

// A page is parsed when it is first shown: here is where one that can't be is found.
func TestEveryPageIsParsed(t *testing.T) {
	names := expect.Value(fs.Glob(web.UI, "ui/*.html"))(t)
	expect.That(t, len(names) > 20, "only %v", names)
	for _, name := range names {
		page := expect.Value(web.Parsed(strings.TrimPrefix(name, "ui/")))(t)
		expect.That(t, page.Lookup("layout.html") != nil, "%s is without its layout", name)
	}
	_, err := web.Parsed("nothing.html")
	expect.That(t, err != nil, "a page that isn't there is parsed")
}

// A phone shows each row of such a table as lines with the column's name before each cell, because the header is
// hidden.
func TestEveryCellOfAStackedTableIsNamed(t *testing.T) {
	cells := regexp.MustCompile(`<td[^>]*>`)
	seen := map[string]int{}
	for _, name := range expect.Value(fs.Glob(web.UI, "ui/*.html"))(t) {
		page := expect.Value(fs.ReadFile(web.UI, name))(t)
		for table := range strings.SplitSeq(string(page), "<table ") {
			class, _, _ := strings.Cut(table, ">")
			table, _, _ = strings.Cut(table, "</table>")
			if !strings.Contains(class, "stacked") {
				continue
			}
			seen[name]++
			for _, cell := range cells.FindAllString(table, -1) {
				expect.That(t, strings.Contains(cell, "data-label"), "%s: %s", name, cell)
			}
		}
	}
	for _, name := range []string{"ui/audit.html", "ui/conversation.html", "ui/task.html"} {
		expect.That(t, seen[name] != 0, "the audit log of %s is clipped on a telephone", name)
	}
}

func TestATabHasItsIcon(t *testing.T) {
	w := consoletest.Start(t)
	page := w.Browser().Get("/console/signin")
	_, rest, found := strings.Cut(page.Body, `<link rel="icon" type="image/svg+xml" href="`)
	path, _, _ := strings.Cut(rest, `"`)
	if icon := w.Browser().Get(path); !found || icon.Status != http.StatusOK || icon.Header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(icon.Body, "<svg ") {
		t.Errorf("%q is answered %d", path, icon.Status)
	}
}

// A page that refreshes itself and has a form needs the line about what has changed: console.js uses it.
func TestWhereAPageRefreshesAFormItSaysWhatHappened(t *testing.T) {
	n := 0
	for _, name := range expect.Value(fs.Glob(web.UI, "ui/*.html"))(t) {
		page := string(expect.Value(web.UI.ReadFile(name))(t))
		_, live, is := strings.Cut(page, "data-live")
		if !is || !strings.Contains(live, `method="post"`) && !strings.Contains(live, `{{template "acts" `) {
			continue
		}
		n++
		expect.That(t, strings.Contains(live, `{{template "since" `),
			"%s says nothing of what happened since a form was read", name)
	}
	expect.That(t, n == 3, "%d pages refresh what has forms: the task's, the conversation's and the contest's did", n)
}
