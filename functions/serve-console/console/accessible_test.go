package console_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// TestListsAreAccessible: axe finds nothing serious on the lists, the home and a request's page in any of their states,
// and none is wider than its window. By day each page is seen in one of four looks, at night in all: light and dark,
// narrow and wide, in Japanese and in English. A folder in RINGI_SCREENSHOTS gets a picture of each.
func TestListsAreAccessible(t *testing.T) {
	db, c := storetest.Start(t), browser.Start(t)
	looks := []browser.Window{
		{Width: 1440, Height: 900, Language: "ja"}, {Width: 390, Height: 844, Dark: true, Language: "ja"},
		{Width: 1440, Height: 900, Dark: true, Language: "en"}, {Width: 390, Height: 844, Language: "en"},
	}
	tabs := map[*consoletest.World]*browser.Tab{}
	for i, p := range accessiblePages(consoletest.New(t, db), consoletest.New(t, db)) {
		b := p.world.As(webapi.Suzuki)
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.AddCookie(&http.Cookie{Name: web.SessionCookie, Value: b.Cookies["__Host-ringi"]})
			p.world.Console.Handler().ServeHTTP(w, r)
		}))
		t.Cleanup(server.Close)
		for j, look := range looks {
			if !expect.Long() && j != i%4 {
				continue
			}
			if tabs[p.world] == nil {
				tabs[p.world] = c.Open(t, server.URL, look)
			}
			isAccessible(t, tabs[p.world], look, p.name, server.URL+p.path)
		}
	}
}

func isAccessible(t *testing.T, tab *browser.Tab, look browser.Window, name, url string) {
	tab.Resize(look)
	tab.Visit(url)
	tab.Until(`document.readyState === "complete" && !document.querySelector("[data-now]")`)
	seen := fmt.Sprintf("%s-%s-%d-%s", name, look.Language, look.Width, map[bool]string{true: "dark", false: "light"}[look.Dark])
	if pictures := os.Getenv("RINGI_SCREENSHOTS"); pictures != "" {
		expect.NoError(t, os.MkdirAll(pictures, 0o755))
		tab.Whole(filepath.Join(pictures, seen+".png"))
	}
	t.Run(seen, func(t *testing.T) {
		tab := tab.For(t)
		tab.Accessible(t)
		tab.Fits()
	})
}

// accessiblePage is a page of a workspace as its approver sees it.
type accessiblePage struct {
	world      *consoletest.World
	name, path string
}

// accessiblePages fills one of the workspaces with requests in every status, and returns pages of both.
func accessiblePages(empty, full *consoletest.World) []accessiblePage {
	ids := full.Standing()
	for n := range 12 {
		r := consoletest.Requested{
			User: []string{webapi.Sato, webapi.Tanaka, webapi.Alex}[n%3], Channel: webapi.HR, Kind: "channel",
			Title: []string{"営業部の残業を月ごとに集計して", "Book a room for Friday 15:00 and tell the team", "全員の有給の残りをシートに書き出して"}[n%3],
		}
		if n == 4 {
			r.Priority = task.Urgent
		}
		full.Made(r)
		if full.Draft(tenancy.DefaultSettings()); n%2 == 0 {
			full.AskForSteps(consoletest.Message(1, "集計の結果をお送りします。"), consoletest.Message(2, "ご確認をお願いします。"))
		}
	}
	pages := []accessiblePage{
		{empty, "home-empty", "/console"}, {empty, "requests-empty", "/console/tasks"}, {empty, "approvals-empty", "/console/approvals"},
		{full, "home", "/console"}, {full, "requests", "/console/tasks"}, {full, "requests-bad", "/console/tasks?status=x&from=x"},
		{full, "requests-none", "/console/tasks?q=zzz"}, {full, "approvals", "/console/approvals"},
		{full, "approvals-none", "/console/approvals?writes=sheet"},
		{full, "approvals-grouped", "/console/approvals?group=person&sort=due"}, {full, "approvals-bad", "/console/approvals?sort=x"},
	}
	for _, s := range task.Statuses {
		pages = append(pages, accessiblePage{full, "request-" + string(s), "/console/tasks/" + ids[s]})
	}
	return pages
}
