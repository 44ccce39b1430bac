package result

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPreviewKeepsEveryNameAndWhatIsShort(t *testing.T) {
	rows := strings.Repeat(`{"name":"`+strings.Repeat("長", 400)+`","hours":1.5},`, 41)
	got := preview(json.RawMessage(`{"columns":["a"],"rows":[` + rows + `{}],"spreadsheet_id":"<ringi>"}`))
	for _, want := range []string{`"spreadsheet_id":"<ringi>"`, `"hours":1.5`, `"… +41"`, `"columns":["a"]`} {
		if !strings.Contains(got, want) {
			t.Errorf("the preview lacks %s: %s", want, got)
		}
	}
}

func TestPreviewIsBounded(t *testing.T) {
	for name, v := range map[string]string{
		"a long name": `{"` + strings.Repeat("長", 5000) + `":1}`,
		"no JSON":     strings.Repeat("長", 5000),
		"a long text": `"` + strings.Repeat("長", 5000) + `"`,
	} {
		t.Run(name, func(t *testing.T) {
			if n := utf8.RuneCountInString(preview(json.RawMessage(v))); n > maxPreview {
				t.Errorf("%d characters", n)
			}
		})
	}
}
