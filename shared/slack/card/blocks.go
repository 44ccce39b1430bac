package card

import (
	"strings"

	"github.com/slack-go/slack"
)

// The colours of an attachment's bar.
const (
	yellow = "#f2c744" // generating
	blue   = "#2196f3" // a person must act
	green  = "#36a64f" // approved, completed
	red    = "#e01e5a" // rejected, failed
	navy   = "#1264a3" // running
	grey   = "#888888" // cancelled, expired
)

// The small texts and blocks below are made in some hundred places. Inlined there, they would take 20 KB of each
// function that draws cards.

// mrkdwn is a text in which Slack doesn't make links or mentions of its own.
//
//go:noinline
func mrkdwn(text string) *slack.TextBlockObject {
	return &slack.TextBlockObject{Type: slack.MarkdownType, Text: text, Verbatim: true}
}

// label is plain text for dialogs, without the member emoji.
//
//go:noinline
func label(text string) *slack.TextBlockObject {
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: text}
}

func emojiLabel(text string) *slack.TextBlockObject {
	t := true
	return &slack.TextBlockObject{Type: slack.PlainTextType, Text: text, Emoji: &t}
}

func header(text string) slack.Block { return slack.NewHeaderBlock(emojiLabel(text)) }

// Slack folds a longer text behind "see more" unless its section sets expand. Slack doesn't document the limit;
// attachments were folded after 700 characters or five line ends.
const (
	shortText  = 200 // characters
	shortLines = 4
)

// section shows a text completely, without a click on "see more".
func section(text string) slack.Block {
	return slack.NewSectionBlock(mrkdwn(text), nil, nil,
		slack.SectionBlockOptionExpand(units(text) > shortText || height(text) > shortLines))
}

func fields(texts ...string) slack.Block {
	out := make([]*slack.TextBlockObject, len(texts))
	for i, t := range texts {
		out[i] = mrkdwn(t)
	}
	return slack.NewSectionBlock(nil, out, nil)
}

//go:noinline
func divider() slack.Block { return slack.NewDividerBlock() }

//go:noinline
func contextLine(texts ...string) slack.Block {
	out := make([]slack.MixedElement, len(texts))
	for i, t := range texts {
		out[i] = mrkdwn(t)
	}
	return slack.NewContextBlock("", out...)
}

func button(text, action, value string, style slack.Style) *slack.ButtonBlockElement {
	b := slack.NewButtonBlockElement(action, ident(value), emojiLabel(text))
	return b.WithStyle(style)
}

// confirmed makes Slack ask for confirmation after a click on the button.
func confirmed(b *slack.ButtonBlockElement, title, text, yes, no string) *slack.ButtonBlockElement {
	return b.WithConfirm(&slack.ConfirmationBlockObject{Title: label(title), Text: label(text), Confirm: label(yes),
		Deny: label(no)})
}

// characters counts a block's texts as Slack does for the limit of a message.
func characters(b slack.Block) int {
	n := 0
	switch b := b.(type) {
	case *slack.SectionBlock:
		if b.Text != nil {
			n += units(b.Text.Text)
		}
		for _, f := range b.Fields {
			n += units(f.Text)
		}
	case *slack.ContextBlock:
		for _, e := range b.ContextElements.Elements {
			n += units(e.(*slack.TextBlockObject).Text)
		}
	case *slack.TableBlock:
		for _, row := range b.Rows {
			for _, c := range row {
				n += units(c.(*slack.TableRawTextCell).Text)
			}
		}
	}
	return n
}

// ident bounds an id for block_id, value and private_metadata.
func ident(id string) string { return cut(strings.ToValidUTF8(id, "?"), maxID) }
