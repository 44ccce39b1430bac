package mcp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"

	"ringi/shared/tool"
)

// partsOf returns what the parts of a result say. The call may have had its effect, so a part that can't be read is
// said as it came.
func partsOf(content json.RawMessage) (parts []string) {
	var all []json.RawMessage
	if json.Unmarshal(content, &all) != nil && len(content) > 0 { // one part, or a text
		all = []json.RawMessage{content}
	}
	for _, raw := range all {
		parts = append(parts, partOf(raw))
	}
	return parts
}

func partOf(raw json.RawMessage) string {
	var words string
	if json.Unmarshal(raw, &words) == nil {
		return words
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
		return x.Text
	case err == nil && x.Type == "resource_link":
		return strings.TrimSpace(cmp.Or(title, x.Name) + " " + x.URI)
	case err == nil && x.Type == "resource":
		text := cmp.Or(x.Resource.Text, binary("resource", x.Resource.MimeType, x.Resource.Blob))
		return strings.TrimPrefix(x.Resource.URI+"\n"+text, "\n")
	case err == nil && x.Data != "":
		return binary(x.Type, x.MimeType, x.Data)
	}
	return string(raw)
}

func binary(kind, mime, data string) string {
	bytes := len(data)
	if b, err := base64.StdEncoding.DecodeString(data); err == nil {
		bytes = len(b)
	}
	return fmt.Sprintf("[%s %s, %d bytes, not shown]", kind, cmp.Or(mime, "of no type"), bytes)
}

// ordered returns a JSON text with the members of objects in one order, and any other text as it is.
func ordered(text string) string { return tool.Canonical(json.RawMessage(text)) }
