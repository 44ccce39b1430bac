package settings_test

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
	"ringi/shared/domain/agent"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// An administrator fills in the columns of repositories and of listed reads in a browser, wide or narrow, and finds there
// what was saved, and what is wrong at its field.
func TestRowsOfRepositoriesAndReadsAreFilledIn(t *testing.T) {
	db, c := storetest.Start(t), browser.Start(t)
	for name, window := range map[string]browser.Window{
		"desk":  {Width: 1280, Height: 900, Calm: true, Language: "ja"},
		"phone": {Width: 390, Height: 844, Phone: true, Calm: true, Language: "ja"},
	} {
		t.Run(name, func(t *testing.T) { fillsIn(t, consoletest.New(t, db), c, name, window) })
	}
}

func fillsIn(t *testing.T, w *consoletest.World, c *browser.Browser, name string, window browser.Window) {
	b, console, version := w.As(webapi.Suzuki), w.Console.Handler(), versionOf(t, "list_employees")
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.AddCookie(&http.Cookie{Name: web.SessionCookie, Value: b.Cookies["__Host-ringi"]})
		console.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	tab := c.Open(t, server.URL+"/console/settings", window)
	fields := map[string]string{
		"sources.name": "shop", "sources.repository": "acme/shop", "sources.ref": "heads/main", "sources.people": "everybody",
		"sources.agents": "claude, codex", "sources.allow": "CODEOWNERS", "listed_reads.agent": "claude",
		"listed_reads.tool": "list_employees", "listed_reads.version": "nothing", "listed_reads.people": webapi.Sato,
	}
	at := func(name string) string { return fmt.Sprintf(`input[name="%s"]`, name) }
	holds := func() {
		t.Helper()
		for name, text := range fields {
			tab.Until(fmt.Sprintf(`document.querySelector(%q)?.value === %q`, at(name), text))
		}
		tab.Until(`document.querySelector('select[name="sources.ci"]').value === "skip"`)
		tab.Fits()
	}
	for name, text := range fields {
		tab.Type(at(name), text)
	}
	tab.Eval(`document.querySelector('select[name="sources.ci"]').value = "skip"`)
	tab.Click(`button[value="save"]`)
	tab.Until(`document.querySelector("#problems") && document.querySelector("#s-listed-reads .row .problem")`)
	holds() // what was typed stays
	tab.Accessible(t)
	expect.Same(t, 0, len(w.SettingsNow().Sources))

	fields["listed_reads.version"] = version
	tab.Type(at("listed_reads.version"), version)
	tab.Click(`button[value="save"]`)
	tab.Until(`location.search.includes("done=saved")`)
	holds()
	expect.Same(t, []agent.Source{shop}, w.SettingsNow().Sources)
	expect.Same(t, []agent.ListedRead{{Agent: "claude", Tool: "list_employees", Version: version,
		People: []string{webapi.Sato}}}, w.SettingsNow().ListedReads)
	tab.Until(`document.querySelectorAll('input[name="sources.name"]').length === 3`) // two empty ones for the next
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		tab.Eval(`document.querySelector("#s-sources").scrollIntoView()`)
		tab.Screenshot(filepath.Join(dir, "settings-"+name+".png"))
	}
}
