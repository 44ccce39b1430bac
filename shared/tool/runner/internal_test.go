package runner

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/tool"

	"pgregory.net/rapid"
)

// A token goes nowhere but to its vendor.
func TestVendorsHaveTheirOwnAddresses(t *testing.T) {
	r := &Runner{}
	expect.Is(t, r.freee(tool.Call{}).wire.Base, "https://api.freee.co.jp/hr/api/v1")
	expect.Is(t, r.sheets(tool.Call{}).wire.Base, "https://sheets.googleapis.com/v4/spreadsheets")
}

// anyText draws texts of what Slack, cards or people could take for something else.
var anyText = rapid.Map(rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{
	"*太字*", "@channel", "<!channel>", "<@U0SANDSUZU>", "<#C0SANDHR>", "<https://evil.example|詳細>", "&lt;", "&amp;amp;",
	"&", "<", ">", "<@u1>",
	"_a_", "`x`", ":x:", "\n", "\n• 宛先: ", " ", "\t", "\u3000", "\u200b", "https://example.com/a_b*?x=1&y=2",
	"http://a@b.example/", "mailto:a@b.example", "𠮟", "<!date^1^{date}|x>", "|", "[x](https://a.example)",
}), rapid.StringN(0, 8, -1)), 1, 12), func(parts []string) string { return strings.Join(parts, "") })

// shown are the texts of a block's elements, of which only texts, people, channels and links to what they show are
// allowed.
func shown(t expect.T, b []byte) (lines []string) {
	var block struct {
		Elements []struct {
			Type     string
			Elements []json.RawMessage
		}
	}
	expect.NoError(t, json.Unmarshal(b, &block))
	for _, e := range block.Elements {
		if e.Type == "rich_text_list" {
			for _, item := range e.Elements {
				lines = append(lines, shown(t, []byte(`{"elements":[`+string(item)+`]}`))...)
			}
			continue
		}
		line := ""
		for _, raw := range e.Elements {
			var x struct {
				Type, Text, URL string
				User            string `json:"user_id"`
				Channel         string `json:"channel_id"`
				Style           any    // of a label
			}
			expect.NoError(t, json.Unmarshal(raw, &x))
			switch {
			case x.Type == "user":
				x.Text = "<@" + x.User + ">"
			case x.Type == "channel":
				x.Text = "<#" + x.Channel + ">"
			}
			expect.That(t, x.Type != "link" || x.Text == x.URL, "%s", raw)
			expect.That(t, x.Type != "text" || x.Style != nil || !written.MatchString(x.Text), "no name: %s", raw)
			line += x.Text
		}
		lines = append(lines, line)
	}
	return lines
}

// What a person stamped is what its receiver reads, in the message and in its notification: nothing in a text begins
// another detail, formats, or calls anybody.
func TestAMessageIsReadAsItWasStamped(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		text, label, value := anyText.Draw(r, "text"), anyText.Draw(r, "label"), anyText.Draw(r, "value")
		m := DirectMessage{Text: text, Details: []Detail{{label, value}, {"件数", json.Number("0.10")}, {"備考", nil}}}
		want := []string{text, label + ": " + value, "件数: 0.10", "備考: "}
		expect.Same(r, want, shown(r, expect.Value(json.Marshal(m.block()))(r)))
		said := m.text()
		expect.That(r, !strings.ContainsAny(written.ReplaceAllString(said, ""), "<>"), "%s", said)
		expect.Is(r, strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&").Replace(said), strings.Join(want, "\n• "))
	})
}

var written = regexp.MustCompile(`<(?:@U0SANDSUZU|#C0SANDHR)>`)

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

func TestAListMayBeAsLongAsTheCatalogSays(t *testing.T) {
	c := expect.Value(tool.Builtin())(t)
	for name, most := range map[string]int{
		"list_employees": maxPages * pageSize, "list_departments": maxDepartments, "list_positions": maxPositions,
	} {
		s, _ := c.Lookup(name)
		expect.Is(t, most, s.MaxRows, name)
	}
}
