package model

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"

	"ringi/shared/runtime/outbound"
)

// maxEvent bounds a line of a stream, in bytes.
const maxEvent = 4 << 20

// UnreadableError reports an answer that came and can't be read. It describes the answer and quotes nothing of it.
type UnreadableError struct{ What string }

func (e *UnreadableError) Error() string { return "what came can't be read: " + e.What }

// Values calls each with the JSON values of an answer, until one is the last. It reads whichever form came, asked for or
// not: one value, several, a list, or the events of a stream. event is the event's name; empty: it has none, or this is
// no stream. The error is the connection's, that of each, or an *UnreadableError.
func Values(res *http.Response, each func(event string, value json.RawMessage) (last bool, err error)) error {
	x := &values{body: res.Body, media: res.Header.Get("Content-Type"), each: each}
	in := bufio.NewReader(x)
	if begin, _ := in.Peek(3); bytes.Equal(begin, []byte("\xef\xbb\xbf")) {
		_, _ = in.Discard(3) // they were read already
	}
	for {
		first, err := in.Peek(1)
		switch {
		case err != nil:
			return x.ended()
		case first[0] == '{' || first[0] == '[':
			return x.json(in)
		case !strings.Contains(" \t\r\n", string(first)):
			return x.stream(in)
		}
		_, _ = in.Discard(1) // it was read already
	}
}

// values reads one answer.
type values struct {
	body   io.Reader
	media  string
	each   func(string, json.RawMessage) (bool, error)
	failed error // of the connection
	read   int
	whole  bool                    // it is read at once
	held   func(goesOn bool) error // gives on a value that ends with half a character; nil: there is none
	half   string                  // the escape of that half
	found  bool                    // a value
	last   bool
}

func (x *values) Read(p []byte) (n int, err error) {
	n, err = x.body.Read(p)
	if x.read += n; x.whole && x.read > outbound.MaxBody { // all of it is in memory
		err = outbound.ErrTooLarge
	}
	if err != nil && err != io.EOF {
		x.failed = err
	}
	return n, err
}

// ended returns the error of an answer of which no more came.
func (x *values) ended() error {
	err := x.release(false)
	switch {
	case err != nil:
		return err
	case x.failed != nil:
		return x.failed
	case !x.found:
		return io.ErrUnexpectedEOF
	}
	return nil
}

func (x *values) unreadable(why string) error {
	media, _, _ := strings.Cut(x.media, ";")
	if media = strings.TrimSpace(media); !kindOf(media) {
		media = "no known type"
	}
	return &UnreadableError{fmt.Sprintf("%s of %d bytes: %s", media, x.read, why)}
}

// kindOf reports whether a text has the form of a media type.
func kindOf(media string) bool {
	kind, name, ok := strings.Cut(media, "/")
	return ok && word(kind) != "" && word(strings.ReplaceAll(name, "+", "-")) != ""
}

// json reads one value or several.
func (x *values) json(in io.Reader) error {
	x.whole = true
	for d := json.NewDecoder(in); !x.last; {
		var value json.RawMessage
		switch err := d.Decode(&value); {
		case err == io.EOF:
			return x.ended()
		case x.failed != nil:
			return x.failed
		case err == io.ErrUnexpectedEOF:
			return x.unreadable("JSON without its end")
		case err != nil:
			return x.unreadable("no JSON")
		}
		if err := x.take("", value); err != nil {
			return err
		}
	}
	return nil
}

// take gives on a value. Where a text ends with the first half of a character that the next value continues, as some
// servers cut emojis (\ud83d | \ude00), the half goes to the next value.
func (x *values) take(event string, value json.RawMessage) error {
	x.found = true
	rest := halfAt(value, false)
	goesOn := x.held != nil && rest >= 0
	if goesOn {
		value = slices.Concat(value[:rest], json.RawMessage(x.half), value[rest:])
	}
	if err := x.release(goesOn); err != nil || x.last {
		return err
	}
	if at := halfAt(value, true); at >= 0 {
		whole, cut := value, slices.Concat(value[:at], value[at+escape:])
		x.half = string(value[at : at+escape])
		x.held = func(goesOn bool) error {
			if goesOn {
				return x.give(event, cut)
			}
			return x.give(event, whole) // U+FFFD stands for what never came
		}
		return nil
	}
	return x.give(event, value)
}

// release gives on the value that waited for the next one.
func (x *values) release(goesOn bool) error {
	if give := x.held; give != nil {
		x.held = nil
		return give(goesOn)
	}
	return nil
}

// escape is the length of \uXXXX.
const escape = len(`\u0000`)

// halfAt returns where a text of a JSON value ends with the escape of a first half of a character, or begins with that
// of a second one; -1 if none does.
func halfAt(value []byte, first bool) int {
	const firsts, seconds = "89ab", "cdef"
	for i := 0; i+escape < len(value); i++ {
		if value[i] != '\\' {
			continue
		}
		kinds, edge := seconds, i > 0 && value[i-1] == '"'
		if first {
			kinds, edge = firsts, value[i+escape] == '"'
		}
		if edge && (value[i+1] == 'u') && value[i+2]|0x20 == 'd' && strings.IndexByte(kinds, value[i+3]|0x20) >= 0 {
			return i
		}
		i++ // what is escaped
	}
	return -1
}

