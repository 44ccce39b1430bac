package browser

import (
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// The page has a field without a label and text with too little contrast. The browser must ask for it in English.
func TestWhatKeepsPeopleOutIsFound(t *testing.T) {
	if axeScript(t) == "" {
		t.Skip(process.ErrNode)
	}
	asked := make(chan string, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header.Get("Accept-Language")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'")
		_, _ = w.Write([]byte(`<!doctype html><html lang="en"><title>t</title><style>:root{color-scheme:light dark}p{background:#fff;color:#eee}</style><main><h1>h</h1><input><p>pale</p></main>`))
	}))
	t.Cleanup(server.Close)
	p := Start(t).Open(t, server.URL, Window{Width: 400, Height: 300, Dark: true, Language: "en"})
	var rules []string
	for _, f := range p.violations(t) {
		rules = append(rules, f.Rule)
	}
	slices.Sort(rules)
	expect.That(t, slices.Equal(rules, []string{"color-contrast", "label"}), "axe found %q", rules)
	if language := <-asked; language != "en" {
		t.Errorf("the page was asked for in %q", language)
	}
	p.Until(`navigator.language === "en" && matchMedia("(prefers-color-scheme: dark)").matches`)
}
