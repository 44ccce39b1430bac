package large

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"ringi/shared/runtime/expect"
)

func TestPreviewKeepsEveryNameAndWhatIsShort(t *testing.T) {
	rows := strings.Repeat(`{"name":"`+strings.Repeat("長", 400)+`","hours":1.5},`, 41)
	got := preview(json.RawMessage(`{"columns":["a"],"rows":[` + rows + `{}],"spreadsheet_id":"<ringi>"}`))
	for _, want := range []string{`"spreadsheet_id":"<ringi>"`, `"hours":1.5`, `"… +41"`, `"columns":["a"]`} {
		expect.Has(t, got, want, "the preview lacks %s", want)
	}
}

// What is not seen is not kept while the preview is made, however much or deep it is.
func TestPreviewOfMuchIsSmall(t *testing.T) {
	many := func(n int, of string) string { return strings.TrimSuffix(strings.Repeat(of+",", n), ",") }
	for name, tt := range map[string]struct{ value, want string }{
		"a list of lists": {"[[" + many(300_000, `{}`) + "]," + many(4, "[1]") + "]", `[[{},"… +299999"],"… +4"]`},
		"an empty list":   {`{"rows":[],"n":null,"b":true}`, `{"b":true,"n":null,"rows":[]}`},
		"much nesting":    {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), strings.Repeat("[", maxPreview-3) + "..."},
		"no end":          {`{"a":[1,2`, `{"a":[1,2`},
		"no value":        {`{"a":}`, `{"a":}`},
		"no next element": {`{"a":[1,}`, `{"a":[1,}`},
	} {
		t.Run(name, func(t *testing.T) { expect.Same(t, tt.want, preview(json.RawMessage(tt.value))) })
	}
	var names []string
	for n := range 50_000 {
		names = append(names, fmt.Sprintf(`"n%d":{}`, n))
	}
	v := json.RawMessage("{" + strings.Join(names, ",") + "}")
	expect.That(t, strings.HasPrefix(preview(v), `{"n0":{},"n1":{},`), "%.40s", preview(v))
}

// Nor is it where many objects have a few members each. Names of the first level stay, whatever comes before them.
func TestPreviewOfManySmallObjectsIsSmall(t *testing.T) {
	var rows, row []string
	for n := range 500 {
		row = append(row, fmt.Sprintf(`"m%d":{"":1}`, n))
	}
	for n := range 1000 {
		rows = append(rows, fmt.Sprintf(`"n%d":{%s}`, n, strings.Join(row, ",")))
	}
	v := json.RawMessage("{" + strings.Join(rows, ",") + `,"a":7}`)
	p := previewed{json.NewDecoder(strings.NewReader(string(v))), maxPreview}
	x := expect.Value(p.value(0))(t)
	n := values(x)
	expect.That(t, n > maxPreview && n < 3*maxPreview, "%d values are kept for %d characters", n, maxPreview)
	expect.That(t, strings.HasPrefix(preview(v), `{"a":7,"n0":{"m0":{"":1},"m1":`), "%.60s", preview(v))
	expect.Same(t, map[string]any{"…": "+500"}, x.(map[string]any)["n9"])
}

func values(x any) (n int) {
	m, _ := x.(map[string]any)
	for _, member := range m {
		n += values(member)
	}
	return n + 1
}

func TestPreviewsMaskPersonalData(t *testing.T) {
	long := strings.Repeat("長", 110)
	v := json.RawMessage(`{"recipient":"hanako@example.com","text":"` + long +
		`hanako@example.com に","rows":[{"email":"ichiro@example.com","tel":"090-1234-5678"},{}],"my_number":"123456789018"}`)
	var members map[string]any
	expect.NoError(t, json.Unmarshal(v, &members))
	for name, test := range map[string]struct{ got, recipient string }{
		"a result": {preview(v), `"h*****@example.com"`}, "arguments": {previewArguments(members), `"hanako@example.com"`},
	} {
		expect.Has(t, test.got, `"recipient":`+test.recipient, "%s: the recipient is not %s", name, test.recipient)
		for _, leak := range []string{long + "hanako", "ichiro", "090-1234", "123456789018"} {
			expect.That(t, !strings.Contains(test.got, leak), "%s shows %s: %s", name, leak, test.got)
		}
	}
	expect.Is(t, preview(json.RawMessage(`hanako@example.com`)), "h*****@example.com", "no JSON")
}

// FuzzPreview checks that the preview of any result or argument is short text.
func FuzzPreview(f *testing.F) {
	long := strings.Repeat("長", 5000)
	for _, s := range []string{`{"recipient":"U1","rows":[{"a":1},2]}`, `{"a":1e99999,"a":{}}`,
		strings.Repeat("[", 12_000), strings.Repeat(`{"a":[`, 500), "\"\xff\"", `"\ud800"`, "[]x", "", "null",
		`{"` + long + `":1}`, long, `"` + long + `"`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, v []byte) {
		got := preview(v)
		n := utf8.RuneCountInString(got)
		expect.That(t, n <= maxPreview, "%d characters", n)
		expect.That(t, !json.Valid(v) || utf8.ValidString(got), "%q became %q", v, got)
	})
}
