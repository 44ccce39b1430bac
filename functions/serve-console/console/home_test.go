package console_test

import (
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// numberOf matches a number of the home that leads to the list of what it counts.
var numberOf = regexp.MustCompile(`<strong><a href="(/console/tasks[^"]*)"[^>]*>(\d+)</a>`)

// The home counts a person's requests by the statuses by which the list shows them: none that waits is under way.
func TestTheHomeCountsAsTheListDoes(t *testing.T) {
	w := consoletest.Start(t)
	w.Standing()
	w.Made(consoletest.Requested{User: workspace.Sato, Channel: workspace.HR, Kind: "channel", Title: "承認待ち"})
	w.Draft(tenancy.DefaultSettings())
	w.Made(consoletest.Requested{User: workspace.Tanaka, Channel: workspace.HR, Kind: "channel", Title: "他の人"})
	w.Draft(tenancy.DefaultSettings())
	w.Later(time.Minute)
	b := w.As(workspace.Sato)
	home := b.Get("/console")
	home.Says(t, http.StatusOK, "承認待ち 2", "作成中または実行中 2", "最近 7 日に完了 1", "最近 7 日に失敗 3")
	found := numberOf.FindAllStringSubmatch(home.Body, -1)
	expect.Must(t, len(found) == 2, "%d numbers lead to a list", len(found))
	for _, x := range found {
		path := regexp.MustCompile("&amp;").ReplaceAllString(x[1], "&")
		expect.Same(t, x[2], strconv.Itoa(len(b.Get(path).Titles())))
	}
}

// Administrators see how many requests are open, and from 80 % of the limit on a warning. Others see neither.
func TestTheHomeWarnsOfTheLimitOfOpenRequests(t *testing.T) {
	w := consoletest.Start(t)
	for range 4 {
		w.Made(consoletest.Requested{User: workspace.Sato, Channel: workspace.HR, Kind: "channel", Title: "勤怠"})
	}
	const near, full, link = "同時に進む依頼が上限に近づいています", "同時に進む依頼が上限に達しています", "/console/settings#h-limit"
	for _, x := range []struct {
		most  int
		about string
		warns string
	}{{0, "上限なし", ""}, {6, "上限 6 件", ""}, {5, "上限 5 件", near}, {4, "上限 4 件", full}, {3, "上限 3 件", full}} {
		w.Settings(func(s *tenancy.Settings) { s.MaxOpenTasks.Tenant = x.most })
		home := w.As(workspace.Suzuki).Get("/console")
		home.Says(t, http.StatusOK, "同時に進む依頼 4 "+x.about)
		for _, warned := range []string{near, full} {
			expect.That(t, strings.Contains(home.Body, warned) == (warned == x.warns), "%d: %v", x.most, home)
		}
		expect.That(t, strings.Contains(home.Body, link) == (x.warns != ""), "%d: %v", x.most, home)
		other := w.As(workspace.Sato).Get("/console")
		expect.That(t, !strings.Contains(other.Body, "上限に") && !strings.Contains(other.Body, "同時に進む依頼"), "%v", other)
	}
	b := w.As(workspace.Suzuki)
	b.Locale = "en"
	b.Get("/console").Says(t, http.StatusOK, "Open requests have reached their limit: 4 of 3. New ones are refused.", "Open the limit in Settings")
}
