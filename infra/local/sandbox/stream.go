package sandbox

import (
	"io"
	"maps"
	"net/http"
	"sync"
)

// hub tells the open pages that something changed. They then ask for everything that their person may see.
type hub struct {
	mu    sync.Mutex
	pages map[chan struct{}]bool
}

func (h *hub) publish() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for page := range maps.Keys(h.pages) {
		select {
		case page <- struct{}{}:
		default: // it is told already
		}
	}
}

// stream sends an event for each change, and at its beginning, until the browser disconnects or the sandbox closes.
func (s *Sandbox) stream(w http.ResponseWriter, r *http.Request) {
	changed := make(chan struct{}, 1)
	s.hub.mu.Lock()
	s.hub.pages[changed] = true
	s.hub.mu.Unlock()
	defer func() {
		s.hub.mu.Lock()
		delete(s.hub.pages, changed)
		s.hub.mu.Unlock()
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	for event := "retry: 1000\nevent: hello\n"; ; event = "" {
		if _, err := io.WriteString(w, event+"data: {}\n\n"); err != nil || http.NewResponseController(w).Flush() != nil {
			return
		}
		select {
		case <-r.Context().Done():
			return
		case <-s.ctx.Done():
			return
		case <-changed:
		}
	}
}
