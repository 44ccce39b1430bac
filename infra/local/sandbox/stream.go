package sandbox

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/sandbox/webapi"
)

// backlog is how many changes may wait for a slow browser. Beyond that its stream ends, and the page loads everything
// again.
const backlog = 512

// beat is how often a stream sends a comment, so that lost connections are noticed.
const beat = 15 * time.Second

// hub sends changes to the open pages.
type hub struct {
	mu     sync.Mutex
	subs   []*subscriber
	closed bool
}

type subscriber struct {
	user    string
	changes chan []byte
}

// publish sends a change to the people who may see it.
func (h *hub) publish(c webapi.Change) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.subs) == 0 {
		return
	}
	line, err := json.Marshal(c)
	if err != nil {
		return
	}
	h.subs = slices.DeleteFunc(h.subs, func(s *subscriber) bool {
		if !visible(c, s.user) {
			return false
		}
		select {
		case s.changes <- line:
			return false
		default:
			close(s.changes)
			return true
		}
	})
}

// visible reports whether a person may see a change: ephemeral messages and direct messages are only for the people
// concerned.
func visible(c webapi.Change, user string) bool {
	if c.To != "" {
		return c.To == user
	}
	return !strings.HasPrefix(c.Channel, "D") || c.Channel == webapi.DirectMessage(user)
}

func (h *hub) subscribe(user string) *subscriber {
	h.mu.Lock()
	defer h.mu.Unlock()
	s := &subscriber{user: user, changes: make(chan []byte, backlog)}
	if h.closed {
		close(s.changes)
		return s
	}
	h.subs = append(h.subs, s)
	return s
}

func (h *hub) leave(s *subscriber) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.subs = slices.DeleteFunc(h.subs, func(x *subscriber) bool { return x == s })
}

func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, s := range h.subs {
		close(s.changes)
	}
	h.subs, h.closed = nil, true
}

// stream sends server-sent events until the browser disconnects or the sandbox closes.
func (h *hub) stream(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("Cache-Control", "no-store")
	out := http.NewResponseController(w)
	s := h.subscribe(r.URL.Query().Get("user"))
	defer h.leave(s)
	say := func(line string) bool {
		if _, err := w.Write([]byte(line)); err != nil {
			return false
		}
		return out.Flush() == nil
	}
	if !say("retry: 1000\nevent: hello\ndata: {}\n\n") {
		return
	}
	alive := time.NewTicker(beat)
	defer alive.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-alive.C:
			if !say(": still here\n\n") {
				return
			}
		case line, ok := <-s.changes:
			if !ok || !say("data: "+string(line)+"\n\n") {
				return
			}
		}
	}
}
