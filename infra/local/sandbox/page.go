package sandbox

import (
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"
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
	if s.opts.Run != nil {
		mux.HandleFunc("GET /sandbox/run", func(w http.ResponseWriter, r *http.Request) {
			v, err := s.opts.Run(r.Context(), r.URL.Query().Get("task"))
			reply(w, v, err)
		})
	}
	files, err := fs.Sub(ui, "ui")
	if err != nil {
		panic("the folder ui is embedded above: " + err.Error())
	}
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
		var code webapi.Code
		var trouble InteractionError
		switch {
		case errors.As(err, &trouble):
			status, answer["trouble"] = http.StatusBadGateway, trouble.Reason
		case errors.As(err, new(FieldError)):
			status = http.StatusUnprocessableEntity
		case errors.As(err, &code):
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

// pageState has everything that the page shows to one person.
type pageState struct {
	Me         string                      `json:"me"`
	Bot        string                      `json:"bot"`
	Users      []webapi.User               `json:"users"`
	Groups     map[string]string           `json:"groups"` // handles by id
	Channels   []webapi.Channel            `json:"channels"`
	Messages   map[string][]webapi.Message `json:"messages"` // of each channel, oldest first
	Ephemerals []ephemeral                 `json:"ephemerals"`
	Views      []webapi.View               `json:"views"`
	Marks      map[string]Attempt          `json:"marks"` // by channel and timestamp
	Prompts    map[string][]webapi.Prompt  `json:"prompts"`
	Sessions   map[string]webapi.Session   `json:"sessions"` // by channel and thread
	Toggles    Toggles                     `json:"toggles"`
	Shortcuts  []Shortcut                  `json:"shortcuts"`
	Globals    []Shortcut                  `json:"globals"`
	Home       *webapi.View                `json:"home"` // the app's Home tab; nil if the app has not published one
	Banner     map[string]string           `json:"banner"`
	Links      map[string]string           `json:"links"`
	Runs       bool                        `json:"runs"` // the page has a run panel
	Console    bool                        `json:"console"`
	Started    time.Time                   `json:"started"` // start of the sandbox; everything on the page is newer
}

type ephemeral struct {
	Channel string         `json:"channel"`
	Message webapi.Message `json:"message"`
}

func (s *Sandbox) getState(w http.ResponseWriter, r *http.Request) {
	me, err := s.ws.User(r.URL.Query().Get("user"))
	if err != nil {
		reply(w, nil, fmt.Errorf("person %q: %w", r.URL.Query().Get("user"), err))
		return
	}
	st := pageState{
		Me: me.ID, Bot: webapi.Bot, Users: s.ws.Users(), Views: s.ws.Views(me.ID), Toggles: s.Toggles(),
		Shortcuts: s.opts.Shortcuts, Globals: s.opts.Globals, Links: s.opts.Links, Started: s.started,
		Banner: map[string]string{"ja": s.opts.Banner, "en": s.opts.BannerEN}, Runs: s.opts.Run != nil,
		Console: s.opts.Console, Ephemerals: []ephemeral{}, Channels: []webapi.Channel{},
		Messages: map[string][]webapi.Message{}, Prompts: map[string][]webapi.Prompt{}, Marks: map[string]Attempt{},
		Sessions: map[string]webapi.Session{}, Groups: map[string]string{},
	}
	for _, g := range s.ws.Groups() {
		st.Groups[g.ID] = g.Handle
	}
	if v, ok := s.ws.Home(me.ID); ok {
		st.Home = &v
	}
	for _, c := range s.ws.Channels() {
		if !slices.Contains(c.Members, me.ID) {
			continue
		}
		st.Channels = append(st.Channels, c)
		// This can't fail: channels are never removed.
		st.Messages[c.ID], _ = s.ws.Everything(c.ID)
		st.Prompts[c.ID] = s.ws.Prompts(c.ID)
		for _, x := range s.ws.Sessions(c.ID) {
			st.Sessions[x.Channel+x.ThreadTS] = x
		}
	}
	for _, m := range s.ws.Ephemerals(me.ID) {
		st.Ephemerals = append(st.Ephemerals, ephemeral{Channel: m.Channel, Message: m})
	}
	s.mu.Lock()
	for key, a := range s.marks {
		if _, sees := st.Messages[a.Channel]; sees {
			st.Marks[key] = a
		}
	}
	s.mu.Unlock()
	reply(w, st, nil)
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
		"home":     func(in target) (any, error) { return nil, s.OpenHome(in.User) },
		"close":    func(in target) (any, error) { return nil, s.CloseView(in.User, in.ViewID) },
		"open":     func(in target) (any, error) { return nil, s.OpenMessages(in.User) },
		"dismiss":  func(in target) (any, error) { s.ws.Dismiss(in.User, in.TS); return nil, nil },
		"stop":     func(in target) (any, error) { return nil, s.StopAgent(in.User, in.Channel, in.ThreadTS) },
		"act": func(in target) (any, error) {
			if in.ViewID != "" {
				return nil, s.clickView(in.User, in.ViewID, in.ActionID, in.Value)
			}
			return nil, s.Choose(in.User, in.Channel, in.TS, in.ActionID, in.Value)
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
