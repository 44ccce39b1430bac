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
	"strconv"

	"ringi/infra/local/sandbox/webapi"
)

//go:embed ui
var ui embed.FS

// maxRequest is the maximum body of a request from the page or to a response URL.
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
	mux.HandleFunc("GET /sandbox/attempts", func(w http.ResponseWriter, _ *http.Request) { reply(w, s.recent(), nil) })
	mux.HandleFunc("GET /sandbox/attempts/{n}", s.getAttempt)
	for name, do := range s.acts() {
		mux.HandleFunc("POST /sandbox/"+name, act(maxSay, do))
	}
	mux.HandleFunc("PUT /sandbox/toggles", act(maxRequest, func(t Toggles) (any, error) { return t, s.SetToggles(t) }))
	mux.HandleFunc("POST /sandbox/actions/{team}/{app}/{id}", s.serveHook)
	s.languages(mux)
	s.hooks(mux)
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

// fresh makes browsers load the newest version of the page, and keeps the page from loading scripts from elsewhere.
func fresh(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-cache")
		w.Header().Set("Content-Security-Policy", "default-src 'self'; img-src 'self' https: data:; style-src 'self' 'unsafe-inline'")
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

// recent returns the last hundred attempts, newest first.
func (s *Sandbox) recent() []Attempt {
	all := s.Attempts()
	slices.Reverse(all)
	return append([]Attempt{}, all[:min(len(all), 100)]...)
}

// getAttempt returns the payload of an attempt and the app's answer.
func (s *Sandbox) getAttempt(w http.ResponseWriter, r *http.Request) {
	all := s.Attempts()
	at := slices.IndexFunc(all, func(a Attempt) bool { return strconv.Itoa(a.N) == r.PathValue("n") })
	if at < 0 {
		http.Error(w, fmt.Sprintf("only the last %d deliveries are kept", keep), http.StatusNotFound)
		return
	}
	reply(w, map[string]any{"payload": json.RawMessage(all[at].Payload), "answer": string(all[at].Answer)}, nil)
}
