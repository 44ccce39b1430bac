package web_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"

	"ringi/functions/serve-console/web"
	chromium "ringi/infra/local/browser"
)

// TestWhatIsUnfoldedStaysLive: a page with something unfolded, or with a focused link, still refreshes.
func TestWhatIsUnfoldedStaysLive(t *testing.T) {
	var asked atomic.Int64
	mux := http.NewServeMux()
	mux.Handle("GET /ui/", http.FileServerFS(web.UI))
	mux.HandleFunc("GET /page", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, fmt.Sprintf(`<!doctype html><body><main><div id="story" data-live="/page"><p>%d</p>
			<details id="step-1"><summary>x</summary>y</details><a href="/page?a=1&amp;b=2">z</a><button>v</button></div></main><script src="/ui/console.js"></script>`, asked.Add(1)))
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	p := chromium.Start(t).Open(t, server.URL+"/page", chromium.Window{Width: 800, Height: 600, Hasty: true})
	p.Press("#step-1 > summary")
	for _, at := range []string{"#step-1 > summary", "a"} {
		p.Eval(fmt.Sprintf(`document.querySelector(%q).focus(); window.before = +document.querySelector("p").innerText`, at))
		p.Until(fmt.Sprintf(`+document.querySelector("p").innerText > before + 1 && document.querySelector("#step-1").open && document.activeElement.matches(%q)`, at))
	}
	p.Eval(`document.querySelector("button").focus(); window.before = document.querySelector("p").innerText`)
	for n := asked.Load(); asked.Load() < n+3; { // the focused element stays the same
		p.Until(`document.querySelector("p").innerText === before`)
	}
}