func (x *values) give(event string, value json.RawMessage) (err error) {
	var list []json.RawMessage
	if json.Unmarshal(value, &list) != nil {
		list = []json.RawMessage{value}
	}
	for _, one := range list {
		if x.last, err = x.each(event, one); err != nil || x.last {
			break
		}
	}
	wrong := new(json.UnmarshalTypeError)
	if errors.As(err, &wrong) {
		return x.unreadable(fmt.Sprintf("%s is %s", wrong.Field, wrong.Value))
	}
	return err
}

// stream reads events. A line ends in any way, an event may lack the empty line behind it, and the end the last event.
func (x *values) stream(in *bufio.Reader) error {
	lines, event, fields := &lines{in: in}, "", false
	var data []byte
	var nested nesting
	flush := func() error {
		text, name := bytes.TrimSpace(data), event
		data, event, nested = nil, "", nesting{}
		if len(text) == 0 || idle(name, text) {
			return nil
		}
		return x.event(name, text)
	}
	for !x.last && lines.next() {
		if line := lines.text; line != "" && (line[0] == '{' || line[0] == '[') { // behind comments that keep it alive
			return x.json(io.MultiReader(strings.NewReader(line+"\n"), in))
		}
		name, value, field := strings.Cut(lines.text, ":")
		value = strings.TrimPrefix(value, " ")
		var err error
		switch {
		case lines.text == "":
			err = flush()
		case name == "event":
			event = value
		case name == "data":
			if data = append(append(data, value...), '\n'); len(data) > maxEvent {
				return x.unreadable("an event that is too long")
			}
			if value == "[DONE]" || nested.ends(value) && json.Valid(data) {
				err = flush()
			}
		}
		fields = fields || field && slices.Contains([]string{"", "event", "data", "id", "retry"}, name)
		if err != nil {
			return err
		}
	}
	switch {
	case x.last:
		return nil
	case x.failed != nil:
		return x.failed
	case lines.long:
		return x.unreadable("a line that is too long")
	case !fields:
		return x.unreadable("neither JSON nor events")
	}
	if err := flush(); err != nil {
		return err
	}
	return x.ended()
}

// nesting is how deep a text of JSON is, which arrives in lines. Only one that is not may be whole.
type nesting struct {
	depth           int
	quoted, escaped bool
}

func (n *nesting) ends(line string) bool {
	for _, c := range []byte(line) {
		switch {
		case n.escaped:
			n.escaped = false
		case n.quoted:
			n.escaped, n.quoted = c == '\\', c != '"'
		case c == '"':
			n.quoted = true
		case c == '{' || c == '[':
			n.depth++
		case c == '}' || c == ']':
			n.depth--
		}
	}
	return n.depth == 0 && !n.quoted
}

// lines reads lines with any of the three ends, and waits for nothing behind a carriage return.
type lines struct {
	in   *bufio.Reader
	text string
	half bool // of a CRLF
	long bool // a line has more than maxEvent bytes
}

func (l *lines) next() bool {
	var line []byte
	for {
		b, err := l.in.ReadByte()
		switch {
		case err != nil:
			l.text = string(line)
			return len(line) > 0
		case l.half && b == '\n':
			l.half = false
			continue
		case b == '\n', b == '\r':
			l.text, l.half = string(line), b == '\r'
			return true
		case len(line) == maxEvent:
			l.long = true
			return false
		}
		line, l.half = append(line, b), false
	}
}

// event reads the data of an event: a value, or several.
func (x *values) event(name string, data []byte) error {
	if string(data) == "[DONE]" {
		x.last, x.found = true, true
		return x.release(false)
	}
	if !json.Valid(data) {
		for line := range bytes.Lines(data) {
			if !json.Valid(line) {
				return x.unreadable("an event that is no JSON")
			}
			if err := x.take(name, bytes.TrimSpace(line)); err != nil || x.last {
				return err
			}
		}
		return nil
	}
	return x.take(name, data)
}

// idle reports whether an event only keeps the connection alive.
func idle(name string, data []byte) bool {
	quiet := []string{"ping", "heartbeat", "keepalive", "keep-alive"}
	return slices.Contains(quiet, name) || slices.Contains(quiet, strings.Trim(strings.ToLower(string(data)), `":. `))
}

// Says reports whether a member for an error has one. Gateways send it empty, too: null, an object without members
// or of empty ones, a text without words.
func Says(value json.RawMessage) bool {
	var v any
	if json.Unmarshal(value, &v) != nil {
		return len(value) > 0
	}
	return says(v)
}

func says(v any) bool {
	switch v := v.(type) {
	case string:
		return strings.TrimSpace(v) != ""
	case float64:
		return v != 0
	case bool:
		return v
	case []any:
		return slices.ContainsFunc(v, says)
	case map[string]any:
		return slices.ContainsFunc(slices.Collect(maps.Values(v)), says)
	}
	return false
}

// Members describes a JSON value by its members, and quotes none of their values.
func Members(value json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return "no object"
	}
	var names []string
	for name := range members {
		if word(name) != "" {
			names = append(names, name)
		}
	}
	if names == nil {
		return "an object without members"
	}
	slices.Sort(names)
	return "an object with " + strings.Join(names[:min(len(names), 8)], ", ")
}
