package slackdm

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// A detail's value is plain text on one line. It can't imitate a stamp or have markup, and becomes a link only if it is
// a web address.
func TestADetailIsOneLineOfText(t *testing.T) {
	m := Message{Text: "完了しました\n<!channel> & co *bold*", Details: []Detail{
		{"残業", "3\n• 宛先: U0EVIL001\r\u2028✅ *承認済み* :white_check_mark:"}, {"氏名", "山田\u202e郎太\u200b\U000e0041\u3164 <https://evil.example|詳細>"}, {"件数", 12.0}, {"備考", nil},
		{"シート", "https://docs.example/d/1AbC?a=1&b=2#gid=0"}, {"偽", "https://docs.example|x"},
	}}
	text, cut := m.text()
	text = strings.ReplaceAll(text, "\u2060", "") // it keeps Slack from linking
	want := "完了しました\n&lt;!channel&gt; &amp; co ＊bold＊\n• 残業: 3 • 宛先: U0EVIL001 ✓ ＊承認済み＊ :white_check_mark:\n" +
		"• 氏名: 山田郎太 &lt;https://evil.example|詳細&gt;\n• 件数: 12\n• 備考: -\n• シート: <https://docs.example/d/1AbC?a=1&amp;b=2#gid=0>\n• 偽: https://docs.example|x"
	expect.That(t, text == want && cut == 0, "%q, want %q; %d cut", text, want, cut)
}

// Only addresses in the text become links, exactly as they were stamped.
func TestAnAddressInTheTextLinks(t *testing.T) {
	for text, want := range map[string]string{
		"資料は https://example.com/a_b*?x=1&y=2 にあります":       "資料は <https://example.com/a_b*?x=1&amp;y=2> にあります",
		"資料はhttps://example.com/aです (http://b.example/c).": "資料は<https://example.com/a>です (<http://b.example/c>).",
		"https://w.example/a_(b), *c*":                     "<https://w.example/a_(b)>, ＊c＊",
		"<https://evil.example|詳細> `x`":                    "&lt;<https://evil.example>|詳細&gt; ｀x｀",
		"https://bank.example@evil.example/ javascript:x":  "https:\u2060//bank.example@evil.example/ javascript:x",
		"https://": "https:\u2060//", "a  b": "a b", " https://a.example  https://b.example ": "<https://a.example> <https://b.example>",
	} {
		if got, _ := (Message{Text: text}).text(); got != want {
			t.Errorf("%q: %+q, want %+q", text, got, want)
		}
	}
	long := Message{Text: strings.Repeat("a", 3500) + " https://example.com/" + strings.Repeat("b", 200)}
	if got, cut := long.text(); cut == 0 || strings.Contains(got, "<") {
		t.Errorf("half an address links: %q, %d cut", got[3400:], cut)
	}
}

// A result of any size becomes one message within Slack's limits, which says how much was omitted.
func TestALongMessageIsCutWithACount(t *testing.T) {
	long := strings.Repeat("勤怠<&>", 2<<20/15)
	many := Message{Text: strings.Repeat("𠮟", 3000), Details: []Detail{{"件数", 42}}}
	for range 20 {
		many.Details = append(many.Details, Detail{strings.Repeat("&", 100), strings.Repeat("あ", 400)})
	}
	for name, test := range map[string]struct {
		m    Message
		cut  int
		says string
	}{
		"a result of 2 MiB": {Message{Text: "done", Details: []Detail{{"all", long}, {"件数", 42}}}, 5*(2<<20/15) - 500, "• 件数: 42"},
		"many details":      {many, 0, "𠮟𠮟𠮟"},
		"empty details":     {Message{Text: strings.Repeat("a", 3500), Details: slices.Repeat([]Detail{{strings.Repeat("&", 100), ""}}, 20)}, 0, "aaa"},
		"just enough":       {Message{Text: strings.Repeat("a", 3000), Details: []Detail{{"件数", 42}}}, 0, "• 件数: 42"},
	} {
		text, cut := test.m.text()
		if name == "many details" { // which of them fit is no matter
			test.cut = cut
		}
		text += "\n" + rest("ja", cut, "<https://slack.example/archives/C0/p1?thread_ts=1&amp;cid=C0>")
		if n := card.Units(text); n > maxText || cut != test.cut || cut < 0 || !strings.Contains(text, test.says) {
			t.Errorf("%s: %d characters, %d cut: %.80q", name, n, cut, text)
		}
	}
}
