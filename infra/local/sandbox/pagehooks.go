package sandbox

import (
	"context"
	"encoding/json"
	"net/http"
)

// hooks serves the parts of the page that whoever starts the sandbox provides.
func (s *Sandbox) hooks(mux *http.ServeMux) {
	o := s.opts
	run := show(o.Run != nil, func(r *http.Request) (any, error) { return o.Run(r.Context(), r.URL.Query().Get("task")) })
	mux.HandleFunc("GET /sandbox/run", run)
	part := func(load func(ctx context.Context, task, key string) (any, error)) http.HandlerFunc {
		return show(load != nil, func(r *http.Request) (any, error) {
			return load(r.Context(), r.URL.Query().Get("task"), r.URL.Query().Get("key"))
		})
	}
	mux.HandleFunc("GET /sandbox/row", part(o.Row))
	mux.HandleFunc("GET /sandbox/object", part(o.Object))
	mux.HandleFunc("GET /sandbox/waits", s.getWaits)

	settings := show(o.Settings != nil, func(r *http.Request) (any, error) { return o.Settings.Load(r.Context()) })
	mux.HandleFunc("GET /sandbox/settings", settings)
	mux.HandleFunc("PUT /sandbox/settings", change(o.Settings != nil, settings, "{user, settings}", func(ctx context.Context, in struct {
		User     string          `json:"user"`
		Settings json.RawMessage `json:"settings"`
	}) error {
		return o.Settings.Save(ctx, in.User, in.Settings)
	}))

	tools := show(o.Tools != nil, func(r *http.Request) (any, error) { return o.Tools.List(r.Context()) })
	mux.HandleFunc("GET /sandbox/tools", tools)
	mux.HandleFunc("PUT /sandbox/tools", change(o.Tools != nil, tools, "{tool, failing}", func(ctx context.Context, in ToolFault) error {
		return o.Tools.Set(ctx, in.Tool, in.Failing)
	}))

	permissions := show(o.Permissions != nil, func(r *http.Request) (any, error) { return o.Permissions.List(r.Context()) })
	mux.HandleFunc("GET /sandbox/permissions", permissions)
	mux.HandleFunc("PUT /sandbox/permissions", change(o.Permissions != nil, permissions, "{user, tool, allowed, constraints}", func(ctx context.Context, in struct {
		User string `json:"user"`
		Permission
	}) error {
		return o.Permissions.Save(ctx, in.User, in.Permission)
	}))

	servers := show(o.Servers != nil, func(r *http.Request) (any, error) { return o.Servers.List(r.Context()) })
	mux.HandleFunc("GET /sandbox/servers", servers)
	mux.HandleFunc("PUT /sandbox/servers", change(o.Servers != nil, servers, "{user, tool, hash, effect}", func(ctx context.Context, in struct {
		User   string `json:"user"`
		Tool   string `json:"tool"`
		Hash   string `json:"hash"`
		Effect string `json:"effect"`
	}) error {
		return o.Servers.Allow(ctx, in.User, in.Tool, in.Hash, in.Effect)
	}))
}

// show answers with what a hook knows; without the hook there is no such panel.
func show(there bool, load func(*http.Request) (any, error)) http.HandlerFunc {
	if !there {
		return absent
	}
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := load(r)
		reply(w, v, err)
	}
}

// change hands what the page sends, in this form, to a hook, and shows what it then knows.
func change[T any](there bool, shown http.HandlerFunc, form string, save func(context.Context, T) error) http.HandlerFunc {
	if !there {
		return absent
	}
	return func(w http.ResponseWriter, r *http.Request) {
		in, ok := read[T](w, r, form)
		if !ok {
			return
		}
		if err := save(r.Context(), in); err != nil {
			reply(w, nil, err)
			return
		}
		shown(w, r)
	}
}

// absent answers for a part of the page whose hook is not set.
func absent(w http.ResponseWriter, _ *http.Request) {
	http.Error(w, "this sandbox has no such panel", http.StatusNotFound)
}
