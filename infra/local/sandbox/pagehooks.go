package sandbox

import (
	"encoding/json"
	"net/http"
)

// absent answers for a part of the page whose hook is not set.
func absent(w http.ResponseWriter) {
	http.Error(w, "this sandbox has no such panel", http.StatusNotFound)
}

func (s *Sandbox) getRun(w http.ResponseWriter, r *http.Request) {
	if s.opts.Run == nil {
		absent(w)
		return
	}
	v, err := s.opts.Run(r.Context(), r.URL.Query().Get("task"))
	reply(w, v, err)
}

func (s *Sandbox) getSettings(w http.ResponseWriter, r *http.Request) {
	if s.opts.Settings == nil {
		absent(w)
		return
	}
	v, err := s.opts.Settings.Load(r.Context())
	reply(w, v, err)
}

func (s *Sandbox) putSettings(w http.ResponseWriter, r *http.Request) {
	if s.opts.Settings == nil {
		absent(w)
		return
	}
	raw, ok := read(w, r)
	if !ok {
		return
	}
	var in struct {
		User     string          `json:"user"`
		Settings json.RawMessage `json:"settings"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		http.Error(w, "body is not {user, settings}: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.opts.Settings.Save(r.Context(), in.User, in.Settings); err != nil {
		reply(w, nil, err)
		return
	}
	s.getSettings(w, r)
}

func (s *Sandbox) getTools(w http.ResponseWriter, r *http.Request) {
	if s.opts.Tools == nil {
		absent(w)
		return
	}
	v, err := s.opts.Tools.List(r.Context())
	reply(w, v, err)
}

func (s *Sandbox) putTool(w http.ResponseWriter, r *http.Request) {
	if s.opts.Tools == nil {
		absent(w)
		return
	}
	raw, ok := read(w, r)
	if !ok {
		return
	}
	var in ToolFault
	if err := json.Unmarshal(raw, &in); err != nil {
		http.Error(w, "body is not {tool, failing}: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.opts.Tools.Set(r.Context(), in.Tool, in.Failing); err != nil {
		reply(w, nil, err)
		return
	}
	s.getTools(w, r)
}

func (s *Sandbox) getPermissions(w http.ResponseWriter, r *http.Request) {
	if s.opts.Permissions == nil {
		absent(w)
		return
	}
	v, err := s.opts.Permissions.List(r.Context())
	reply(w, v, err)
}

func (s *Sandbox) putPermission(w http.ResponseWriter, r *http.Request) {
	if s.opts.Permissions == nil {
		absent(w)
		return
	}
	raw, ok := read(w, r)
	if !ok {
		return
	}
	var in struct {
		User string `json:"user"`
		Permission
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		http.Error(w, "body is not {user, tool, allowed, constraints}: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.opts.Permissions.Save(r.Context(), in.User, in.Permission); err != nil {
		reply(w, nil, err)
		return
	}
	s.getPermissions(w, r)
}

func (s *Sandbox) getServers(w http.ResponseWriter, r *http.Request) {
	if s.opts.Servers == nil {
		absent(w)
		return
	}
	v, err := s.opts.Servers.List(r.Context())
	reply(w, v, err)
}

func (s *Sandbox) putServer(w http.ResponseWriter, r *http.Request) {
	if s.opts.Servers == nil {
		absent(w)
		return
	}
	raw, ok := read(w, r)
	if !ok {
		return
	}
	var in struct {
		User   string `json:"user"`
		Tool   string `json:"tool"`
		Hash   string `json:"hash"`
		Effect string `json:"effect"`
	}
	if err := json.Unmarshal(raw, &in); err != nil {
		http.Error(w, "body is not {user, tool, hash, effect}: "+err.Error(), http.StatusBadRequest)
		return
	}
	if err := s.opts.Servers.Allow(r.Context(), in.User, in.Tool, in.Hash, in.Effect); err != nil {
		reply(w, nil, err)
		return
	}
	s.getServers(w, r)
}
