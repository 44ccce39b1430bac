package card_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/card"
)

func x(n int) string { return strings.Repeat("x", n) }

func mrkdwn(s string) *slack.TextBlockObject {
	return &slack.TextBlockObject{Type: "mrkdwn", Text: s}
}

func plain(s string) *slack.TextBlockObject {
	return &slack.TextBlockObject{Type: "plain_text", Text: s}
}

func message(blocks ...slack.Block) card.Message {
	return card.Message{Text: "x", Attachments: []slack.Attachment{{Color: "#36a64f", Blocks: slack.Blocks{BlockSet: blocks}}}}
}

func many[T any](n int, item func(i int) T) []T {
	out := make([]T, n)
	for i := range out {
		out[i] = item(i)
	}
	return out
}

func press(edit func(b *slack.ButtonBlockElement)) card.Message {
	b := slack.NewButtonBlockElement("a", "v", plain("x"))
	edit(b)
	return message(slack.NewActionBlock("", b))
}

func confirm(edit func(c *slack.ConfirmationBlockObject)) card.Message {
	return press(func(b *slack.ButtonBlockElement) {
		b.Confirm = slack.NewConfirmationBlockObject(plain("x"), plain("x"), plain("x"), plain("x"))
		edit(b.Confirm)
	})
}

// TestEveryLimit holds each limit at n and at n+1 (texts and lists of a message).
func TestEveryLimit(t *testing.T) {
	for _, tc := range []struct {
		name    string
		n       int
		pointer string
		build   func(n int) card.Message
	}{
		{"fallback text", 4000, "/text", func(n int) card.Message { m := message(slack.NewDividerBlock()); m.Text = x(n); return m }},
		{"blocks", 16, "/attachments/0/blocks", func(n int) card.Message {
			return message(many(n, func(int) slack.Block { return slack.NewDividerBlock() })...)
		}},
		{"block_id", 255, "/attachments/0/blocks/0/block_id", func(n int) card.Message {
			return message(&slack.DividerBlock{Type: "divider", BlockID: x(n)})
		}},
		{"header", 150, "/attachments/0/blocks/0/text/text", func(n int) card.Message { return message(slack.NewHeaderBlock(plain(x(n)))) }},
		{"section text", 3000, "/attachments/0/blocks/0/text/text", func(n int) card.Message {
			return message(slack.NewSectionBlock(mrkdwn(x(n)), nil, nil))
		}},
		{"section fields", 10, "/attachments/0/blocks/0/fields", func(n int) card.Message {
			return message(slack.NewSectionBlock(nil, many(n, func(int) *slack.TextBlockObject { return mrkdwn("x") }), nil))
		}},
		{"field text", 2000, "/attachments/0/blocks/0/fields/0/text", func(n int) card.Message {
			return message(slack.NewSectionBlock(nil, []*slack.TextBlockObject{mrkdwn(x(n))}, nil))
		}},
		{"context elements", 10, "/attachments/0/blocks/0/elements", func(n int) card.Message {
			return message(slack.NewContextBlock("", many(n, func(int) slack.MixedElement { return mrkdwn("x") })...))
		}},
		{"context text", 3000, "/attachments/0/blocks/0/elements/0/text", func(n int) card.Message {
			return message(slack.NewContextBlock("", mrkdwn(x(n))))
		}},
		{"actions elements", 25, "/attachments/0/blocks/0/elements", func(n int) card.Message {
			return message(slack.NewActionBlock("", many(n, func(i int) slack.BlockElement {
				return slack.NewButtonBlockElement(fmt.Sprint("a", i), "", plain("x"))
			})...))
		}},
		{"button text", 75, "/attachments/0/blocks/0/elements/0/text/text", func(n int) card.Message {
			return press(func(b *slack.ButtonBlockElement) { b.Text = plain(x(n)) })
		}},
		{"button action_id", 255, "/attachments/0/blocks/0/elements/0/action_id", func(n int) card.Message {
			return press(func(b *slack.ButtonBlockElement) { b.ActionID = x(n) })
		}},
		{"button value", 2000, "/attachments/0/blocks/0/elements/0/value", func(n int) card.Message {
			return press(func(b *slack.ButtonBlockElement) { b.Value = x(n) })
		}},
		{"button url", 3000, "/attachments/0/blocks/0/elements/0/url", func(n int) card.Message {
			return press(func(b *slack.ButtonBlockElement) { b.URL = x(n) })
		}},
		{"button accessibility_label", 75, "/attachments/0/blocks/0/elements/0/accessibility_label", func(n int) card.Message {
			return press(func(b *slack.ButtonBlockElement) { b.AccessibilityLabel = x(n) })
		}},
		{"confirm title", 100, "/attachments/0/blocks/0/elements/0/confirm/title/text", func(n int) card.Message {
			return confirm(func(c *slack.ConfirmationBlockObject) { c.Title = plain(x(n)) })
		}},
		{"confirm text", 300, "/attachments/0/blocks/0/elements/0/confirm/text/text", func(n int) card.Message {
			return confirm(func(c *slack.ConfirmationBlockObject) { c.Text = plain(x(n)) })
		}},
		{"confirm confirm", 30, "/attachments/0/blocks/0/elements/0/confirm/confirm/text", func(n int) card.Message {
			return confirm(func(c *slack.ConfirmationBlockObject) { c.Confirm = plain(x(n)) })
		}},
		{"confirm deny", 30, "/attachments/0/blocks/0/elements/0/confirm/deny/text", func(n int) card.Message {
			return confirm(func(c *slack.ConfirmationBlockObject) { c.Deny = plain(x(n)) })
		}},
		{"all characters", 13000, "/attachments/0/blocks", func(n int) card.Message {
			return message(many(5, func(i int) slack.Block {
				size := 2600
				if i == 4 {
					size = n - 4*2600
				}
				return slack.NewSectionBlock(mrkdwn(x(size)), nil, nil)
			})...)
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if err := card.Validate(tc.build(tc.n)); err != nil {
				t.Errorf("%d are refused: %v", tc.n, err)
			}
			refused(t, card.Validate(tc.build(tc.n+1)), tc.pointer+": ", fmt.Sprint(tc.n))
		})
	}
}

