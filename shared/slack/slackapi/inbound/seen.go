package inbound

import (
	"fmt"
	"strings"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Message has what people see of a message, as Slack sends it in events, with interactions and in threads. Parts of an
// unexpected form count as missing, since another app may have made them.
type Message struct {
	Text        string `json:"text"`
	Blocks      any    `json:"blocks"`
	Attachments any    `json:"attachments"`
	Files       any    `json:"files"`
}

// Content is what people see of a message.
type Content struct {
	Text      string // without Slack's escapes
	Forwarded []aggregate.Quoted
	Files     []aggregate.SharedFile // also those of what it forwards
	MoreFiles int                    // beyond MaxFiles
}

// Limits of a Content: forwarded messages, characters of each and of all together, and files.
const (
	MaxForwarded    = 20
	MaxQuoted       = 8000
	MaxQuotedOfAll  = 20_000
	MaxFiles        = 20
	maxName         = 255 // bytes of a name
	maxForwardDepth = 3   // a forwarded message may forward another
)

// Content reads the message. Slack shows a message's blocks; its text, which an app may choose freely, is for
// notifications and counts only if there are no blocks. In people's messages both say the same.
//
// A forwarded message has is_share. A link to a message, which Slack only previews, has is_msg_unfurl and from_url as
// a forwarded one does, but no is_share. Previews are no part of a message that shows anything else.
func (m Message) Content() Content {
	var c Content
	own, previews := sight{locale: language.Detect(m.Text, language.English)},
		sight{locale: language.Detect(m.Text, language.English)}
	own.lines = lines(shown(m.Text, m.Blocks))
	for _, a := range objects(m.Attachments) {
		switch {
		case a["is_share"] == true:
			c.forward(a, 1)
		case a["from_url"] != nil || a["original_url"] != nil || a["is_msg_unfurl"] == true || a["is_app_unfurl"] == true:
			previews.attachment(a)
		default:
			own.attachment(a)
		}
	}
	c.files(m.Files)
	if len(own.lines) == 0 && len(c.Forwarded) == 0 && len(c.Files) == 0 {
		own = previews
	}
	c.Text = strings.Join(own.lines, "\n")
	return c
}

// forward reads a forwarded message and those that it forwards itself.
func (c *Content) forward(a map[string]any, depth int) {
	if n := len(c.Forwarded); n >= MaxForwarded || depth > maxForwardDepth {
		c.Forwarded[n-1].Cut = true
		return
	}
	left := MaxQuotedOfAll
	for _, q := range c.Forwarded {
		left -= len([]rune(q.Text))
	}
	said, _ := a["text"].(string)
	s := sight{locale: language.Detect(said, language.English)}
	s.shared(a)
	whole := strings.Join(s.lines, "\n")
	q := aggregate.Quoted{User: id(a["author_id"]), Name: name(a["author_name"]), Where: where(a),
		Text: legible.First(whole, min(MaxQuoted, left))}
	if q.User == "" {
		q.User = id(a["bot_id"])
	}
	if q.Name == "" {
		q.Name = name(a["author_subname"])
	}
	q.Cut = q.Text != whole
	if ts, ok := a["ts"].(string); ok {
		q.At, _ = aggregate.ParseTS(ts)
	}
	c.Forwarded = append(c.Forwarded, q)
	c.files(a["files"])
	for _, inner := range messages(a) {
		c.files(inner["files"])
		for _, x := range objects(inner["attachments"]) {
			if x["is_share"] == true {
				c.forward(x, depth+1)
			}
		}
	}
}

// files adds files that are not there yet. Of a deleted one Slack leaves a tombstone with its id.
func (c *Content) files(list any) {
	for _, f := range objects(list) {
		if f["mode"] == "tombstone" {
			continue
		}
		x := aggregate.SharedFile{ID: id(f["id"]), Name: name(f["name"]), Type: name(f["mimetype"]), User: id(f["user"])}
		if x.Name == "" {
			x.Name = name(f["title"])
		}
		if size, ok := f["size"].(float64); ok && size > 0 && size < 1<<50 {
			x.Bytes = int64(size)
		}
		known := x.ID == ""
		for _, other := range c.Files {
			known = known || other.ID == x.ID
		}
		switch {
		case known:
		case len(c.Files) < MaxFiles:
			c.Files = append(c.Files, x)
		default:
			c.MoreFiles++
		}
	}
}

// Whole returns the content as one text, in which quotes and files have lines of their own.
func (c Content) Whole() string {
	parts := lines(c.Text)
	for _, q := range c.Forwarded {
		said := q.Text
		if q.Cut {
			said += " …"
		}
		parts = append(parts, "> "+strings.ReplaceAll(strings.TrimSpace(QuotedBy(q)+":\n"+said), "\n", "\n> "))
	}
	for _, f := range c.Files {
		parts = append(parts, "📎 "+NameOfFile(f))
	}
	return strings.Join(parts, "\n")
}

// By names the author of a forwarded message, and where it was written.
func QuotedBy(q aggregate.Quoted) string {
	var parts []string
	add := func(s string) {
		if s != "" {
			parts = append(parts, s)
		}
	}
	add(q.Name)
	if strings.HasPrefix(q.User, "U") || strings.HasPrefix(q.User, "W") {
		add("<@" + q.User + ">")
	}
	add(q.Where)
	if len(parts) == 0 {
		return "?"
	}
	return strings.Join(parts, " ")
}

// Named names a file with its type and size, as far as Slack says them.
func NameOfFile(f aggregate.SharedFile) string {
	of := f.Name
	if of == "" {
		of = f.ID
	}
	var more []string
	if f.Type != "" {
		more = append(more, f.Type)
	}
	if f.Bytes > 0 {
		more = append(more, fmt.Sprintf("%d bytes", f.Bytes))
	}
	if more == nil {
		return of
	}
	return of + " (" + strings.Join(more, ", ") + ")"
}

// id returns an id of Slack's, or "" for what can't be one.
func id(v any) string {
	text, _ := v.(string)
	if !idForm.Get().MatchString(text) {
		return ""
	}
	return text
}

// FileName returns a file's name, as a dialog has it, on one line.
func FileName(text string) string { return name(text) }

// name returns a name on one line.
func name(v any) string {
	text, _ := v.(string)
	return legible.FirstBytes(strings.Join(strings.Fields(legible.Visible(Unescaped(text))), " "), maxName)
}

// where names the channel that a forwarded message was written in.
func where(a map[string]any) string {
	switch of, channel := name(a["channel_name"]), id(a["channel_id"]); {
	case of != "" && plainChannel.Get().MatchString(of):
		return "#" + of
	case of != "":
		return of
	case channel != "":
		return "<#" + channel + ">"
	}
	return ""
}

var plainChannel = language.Regexp{Text: `^[^\s#A-Z]+$`} // Slack's other names are like "Direct Message"

// lines returns a text as the lines of a sight.
func lines(text string) []string {
	if text == "" {
		return nil
	}
	return []string{text}
}

// BlockIDs returns the ids of the blocks in the message's attachments.
func (m Message) BlockIDs() (ids []string) {
	for _, a := range objects(m.Attachments) {
		for _, b := range objects(a["blocks"]) {
			id, _ := b["block_id"].(string)
			ids = append(ids, id)
		}
	}
	return ids
}

// objects returns the objects of a list.
func objects(v any) (out []map[string]any) {
	all, _ := v.([]any)
	for _, x := range all {
		if o, ok := x.(map[string]any); ok {
			out = append(out, o)
		}
	}
	return out
}

// messages returns the messages whose blocks a forwarded message has.
func messages(a map[string]any) (out []map[string]any) {
	for _, x := range objects(a["message_blocks"]) {
		if m, ok := x["message"].(map[string]any); ok {
			out = append(out, m)
		}
	}
	return out
}

// Typed returns what people typed, as Slack's clients send it in rich_text blocks; "" for a message without them.
func (m Message) Typed() string { return m.typed(false) }

// Given returns what people say in a message themselves: without what they only show, as code, in a quote or struck
// through. What they typed counts; the text counts for messages that have no rich text.
func (m Message) Given() string {
	if m.Typed() == "" {
		return strings.TrimSpace(withoutMarked(m.Text))
	}
	return m.typed(true)
}

func (m Message) typed(given bool) string {
	s := sight{given: given}
	for _, b := range objects(m.Blocks) {
		if b["type"] == "rich_text" {
			s.rich(b)
		}
	}
	return strings.Join(s.lines, "\n")
}

// SaysSomething reports whether a text has anything that a request may consist of: a letter, a digit or an emoji.
func SaysSomething(text string) bool {
	return strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.Is(unicode.So, r)
	})
}

