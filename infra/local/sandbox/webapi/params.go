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

// maxBody is the maximum size of a call.
const maxBody = 4 << 20

// params are a call's arguments from a form, a query or a JSON body. JSON inside a form field is decoded when it is
// read.
type params struct {
	token  string
	host   string // to which the call was sent
	values map[string]any
}

func readParams(w http.ResponseWriter, r *http.Request) (params, error) {
	p := params{values: map[string]any{}, host: r.Host}
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

// number returns an integer argument, or fallback if it is absent or invalid.
func (p params) number(name string, fallback int) int {
	if n, err := strconv.Atoi(p.str(name)); err == nil {
		return n
	}
	return fallback
}

// decoded returns an argument that is JSON, or JSON in a string. It returns nil if the argument is absent.
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

// list returns an argument that is a JSON array. It refuses anything else with code and "_format".
func (p params) list(name, code string) ([]any, error) { return typed[[]any](p, name, code+"_format") }

// object returns an argument that is a JSON object. It refuses anything else with code.
func (p params) object(name, code string) (map[string]any, error) {
	return typed[map[string]any](p, name, code)
}

// typed returns an argument of type T, or the zero value if it is absent.
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

// page returns the items selected by limit and cursor, and the response_metadata.
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
