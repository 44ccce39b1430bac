package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"slices"

	"ringi/shared/runtime/outbound"
	"ringi/shared/tool/schema"
)

// slimFrom is the size from which a message is given to the library without its structured content.
const slimFrom = 64 << 10

// mostWeight is the most that a message may take when the library decodes it, in bytes. Its own types take up to twice
// as much, and the answer is there several times meanwhile.
const mostWeight = 28 << 20

// slim reads an answer for the library, which decodes all that a message has: structured content takes forty times its
// size then, and result reads it from the recorded bytes anyway. An answer that takes too much even so ends with
// outbound.ErrTooLarge.
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
	body = withoutStructured(body)
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
	if len(whole) < slimFrom {
		return whole, err
	}
	message := bytes.Join(events(eventStream, whole), nil) // there is one
	if slim := withoutStructured(message); len(slim) < len(message) {
		message, whole = slim, slices.Concat([]byte(dataField), slim, []byte("\n"), others)
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

// withoutStructured returns a message with an empty structured content if it has any, and without its metadata, which
// nobody reads. All else is as it is.
func withoutStructured(text []byte) []byte {
	const result, structured, meta = "result", "structuredContent", "_meta"
	var message, of map[string]json.RawMessage
	if len(text) < slimFrom || json.Unmarshal(text, &message) != nil || json.Unmarshal(message[result], &of) != nil ||
		of[structured] == nil && of[meta] == nil {
		return text
	}
	delete(of, meta)
	if of[structured] != nil {
		of[structured] = json.RawMessage(`{}`)
	}
	var err error
	if message[result], err = json.Marshal(of); err != nil {
		return text
	}
	out, err := json.Marshal(message)
	if err != nil {
		return text
	}
	return out
}
