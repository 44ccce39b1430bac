package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"mime"
	"slices"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"ringi/shared/runtime/outbound"
	"ringi/shared/tool/schema"
)

// slimFrom is the size from which a message is given to the library without its structured content.
const slimFrom = 64 << 10

// mostWeight is the most that a message may take when the library decodes it, in bytes. Its own types take up to twice
// as much, and the answer is there several times meanwhile.
const mostWeight = 28 << 20

// slim reads an answer for the library, which decodes all that a message has, and takes none if a member that nobody
// needs has another form than the protocol's. Structured content takes forty times its size then; result and list read
// theirs from the recorded bytes. An answer that takes too much even so ends with outbound.ErrTooLarge.
type slim struct {
	*tee
	lines *bufio.Reader // of a stream of events; nil for a body of one message
	left  []byte
	err   error // after what is left
}

func slimmed(body *tee, contentType string) *slim {
	s := &slim{tee: body}
	if kind, _, _ := mime.ParseMediaType(contentType); kind == eventStream {
		s.lines = bufio.NewReader(body)
	}
	return s
}

func (s *slim) Read(p []byte) (int, error) {
	for len(s.left) == 0 {
		if s.err != nil {
			return 0, s.err
		}
		s.left, s.err = s.next()
	}
	n := copy(p, s.left)
	s.left = s.left[n:]
	return n, nil
}

// next returns the whole body, or a stream's next event.
func (s *slim) next() ([]byte, error) {
	if s.lines != nil {
		return s.event()
	}
	body, err := io.ReadAll(s.tee)
	if err == nil {
		err = io.EOF
	}
	body, _ = s.needed(body)
	return s.bounded(body, body, err)
}

// event returns the lines up to an event's end. The message may be in several of them.
func (s *slim) event() ([]byte, error) {
	var whole, others []byte
	var err error
	for over := false; !over && err == nil; {
		var line []byte
		line, err = s.lines.ReadBytes('\n')
		over = len(bytes.TrimRight(line, "\r\n")) == 0
		if whole = append(whole, line...); !bytes.HasPrefix(line, []byte(dataField)) {
			others = append(others, line...)
		}
	}
	message, changed := s.needed(bytes.Join(events(eventStream, whole), nil)) // there is one
	if changed {
		whole = slices.Concat([]byte(dataField), message, []byte("\n"), others)
	}
	return s.bounded(whole, message, err)
}

// bounded returns text and err unless the message takes too much.
func (s *slim) bounded(text, message []byte, err error) ([]byte, error) {
	if len(message) < slimFrom || schema.Weight(message) <= mostWeight {
		return text, err
	}
	err = fmt.Errorf("too many values: %w", outbound.ErrTooLarge)
	s.record.note(func() { s.record.err = err })
	return nil, err
}

// needed returns a message with what the library needs of its result: of a greeting the versions, of a list the tools'
// names and which arguments are headers, of a call what is readable, without a large structured content. A message
// that can't be read, or that takes too much, is as it is.
func (s *slim) needed(text []byte) (slim []byte, changed bool) {
	const result, structured = "result", "structuredContent"
	var message, of map[string]json.RawMessage
	if json.Unmarshal(text, &message) != nil || json.Unmarshal(message[result], &of) != nil || of == nil {
		return text, false
	}
	var method string
	s.record.note(func() { method = s.record.method })
	switch method {
	case "server/discover", "initialize":
		changed = drop(of, func(name string) bool { return name != "protocolVersion" && name != "supportedVersions" })
	case "tools/list":
		if schema.Weight(text) > mostWeight {
			return text, false
		}
		changed = drop(of, func(name string) bool { return name != "tools" && name != "nextCursor" })
		changed = namesAlone(of) || changed
	default:
		if of[structured] != nil && len(text) >= slimFrom {
			of[structured], changed = json.RawMessage(`{}`), true
		}
		changed = drop(of, unread) || changed
		changed = readable(of) || changed
	}
	if !changed {
		return text, false
	}
	var err error
	if message[result], err = plain(of); err == nil {
		slim, err = plain(message)
	}
	if err != nil {
		return text, false
	}
	return slim, true
}

// metadata are the members of a call's result, and of its content, that nobody reads.
var metadata = []string{"_meta", "annotations", "icons", "size", "description"}

func unread(name string) bool { return slices.Contains(metadata, name) }

// drop deletes members, and reports whether there were any.
func drop(members map[string]json.RawMessage, which func(name string) bool) bool {
	before := len(members)
	maps.DeleteFunc(members, func(name string, _ json.RawMessage) bool { return which(name) })
	return len(members) < before
}

