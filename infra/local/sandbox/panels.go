package sandbox

import (
	"cmp"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"ringi/infra/local/sandbox/webapi"
)

// Panels are parts of the page that need the whole system. The page hides a part whose field is nil.
type Panels struct {
	// Administrator is the id of the first user who may change settings in the console; "" if there is no console.
	Administrator string
	Tools         Tools
	Approvals     Approvals
	Cards         Cards
}

// Approvals reports whether a person may stamp what a task asks for now, and for whom if they stand in for somebody. It
// also tells about the task. Without it, everybody who sees a button may.
type Approvals interface {
	May(ctx context.Context, user, task string) (may bool, instead string, err error)
	Asked(ctx context.Context, task string) (Asked, error)
}

// Asked has the facts by which an approver picks what to read first. Its zero value knows none.
type Asked struct {
	Writes map[string]string `json:"writes,omitempty"` // by language: what the steps write to; empty if there are none yet
	Until  *time.Time        `json:"until,omitempty"`
}

type Tools interface {
	List() []ToolFault
	Set(tool string, failing bool)
}

type ToolFault struct {
	Tool    string `json:"tool"`
	Failing bool   `json:"failing"`
}

// Wait is a message that waits for a person: for a stamp, or for an answer that only the requester can give. Channel is
// "" if the person can't see it and stamps on the app's Home tab, as one who stands in for another.
type Wait struct {
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Root    string `json:"root"`
	Task    string `json:"task"`
	Action  string `json:"action"`            // the button's action: approve_prompt, review_step, retry_execution, …
	Instead string `json:"instead,omitempty"` // for whom the person may stamp
	Asked
}

// stamps are prefixes of the approvers' buttons; answers are prefixes of the requester's.
var (
	stamps  = []string{"approve_", "review_"}
	answers = []string{"retry_"}
)

func (s *Sandbox) getWaits(w http.ResponseWriter, r *http.Request) {
	found, err := s.waits(r.Context(), r.URL.Query().Get("user"))
	reply(w, found, err)
}

// waits returns the messages that wait for a person, oldest first: those that the person sees, and those of others that
// they may stamp as a stand-in.
func (s *Sandbox) waits(ctx context.Context, user string) ([]Wait, error) {
	found, seen := []Wait{}, map[string]bool{}
	for _, sees := range []bool{true, false} {
		for _, c := range s.ws.Channels() {
			if sees != (slices.Contains(c.Members, user) && visible(webapi.Change{Channel: c.ID}, user)) {
				continue
			}
			all, err := s.ws.Everything(c.ID)
			if err != nil {
				return nil, err
			}
			askers := map[string]string{}
			for _, m := range all {
				askers[m.TS] = m.User
			}
			for _, m := range all {
				wait, stamp := waitOf(m)
				if wait.Action == "" || seen[wait.Task+wait.Action] { // a card may have copies in direct messages
					continue
				}
				may := sees && askers[wait.Root] == user
				if stamp {
					may, err = s.stamps(ctx, user, sees, &wait)
				}
				if err != nil {
					return nil, err
				}
				if may {
					found = append(found, wait)
				}
				seen[wait.Task+wait.Action] = may || stamp // whoever may not stamp this card may not stamp its copies
			}
		}
	}
	slices.SortFunc(found, func(a, b Wait) int { return cmp.Compare(a.TS, b.TS) })
	return found, nil
}

// stamps reports whether a person may stamp a message that they see or, as a stand-in, don't see, and adds what an
// approver picks by.
func (s *Sandbox) stamps(ctx context.Context, user string, sees bool, wait *Wait) (may bool, err error) {
	if s.opts.Approvals == nil {
		return sees, nil
	}
	if may, wait.Instead, err = s.opts.Approvals.May(ctx, user, wait.Task); err != nil || !may {
		return false, err
	}
	if !sees {
		wait.Channel, wait.Root = "", ""
		may = wait.Instead != ""
	}
	if may {
		wait.Asked, err = s.opts.Approvals.Asked(ctx, wait.Task)
	}
	return may, err
}

// waitOf returns what a message waits for; Action is empty if it waits for nothing. stamp reports whether it waits for
// an approver.
func waitOf(m webapi.Message) (wait Wait, stamp bool) {
	for _, block := range blocksOf(m) {
		elements, _ := block["elements"].([]any)
		for _, e := range elements {
			button, _ := e.(map[string]any)
			id, _ := button["action_id"].(string)
			begins := func(prefix string) bool { return strings.HasPrefix(id, prefix) }
			if stamp = slices.ContainsFunc(stamps, begins); !stamp && !slices.ContainsFunc(answers, begins) {
				continue
			}
			place, _ := block["block_id"].(string)
			task, _, _ := strings.Cut(place, "/") // the rest is a stage
			return Wait{Channel: m.Channel, TS: m.TS, Root: cmp.Or(m.ThreadTS, m.TS), Task: task, Action: id}, stamp
		}
	}
	return Wait{}, false
}

// blocksOf returns the blocks of a message and of its attachments.
func blocksOf(m webapi.Message) (found []map[string]any) {
	lists := [][]any{m.Blocks}
	for _, a := range m.Attachments {
		card, _ := a.(map[string]any)
		blocks, _ := card["blocks"].([]any)
		lists = append(lists, blocks)
	}
	for _, b := range slices.Concat(lists...) {
		if block, ok := b.(map[string]any); ok {
			found = append(found, block)
		}
	}
	return found
}

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

func newHub() *hub { return &hub{} }

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
