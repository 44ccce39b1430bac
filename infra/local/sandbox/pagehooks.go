package sandbox

import (
	"context"
	"net/http"
)

// hooks serves the parts of the page that use hooks from Options.
func (s *Sandbox) hooks(mux *http.ServeMux) {
	o := s.opts
	part := func(load func(ctx context.Context, task, key string) (any, error)) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			v, err := load(r.Context(), r.URL.Query().Get("task"), r.URL.Query().Get("key"))
			reply(w, v, err)
		}
	}
	if o.Run != nil {
		mux.HandleFunc("GET /sandbox/run",
			part(func(ctx context.Context, task, _ string) (any, error) { return o.Run(ctx, task) }))
		mux.HandleFunc("GET /sandbox/row", part(o.Row))
		mux.HandleFunc("GET /sandbox/object", part(o.Object))
	}
	mux.HandleFunc("GET /sandbox/waits", s.getWaits)
	if o.Tools != nil {
		mux.HandleFunc("GET /sandbox/tools", func(w http.ResponseWriter, _ *http.Request) { reply(w, o.Tools.List(), nil) })
		mux.HandleFunc("PUT /sandbox/tools", act(maxRequest, func(in ToolFault) (any, error) {
			o.Tools.Set(in.Tool, in.Failing)
			return nil, nil
		}))
	}
}
