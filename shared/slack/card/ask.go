package card

import (
	"fmt"
	"strings"
	"unicode/utf16"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/slack/slackapi/outgoing"
	"ringi/shared/words/legible"
)

// The ids that the dialog for a new request comes back with.
const (
	RequestCallback  = "ringi_request_modal"
	RequestTextBlock = "request_text"
	RequestText      = "request_text_input"
	RequestAtBlock   = "request_channel"
	RequestAt        = "request_channel_input"
)

// MaxTyped is how much Slack's field for a request takes, in characters.
const MaxTyped = 3000

// RequestModal asks what is requested and where its cards shall stand: by default the conversation in which the person
// is.
func RequestModal(locale string) slack.ModalViewRequest {
	w := askWordsOf(locale)
	text := &slack.PlainTextInputBlockElement{
		Type: slack.METPlainTextInput, ActionID: RequestText, Multiline: true, MaxLength: MaxTyped,
		Placeholder: label(w.TextPlaceholder),
	}
	at := slack.NewOptionsSelectBlockElement(slack.OptTypeConversations, label(w.AtPlaceholder), RequestAt)
	at.DefaultToCurrentConversation = true
	at.Filter = &slack.SelectBlockElementFilter{Include: []string{"public", "private"}}
	where := slack.NewInputBlock(RequestAtBlock, label(w.At), label(w.AtHint), at)
	where.Optional = true
	return modal(RequestCallback, w.Title, w.Submit, w.Close, "",
		slack.NewInputBlock(RequestTextBlock, label(w.Text), nil, text), where)
}

// maxTexts is how many fields the text of a message may take: together what a task keeps of one, and a little less.
const maxTexts = 13

// RequestOf is the message that a request is made of, as its dialog brings it back.
type RequestOf struct {
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Thread  string `json:"thread,omitempty"`
	Shown   string `json:"shown"` // the hash of what the dialog shows of it
}

// MessageRequestModal shows what is asked for where somebody makes a request of a message: the person sends what stands
// in it then. A text that is longer than a field goes on in the next.
func MessageRequestModal(locale, text string, of RequestOf) slack.ModalViewRequest {
	w := askWordsOf(locale)
	view := RequestModal(locale)
	view.Blocks.BlockSet = nil
	all := text
	for n := 0; n == 0 || text != "" && n < maxTexts; n++ {
		var part string
		part, text = cutTyped(text)
		field := &slack.PlainTextInputBlockElement{
			Type: slack.METPlainTextInput, ActionID: RequestText, Multiline: true, MaxLength: MaxTyped, InitialValue: part,
		}
		block := slack.NewInputBlock(requestField(n), label(w.TextGoesOn), nil, field)
		if block.Optional = n > 0; n == 0 {
			block.Label, block.Hint = label(w.Text), label(w.TextOfMessage)
		}
		view.Blocks.BlockSet = append(view.Blocks.BlockSet, block)
	}
	if text != "" {
		view.Blocks.BlockSet = append(view.Blocks.BlockSet, slack.NewContextBlock("", label(w.TextCut)))
	}
	of.Shown = aggregate.HashOf(Readable(strings.TrimSuffix(all, text)))
	view.PrivateMetadata = metadata(of)
	return view
}

// requestField is the block of a request's field.
func requestField(n int) string {
	if n == 0 {
		return RequestTextBlock
	}
	return fmt.Sprint(RequestTextBlock, "_", n+1)
}

// Readable is a text as a dialog shows it, and as the request then has it: invisible signs are dropped, and so are long
// runs of empty lines, behind which nobody looks.
func Readable(s string) string { return strings.TrimSpace(legible.Paragraphs(legible.Visible(s))) }

// RequestTyped joins the text of a request's fields; value returns that of one field.
func RequestTyped(value func(block string) string) string {
	var text strings.Builder
	for n := range maxTexts {
		text.WriteString(value(requestField(n)))
	}
	return Readable(text.String())
}

// cutTyped cuts off as much as one field takes. Slack counts in UTF-16, as browsers do.
func cutTyped(text string) (part, rest string) {
	units := 0
	for at, r := range text {
		if units += utf16.RuneLen(r); units > MaxTyped {
			return text[:at], text[at:]
		}
	}
	return text, ""
}

// maxAsked is how much of a request its first message repeats; the task has all of it.
const maxAsked = 2500

// Asked is the first message of a request that was made by a command or a dialog. The cards follow in its thread.
func Asked(locale, user, text string) Message {
	said := paragraph(text, maxAsked)
	said = "> " + strings.ReplaceAll(said, "\n", "\n> ")
	return outgoing.Message{Text: fill(askWordsOf(locale).Asked, "who", wordsOf(locale).mention(user), "text", said),
		Attachments: []slack.Attachment{}}
}

// AskNote is what a person is told about what they asked for.
type AskNote string

const (
	NoteAccepted    AskNote = "accepted"
	NoteElsewhere   AskNote = "elsewhere"   // accepted, in direct messages: Ringi can't post where the person is
	NoteRepeated    AskNote = "repeated"    // it is a request already
	NoteBegun       AskNote = "begun"       // the same was asked for before, and whether it is a request is not known
	NoteEmpty       AskNote = "empty"       // a message without a text
	NoteOwn         AskNote = "own"         // a message of Ringi's own
	NoteUnreachable AskNote = "unreachable" // Ringi isn't a member of the channel that was chosen
	NoteStranger    AskNote = "stranger"    // a guest, or somebody of another workspace
	NoteUnsure      AskNote = "unsure"      // Slack didn't say whether it was posted
	NoteFailed      AskNote = "failed"
	NoteTooLong     AskNote = "too_long"
	NoteCancelled   AskNote = "cancelled"
	NoteNoSuchTask  AskNote = "no_such_task"
	NoteForeign     AskNote = "foreign"      // a workspace that this deployment doesn't work for
	NoteOrgInstall  AskNote = "organization" // installed for a whole organization
	NoteHelp        AskNote = "help"
	NoteUnknown     AskNote = "unknown" // above the help
)

// Told is the sentence of a note; link is where it can be seen, or empty.
func (n AskNote) Told(locale, link string) string {
	w := askWordsOf(locale)
	text := fill(w.Notes[n], "max", MaxTyped)
	if link != "" && addressed(link) {
		text += " <" + escape(link) + "|" + w.Open + ">"
	}
	return text
}

// addressed reports whether a link may be shown: addresses of Slack, and of the local stand-in for Slack.
func addressed(link string) bool {
	return (strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://127.0.0.1:") ||
		strings.HasPrefix(link, "http://localhost:")) && !strings.ContainsAny(link, " <>|\n")
}
