package lambda

import (
	"strings"
	"time"

	"ringi/infra/local/template"
)

// route is a route of the API. A part in braces matches any segment; {name+} at the end matches all remaining segments.
type route struct {
	function     string
	method, path string
	parts        []string
	timeout      time.Duration
}

func newRoute(function string, r template.Route) route {
	return route{function: function, method: r.Method, path: r.Path, parts: segments(r.Path), timeout: r.Timeout}
}

// key names the route as API Gateway does.
func (r route) key() string { return r.method + " " + r.path }

func segments(path string) []string { return strings.Split(strings.TrimPrefix(path, "/"), "/") }

// match reports whether the path fits, and returns its path parameters.
func (r route) match(path string) (map[string]string, bool) {
	parameters := map[string]string{}
	have := segments(path)
	for i, want := range r.parts {
		name, isParameter := strings.CutPrefix(want, "{")
		name = strings.TrimSuffix(name, "}")
		if greedy, ok := strings.CutSuffix(name, "+"); ok && isParameter {
			if len(have) <= i {
				return nil, false
			}
			parameters[greedy] = strings.Join(have[i:], "/")
			return parameters, true
		}
		if i >= len(have) || (isParameter && have[i] == "") || (!isParameter && have[i] != want) {
			return nil, false
		}
		if isParameter {
			parameters[name] = have[i]
		}
	}
	return parameters, len(have) == len(r.parts)
}

// weight ranks the routes that match a request. Exact paths come before paths with parameters, and those before greedy
// ones. On the same path, a method comes before ANY.
func (r route) weight() int {
	w := 0
	for _, part := range r.parts {
		switch {
		case strings.HasSuffix(part, "+}"):
			w -= 1000
		case !strings.HasPrefix(part, "{"):
			w += 2
		}
	}
	if r.method != "ANY" {
		w++
	}
	return w
}

func (g *Gateway) find(method, path string) (best route, parameters map[string]string, found bool) {
	for _, r := range g.routes {
		p, ok := r.match(path)
		if !ok || (r.method != "ANY" && r.method != method) {
			continue
		}
		if !found || r.weight() > best.weight() {
			best, parameters, found = r, p, true
		}
	}
	return best, parameters, found
}
