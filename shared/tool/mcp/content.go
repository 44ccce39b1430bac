package mcp

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"ringi/shared/tool"
	"ringi/shared/tool/schema"
)

// part is what a part of a result's content says.
type part struct {
	said   string
	same   string // what a declared result has if it says the same; empty: what is said
	hidden bool   // only what it is can be said
}

// contentOf reads the parts of a result. The call may have had its effect, so a part that can't be read is said as it
// came.
func contentOf(content json.RawMessage) (parts []part) {
	var all []json.RawMessage
	if json.Unmarshal(content, &all) != nil && len(content) > 0 { // one part, or a text
		all = []json.RawMessage{content}
	}
	for _, raw := range all {
		parts = append(parts, partOf(raw))
	}
	return parts
}

func partOf(raw json.RawMessage) part {
	var words string
	if json.Unmarshal(raw, &words) == nil {
		return part{said: words}
	}
	var x struct {
		Type, Text, Data, MimeType, URI, Name string
		Title                                 any
		Resource                              struct{ URI, MimeType, Text, Blob string }
	}
	err := json.Unmarshal(raw, &x)
	title, _ := x.Title.(string)
	switch {
	case err == nil && x.Type == "text":
		return part{said: x.Text}
	case err == nil && x.Type == "resource_link":
		return part{said: strings.TrimSpace(cmp.Or(title, x.Name) + " " + x.URI), same: x.URI}
	case err == nil && x.Type == "resource" && x.Resource.Text != "":
		return part{said: x.Resource.URI + "\n" + x.Resource.Text, same: x.Resource.Text}
	case err == nil && x.Type == "resource":
		blob := binary("resource", x.Resource.MimeType, x.Resource.Blob)
		return part{said: strings.TrimPrefix(x.Resource.URI+"\n"+blob, "\n"), hidden: true}
	case err == nil && x.Data != "":
		return part{said: binary(x.Type, x.MimeType, x.Data), hidden: true}
	}
	return part{said: string(raw)}
}

func binary(kind, mime, data string) string {
	bytes := len(data)
	if b, err := base64.StdEncoding.DecodeString(data); err == nil {
		bytes = len(b)
	}
	return fmt.Sprintf("[%s %s, %d bytes, not shown]", kind, cmp.Or(mime, "of no type"), bytes)
}

// The members of a declared result for what came beside it: words and links that it doesn't have, and what is not
// shown, such as images and files.
const alsoSaid, notShown = "also_said", "not_shown"

// beside adds those members, before all others, whose digits stay as they are. Those that a result has it keeps.
func beside(structured json.RawMessage, parts []part) (any, error) {
	var members map[string]json.RawMessage
	if len(parts) == 0 || json.Unmarshal(structured, &members) != nil {
		return structured, nil
	}
	has, more := held(structured), map[string][]string{}
	for _, x := range parts {
		as := alsoSaid
		if x.hidden {
			as = notShown
		} else if said := cmp.Or(x.same, x.said); strings.TrimSpace(said) == "" || has[strings.TrimSpace(said)] ||
			has[ordered(said)] {
			continue
		}
		if !slices.Contains(more[as], x.said) {
			more[as] = append(more[as], x.said)
		}
	}
	if maps.DeleteFunc(more, func(name string, _ []string) bool { return members[name] != nil }); len(more) == 0 {
		return structured, nil
	}
	added, err := json.Marshal(more)
	if err != nil {
		return nil, fmt.Errorf("say what came beside a result: %w", err)
	}
	rest := bytes.TrimLeft(structured[1:], " \t\r\n")
	if len(members) > 0 {
		rest = append([]byte(","), rest...)
	}
	return json.RawMessage(slices.Concat(added[:len(added)-1], rest)), nil
}

// held are the texts of a declared result, as they are, and the values in its two outer levels: servers repeat all of
// it as a text, or each item of its list.
func held(structured json.RawMessage) map[string]bool {
	has := map[string]bool{}
	var note func(v any, depth int)
	note = func(v any, depth int) {
		if text, is := v.(string); is {
			has[strings.TrimSpace(text)] = true
		}
		if depth <= 2 {
			value, _ := tool.Written(v) // of what was decoded
			has[string(value)] = true
		}
		switch v := v.(type) {
		case map[string]any:
			for _, x := range v {
				note(x, depth+1)
			}
		case []any:
			for _, x := range v {
				note(x, depth+1)
			}
		}
	}
	if v, err := schema.Decode(structured); err == nil {
		note(v, 0)
	}
	return has
}

// ordered returns a JSON text with the members of objects in one order, and any other text as it is.
func ordered(text string) string { return tool.Canonical(json.RawMessage(text)) }
