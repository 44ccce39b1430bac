package console_test

import (
	"net/http"
	"regexp"
	"strconv"
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
