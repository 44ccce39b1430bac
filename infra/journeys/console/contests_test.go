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
)

// TestAnAdministratorBeginsAContestAndReadsWhatItCameTo: from the form to the end, with every page about the contest in
// both windows.
func TestAnAdministratorBeginsAContestAndReadsWhatItCameTo(t *testing.T) {
	t.Parallel()
	driver.Ask(t, running, webapi.Sato, "今月の勤怠をまとめて") // so that the workspace is known
	b := browser.Start(t)
	tab := signIn(t, b, desk, webapi.Suzuki, "/console/contests/new")
	look(t, tab, "ja-desktop-contest-new")
	tab.Type(`#prompt`, "経費精算のルールを、新しく入った人向けに 5 行でまとめてください")
	tab.Click(`form[action="/console/contests"] button.button-primary`)
	tab.Until(`location.pathname.startsWith("/console/contests/") && document.querySelector("#course")`)
	look(t, tab, "ja-desktop-contest-running")
	path := browser.Read[string](tab, `location.pathname`)
	tab.Until(`document.querySelector("#about .badge").textContent.includes("完了") && document.querySelector("#winner .badge")`)
	for _, w := range windows {
		t.Run(w.name, func(t *testing.T) {
			tab := signIn(t, b, w.Window, webapi.Suzuki, path)
			for name, at := range map[string]string{"contest": path, "contest-compare": path + "/compare", "contests": "/console/contests", "contest-board": "/console/contests/board", "contest-begin": "/console/contests/new"} {
				tab := tab.For(t)
				tab.Visit(running.URL + at)
				tab.Until(fmt.Sprintf(`location.pathname === %q && document.querySelector("h1")`, at))
				look(t, tab, w.name+"-"+name)
			}
		})
	}
}

// look checks a page's readability, and takes a screenshot if wanted.
func look(t *testing.T, tab *browser.Tab, name string) {
	t.Helper()
	tab.Fits()
	tab.Accessible(t)
	tab.Clean()
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		tab.Whole(filepath.Join(dir, strings.ReplaceAll(name, "/", "-")+".png"))
	}
}
