package sandbox

import (
	"context"
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

// maxRequest is the maximum body of a request from the page.
const maxRequest = 1 << 20

func (s *Sandbox) routes(api http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/api/", api)
	if files, is := api.(*webapi.API); is {
		mux.HandleFunc("GET "+webapi.FilesPath+"{id}", files.ServeFile)
	}
	s.signIn().serve(mux, "/openid/connect", "openid.connect.token")
	s.installs.install(s).serve(mux, "/oauth/v2", "oauth.v2.access")
	mux.HandleFunc("GET /sandbox/state", s.getState)
	mux.HandleFunc("GET /sandbox/stream", s.hub.stream)
	mux.HandleFunc("GET /sandbox/files/{id}", s.getFile)
	for name, do := range s.acts() {
		mux.HandleFunc("POST /sandbox/"+name, act(maxSay, do))
	}
	mux.HandleFunc("PUT /sandbox/toggles", act(maxRequest,
		func(t Toggles) (any, error) { s.SetToggles(t); return t, nil }))
	mux.HandleFunc("PUT /sandbox/language", act(maxRequest, s.speak))
	if s.opts.Run != nil {
		mux.HandleFunc("GET /sandbox/run", asked("task", s.opts.Run))
	}
	if s.opts.Waits != nil {
		mux.HandleFunc("GET /sandbox/waits", asked("user", s.opts.Waits))
	}
	files, err := fs.Sub(ui, "ui")
	if err != nil {
		panic("the folder ui is embedded above: " + err.Error())
	}
	static := http.FileServerFS(files)
	index := func(w http.ResponseWriter, r *http.Request) { http.ServeFileFS(w, r, files, "index.html") }
	mux.Handle("GET /archives/{channel}/{message}", fresh(http.HandlerFunc(index)))
	mux.Handle("/", fresh(static))
	return mux
}

// asked answers with what a hook returns for one value of the query.
func asked[T any](name string, load func(context.Context, string) (T, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := load(r.Context(), r.URL.Query().Get(name))
		reply(w, v, err)
	}
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

// reply writes a value, or an error as {"error"}. Invalid settings are listed in {"fields"}.
func reply(w http.ResponseWriter, v any, err error) {
	status := http.StatusOK
	if err != nil {
		status = http.StatusInternalServerError
		answer := map[string]any{"error": err.Error()}
		var code webapi.Code
		var trouble InteractionError
		var fields FieldErrors
		switch {
		case errors.As(err, &trouble):
			status = http.StatusBadGateway
			answer["trouble"] = trouble.Reason
		case errors.As(err, &fields):
			status = http.StatusUnprocessableEntity
			answer["fields"] = fields
		case errors.As(err, &code):
			status = http.StatusConflict
			answer["code"] = string(code)
		case errors.Is(err, ErrNoButton):
			status = http.StatusConflict
			answer["trouble"] = "noButton"
		}
		v = answer
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	// A failure means that the browser has disconnected.
	_ = json.NewEncoder(w).Encode(v)
}

// read decodes a JSON body, or answers with an error that names the expected form. It refuses other content types, so
// that another site's form can't act as the person at this page.
func read[T any](w http.ResponseWriter, r *http.Request, most int64, form string) (in T, ok bool) {
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/json" {
		http.Error(w, "Content-Type must be application/json", http.StatusUnsupportedMediaType)
		return in, false
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		http.Error(w, fmt.Sprintf("body is over %d MiB", most>>20), http.StatusRequestEntityTooLarge)
		return in, false
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		http.Error(w, "body is not "+form+": "+err.Error(), http.StatusBadRequest)
		return in, false
	}
	return in, true
}

// act returns a handler for an action on the page, with a body of at most so many bytes.
func act[T any](most int64, do func(T) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		in, ok := read[T](w, r, most, "what this call takes")
		if !ok {
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
	Messages   map[string][]webapi.Message `json:"messages"`
	Ephemerals []ephemeral                 `json:"ephemerals"`
	Views      []webapi.View               `json:"views"`
	Marks      []Attempt                   `json:"marks"`
	Prompts    map[string][]webapi.Prompt  `json:"prompts"`
	Sessions   []webapi.Session            `json:"sessions"`
	Toggles    Toggles                     `json:"toggles"`
	Shortcuts  []Shortcut                  `json:"shortcuts"`
	Globals    []Shortcut                  `json:"globals"`
	Home       *webapi.View                `json:"home"` // the app's Home tab; nil if the app has not published one
	Banner     map[string]string           `json:"banner"`
	Links      map[string]string           `json:"links"`
	Has        map[string]bool             `json:"has"`
	Admin      string                      `json:"admin"`   // the console's first administrator
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
		Shortcuts: s.opts.Shortcuts, Globals: s.opts.Globals,
		Banner:  map[string]string{"ja": s.opts.Banner, "en": s.opts.BannerEN},
		Has:     map[string]bool{"run": s.opts.Run != nil, "waits": s.opts.Waits != nil},
		Admin:   s.opts.Administrator,
		Started: s.started, Links: s.opts.Links,
		Messages: map[string][]webapi.Message{}, Prompts: map[string][]webapi.Prompt{},
		Ephemerals: []ephemeral{}, Marks: []Attempt{}, Sessions: []webapi.Session{},
		Channels: []webapi.Channel{}, Groups: map[string]string{},
	}
	for _, g := range s.ws.Groups() {
		st.Groups[g.ID] = g.Handle
	}
	if v, ok := s.ws.Home(me.ID); ok {
		st.Home = &v
	}
	for _, c := range s.ws.Channels() {
		if !visible(webapi.Change{Channel: c.ID}, me.ID) || !slices.Contains(c.Members, me.ID) {
			continue
		}
		st.Channels = append(st.Channels, c)
		// This can't fail: channels are never removed.
		st.Messages[c.ID], _ = s.ws.Everything(c.ID)
		st.Prompts[c.ID] = s.ws.Prompts(c.ID)
		st.Sessions = append(st.Sessions, s.ws.Sessions(c.ID)...)
	}
	for _, m := range s.ws.Ephemerals(me.ID) {
		st.Ephemerals = append(st.Ephemerals, ephemeral{Channel: m.Channel, Message: m})
	}
	s.mu.Lock()
	for _, a := range s.marks {
		if visible(webapi.Change{Channel: a.Channel}, me.ID) {
			st.Marks = append(st.Marks, a)
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
		"edit":     s.postEdit,
		"delete":   func(in target) (any, error) { return nil, s.Remove(in.User, in.Channel, in.TS) },
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
				return nil, s.ClickView(in.User, in.ViewID, in.ActionID, in.Value)
			}
			return nil, s.Choose(in.User, in.Channel, in.TS, in.ActionID, in.Value)
		},
		"home/act": func(in target) (any, error) {
			value, _ := in.Value.(string)
			return nil, s.clickHome(in.User, in.ActionID, value)
		},
		"submit": func(in target) (any, error) {
			refused, err := s.Submit(in.User, in.ViewID, in.Values)
			return map[string]any{"errors": refused}, err
		},
	}
}

// checkTyped returns FieldErrors for a text that is too short or too long.
func checkTyped(text string, least int) error {
	if n := utf8.RuneCountInString(text); n < least || n > maxTyped {
		return FieldErrors{"text": fmt.Sprintf("%d to %d characters, not %d", least, maxTyped, n)}
	}
	return nil
}

// postEdit changes a person's own message. Only one with files may have no text.
func (s *Sandbox) postEdit(in target) (any, error) {
	m, err := s.ws.Message(in.Channel, in.TS, in.User)
	if err != nil {
		return nil, fmt.Errorf("edit %s: %w", in.TS, err)
	}
	text, least := strings.TrimSpace(in.Text), 1
	if len(m.Files) > 0 {
		least = 0
	}
	if err := checkTyped(text, least); err != nil {
		return nil, err
	}
	return nil, s.Edit(in.User, in.Channel, in.TS, s.typed(text))
}

func (s *Sandbox) postSay(in target) (any, error) {
	text, least := strings.TrimSpace(in.Text), 1
	if len(in.Files) > 0 {
		least = 0
	}
	if err := checkTyped(text, least); err != nil {
		return nil, err
	}
	files, err := checked(in.Files)
	if err != nil {
		return nil, err
	}
	ts, err := s.Attach(in.User, in.Channel, in.ThreadTS, s.typed(text), files...)
	return map[string]string{"ts": ts}, err
}
