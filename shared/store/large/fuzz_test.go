package large

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"ringi/shared/runtime/expect"
)

// FuzzPreview checks that the preview of any result or argument is short text.
func FuzzPreview(f *testing.F) {
	for _, s := range []string{`{"recipient":"U1","rows":[{"a":1},2]}`, `{"a":1e99999,"a":{}}`, strings.Repeat("[", 12_000), strings.Repeat(`{"a":[`, 500), "\"\xff\"", `"\ud800"`, "[]x", "", "null", `{"` + strings.Repeat("長", 2000) + `":1}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		got := preview(v)
		if n := utf8.RuneCountInString(got); n > maxPreview {
			t.Errorf("%d characters", n)
		}
		expect.That(t, !json.Valid(v) || utf8.ValidString(got), "%q became %q", v, got)
	})
}
