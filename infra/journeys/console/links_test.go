package console

import (
	"html"
	"maps"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
)

// mostOfAShape bounds the addresses of one shape that are opened: lists link to many.
const mostOfAShape = 2

var (
	linkOfPage = regexp.MustCompile(`href="(/console[^"#]*)`)
	anID       = regexp.MustCompile(`[0-9A-Z]{8,}|[0-9a-f]{8,}[0-9a-f-]*|[0-9]+`)
)

// followLinks opens pages, and everything that they and the pages behind them link to. Each must exist, and the console
// must be allowed to read what it shows. It returns the shapes of the opened addresses.
func followLinks(t *testing.T, from ...string) map[string]int {
	t.Helper()
	r, opened, seen := read(t, webapi.Suzuki), map[string]int{}, map[string]bool{}
	for len(from) > 0 {
		at := from[0]
		from = from[1:]
		shape := shapeOf(t, at)
		if seen[at] || opened[shape] == mostOfAShape {
			continue
		}
		seen[at] = true
		opened[shape]++
		for _, link := range linkOfPage.FindAllStringSubmatch(r.get(at), -1) {
			to := html.UnescapeString(link[1])
			if !strings.HasPrefix(to, "/console/signin") && !strings.HasSuffix(to, "/message") { // which leads to Slack
				from = append(from, to)
			}
		}
	}
	return opened
}

// shapeOf returns an address without what differs between pages of one kind.
func shapeOf(t *testing.T, at string) string {
	t.Helper()
	u := expect.Value(url.Parse(at))(t)
	return path.Clean(anID.ReplaceAllString(u.Path, "*")) + "?" + strings.Join(slices.Sorted(maps.Keys(u.Query())), "&")
}
