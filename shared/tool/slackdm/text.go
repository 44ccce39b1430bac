package slackdm

import (
	"fmt"
	"net/url"
	"regexp"
	"ringi/shared/explain"
	"strings"
	"unicode"

	"github.com/slack-go/slack"
)

// text returns the message as one text, for notifications and screen readers. Slack's control characters are escaped,
// and nothing else: it is sent as text without formatting.
func (m Message) text() string {
	var b strings.Builder
	b.WriteString(escape(m.Text))
	for _, d := range m.Details {
		b.WriteString("\n• " + escape(d.Label) + ": " + escape(d.value()))
	}
	if m.Below != "" {
		b.WriteString("\n" + m.Below)
	}
	return b.String()
}

var userForm = regexp.MustCompile(`^[UW][A-Z0-9]{2,40}$`)

// Below returns the line that says for whom a message is sent: who asked for it, and who approved it, unless nobody was
// asked to. It is empty if nobody is known to have asked. The card on which people approve shows this line.
func Below(locale, asked, stamped string) string {
	if !userForm.MatchString(asked) {
		return ""
	}
	by := explain.Automatic(locale)
	if userForm.MatchString(stamped) {
		by = "<@" + stamped + ">"
	}
	return explain.Sent(locale, "<@"+asked+">", by)
}

// blocks returns the message, and the line below it in Slack's small print, where no message can write.
func (m Message) blocks() []slack.Block {
	if m.Below == "" {
		return []slack.Block{m.block()}
	}
	below := &slack.TextBlockObject{Type: slack.MarkdownType, Text: m.Below, Verbatim: true}
	return []slack.Block{m.block(), slack.NewContextBlock("", below)}
}

var entities = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")

func escape(s string) string { return entities.Replace(s) }

// block returns the message as a block whose texts Slack shows as they are: no character in them formats, mentions,
// names an emoji, or ends a detail.
func (m Message) block() slack.Block {
	parts := []slack.RichTextElement{slack.NewRichTextSection(literal(m.Text)...)}
	var details []slack.RichTextElement
	for _, d := range m.Details {
		label := slack.NewRichTextSectionTextElement(d.Label+": ", &slack.RichTextSectionTextStyle{Bold: true})
		line := append([]slack.RichTextSectionElement{label}, literal(d.value())...)
		details = append(details, slack.NewRichTextSection(line...))
	}
	if details != nil {
		parts = append(parts, slack.NewRichTextList(slack.RTEListBullet, 0, details...))
	}
	return slack.NewRichTextBlock("", parts...)
}

// value is the detail's value as it was approved. Null has no characters.
func (d Detail) value() string {
	if d.Value == nil {
		return ""
	}
	return fmt.Sprint(d.Value)
}

// address finds web addresses in a text. They need not be followed by a space.
var address = regexp.MustCompile("https?://[^\\x00-\\x20<>|\"`\\x7f-\\x{10FFFF}]+")

// literal returns elements that show a text as it is. Web addresses in it are links to what they show.
func literal(text string) (out []slack.RichTextSectionElement) {
	add := func(s string) {
		if s != "" { // Slack refuses an empty element
			out = append(out, slack.NewRichTextSectionTextElement(s, nil))
		}
	}
	done := 0
	for _, at := range address.FindAllStringIndex(text, -1) {
		found := strings.TrimRight(text[at[0]:at[1]], ".,;:!?'")
		if !strings.Contains(found, "(") {
			found = strings.TrimRight(found, ".,;:!?')")
		}
		if links(found) {
			add(text[done:at[0]])
			out = append(out, slack.NewRichTextSectionLinkElement(found, found, nil))
			done = at[0] + len(found)
		}
	}
	add(text[done:])
	return out
}

// links reports whether a text is a web address that names no user, who could be mistaken for the host.
func links(value string) bool {
	u, err := url.Parse(value)
	odd := func(r rune) bool { return r > unicode.MaxASCII || r <= ' ' || strings.ContainsRune("<>|\"`", r) }
	return err == nil && u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http") &&
		!strings.ContainsFunc(value, odd)
}
