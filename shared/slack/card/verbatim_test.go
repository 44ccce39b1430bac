package card

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/runtime/expect"
)

// FuzzFences: a text in code blocks is there sign by sign, or it is said that some is left out.
func FuzzFences(f *testing.F) {
	for _, s := range []string{
		`{"recipient":"U1","rows":[["a",1],["b",null]],"n":12345678901234567890}`, "{\"a\":\"```\\n<!channel> & \\u202e\"}", `{"a":{},"b":[],"c":[[]],"d":1e999999}`,
		`{"":"\ud800","\u0000":" "}`, strings.Repeat(`{"a":`, 60), `{"a":"` + strings.Repeat("長い", 2000) + `"}`, "not JSON ``` ✅", "{\"a\":\"\xff\"}", "{\"a\":\"葛\U000e0100\u200b\U000e0041\"}", "",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		pages, rest := fenced(visible(pretty(s)), maxSection, maxPages)
		expect.Must(t, len(pages) != 0 && len(pages) <= maxPages, "%d pages", len(pages))
		var all []string
		for _, p := range pages {
			inner, opened := strings.CutPrefix(p, "```\n")
			inner, closed := strings.CutSuffix(inner, "\n```")
			if !opened || !closed || strings.ContainsAny(inner, "`<>\u202e\u200b\x00") || units(p) > maxSection {
				t.Fatalf("a page of %d is %q", units(p), p)
			}
			all = append(all, strings.TrimSuffix(strings.ReplaceAll(inner, goesOn+"\n", ""), goesOn))
		}
		if rest || !json.Valid([]byte(s)) {
			return
		}
		shown := strings.NewReplacer("&amp;", "&", "&lt;", "<", "&gt;", ">").Replace(strings.ReplaceAll(strings.Join(all, ""), "\n", "")) // long lines are folded
		d := cmp.Diff(numbers(t, s), numbers(t, shown))
		expect.That(t, d == "", "%q is shown as %q: %s", s, shown, d)
	})
}

func numbers(t *testing.T, s string) (v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader([]byte(s)))
	d.UseNumber()
	err := d.Decode(&v)
	expect.Must(t, err == nil, "%q: %v", s, err)
	return v
}