var (
	fenced = language.Regexp{Text: "(?s)```.+?```"}
	coded  = language.Regexp{Text: "`[^`\n]+`"}
	// quotedRest is a quote of everything that follows, quoted of one line. Slack escapes the mark.
	quotedRest = language.Regexp{Text: `(?ms)^[ \t]*(?:&gt;|>){3}.*\z`}
	quoted     = language.Regexp{Text: `(?m)^[ \t]*(?:&gt;|>).*$`}
	// struck stands between marks that touch the text and no other word: "4/1~4/15" has none.
	struck = language.Regexp{Text: `(^|[^\pL\pN~<|/])~[^\s~](?:[^~\n]*[^\s~])?~($|[^\pL\pN~])`}
	// struckInFile is how shared/model/round marks it.
	struckInFile = language.Regexp{Text: `~~[^~\n]+~~`}
)

// withoutMarked removes what a text marks as code, as a quote or as struck through.
func withoutMarked(text string) string {
	for _, shown := range []*language.Regexp{&fenced, &quotedRest, &quoted, &coded} {
		text = shown.Get().ReplaceAllString(text, " ")
	}
	return struck.Get().ReplaceAllString(text, "$1 $2")
}

// WithoutStruck removes what a forwarded message (~) or a file (~~) strikes through.
func WithoutStruck(text string) string {
	return struck.Get().ReplaceAllString(struckInFile.Get().ReplaceAllString(text, " "), "$1 $2")
}

var (
	// dated is a date with what people see where it can't be formatted, labelled a group or link with its label.
	dated    = language.Regexp{Text: `<!date\^[^|<>]*\|([^<>]*)>`}
	labelled = language.Regexp{Text: `<!subteam\^[A-Z0-9]+\|(@?[^<>]+)>`}
	link     = language.Regexp{Text: `<((?:https?://|mailto:|tel:)[^|<>]+)(?:\|([^<>]+))?>`}
)

// people writes what a text marks for Slack as people see it.
func people(text string) string {
	text = dated.Get().ReplaceAllString(text, "$1")
	text = labelled.Get().ReplaceAllString(text, "$1")
	return link.Get().ReplaceAllStringFunc(text, func(of string) string {
		parts := link.Get().FindStringSubmatch(of)
		return linked(parts[1], parts[2])
	})
}
