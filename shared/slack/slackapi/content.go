package slackapi

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Message is a message as Slack sends it in events, with interactions and in threads. Parts of an unexpected form count
// as missing, since another app may have made them. Of its blocks only emoji are read, and no previews of links.
type Message struct {
	Text        string `json:"text"`
	Blocks      any    `json:"blocks"`
	Attachments any    `json:"attachments"`
	Files       any    `json:"files"`
}

// Content is what is read of a message.
type Content struct {
	Text      string // without Slack's escapes
	Forwarded []aggregate.Quoted
	Files     []aggregate.SharedFile // also those of what it forwards
	MoreFiles int                    // beyond MaxFiles
}

// Limits of a Content: forwarded messages, characters of each and of all together, and files.
const (
	MaxForwarded   = 20
	MaxQuoted      = 8000
	MaxQuotedOfAll = 20_000
	MaxFiles       = 20
	maxName        = 255 // bytes of a name
)

// Content reads the message. A forwarded message has is_share; other attachments, such as the preview of a link, are no
// part of it.
func (m Message) Content() Content {
	c := Content{Text: people(m.Text, m.Blocks)}
	left := MaxQuotedOfAll
	for _, a := range objects(m.Attachments) {
		if a["is_share"] != true {
			continue
		}
		if len(c.Forwarded) == MaxForwarded {
			c.Forwarded[MaxForwarded-1].Cut = true
			break
		}
		said, _ := a["text"].(string)
		whole := people(said, a["message_blocks"])
		q := aggregate.Quoted{User: cmp.Or(id(a["author_id"]), id(a["bot_id"])),
			Name: cmp.Or(name(a["author_name"]), name(a["author_subname"])), Where: where(a),
			Text: language.First(whole, min(MaxQuoted, left))}
		left -= utf8.RuneCountInString(q.Text)
		q.Cut = q.Text != whole
		if ts, ok := a["ts"].(string); ok {
			q.At, _ = aggregate.ParseTS(ts)
		}
		c.Forwarded = append(c.Forwarded, q)
		c.files(a["files"])
	}
	c.files(m.Files)
	return c
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
	var parts []string
	if c.Text != "" {
		parts = []string{c.Text}
	}
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

// QuotedBy names the author of a forwarded message, and where it was written.
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

// NameOfFile names a file with its type and size, as far as Slack says them.
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
	return language.FirstBytes(strings.Join(strings.Fields(language.Visible(Unescaped(text))), " "), maxName)
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

// marks are what a text marks for Slack, and what people see of it: dates where they can't be formatted, groups and
// channels by their labels, everybody. People and channels without a label stay as Slack refers to them.
var marks = []struct {
	form  language.Regexp
	shown string
}{
	{language.Regexp{Text: `<!date\^[^|<>]*\|([^<>]*)>`}, "$1"},
	{language.Regexp{Text: `<!subteam\^[A-Z0-9]+\|@?([^<>]+)>|<!(here|channel|everyone)(?:\|[^<>]*)?>`}, "@$1$2"},
	{language.Regexp{Text: `<#[A-Z0-9]+\|([^<>]+)>`}, "#$1"},
	{language.Regexp{Text: `<([@#][A-Z0-9]+)\|[^<>]*>`}, "<$1>"},
	{language.Regexp{Text: `:skin-tone-[2-6]:`}, ""}, // the emoji before it has it
}

var group = language.Regexp{Text: `<!subteam\^[A-Z0-9]+\|?>`} // without a label
var link = language.Regexp{Text: `(?i)<([a-z][a-z0-9+.-]*:[^|<>]+)(?:\|([^<>]+))?>`}

var unescaping = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// Unescaped reverses Slack's escapes of its three markup characters, which even plain texts have.
func Unescaped(text string) string { return unescaping.Replace(text) }

// people writes a text as people see it: without escapes and marks, and with the emoji of its blocks.
func people(text string, blocks any) string {
	text = strings.TrimSpace(text)
	for i := range marks {
		text = marks[i].form.Get().ReplaceAllString(text, marks[i].shown)
	}
	anyGroup := language.InEach("@グループ", "@group").In(language.Detect(text, language.All[0]))
	text = group.Get().ReplaceAllString(text, anyGroup)
	text = strings.NewReplacer(emoji(blocks)...).Replace(text)
	return Unescaped(link.Get().ReplaceAllStringFunc(text, func(of string) string {
		parts := link.Get().FindStringSubmatch(of)
		return linked(parts[1], parts[2])
	}))
}

// emoji returns the names of the emoji in blocks, each before its characters. A workspace's own emoji have none.
func emoji(blocks any) (pairs []string) {
	all, _ := blocks.([]any)
	of, _ := blocks.(map[string]any)
	for _, x := range slices.AppendSeq(all, maps.Values(of)) {
		pairs = append(pairs, emoji(x)...)
	}
	code, _ := of["unicode"].(string)
	if of["type"] != "emoji" || code == "" {
		return pairs
	}
	drawn := ""
	for point := range strings.SplitSeq(code, "-") {
		r, _ := strconv.ParseUint(point, 16, 32)
		drawn += string(rune(r))
	}
	return append(pairs, fmt.Sprintf(":%v:", of["name"]), drawn)
}

// linked returns a link with its label, unless that is its address.
func linked(url, label string) string {
	plain := func(s string) string {
		for _, scheme := range []string{"mailto:", "tel:", "https://", "http://"} {
			s = strings.TrimPrefix(s, scheme)
		}
		return strings.ToLower(strings.TrimSuffix(s, "/"))
	}
	if label == "" || plain(label) == plain(url) {
		return cmp.Or(label, url)
	}
	return label + " (" + url + ")"
}
