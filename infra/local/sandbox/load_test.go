package sandbox_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// A message is posted after the page's state was read, but before the page receives that state.
func TestWhatIsSaidWhileThePageLoadsIsShown(t *testing.T) {
	w := newWorld(t)
	written, sent := make(chan struct{}), make(chan struct{})
	slow := "/sandbox/state?user=" + webapi.Tanaka
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.RequestURI() != slow {
			w.Handler().ServeHTTP(out, r)
			return
		}
		answer := httptest.NewRecorder()
		w.Handler().ServeHTTP(answer, r)
		close(written)
		select {
		case <-sent:
		case <-t.Context().Done():
		}
		_, _ = out.Write(answer.Body.Bytes())
	}))
	t.Cleanup(server.Close)
	p := browser.Open(t, server.URL, 1200, 800)
	p.Until(`document.querySelector("#composer-main")`)
	p.Eval(fmt.Sprintf(`window.heard = 0; new EventSource("/sandbox/stream?user=%s").onmessage = () => heard++`,
		webapi.Tanaka))
	p.Press(`[data-person="` + webapi.Tanaka + `"]`)
	select {
	case <-written:
	case <-time.After(time.Minute):
		t.Fatal("the page asks for nothing")
	}
	expect.Value(w.Say(webapi.Sato, webapi.HR, "間に合いますか"))(t)
	p.Until(`heard > 0`)
	close(sent)
	p.Until(fmt.Sprintf(`document.querySelector(".person.here")?.dataset.person === %q`, webapi.Tanaka))
	p.Until(`document.querySelector("#log").innerText.includes("間に合いますか") && failures.length === 0`)
}

// A page whose first load failed must load again: its stream works, but does not repeat earlier changes.
func TestAPageThatCouldNotLoadLoadsAgain(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int32
	server := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/sandbox/state" && asked.Add(1) == 1 {
			http.Error(out, "not now", http.StatusServiceUnavailable)
			return
		}
		w.Handler().ServeHTTP(out, r)
	}))
	t.Cleanup(server.Close)
	p := browser.Open(t, server.URL, 1200, 800)
	p.Until(`document.querySelector("#composer-main") && !document.querySelector("#retry") && failures.length === 0`)
	n := asked.Load()
	expect.That(t, n == 2, "the page was asked for %d times", n)
}