func refused(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Error("accepted")
		return
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("%q does not name %q", err, p)
		}
	}
}

func TestWhatAMessageMustNotBe(t *testing.T) {
	bad := true
	header := func(o *slack.TextBlockObject) card.Message { return message(slack.NewHeaderBlock(o)) }
	for _, tc := range []struct {
		name    string
		m       card.Message
		pointer string
	}{
		{"no fallback text", card.Message{Attachments: message(slack.NewDividerBlock()).Attachments}, "/text"},
		{"no attachment", card.Message{Text: "x"}, "/attachments"},
		{"two attachments", card.Message{Text: "x", Attachments: make([]slack.Attachment, 2)}, "/attachments"},
		{"no colour", card.Message{Text: "x", Attachments: []slack.Attachment{{Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewDividerBlock()}}}}}, "/attachments/0/color"},
		{"text beside the blocks", card.Message{Text: "x", Attachments: []slack.Attachment{{Color: "#36a64f", Text: "x", Blocks: slack.Blocks{BlockSet: []slack.Block{slack.NewDividerBlock()}}}}}, "/attachments/0: "},
		{"no blocks", message(), "/attachments/0/blocks"},
		{"no block", message(nil), "/blocks/0/type"},
		{"a block that cards have not", message(slack.NewImageBlock("https://x.example/a.png", "x", "", nil)), "/blocks/0/type"},
		{"an input", message(slack.NewInputBlock("", plain("x"), nil, &slack.PlainTextInputBlockElement{ActionID: "a"})), "/blocks/0/type"},
		{"no header text", header(nil), "/blocks/0/text"},
		{"an empty header", header(plain("")), "/blocks/0/text/text"},
		{"a header that formats", header(mrkdwn("x")), "/blocks/0/text/type"},
		{"emoji in mrkdwn", message(slack.NewSectionBlock(&slack.TextBlockObject{Type: "mrkdwn", Text: "x", Emoji: &bad}, nil, nil)), "/blocks/0/text/emoji"},
		{"an empty section", message(slack.NewSectionBlock(nil, nil, nil)), "/blocks/0: "},
		{"an empty section text", message(slack.NewSectionBlock(mrkdwn(""), nil, nil)), "/blocks/0/text/text"},
		{"an empty field", message(slack.NewSectionBlock(nil, []*slack.TextBlockObject{mrkdwn("")}, nil)), "/blocks/0/fields/0/text"},
		{"invalid UTF-8", message(slack.NewSectionBlock(mrkdwn("\xff"), nil, nil)), "/blocks/0/text/text"},
		{"an accessory", message(slack.NewSectionBlock(mrkdwn("x"), nil, slack.NewAccessory(slack.NewImageBlockElement("https://x.example/a.png", "x")))), "/blocks/0/accessory"},
		{"an empty context", message(slack.NewContextBlock("")), "/blocks/0/elements"},
		{"an image in a context", message(slack.NewContextBlock("", slack.NewImageBlockElement("https://x.example/a.png", "x"))), "/blocks/0/elements/0"},
		{"no actions", message(slack.NewActionBlock("")), "/blocks/0/elements"},
		{"actions without a list", message(&slack.ActionBlock{Type: "actions"}), "/blocks/0/elements"},
		{"a select", message(slack.NewActionBlock("", slack.NewOverflowBlockElement("a"))), "/blocks/0/elements/0/type"},
		{"no action_id", press(func(b *slack.ButtonBlockElement) { b.ActionID = "" }), "/elements/0/action_id"},
		{"no button text", press(func(b *slack.ButtonBlockElement) { b.Text = nil }), "/elements/0/text"},
		{"a style", press(func(b *slack.ButtonBlockElement) { b.Style = "success" }), "/elements/0/style"},
		{"no confirm title", confirm(func(c *slack.ConfirmationBlockObject) { c.Title = nil }), "/confirm/title"},
		{"one action twice", message(slack.NewActionBlock("", slack.NewButtonBlockElement("a", "", plain("x")), slack.NewButtonBlockElement("a", "", plain("x")))), "/elements/1/action_id"},
		{"one block_id twice", message(&slack.DividerBlock{Type: "divider", BlockID: "b"}, &slack.DividerBlock{Type: "divider", BlockID: "b"}), "/blocks/1/block_id"},
	} {
		t.Run(tc.name, func(t *testing.T) { refused(t, card.Validate(tc.m), tc.pointer) })
	}
}

func TestEmojiCountAsSlackMayCountThem(t *testing.T) {
	refused(t, card.Validate(message(slack.NewHeaderBlock(plain(strings.Repeat("😀", 76))))), "/text/text", "152")
}
