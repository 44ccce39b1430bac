package seen

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

var unescaping = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&amp;", "&")

// Unescaped reverses Slack's escapes of its three markup characters, which even plain texts have.
func Unescaped(text string) string { return unescaping.Replace(text) }

// shown returns what Slack shows of a text and the blocks beside it: the blocks. If both say the same, it is the text,
// which keeps the marks of bold print, quotes and code.
func shown(text string, blocks any) string {
	var s sight
	s.block(blocks)
	plain, drawn := strings.TrimSpace(Unescaped(text)), strings.Join(s.lines, "\n")
	if drawn == "" || letters(drawn) == letters(plain) {
		return plain
	}
	return drawn
}

// letters returns a text's letters and digits.
func letters(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return -1
	}, s)
}

type sight struct {
	lines []string
	given bool // of what people type it reads only what they say themselves
}

func (s *sight) add(line string) {
	if line = strings.TrimSpace(line); line != "" {
		s.lines = append(s.lines, line)
	}
}

// attachment reads a legacy attachment: its blocks, or without blocks its fields.
func (s *sight) attachment(a map[string]any) {
	before := len(s.lines)
	if s.block(a["blocks"]); len(s.lines) > before {
		return
	}
	for _, key := range []string{"pretext", "author_name", "title", "text"} {
		s.add(plainOf(a[key]))
	}
	s.fields(a)
	s.add(plainOf(a["footer"]))
	if len(s.lines) == before {
		s.add(plainOf(a["fallback"]))
	}
}

func (s *sight) fields(a map[string]any) {
	for _, f := range objects(a["fields"]) {
		s.add(strings.Trim(plainOf(f["title"])+": "+plainOf(f["value"]), ": "))
	}
}

// shared reads a forwarded message without its author, and without the footer, in which Slack says where it was.
func (s *sight) shared(a map[string]any) {
	var blocks []any
	inner := messages(a)
	for _, m := range inner {
		blocks = append(blocks, m["blocks"])
	}
	text, _ := a["text"].(string)
	if len(inner) == 0 {
		blocks = append(blocks, a["blocks"])
	}
	s.add(plainOf(a["pretext"]))
	s.add(plainOf(a["title"]))
	s.add(shown(text, blocks))
	s.fields(a)
	for _, m := range inner { // what an app attached to it
		for _, x := range objects(m["attachments"]) {
			if x["is_share"] != true && x["from_url"] == nil {
				s.attachment(x)
			}
		}
	}
	if len(s.lines) == 0 && a["files"] == nil {
		s.add(plainOf(a["fallback"]))
	}
}

func plainOf(v any) string {
	text, _ := v.(string)
	return strings.TrimSpace(Unescaped(text))
}

// unread are the types of elements that people press or fill in.
var unread = []string{"actions", "button", "call", "context_actions", "divider", "file", "input"}

// parts are the members in which blocks keep their texts, in the order of display.
var parts = []string{
	"title", "subtitle", "text", "body", "fields", "elements", "child_blocks", "cards", "tasks", "details", "output",
	"description",
}

// block reads a block, an object within a block, or a list of these. Their types may be unknown to this code.
func (s *sight) block(v any) {
	switch v := v.(type) {
	case string:
		s.add(plainOf(v))
	case []any:
		for _, x := range v {
			s.block(x)
		}
	case map[string]any:
		kind, _ := v["type"].(string)
		text, plain := v["text"].(string)
		switch {
		case slices.Contains(unread, kind) || strings.HasSuffix(kind, "_select") || kind == "overflow":
		case strings.HasPrefix(kind, "rich_text"):
			s.rich(v)
		case kind == "image":
			s.block(v["title"])
			s.block(v["alt_text"])
		case kind == "table":
			rows, _ := v["rows"].([]any)
			for _, row := range rows {
				s.add(strings.Join(cells(row), " | "))
			}
		case plain && kind != "":
			s.add(plainOf(text))
		default:
			for _, key := range parts {
				s.block(v[key])
			}
		}
	}
}

func cells(row any) (out []string) {
	all, _ := row.([]any)
	for _, cell := range all {
		var one sight
		one.block(cell)
		out = append(out, strings.Join(one.lines, " "))
	}
	return out
}

// rich reads rich text, which people write in Slack's own field, and some apps too. Quotes and code are marked as in
// Slack's texts.
func (s *sight) rich(v map[string]any) {
	if s.given && (v["type"] == "rich_text_quote" || v["type"] == "rich_text_preformatted") {
		return
	}
	var line strings.Builder
	item := 0
	for _, e := range objects(v["elements"]) {
		kind, _ := e["type"].(string)
		if !strings.HasPrefix(kind, "rich_text") {
			line.WriteString(s.inlined(kind, e))
			continue
		}
		inner := sight{given: s.given}
		inner.rich(e)
		if v["type"] != "rich_text_list" || s.given {
			s.lines = append(s.lines, inner.lines...)
			continue
		}
		mark := "• "
		if item++; v["style"] == "ordered" {
			mark = fmt.Sprint(item, ". ")
		}
		s.add(mark + strings.Join(inner.lines, "\n"))
	}
	text := plainOf(line.String())
	switch {
	case text == "":
	case v["type"] == "rich_text_quote":
		text = "> " + strings.ReplaceAll(text, "\n", "\n> ")
	case v["type"] == "rich_text_preformatted":
		text = "```\n" + text + "\n```"
	}
	s.add(text)
}

// inlined returns an element of a line. It writes people, channels and marks as Slack's messages do.
func (s *sight) inlined(kind string, e map[string]any) string {
	of := func(key string) string { text, _ := e[key].(string); return text }
	text := of("text")
	switch kind {
	case "user":
		text = "<@" + of("user_id") + ">"
	case "usergroup":
		text = "<!subteam^" + of("usergroup_id") + ">"
	case "channel":
		text = "<#" + of("channel_id") + ">"
	case "emoji":
		text = ":" + of("name") + ":"
	case "broadcast":
		text = "@" + of("range")
	case "link":
		if text = of("url"); of("text") != "" && of("text") != text {
			text = of("text") + " (" + text + ")"
		}
	case "date":
		text = of("fallback")
	case "color":
		text = of("value")
	}
	style, _ := e["style"].(map[string]any)
	if s.given && (style["code"] == true || style["strike"] == true) {
		return ""
	}
	for _, mark := range []struct{ of, sign string }{{"code", "`"}, {"strike", "~"}} {
		if style[mark.of] == true && strings.TrimSpace(text) != "" {
			text = mark.sign + text + mark.sign
		}
	}
	return text
}
