package webapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// maxBody is the largest call that is read.
const maxBody = 4 << 20

// params are a call's arguments, from a form, a query or a JSON body. What
// Slack takes as JSON inside of a form field is decoded when it is asked for.
type params struct {
	token  string
	values map[string]any
}

func readParams(w http.ResponseWriter, r *http.Request) (params, error) {
	p := params{values: map[string]any{}}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if token, ok := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer "); ok {
		p.token = token
	}
	switch kind {
	case "application/json":
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return p, refuse("request_timeout")
		}
		if len(body) > 0 && json.Unmarshal(body, &p.values) != nil {
			return p, refuse("invalid_json")
		}
		return p, nil
	case "multipart/form-data":
		if err := r.ParseMultipartForm(maxBody); err != nil {
			return p, refuse("invalid_form_data")
		}
	default:
		if err := r.ParseForm(); err != nil {
			return p, refuse("invalid_form_data")
		}
	}
	for k, v := range r.Form {
		p.values[k] = v[0]
	}
	p.token = cmp.Or(p.token, p.str("token"))
	delete(p.values, "token")
	return p, nil
}

func (p params) str(name string) string {
	switch v := p.values[name].(type) {
	case string:
		return v
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return ""
}

func (p params) has(name string) bool {
	v, ok := p.values[name]
	return ok && v != nil
}

func (p params) flag(name string) bool {
	switch v := p.values[name].(type) {
	case bool:
		return v
	case string:
		return v == "true" || v == "1"
	}
	return false
}

// number is an integer argument, or fallback when it is absent or nonsense.
func (p params) number(name string, fallback int) int {
	if n, err := strconv.Atoi(p.str(name)); err == nil {
		return n
	}
	return fallback
}

// decoded is an argument that is JSON, or JSON in a string. nil is "not given".
func (p params) decoded(name string) (any, error) {
	v := p.values[name]
	s, ok := v.(string)
	if !ok {
		return v, nil
	}
	if s == "" || s == "null" {
		return nil, nil
	}
	var out any
	if err := json.Unmarshal([]byte(s), &out); err != nil {
		return nil, fmt.Errorf("decode %s: %w", name, err)
	}
	return out, nil
}

// list is a JSON array argument; anything else is refused with code and "_format".
func (p params) list(name, code string) ([]any, error) { return typed[[]any](p, name, code+"_format") }

// object is a JSON object argument; anything else is refused with code.
func (p params) object(name, code string) (map[string]any, error) {
	return typed[map[string]any](p, name, code)
}

// typed is an argument of a type, nothing when it is not given.
func typed[T any](p params, name, code string) (out T, err error) {
	v, err := p.decoded(name)
	if err == nil && v == nil {
		return out, nil
	}
	out, ok := v.(T)
	if !ok {
		return out, refuse(code)
	}
	return out, nil
}

// page cuts items for limit and cursor and adds response_metadata.
func page[T any](p params, items []T, fallback int) ([]T, reply, error) {
	start := 0
	if c := p.str("cursor"); c != "" {
		n, err := strconv.Atoi(strings.TrimPrefix(c, "next:"))
		if err != nil || !strings.HasPrefix(c, "next:") || n < 0 || n > len(items) {
			return nil, nil, refuse("invalid_cursor")
		}
		start = n
	}
	limit := p.number("limit", fallback)
	if limit <= 0 {
		limit = fallback
	}
	end := min(start+limit, len(items))
	next := ""
	if end < len(items) {
		next = fmt.Sprintf("next:%d", end)
	}
	return items[start:end], reply{"next_cursor": next}, nil
}
