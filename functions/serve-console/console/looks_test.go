package console_test

import (
	"fmt"
	"html"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// chrome is the part of a phone's screen above what a page is about.
const chrome = `document.querySelector("main").getBoundingClientRect().top / innerHeight`

// look is a page in one of its states. A page of a form answers to the form that was sent.
type look struct {
	name, path string
	form       url.Values
	file       []byte // that is sent with the form
	nobody     bool   // is signed in
}

// TestLooksOfThePagesThatAdministratorsRead: empty, full, refused and saved, nothing sticks out of a page, axe finds no
// serious problem, and on a phone the page begins in the first fifth of the screen. At night it looks at every form of
// every page, and with RINGI_SCREENSHOTS it takes pictures.
func TestLooksOfThePagesThatAdministratorsRead(t *testing.T) {
	db, b := storetest.Start(t), browser.Start(t)
	empty, full := consoletest.New(t, db), consoletest.New(t, db)
	for _, w := range []*consoletest.World{empty, full} {
		w.Console.Begin = &consoletest.Beginner{W: w, More: 2}
	}
	looks := map[*consoletest.World][]look{empty: emptyLooks(empty), full: fullLooks(full)}
	for _, locale := range language.All {
		for w, all := range looks {
			t.Run(fmt.Sprintf("%s, %d pages", locale, len(all)), func(t *testing.T) { looked(t, w, b, locale, all) })
		}
	}
}

// looked looks at pages in a language: at night at each, wide and narrow, light and dark; by day at every fourth.
func looked(t *testing.T, w *consoletest.World, b *browser.Browser, locale string, all []look) {
	pictures := os.Getenv("RINGI_SCREENSHOTS")
	byPath := map[string]look{}
	user, nobody := w.As(webapi.Suzuki), w.Browser()
	user.Locale, nobody.Locale = locale, locale
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		x, known := byPath[r.URL.Path]
		by, answer := user, consoletest.Answer{}
		if x.nobody {
			by = nobody
		}
		switch {
		case x.file != nil:
			answer = by.Upload(x.path, x.form, x.file)
		case x.form != nil:
			answer = by.Post(x.path, x.form)
		case known:
			answer = by.Get(x.path)
		default:
			answer = by.Get(r.URL.RequestURI())
		}
		rw.Header().Set("Content-Type", answer.Header.Get("Content-Type"))
		rw.WriteHeader(answer.Status)
		rw.Write([]byte(answer.Body))
	}))
	defer server.Close()
	tab := b.Open(t, server.URL+"/console/assets/console.css", browser.Window{Width: 1440, Height: 900, Language: locale, Calm: true})
	for i, x := range all {
		if !expect.Long() && i%4 != map[bool]int{true: 1, false: 3}[locale == language.English] {
			continue
		}
		byPath["/look/"+x.name] = x
		tab.Visit(server.URL + "/look/" + x.name)
		tab.Until(`document.querySelector("h1") && !document.querySelector("[data-now]")`)
		for _, width := range []int64{1440, 390} {
			for _, dark := range []bool{false, true} {
				if !expect.Long() && ((width == 390) != (locale == language.English) || dark != (locale == language.English)) {
					continue
				}
				tab.Resize(browser.Window{Width: width, Height: map[bool]int64{true: 844, false: 900}[width == 390], Phone: width == 390, Dark: dark, Language: locale, Calm: true})
				looksGood(t, tab.For(t), fmt.Sprintf("%s-%s-%d-%s", x.name, locale, width, map[bool]string{true: "dark", false: "light"}[dark]), pictures)
			}
		}
	}
}

func looksGood(t *testing.T, tab *browser.Tab, name, pictures string) {
	failed := t.Failed()
	tab.Fits()
	tab.Accessible(t)
	if strings.Contains(name, "-390-") {
		share := browser.Read[float64](tab, chrome)
		expect.That(t, share <= 0.2, "the page begins at %.2f of the screen", share)
	}
	if !failed && t.Failed() {
		t.Logf("above: %s", name)
	}
	if pictures != "" {
		tab.Whole(filepath.Join(pictures, name+".png"))
	}
}

// emptyLooks are pages of a workspace in which nothing happened.
func emptyLooks(w *consoletest.World) (all []look) {
	for _, name := range []string{"insights", "audit", "settings", "integrations", "tools", "organisation", "register", "contests", "agents", "tasks",
		"approvals", "stand-ins"} {
		all = append(all, look{name: name + "-empty", path: "/console/" + name})
	}
	page := w.As(webapi.Suzuki).Get("/console/settings")
	base := html.UnescapeString(regexp.MustCompile(`name="base" value="([^"]*)"`).FindStringSubmatch(page.Body)[1])
	refused := expect.Value(url.ParseQuery(base))(w.T)
	for name, value := range map[string]string{"base": base, "rev": fmt.Sprint(w.SettingsNow().Rev), "act": "save", "max_versions": "0", "hour_requests": "x"} {
		refused.Set(name, value)
	}
	all = append(all, look{name: "tool-mark-empty", path: "/console/tools/marks/send_slack_dm"})
	return append(all, look{name: "home-empty", path: "/console"}, look{name: "board-empty", path: "/console/contests/board"},
		look{name: "audit-refused", path: "/console/audit?from=yesterday"}, look{name: "insights-refused", path: "/console/insights?from=2025-01-01&to=2025-12-31"},
		look{name: "settings-refused", path: "/console/settings", form: refused}, look{name: "settings-saved", path: "/console/settings?done=saved"},
		look{name: "contest-new", path: "/console/contests/new"}, look{name: "contest-refused", path: "/console/contests", form: url.Values{"prompt": {""}}},
		look{name: "signin", path: "/console/signin", nobody: true}, look{name: "signin-refused", path: "/console/signin/done?error=access_denied&state=x", nobody: true},
		look{name: "stand-ins-refused", path: "/console/stand-ins", form: refusedStandIn},
		look{name: "not-there", path: "/console/tasks/01NOTHERE"})
}
