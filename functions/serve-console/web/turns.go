package web

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/words/legible"
)

// Turn is one message of a prompt.
type Turn struct {
	Role  string // system, user, assistant or tool; the vendor's own word if it is another
	Parts []Part // a text has no path
}

// Sent is what a model was sent: its messages, and everything else of the request.
type Sent struct {
	Turns []Turn
	Rest  []Part
	Left  int // values that are not shown
}

// SentOf reads a request to a model, with personal data masked as on cards. A request whose messages are not where
// vendors have them is shown as its values.
func SentOf(text []byte) (s Sent) {
	room := room{parts: maxParts, bytes: maxSent}
	v, err := decoded(text)
	whole, ok := legible.MaskAll(v).(map[string]any)
	if err != nil || !ok {
		s.Rest, s.Left = Parts(text)
		return s
	}
	rest := map[string]any{}
	maps.Copy(rest, whole)
	for _, name := range []string{"system", "instructions"} {
		if said := room.said(whole[name]); len(said) > 0 {
			s.Turns = append(s.Turns, Turn{"system", said})
			delete(rest, name)
		}
	}
	for _, name := range []string{"messages", "input"} {
		if list, is := whole[name].([]any); is {
			s.Turns = append(s.Turns, room.turns(list)...)
			delete(rest, name)
		}
	}
	if said, is := whole["input"].(string); is { // a conversation's only message
		s.Turns = append(s.Turns, Turn{"user", room.said(said)})
		delete(rest, "input")
	}
	s.Rest = room.rest(rest)
	s.Left = room.left
	return s
}

// room is what is left of a page's bounds.
type room struct{ parts, bytes, left int }

func (r *room) take(all []Part, path, text string) []Part {
	if r.parts == 0 || len(text) > r.bytes {
		r.left++
		return all
	}
	r.parts, r.bytes = r.parts-1, r.bytes-len(text)
	return append(all, Part{legible.OneLine(path), indented(legible.Spelled(text))})
}

// indented spreads a text that is JSON over lines; any other text stays as it is.
func indented(text string) string {
	var b bytes.Buffer
	if begin := strings.TrimSpace(text); begin == "" || !strings.Contains("{[", begin[:1]) || json.Indent(&b, []byte(begin), "", "  ") != nil {
		return text
	}
	return b.String()
}

func (r *room) rest(v any) (all []Part) {
	walk(v, "", func(path, text string) { all = r.take(all, path, text) })
	return all
}

// turns reads a list of messages. What a vendor lists among them without a role, such as a tool's call, is the model's.
func (r *room) turns(list []any) (all []Turn) {
	for _, x := range list {
		m, _ := x.(map[string]any)
		role, _ := member(m, "role").(string)
		turn := Turn{Role: role}
		if m == nil || role == "" {
			turn.Role, turn.Parts = "other", r.rest(x)
			all = append(all, turn)
			continue
		}
		if role == "developer" {
			turn.Role = "system"
		}
		more := map[string]any{}
		for name, value := range m {
			switch strings.ToLower(name) {
			case "role":
			case "content", "parts":
				turn.Parts = append(turn.Parts, r.said(value)...)
			default:
				more[name] = value
			}
		}
		turn.Parts = append(turn.Parts, r.rest(more)...)
		all = append(all, turn)
	}
	return all
}

func member(m map[string]any, name string) any {
	for key, value := range m {
		if strings.EqualFold(key, name) {
			return value
		}
	}
	return nil
}

// said reads what a message says: a text, or a list of parts. A part that is more than a text has its values named.
func (r *room) said(v any) (all []Part) {
	switch v := v.(type) {
	case nil:
	case string:
		all = r.take(all, "", v)
	case []any:
		for i, x := range v {
			m, _ := x.(map[string]any)
			if text, is := member(m, "text").(string); is && text != "" && onlyText(m) {
				all = r.take(all, "", text)
				continue
			}
			before := len(all)
			all = append(all, r.rest(x)...)
			for j := range all[before:] {
				if p := &all[before+j]; p.Path == "" {
					p.Path = fmt.Sprint(i + 1)
				}
			}
		}
	default:
		all = r.rest(v)
	}
	return all
}

// onlyText reports whether a part has nothing but its text and what kind of part it is.
func onlyText(m map[string]any) bool {
	for name, value := range m {
		if !slices.Contains([]string{"text", "type", "passing", "cache_control"}, strings.ToLower(name)) && value != nil && value != "" && value != false {
			return false
		}
	}
	return true
}
