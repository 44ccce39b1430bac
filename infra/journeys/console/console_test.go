// Package console uses the console as people do, in a browser, next to the sandbox that plays Slack.
package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ringi/infra/local/browser"
	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// running is the only stack of this package's tests. Tests that don't change the workspace for others are parallel, and
// run after the others.
var running *stack.Stack

func TestMain(m *testing.M) {
	os.Exit(browser.Share(func() int {
		return driver.Run(m, driver.Options(), func(s *stack.Stack) { running = s })
	}))
}

// windows are the windows in which every page is checked.
var windows = []struct {
	name string
	browser.Window
}{
	{"ja-desktop", desk},
	{"en-phone", phone},
}

var (
	desk  = browser.Window{Width: 1280, Height: 900, Hasty: true, Calm: true}
	phone = browser.Window{Width: 390, Height: 844, Phone: true, Dark: true, Language: "en", Hasty: true, Calm: true}
)

// signIn opens a page as a person who first has to sign in with Slack.
func signIn(t *testing.T, b *browser.Browser, w browser.Window, user, path string) *browser.Tab {
	t.Helper()
	tab := b.Open(t, running.URL+path, w)
	tab.Until(`location.pathname === "/console/signin"`)
	tab.Fits()
	tab.Accessible(t)
	tab.Click(`a.button-primary`)
	tab.Until(`location.pathname === "/openid/connect/authorize"`)
	tab.Fits()
	tab.Accessible(t)
	tab.Click(fmt.Sprintf(`a[href*="user=%s"]`, user))
	tab.Until(fmt.Sprintf(`location.pathname === %q`, path))
	return tab
}

// pages returns the addresses in the menu, and those of one task and of others.
func pages(t *testing.T, tab *browser.Tab, task string, others ...string) []string {
	t.Helper()
	found := browser.Read[string](tab, `[...document.querySelectorAll("nav.menu a")].map((a) => new URL(a.href).pathname).join(" ")`)
	return append(append(strings.Fields(found), "/console", "/console/welcome", "/console/settings/admins", "/console/tools/servers/rooms", "/console/tasks/"+task), others...)
}

// TestEveryPageCanBeReadByEverybody: in both languages, light and dark, on a desktop and on a phone, with rows and
// without.
func TestEveryPageCanBeReadByEverybody(t *testing.T) {
	t.Parallel()
	done := driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて")
	done.Approve(webapi.Suzuki)
	done.Card(driver.ExecutionCard, "実行完了")
	waits := driver.Ask(t, running, webapi.Sato, "従業員一覧を取得して")
	waits.Until("it waits", func(a *task.Aggregate) bool { return a.Prompt() != nil })

	talked := "/console/sessions/" + talk(t, 0).ID
	games, played := driver.Compete(t, running, "経費精算の手順を決めて", 2, 1)
	driver.SummedUp(t, games, played)
	competed := "/console/contests/" + played.ID

	t.Run("and every link of a page", func(t *testing.T) {
		t.Parallel()
		opened := followLinks(t, "/console", talked, competed)
		for _, shape := range []string{"/console/tasks/*?", "/console/sessions/*?", "/console/contests/*/compare?", "/console/contests/*/sent/*?", "/console/contests/board?team", "/console/audit?action"} {
			if opened[shape] == 0 {
				t.Errorf("no page links to %s: %v", shape, opened)
			}
		}
	})
	b := browser.Start(t)
	for _, w := range windows {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			tab := signIn(t, b, w.Window, webapi.Suzuki, "/console")
			for _, path := range pages(t, tab, done.Ref.ID, talked, competed, competed+"/compare", competed+"/sent/"+contest.TeamHash("team-1"), "/console/contests/board") {
				t.Run(strings.TrimPrefix(path, "/"), func(t *testing.T) {
					tab := tab.For(t)
					tab.Visit(running.URL + path)
					tab.Until(fmt.Sprintf(`location.pathname === %q && document.querySelector("h1")`, path))
					tab.Fits()
					tab.Accessible(t)
					tab.Clean()
					if chrome := browser.Read[float64](tab, `document.querySelector("main").getBoundingClientRect().top / innerHeight`); w.Phone {
						expect.That(t, chrome <= 0.2, "the page begins at %.2f of the screen", chrome)
					}
					if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
						name := strings.NewReplacer("/", "-", done.Ref.ID, "task", strings.TrimPrefix(talked, "/console/sessions/"), "session", played.ID, "contest").Replace(strings.TrimPrefix(path, "/"))
						tab.Whole(filepath.Join(dir, w.name+"-"+name+".png"))
					}
				})
			}
		})
	}
}
