package sandbox

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"mime"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"ringi/infra/local/sandbox/webapi"
)

//go:embed ui
var ui embed.FS

// maxRequest is the maximum body of a request from the page, which may be a message with its files in base64.
const maxRequest = 64 << 20

func (s *Sandbox) routes(api *webapi.API) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/", api)
	mux.HandleFunc("GET "+webapi.FilesPath+"{id}", api.ServeFile)
	for _, c := range consents {
		c.serve(mux, s)
	}
	mux.HandleFunc("GET /sandbox/state", s.getState)
	mux.HandleFunc("GET /sandbox/stream", s.stream)
	mux.HandleFunc("GET /sandbox/files/{id}", s.getFile)
	for name, do := range s.acts() {
		mux.HandleFunc("POST /sandbox/"+name, act(do))
	}
	mux.HandleFunc("PUT /sandbox/toggles", act(func(t Toggles) (any, error) { s.SetToggles(t); return t, nil }))
	mux.HandleFunc("PUT /sandbox/language", act(s.speak))
	files, _ := fs.Sub(ui, "ui") // a valid path
	index := func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "index.html") }
	mux.Handle("GET /archives/{channel}/{message}", fresh(http.HandlerFunc(index)))
	mux.Handle("/", fresh(http.FileServerFS(files)))
	return mux
}

// fresh makes browsers load the newest version of the page, and keeps the page from loading scripts from elsewhere.
func fresh(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Security-Policy",
			"default-src 'self'; img-src 'self' https: data:; style-src 'self' 'unsafe-inline'")
		next.ServeHTTP(w, r)
	})
}

// reply writes a value, or an error as {"error"}, with what went wrong with the app's answer as "trouble".
func reply(w http.ResponseWriter, v any, err error) {
	status := http.StatusOK
	if err != nil {
		answer := map[string]any{"error": err.Error()}
		var trouble InteractionError
		switch {
		case errors.As(err, &trouble):
			status, answer["trouble"] = http.StatusBadGateway, trouble.Reason
		case errors.As(err, new(FieldError)):
			status = http.StatusUnprocessableEntity
		case errors.As(err, new(webapi.Code)):
			status = http.StatusConflict
		case errors.Is(err, ErrNoButton):
			status, answer["trouble"] = http.StatusConflict, "noButton"
		default:
			status = http.StatusInternalServerError
		}
		v = answer
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// A failure means that the browser has disconnected.
	_ = json.NewEncoder(w).Encode(v)
}

// act returns a handler for an action on the page. It takes JSON alone, so that another site's form can't act as the
// person at this page.
func act[T any](do func(T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var in T
		if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
			http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
			return
		}
		raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
		if err != nil {
			http.Error(w, fmt.Sprintf("body is over %d MiB", maxRequest>>20), http.StatusRequestEntityTooLarge)
			return
		}
		if err := json.Unmarshal(raw, &in); err != nil {
			http.Error(w, "body is not what this call takes: "+err.Error(), http.StatusBadRequest)
			return
		}
		out, err := do(in)
		if out == nil {
			out = map[string]any{}
		}
		reply(w, out, err)
	}
}

// maxTyped is Slack's limit for a message that a person types.
const maxTyped = 12000