// readable makes a call's result readable, part by part, because the call may have had its effect: without metadata,
// and with a text in the place of a part that the library can't read. It reports whether it changed anything.
func readable(of map[string]json.RawMessage) (changed bool) {
	if failed := string(of["isError"]); failed == `"true"` || failed == `"false"` {
		of["isError"], changed = json.RawMessage(strings.Trim(failed, `"`)), true
	}
	content := bytes.TrimSpace(of["content"])
	if len(content) == 0 || len(content) > outbound.MaxBody || schema.Weight(content) > mostWeight {
		return changed
	}
	var parts []json.RawMessage
	if json.Unmarshal(content, &parts) != nil { // one part, or a text
		parts, changed = []json.RawMessage{content}, true
	}
	for i, raw := range parts {
		if part, another := readablePart(raw); another {
			if slim, err := plain(part); err == nil {
				parts[i], changed = slim, true
			}
		}
	}
	if slim, err := plain(parts); changed && parts != nil && err == nil {
		of["content"] = slim
	}
	return changed
}

func readablePart(raw json.RawMessage) (part map[string]json.RawMessage, changed bool) {
	var kind, mime, words string
	var data []byte
	var resource map[string]json.RawMessage
	if json.Unmarshal(raw, &words) == nil {
		return textPart(words), true
	}
	if json.Unmarshal(raw, &part) != nil {
		return textPart(string(raw)), true
	}
	_ = json.Unmarshal(part["type"], &kind)
	_ = json.Unmarshal(part["mimeType"], &mime)
	changed = drop(part, unread)
	switch text := part["text"]; kind {
	case "text":
		if text != nil && json.Unmarshal(text, &words) != nil {
			return textPart(string(text)), true
		}
	case "image", "audio":
		if json.Unmarshal(part["data"], &data) != nil {
			return textPart(binary(kind, mime, len(part["data"]))), true
		}
	case "resource":
		if json.Unmarshal(part["resource"], &resource) == nil && drop(resource, unread) {
			slim, err := plain(resource)
			part["resource"], changed = slim, err == nil
		}
	case "resource_link":
	default:
		if part["data"] != nil {
			return textPart(binary(kind, mime, len(part["data"]))), true
		}
		return textPart(string(raw)), true
	}
	return part, changed
}

func textPart(words string) map[string]json.RawMessage {
	text, _ := plain(words) // of a text
	return map[string]json.RawMessage{"type": json.RawMessage(`"text"`), "text": text}
}

// namesAlone leaves of each tool its name, and its schema if an argument of it is sent as a header. What is no tool is
// left out: list names it.
func namesAlone(of map[string]json.RawMessage) bool {
	var all []json.RawMessage
	if json.Unmarshal(of["tools"], &all) != nil {
		return false
	}
	needed := make([]map[string]json.RawMessage, 0, len(all))
	for _, raw := range all {
		var t map[string]json.RawMessage
		var name string
		if json.Unmarshal(raw, &t) != nil || json.Unmarshal(t["name"], &name) != nil {
			continue
		}
		drop(t, func(name string) bool {
			return name != "name" && (name != "inputSchema" || !bytes.Contains(t[name], []byte("x-mcp-header")))
		})
		needed = append(needed, t)
	}
	slim, err := plain(needed)
	if err == nil {
		of["tools"] = slim
	}
	return err == nil
}

// plain encodes without escapes for HTML, which make a text up to six times as long.
func plain(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// repeated reports whether a text of a result is its structured content, as the protocol recommends for older clients.
func repeated(parts []sdk.Content, structured json.RawMessage) bool {
	_, is, ok := ordered(structured)
	return ok && slices.ContainsFunc(parts, func(part sdk.Content) bool {
		text, words := part.(*sdk.TextContent)
		if !words {
			return false
		}
		_, said, ok := ordered([]byte(text.Text))
		return ok && said == is
	})
}

// held tells the texts of a declared result, as they are, and the values in its two outer levels: servers repeat all of
// it as a text, or each item of its list.
func held(structured json.RawMessage) func(text string) bool {
	has := map[string]bool{}
	var note func(v any, depth int)
	note = func(v any, depth int) {
		if text, is := v.(string); is {
			has[strings.TrimSpace(text)] = true
		}
		if depth <= 2 {
			value, _ := plain(v) // of what was decoded
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
	if v, _, ok := ordered(structured); ok {
		note(v, 0)
	}
	return func(text string) bool {
		_, is, ok := ordered([]byte(text))
		return has[strings.TrimSpace(text)] || ok && has[is]
	}
}

// ordered returns a JSON value, and its text with the members of objects in one order. It returns false for what is
// none, or takes too much to be compared.
func ordered(text []byte) (v any, is string, ok bool) {
	if schema.Weight(text) > mostWeight {
		return nil, "", false
	}
	v, err := schema.Decode(text)
	if err != nil {
		return nil, "", false
	}
	b, err := plain(v)
	return v, string(b), err == nil
}
