package main

import (
	"encoding/json"
	"slices"
	"strings"

	"ringi/shared/decide/intake"
	"ringi/shared/slack/card"
)

// seen returns the text that people see of a message. Slack shows the message's blocks; its text, which an app may
// choose freely, is for notifications and counts only if there are no blocks. Link previews count only if nothing else
// is shown.
func (m message) seen() string {
	var own, previews sight
	own.block(decoded(m.Blocks))
	if len(own.lines) == 0 {
		own.add(intake.Text(m.Text))
	}
	attachments, _ := decoded(m.Attachments).([]any)
	for _, x := range attachments {
		a, _ := x.(map[string]any)
		switch {
		case a["from_url"] != nil || a["is_msg_unfurl"] == true || a["is_app_unfurl"] == true:
			previews.attachment(a)
		default:
			own.attachment(a)
		}
	}
	if len(own.lines) == 0 {
		own = previews
	}
	return card.Readable(strings.Join(own.lines, "\n"))
}

// decoded decodes a part of a message that another app made. It returns nil for invalid JSON.
func decoded(b json.RawMessage) (v any) {
	if json.Unmarshal(b, &v) != nil {
		return nil
	}
	return v
}

type sight struct{ lines []string }

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
		s.add(escaped(a[key]))
	}
	fields, _ := a["fields"].([]any)
	for _, f := range fields {
		field, _ := f.(map[string]any)
		s.add(strings.Trim(escaped(field["title"])+": "+escaped(field["value"]), ": "))
	}
	s.add(escaped(a["footer"]))
	if len(s.lines) == before {
		s.add(escaped(a["fallback"]))
	}
}

// escaped removes Slack's escapes, which even plain texts have.
func escaped(v any) string {
	text, _ := v.(string)
	return intake.Text(text)
}

// unread are the types of elements that people press or fill in.
var unread = []string{"actions", "button", "call", "context_actions", "divider", "file", "input"}

// parts are the members in which blocks keep their texts, in the order of display.
var parts = []string{
	"title", "subtitle", "text", "body", "fields", "elements", "child_blocks", "cards", "tasks", "details", "output",
}

// block reads a block, an object within a block, or a list of these. Their types may be unknown to this code.
func (s *sight) block(v any) {
	switch v := v.(type) {
	case string:
		s.add(escaped(v))
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
			s.add(escaped(text))
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

// rich reads rich text, which people write in Slack's own field, and some apps too.
func (s *sight) rich(v map[string]any) {
	elements, _ := v["elements"].([]any)
	var line strings.Builder
	for _, x := range elements {
		e, _ := x.(map[string]any)
		kind, _ := e["type"].(string)
		if !strings.HasPrefix(kind, "rich_text") {
			line.WriteString(inlined(kind, e))
			continue
		}
		var inner sight
		inner.rich(e)
		if v["type"] == "rich_text_list" {
			s.add("• " + strings.Join(inner.lines, "\n"))
		} else {
			s.lines = append(s.lines, inner.lines...)
		}
	}
	s.add(escaped(line.String()))
}

// inlined returns an element of a line. It writes people and channels as Slack's messages do.
func inlined(kind string, e map[string]any) string {
	of := func(key string) string { text, _ := e[key].(string); return text }
	switch kind {
	case "user":
		return "<@" + of("user_id") + ">"
	case "usergroup":
		return "<!subteam^" + of("usergroup_id") + ">"
	case "channel":
		return "<#" + of("channel_id") + ">"
	case "emoji":
		return ":" + of("name") + ":"
	case "broadcast":
		return "@" + of("range")
	case "link":
		if text := of("text"); text != "" && text != of("url") {
			return text + " (" + of("url") + ")"
		}
		return of("url")
	case "date":
		return of("fallback")
	case "color":
		return of("value")
	}
	return of("text")
}
