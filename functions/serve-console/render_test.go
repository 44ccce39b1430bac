package main

import (
	"io/fs"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// A day of a filter and the days of the rows it finds are of one zone, which the page names; no script shows another.
func TestDaysAndTimesAreOfOneZone(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	morning := w.Now().In(zone).Truncate(time.Hour).AddDate(0, 0, 1)
	morning = time.Date(morning.Year(), morning.Month(), morning.Day(), 8, 30, 0, 0, zone) // the day before, in London
	w.made(requested{user: workspace.Sato, channel: workspace.HR, title: "朝の依頼", after: morning.Sub(w.Now())})
	day, before := morning.Format(time.DateOnly), morning.AddDate(0, 0, -1).Format(time.DateOnly)
	b := w.as(workspace.Suzuki)
	for _, list := range []string{"/console/tasks", "/console/audit"} {
		b.get(list+"?from="+day+"&to="+day).says(t, http.StatusOK, day+" 08:30", "すべて日本時間です")
		b.get(list+"?from="+before+"&to="+before).saysNot(t, day+" 08:30")
	}
	if script := b.get("/console/assets/console.js"); script.status != http.StatusOK || strings.Contains(script.body, "new Date(") {
		t.Errorf("the script writes times of its own: %d", script.status)
	}
}

func TestTimesThatStandSideBySideAreToldApart(t *testing.T) {
	began := time.Date(2026, 5, 1, 21, 37, 5, 0, time.UTC)
	for ends, want := range map[time.Duration]string{40 * time.Second: "2026-05-02 06:37:05", 55 * time.Second: "2026-05-02 06:37", time.Hour: "2026-05-02 06:37"} {
		if got := string(apart(began, began.Add(ends))); !strings.Contains(got, ">"+want+"<") {
			t.Errorf("beside %s later: %s", ends, got)
		}
	}
}

// A telephone shows a row of such a table as lines, each with its column's name before it: the heads of columns are hidden.
func TestEveryCellOfAStackedTableIsNamed(t *testing.T) {
	cells := regexp.MustCompile(`<td[^>]*>`)
	seen := map[string]int{}
	for _, name := range expect.Value(fs.Glob(ui, "ui/*.html"))(t) {
		page := expect.Value(fs.ReadFile(ui, name))(t)
		for table := range strings.SplitSeq(string(page), "<table ") {
			class, _, _ := strings.Cut(table, ">")
			table, _, _ = strings.Cut(table, "</table>")
			if !strings.Contains(class, "stacked") {
				continue
			}
			seen[name]++
			for _, cell := range cells.FindAllString(table, -1) {
				if !strings.Contains(cell, "data-label") {
					t.Errorf("%s: %s", name, cell)
				}
			}
		}
	}
	for _, name := range []string{"ui/audit.html", "ui/session.html", "ui/story.html"} {
		if seen[name] == 0 {
			t.Errorf("the audit log of %s is clipped on a telephone", name)
		}
	}
}

func TestATabHasItsIcon(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	page := w.browser().get("/console/signin")
	_, rest, found := strings.Cut(page.body, `<link rel="icon" type="image/svg+xml" href="`)
	path, _, _ := strings.Cut(rest, `"`)
	if icon := w.browser().get(path); !found || icon.status != http.StatusOK || icon.header.Get("Content-Type") != "image/svg+xml" || !strings.HasPrefix(icon.body, "<svg ") {
		t.Errorf("%q is answered %d", path, icon.status)
	}
}

// GovCloud and China have consoles of their own.
func TestARunIsShownWhereItsPartitionShowsIt(t *testing.T) {
	for machine, want := range map[string]string{
		"arn:aws:states:us-east-1:210987654321:stateMachine:Pipeline":            "https://us-east-1.console.aws.amazon.com/states/home?region=us-east-1#/v2/executions/details/arn:aws:states:us-east-1:210987654321:execution:Pipeline:01TASK-2",
		"arn:aws-us-gov:states:us-gov-west-1:210987654321:stateMachine:Pipeline": "https://us-gov-west-1.console.amazonaws-us-gov.com/states/home?region=us-gov-west-1#/v2/executions/details/arn:aws-us-gov:states:us-gov-west-1:210987654321:execution:Pipeline:01TASK-2",
		"arn:aws-cn:states:cn-north-1:210987654321:stateMachine:Pipeline":        "https://cn-north-1.console.amazonaws.cn/states/home?region=cn-north-1#/v2/executions/details/arn:aws-cn:states:cn-north-1:210987654321:execution:Pipeline:01TASK-2",
		"arn:aws:states:us-east-1:" + localAccount + ":stateMachine:Pipeline":    "",
	} {
		if got := runAt(machine, "01TASK", 2); got != want {
			t.Errorf("%s is shown at %q, not %q", machine, got, want)
		}
	}
}
