package card

import (
	"strings"
	"unicode/utf16"

	"github.com/slack-go/slack"

	"ringi/shared/slack/slackapi/outgoing"
	"ringi/shared/words/legible"
)

// The callback, block and action ids of the dialog for a new request.
const (
	RequestCallback  = "ringi_request_modal"
	RequestTextBlock = "request_text"
	RequestText      = "request_text_input"
	RequestAtBlock   = "request_channel"
	RequestAt        = "request_channel_input"
)

// MaxTyped is how much Slack's field for a request takes, in characters.
const MaxTyped = 3000

// RequestModal asks for the request, which may begin with the text of a message, and for the place of its cards, by
// default the conversation that the person is in.
func RequestModal(locale, of string) slack.ModalViewRequest {
	w := askWordsOf.In(locale)
	text := &slack.PlainTextInputBlockElement{
		Type: slack.METPlainTextInput, ActionID: RequestText, Multiline: true, MaxLength: MaxTyped,
		Placeholder: label(w.TextPlaceholder), InitialValue: of,
	}
	return modal(RequestCallback, w.Title, w.Submit, w.Close, "",
		slack.NewInputBlock(RequestTextBlock, label(w.Text), nil, text), w.place())
}

// place is the field for the place of the cards.
func (w *askWords) place() slack.Block {
	at := slack.NewOptionsSelectBlockElement(slack.OptTypeConversations, label(w.AtPlaceholder), RequestAt)
	at.DefaultToCurrentConversation = true
	at.Filter = &slack.SelectBlockElementFilter{Include: []string{"public", "private"}}
	where := slack.NewInputBlock(RequestAtBlock, label(w.At), label(w.AtHint), at)
	where.Optional = true
	return where
}

// Readable removes invisible characters and long runs of empty lines from a text, since nobody would read what follows
// those. The dialog shows this text, and the request stores it.
func Readable(s string) string { return strings.TrimSpace(legible.Paragraphs(legible.Visible(s))) }

// TooLong reports whether the field for a request doesn't take a text.
func TooLong(text string) bool {
	_, rest := cutTyped(text)
	return rest != ""
}

// cutTyped splits off as much text as one field takes. Slack counts UTF-16 units, as browsers do.
func cutTyped(text string) (part, rest string) {
	units := 0
	for at, r := range text {
		if units += utf16.RuneLen(r); units > MaxTyped {
			return text[:at], text[at:]
		}
	}
	return text, ""
}

const maxAsked = 2500 // characters of a request that its first message repeats; the task stores all of it

// Asked is the message that begins the thread of a request made by a dialog.
func Asked(locale, user, text string) Message {
	said := "> " + strings.ReplaceAll(paragraph(text, maxAsked), "\n", "\n> ")
	return outgoing.Message{Text: fill(askWordsOf.In(locale).Asked, "who", wordsOf.In(locale).mention(user), "text", said),
		Attachments: []slack.Attachment{}}
}

// AskNote names a note that tells a person what became of their request.
type AskNote string

const (
	NoteAccepted    AskNote = "accepted"
	NoteRepeated    AskNote = "repeated"    // the message already is a request
	NoteBegun       AskNote = "begun"       // asked before; whether it became a request is unknown
	NoteEmpty       AskNote = "empty"       // a message without a text
	NoteOwn         AskNote = "own"         // one of Ringi's own messages
	NoteUnreachable AskNote = "unreachable" // Ringi isn't a member of the channel that was chosen
	NoteStranger    AskNote = "stranger"    // a guest, or a member of another workspace
	NoteUnsure      AskNote = "unsure"      // Slack didn't say whether it was posted
	NoteFailed      AskNote = "failed"
	NoteSlow        AskNote = "slow" // Slack took too long, so that nothing was made
	NoteTooLong     AskNote = "too_long"

	NoteForeign    AskNote = "foreign"      // a workspace that this deployment doesn't serve
	NoteOrgInstall AskNote = "organization" // installed for a whole organization
)

// Told returns the note's sentence.
func (n AskNote) Told(locale string) string {
	return fill(askWordsOf.In(locale).Notes[n], "max", MaxTyped)
}

// addressed reports whether a link leads to Slack or to the local sandbox; no other link is shown.
func addressed(link string) bool {
	return (strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://127.0.0.1:") ||
		strings.HasPrefix(link, "http://localhost:")) && !strings.ContainsAny(link, " <>|\n")
}
