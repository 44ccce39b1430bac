package card

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
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

	requestTypedBlock = "request_typed" // what was typed before the message changed
)

// MaxTyped is how much Slack's field for a request takes, in characters.
const MaxTyped = 3000

// RequestModal asks for the request and for the place of its cards, by default the conversation that the person is in.
func RequestModal(locale string) slack.ModalViewRequest {
	w := askWordsOf.In(locale)
	text := &slack.PlainTextInputBlockElement{
		Type: slack.METPlainTextInput, ActionID: RequestText, Multiline: true, MaxLength: MaxTyped,
		Placeholder: label(w.TextPlaceholder),
	}
	return modal(RequestCallback, w.Title, w.Submit, w.Close, "",
		slack.NewInputBlock(RequestTextBlock, label(w.Text), nil, text), w.place())
}

// place is the field for the place of the cards.
func (w *askWords) place() slack.Block { return w.placeAt("") }

// placeAt is place with a channel chosen; "" is where the form was opened.
func (w *askWords) placeAt(channel string) slack.Block {
	at := slack.NewOptionsSelectBlockElement(slack.OptTypeConversations, label(w.AtPlaceholder), RequestAt)
	at.InitialConversation, at.DefaultToCurrentConversation = channel, channel == ""
	at.Filter = &slack.SelectBlockElementFilter{Include: []string{"public", "private"}}
	where := slack.NewInputBlock(RequestAtBlock, label(w.At), label(w.AtHint), at)
	where.Optional = true
	return where
}

// maxTexts is how many fields the text of a message may fill. Together they hold slightly less than a task stores.
const maxTexts = 13

// RequestOf names the message that a request is made from. It is the dialog's private_metadata.
type RequestOf struct {
	Channel string `json:"channel"`
	TS      string `json:"ts"`
	Thread  string `json:"thread,omitempty"`
	User    string `json:"user,omitempty"` // who wrote it; empty for an app
	Shown   string `json:"shown"`          // hash of the text that the dialog shows
	// Authors wrote the messages that it forwards, and Files are its files, by their ids.
	Authors []string `json:"authors,omitempty"`
	Files   []string `json:"files,omitempty"`
	Owners  []string `json:"owners,omitempty"` // of the files, in their order; empty where Slack says none

	MoreFiles int `json:"more_files,omitempty"` // how many are not read
	// Again ends the ids of the dialog's fields that show the message anew: Slack keeps what was typed in a field whose
	// id it knows.
	Again string `json:"again,omitempty"`
}

// Wrote returns who wrote the messages that it forwards, and the message.
func (of RequestOf) Wrote() []string { return append(slices.Clone(of.Authors), of.User) }

// From returns whose words or files it has.
func (of RequestOf) From() []string {
	return slices.DeleteFunc(append(of.Wrote(), of.Owners...), func(id string) bool { return id == "" })
}

// SharedFiles returns the message's files, of which only the ids and the owners are known.
func (of RequestOf) SharedFiles() (files []aggregate.SharedFile) {
	for i, id := range of.Files {
		f := aggregate.SharedFile{ID: id, User: of.User}
		if i < len(of.Owners) && of.Owners[i] != "" {
			f.User = of.Owners[i]
		}
		files = append(files, f)
	}
	return files
}

// MessageRequestModal shows the text of a message that somebody turns into a request. The person may edit it before
// sending. A text that is too long for one field continues in the next.
func MessageRequestModal(locale, text string, of RequestOf) slack.ModalViewRequest {
	w := askWordsOf.In(locale)
	view := RequestModal(locale)
	fields, rest := w.textFields(RequestTextBlock, of.Again, text)
	fields[0].Optional, fields[0].Label, fields[0].Hint = false, label(w.Text), label(w.TextOfMessage)
	view.Blocks.BlockSet = nil
	for _, field := range fields {
		view.Blocks.BlockSet = append(view.Blocks.BlockSet, field)
	}
	if rest != "" {
		view.Blocks.BlockSet = append(view.Blocks.BlockSet, slack.NewContextBlock("", label(w.TextCut)))
	}
	of.Shown = aggregate.HashOf(Readable(strings.TrimSuffix(text, rest)))
	view.PrivateMetadata = metadata(of)
	return view
}

// textFields shows a text in as many fields as it needs, one at least, and returns what they don't hold.
func (w *askWords) textFields(block, again, text string) (fields []*slack.InputBlock, rest string) {
	for n := 0; n == 0 || text != "" && n < maxTexts; n++ {
		var part string
		part, text = cutTyped(text)
		field := slack.NewInputBlock(fieldOf(block, n)+again, label(w.TextGoesOn), nil, &slack.PlainTextInputBlockElement{
			Type: slack.METPlainTextInput, ActionID: RequestText, Multiline: true, MaxLength: MaxTyped, InitialValue: part,
		})
		field.Optional = true
		fields = append(fields, field)
	}
	return fields, text
}

