package card

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

// mostEnclosed is how many forwarded messages, and how many files, a card lists; the request's page has all.
const mostEnclosed = 10

// enclosed says what was read of the request's thread, which messages it forwards, and what was read of its files.
func (d drawing) enclosed() []slack.Block {
	if d.a.Request == nil {
		return nil
	}
	var blocks []slack.Block
	for _, lines := range [][]string{{Thread(d.a.Request.Thread, d.w.Locale)}, d.forwarded(), d.files()} {
		blocks = append(blocks, small(lines).blocks...)
	}
	return blocks
}

// Thread says what was read of a thread, or that it could not be read. It is empty if nothing was left out or read.
func Thread(t *aggregate.Thread, locale string) string {
	w := wordsOf.In(locale)
	switch {
	case t == nil || *t == aggregate.Thread{}:
		return ""
	case t.Failed:
		return w.ThreadFailed
	}
	return strings.TrimSpace(fill(w.ThreadRead, "n", t.Read, "left", t.LeftOut(locale, "⚠️ ")))
}

func (d drawing) forwarded() (lines []string) {
	for _, q := range d.a.Request.Forwarded {
		who := inline(q.Name, maxTool)
		if who == "" && aggregate.IsPerson(q.User) {
			who = d.w.mention(q.User)
		}
		line := fill(d.w.Forwards, "who", or(who, "?"))
		if q.Text != "" {
			line += d.w.ForwardRead
		}
		lines = append(lines, line+d.w.unshown(q))
	}
	return d.fewer(lines)
}

// unshown says what of a forwarded message can't be read.
func (w *words) unshown(q aggregate.Quoted) string {
	switch {
	case q.Text == "":
		return w.ForwardHidden
	case q.Cut:
		return fill(w.ForwardCut, "n", len([]rune(q.Text)))
	}
	return ""
}

func (d drawing) files() []string {
	var lines []string
	_, all := d.a.Attached()
	for _, f := range all {
		if f.Left != "" || d.a.Matter() != nil {
			lines = append(lines, d.notAttached(f, maxHeader))
		}
	}
	return slices.Concat(d.eachFile(), d.fewer(lines), d.w.filesNotRead(d.a.Request))
}

// filesNotRead says how many files a request has beyond those that are read.
func (w *words) filesNotRead(r *task.Request) []string {
	if r.MoreFiles <= 0 {
		return nil
	}
	return []string{fill(w.FilesNotRead, "n", r.MoreFiles, "most", len(r.Files))}
}

// eachFile lists what can't be read first.
func (d drawing) eachFile() (read []string) {
	if d.a.Read() == nil {
		for _, f := range d.a.Listed() {
			read = append(read, fill(d.w.FileWaits, "name", fileName(d.w, f, maxHeader)))
		}
		return d.fewer(read)
	}
	for _, f := range d.a.Read().Files {
		if f.Why != "" || d.a.Matter() != nil && f.Left != "" { // said elsewhere
			continue
		}
		text := d.w.FileRead
		switch {
		case d.a.Matter() != nil:
			text = d.w.FileAttached
		case f.Shown < f.Characters:
			text = d.w.FilePart
		}
		line := fill(text, "name", fileName(d.w, f.SharedFile, maxHeader), "n", conversation.Grouped(f.Shown),
			"all", conversation.Grouped(f.Characters), "size", explain.Size(f.Bytes))
		for _, r := range f.Remarks {
			line += " " + explain.FileRemark(d.w.Locale, r)
		}
		read = append(read, line)
	}
	return d.fewer(append(d.unreadFiles(), read...))
}

// unreadFiles says which files' contents no draft has. Drafts of a form have none: of these it says nothing.
func (d drawing) unreadFiles() (lines []string) {
	if d.a.Read() == nil || d.a.Matter() != nil {
		return nil
	}
	for _, f := range d.a.Read().Files {
		if f.Why != "" {
			why := explain.UnreadFile(d.w.Locale, f.Why)
			lines = append(lines, fill(d.w.FileUnread, "name", fileName(d.w, f.SharedFile, maxHeader), "why", why))
		}
	}
	return lines
}

