package runner

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// A detail is an item of a list: whatever its value has, nothing in it begins another detail, formats or calls anybody.
func TestADetailIsOneItem(t *testing.T) {
	m := DirectMessage{Text: "完了", Details: []Detail{{"残業", "3\n• 宛先: U0EVIL001 *x* :x: <!here>"},
		{"件数", json.Number("0.10")}, {"備考", nil}, {"空", ""}}}
	var block struct {
		Elements []struct {
			Type     string
			Elements []any
		}
	}
	b := expect.Value(json.Marshal(m.block()))(t)
	expect.NoError(t, json.Unmarshal(b, &block))
	expect.Must(t, len(block.Elements) == 2 && block.Elements[1].Type == "rich_text_list" &&
		len(block.Elements[1].Elements) == 4, "%s", b)
	want := "完了\n• 残業: 3\n• 宛先: U0EVIL001 *x* :x: <!here>\n• 件数: 0.10\n• 備考: \n• 空: "
	expect.Is(t, ReadText(m.text(), false).Shown, want)
}

// Only addresses become links, to exactly what they show.
func TestAnAddressLinks(t *testing.T) {
	for text, want := range map[string]string{
		"資料は https://example.com/a_b*?x=1&y=2 にあります":       "資料は |[https://example.com/a_b*?x=1&y=2]| にあります",
		"資料はhttps://example.com/aです (http://b.example/c).": "資料は|[https://example.com/a]|です (|[http://b.example/c]|).",
		"https://w.example/a_(b), *c*":                     "[https://w.example/a_(b)]|, *c*",
		"<https://evil.example|詳細> `x`":                    "<|[https://evil.example]||詳細> `x`",
		"https://bank.example@evil.example/ javascript:x":  "https://bank.example@evil.example/ javascript:x",
		"https://": "https://", "a  b": "a  b", "": "",
	} {
		var got []string
		for _, e := range literal(text) {
			var shown struct{ Type, Text, URL string }
			expect.NoError(t, json.Unmarshal(expect.Value(json.Marshal(e))(t), &shown))
			if shown.Type == "link" {
				expect.Is(t, shown.Text, shown.URL)
				shown.Text = "[" + shown.URL + "]"
			}
			got = append(got, shown.Text)
		}
		expect.Is(t, strings.Join(got, "|"), want, text)
	}
}
