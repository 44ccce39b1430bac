package card_test

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// A label must not hide where a link leads, also where Markdown sees no code in what looks like some; and Slack, which takes
// no word against previews of what grows, must find no address to look at.
func TestNoLinkHidesWhereItLeadsWhileAnAnswerGrows(t *testing.T) {
	for about, text := range map[string]string{
		"an address":                    "see https://example.com/x now",
		"one in code":                   "`https://example.com/x` ```https://example.com/x```",
		"a link":                        "see [the invoice](https://example.com/x) now",
		"an image":                      "![](https://example.com/?q=1)",
		"by a reference":                "see [the invoice][1]\n\n[1]: https://example.com/x",
		"by its own name":               "see [the invoice]\n\n[the invoice]: https://example.com/x",
		"a fence that is within code":   "`` ``` `` [the invoice](https://example.com/x) `` ``` ``",
		"a fence behind a backslash":    "\\```[the invoice](https://example.com/x)\\```",
		"a reference in such a fence":   "\\```[the invoice][1]\\```\n\n[1]: https://example.com/x",
		"a fence that a line goes into": "a ``` b\n\n[the invoice](https://example.com/x)",
	} {
		got := card.Streamed(text)
		for _, link := range []string{"](", "][", "]:", "://"} {
			expect.That(t, !strings.Contains(got, link), "%s: %q is a link", about, got)
		}
		expect.That(t, strings.Contains(got, "https: //example.com/"), "%s: the address is gone from %q", about, got)
	}
}