// getState answers everything that the page shows to one person.
func (s *Sandbox) getState(w http.ResponseWriter, r *http.Request) {
	me, err := s.Workspace.User(r.URL.Query().Get("user"))
	if err != nil {
		reply(w, nil, fmt.Errorf("person %q: %w", r.URL.Query().Get("user"), err))
		return
	}
	groups, sessions, marks := map[string]string{}, map[string]webapi.Session{}, map[string]Attempt{}
	for _, g := range s.Workspace.Groups() {
		groups[g.ID] = g.Handle
	}
	channels, messages, prompts := []webapi.Channel{}, map[string][]webapi.Message{}, map[string][]webapi.Prompt{}
	for _, c := range s.Workspace.Channels() {
		if !slices.Contains(c.Members, me.ID) {
			continue
		}
		channels = append(channels, c)
		messages[c.ID], _ = s.Workspace.Everything(c.ID) // this can't fail: channels are never removed
		prompts[c.ID] = s.Workspace.Prompts(c.ID)
		for _, x := range s.Workspace.Sessions(c.ID) {
			sessions[x.Channel+x.ThreadTS] = x
		}
	}
	ephemerals := []object{}
	for _, m := range s.Workspace.Ephemerals(me.ID) {
		ephemerals = append(ephemerals, object{"channel": m.Channel, "message": m})
	}
	s.mu.Lock()
	for key, a := range s.marks {
		if _, sees := messages[a.Channel]; sees {
			marks[key] = a
		}
	}
	s.mu.Unlock()
	state := object{
		"me": me.ID, "bot": webapi.Bot, "users": s.Workspace.Users(), "groups": groups, "channels": channels,
		"messages": messages, "ephemerals": ephemerals, "views": s.Workspace.Views(me.ID), "prompts": prompts,
		"marks": marks, "sessions": sessions, // by channel and timestamp
		"toggles": s.Toggles(), "shortcuts": s.opts.Shortcuts, "globals": s.opts.Globals, "links": s.opts.Links,
		"banner": map[string]string{"ja": s.opts.Banner, "en": s.opts.BannerEN},
		"home":   nil, // until the app publishes one
	}
	if v, ok := s.Workspace.Home(me.ID); ok {
		state["home"] = v
	}
	reply(w, state, nil)
}

// target has the arguments of the page's actions; each action uses some of them.
type target struct {
	User       string         `json:"user"`
	Channel    string         `json:"channel"`
	TS         string         `json:"ts"`
	ThreadTS   string         `json:"thread_ts"`
	Text       string         `json:"text"`
	Files      []attachment   `json:"files"`
	ViewID     string         `json:"view_id"`
	ActionID   string         `json:"action_id"`
	CallbackID string         `json:"callback_id"`
	Value      any            `json:"value"`
	Values     map[string]any `json:"values"`
}

// acts maps the last part of an address to an action on the page.
func (s *Sandbox) acts() map[string]func(target) (any, error) {
	return map[string]func(target) (any, error){
		"say":      s.postSay,
		"shortcut": func(in target) (any, error) { return nil, s.Shortcut(in.User, in.Channel, in.TS, in.CallbackID) },
		"command":  func(in target) (any, error) { return nil, s.Command(in.User, in.Channel, in.Text) },
		"global":   func(in target) (any, error) { return nil, s.Global(in.User, in.CallbackID) },
		"home":     func(in target) (any, error) { return nil, s.Open(in.User, "home") },
		"close":    func(in target) (any, error) { return nil, s.CloseView(in.User, in.ViewID) },
		"open":     func(in target) (any, error) { return nil, s.Open(in.User, "messages") },
		"dismiss":  func(in target) (any, error) { s.Workspace.Dismiss(in.User, in.TS); return nil, nil },
		"stop":     func(in target) (any, error) { return nil, s.StopAgent(in.User, in.Channel, in.ThreadTS) },
		"act": func(in target) (any, error) {
			if in.ViewID != "" {
				return nil, s.clickView(in.User, in.ViewID, in.ActionID, in.Value)
			}
			return nil, s.Click(in.User, in.Channel, in.TS, in.ActionID)
		},
		"submit": func(in target) (any, error) {
			refused, err := s.Submit(in.User, in.ViewID, in.Values)
			return map[string]any{"errors": refused}, err
		},
	}
}

// postSay posts what a person typed. Only a message with files may have no text.
func (s *Sandbox) postSay(in target) (any, error) {
	text, least := strings.TrimSpace(in.Text), 1
	if len(in.Files) > 0 {
		least = 0
	}
	if n := utf8.RuneCountInString(text); n < least || n > maxTyped {
		return nil, FieldError{"text", fmt.Sprintf("%d to %d characters, not %d", least, maxTyped, n)}
	}
	files, err := checked(in.Files)
	if err != nil {
		return nil, err
	}
	ts, err := s.Attach(in.User, in.Channel, in.ThreadTS, s.typed(text), files...)
	return map[string]string{"ts": ts}, err
}

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