// ChangedRequestModal is MessageRequestModal for a message that has changed since a dialog showed it, and says so. What
// the person typed stands below, in fields that nothing is made of. It returns nil if the message is what was shown.
func ChangedRequestModal(locale, text, typed string, now, shown RequestOf) *slack.ModalViewRequest {
	view := MessageRequestModal(locale, text, now)
	if view.PrivateMetadata == metadata(shown) {
		return nil
	}
	now.Again = "_" + aggregate.HashOf(text)[:8]
	view = MessageRequestModal(locale, text, now)
	w := askWordsOf.In(locale)
	note := slack.NewSectionBlock(label(w.TextChanged), nil, nil)
	view.Blocks.BlockSet = slices.Insert(view.Blocks.BlockSet, 0, slack.Block(note))
	if typed == "" {
		return &view
	}
	fields, _ := w.textFields(requestTypedBlock, now.Again, typed)
	fields[0].Label, fields[0].Hint = label(w.TextTyped), label(w.TextTypedHint)
	for _, field := range fields {
		view.Blocks.BlockSet = append(view.Blocks.BlockSet, field)
	}
	return &view
}

func fieldOf(block string, n int) string {
	if n == 0 {
		return block
	}
	return fmt.Sprint(block, "_", n+1)
}

// Readable removes invisible characters and long runs of empty lines from a text, since nobody would read what follows
// those. The dialog shows this text, and the request stores it.
func Readable(s string) string { return strings.TrimSpace(legible.Paragraphs(legible.Visible(s))) }

// RequestTyped joins the text of a request's fields. value returns the text of one field.
func RequestTyped(value func(block string) string) string { return joined(RequestTextBlock, value) }

// RequestTypedBefore is RequestTyped of what was typed before the message changed.
func RequestTypedBefore(value func(block string) string) string {
	return joined(requestTypedBlock, value)
}

func joined(block string, value func(block string) string) string {
	var text strings.Builder
	for n := range maxTexts {
		text.WriteString(value(fieldOf(block, n)))
	}
	return Readable(text.String())
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

// Asked is the message that begins the thread of a request made by a command or a dialog.
func Asked(locale, user, text string) Message {
	said := "> " + strings.ReplaceAll(paragraph(text, maxAsked), "\n", "\n> ")
	return outgoing.Message{Text: fill(askWordsOf.In(locale).Asked, "who", wordsOf.In(locale).mention(user), "text", said),
		Attachments: []slack.Attachment{}}
}

// AskNote names a note that tells a person what became of their request.
type AskNote string

const (
	NoteAccepted    AskNote = "accepted"
	NoteElsewhere   AskNote = "elsewhere"   // accepted, in direct messages, since Ringi can't post there
	NoteRepeated    AskNote = "repeated"    // the message already is a request
	NoteBegun       AskNote = "begun"       // asked before; whether it became a request is unknown
	NoteEmpty       AskNote = "empty"       // a message without a text
	NoteShown       AskNote = "shown"       // nothing but code, a quote or what is struck through
	NoteGone        AskNote = "gone"        // the message was deleted while its dialog was open
	NoteOwn         AskNote = "own"         // one of Ringi's own messages
	NoteUnreachable AskNote = "unreachable" // Ringi isn't a member of the channel that was chosen
	NoteStranger    AskNote = "stranger"    // a guest, or a member of another workspace
	NoteUnsure      AskNote = "unsure"      // Slack didn't say whether it was posted
	NoteFailed      AskNote = "failed"
	NoteSlow        AskNote = "slow" // Slack took too long, so that nothing was made
	NoteTooLong     AskNote = "too_long"

	NoteCancelled  AskNote = "cancelled"
	NoteNoSuchTask AskNote = "no_such_task"
	NoteNoNumber   AskNote = "no_such_number" // that this person may read
	NoteForeign    AskNote = "foreign"        // a workspace that this deployment doesn't serve
	NoteOrgInstall AskNote = "organization"   // installed for a whole organization
	NoteHelp       AskNote = "help"
	NoteUnknown    AskNote = "unknown" // above the help
)

// Told returns the note's sentence, followed by link unless that is empty.
func (n AskNote) Told(locale, link string) string {
	w := askWordsOf.In(locale)
	return w.linked(fill(w.Notes[n], "max", MaxTyped), link)
}

// NumberOf says what a number is of.
type NumberOf string

const (
	NumberOfDecision NumberOf = "decision"
	NumberOfRequest  NumberOf = "request"
	NumberOfDocument NumberOf = "document"
)

// Numbered answers who looked for something by its number: with the title, and a link to it.
func Numbered(locale string, of NumberOf, number, title, link string) string {
	w := askWordsOf.In(locale)
	return w.linked(fill(w.Numbered[of], "number", number, "title", inline(title, maxReason)), link)
}

func (w *askWords) linked(text, link string) string {
	return text + strings.TrimPrefix(opens(link, w), " ·")
}

// addressed reports whether a link leads to Slack or to the local sandbox; no other link is shown.
func addressed(link string) bool {
	return (strings.HasPrefix(link, "https://") || strings.HasPrefix(link, "http://127.0.0.1:") ||
		strings.HasPrefix(link, "http://localhost:")) && !strings.ContainsAny(link, " <>|\n")
}