func (d drawing) fewer(lines []string) []string {
	if more := len(lines) - mostEnclosed; more > 0 {
		return append(lines[:mostEnclosed], fill(d.w.EnclosedMore, "n", more))
	}
	return lines
}

// leftUnread says what of a request was not read, for a reply that has no card.
func (d drawing) leftUnread() string {
	lines := []string{""}
	if r := d.a.Request; r != nil {
		if t := r.Thread; t != nil && (t.Failed || t.LeftOut(d.w.Locale, "") != "") {
			lines = append(lines, Thread(t, d.w.Locale))
		}
		lines = append(lines, d.w.filesNotRead(r)...)
	}
	return strings.Join(append(lines, d.unreadFiles()...), "\n")
}

// attached names the files that people can open beside a version, one a line and each whole, with a link to its page,
// and below them those that are not attached.
func (d drawing) attached(version task.Gated) body {
	files, left := d.a.AttachedTo(version)
	var lines []string
	for _, f := range files {
		lines = append(lines, fill(d.w.FileAttached, "name", fileName(d.w, f.SharedFile, everything), "size",
			explain.Size(f.Bytes)))
	}
	if n := len(lines); n > 0 {
		lines[n-1] += opens(Page(d.Console, d.a.Ref()), askWordsOf.In(d.w.Locale))
	}
	for _, f := range left {
		lines = append(lines, d.notAttached(f, everything))
	}
	if d.a.Request != nil {
		lines = append(lines, d.w.filesNotRead(d.a.Request)...)
	}
	return small(lines)
}

// notAttached says of a file that is not attached why it isn't.
func (d drawing) notAttached(f task.ReadFile, most int) string {
	return fill(d.w.FileNotAttached, "name", fileName(d.w, f.SharedFile, most), "why", explain.NotAttached(d.w.Locale, f))
}

// fileName sets a file's name apart from the words around it: in quotation marks, or as code if Slack would format it.
// Different names look different, unless one takes more than most units: then only its beginning is shown.
func fileName(w *words, f aggregate.SharedFile, most int) string {
	name := language.OneLine(cmp.Or(f.Name, f.ID, "?"))
	shown := asWritten(name)
	if units(shown) > most {
		return fill(w.Quoted, "text", or(inline(name, most), "?"))
	}
	if strings.HasPrefix(shown, " `") {
		return strings.TrimSpace(shown)
	}
	return fill(w.Quoted, "text", shown)
}

// small draws lines below one another in the blocks of a context, each line whole if a block can hold it.
func small(lines []string) (out body) {
	var text []string
	used := 0
	put := func() {
		out.blocks = append(out.blocks, contextOf([]string{strings.Join(text, "\n")})...)
		text, used = nil, 0
	}
	for _, line := range saying(lines) {
		if used+units(line) > maxSection {
			put()
		}
		shown := cut(line, maxSection)
		out.cut, text, used = out.cut || shown != line, append(text, shown), used+units(shown)+1
	}
	put()
	return out
}

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
func Readable(s string) string { return strings.TrimSpace(language.Paragraphs(language.Visible(s))) }

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
	return Message{Text: fill(askWordsOf.In(locale).Asked, "who", wordsOf.In(locale).mention(user), "text", said),
		Attachments: []slack.Attachment{}}
}

// AskNote names a note that tells a person what became of their request.
type AskNote string

const (
	NoteAccepted    AskNote = "accepted"
	NoteRepeated    AskNote = "repeated"    // the message already is a request
	NoteBegun       AskNote = "begun"       // asked before; whether it became a request is unknown
	NoteActs        AskNote = "acts"        // only buttons approve and cancel
	NoteEmpty       AskNote = "empty"       // a message without a text
	NoteOwn         AskNote = "own"         // one of Ringi's own messages
	NoteUnreachable AskNote = "unreachable" // Ringi isn't a member of the channel that was chosen
	NoteStranger    AskNote = "stranger"    // a guest, or a member of another workspace
	NoteUnsure      AskNote = "unsure"      // Slack didn't say whether it was posted
	NoteFailed      AskNote = "failed"
	NoteSlow        AskNote = "slow" // Slack took too long, so that nothing was made
	NoteTooLong     AskNote = "too_long"
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
