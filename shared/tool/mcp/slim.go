package mcp

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"mime"
)

// slimFrom is the size from which a message is given to the library without its structured content.
const slimFrom = 64 << 10

// slim reads an answer for the library, which decodes all that a message has: structured content takes forty times its
// size then, and result reads it from the recorded bytes anyway.
type slim struct {
	io.ReadCloser
	lines *bufio.Reader // of a stream of events; nil for a body of one message
	left  []byte
	err   error // after what is left
}

func slimmed(body io.ReadCloser, contentType string) *slim {
	s := &slim{ReadCloser: body}
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

// next returns the whole body, or a stream's next line.
func (s *slim) next() ([]byte, error) {
	if s.lines == nil {
		body, err := io.ReadAll(s.ReadCloser)
		if err == nil {
			err = io.EOF
		}
		return withoutStructured(body), err
	}
	line, err := s.lines.ReadBytes('\n')
	data, is := bytes.CutPrefix(line, []byte("data:"))
	if !is || len(line) < slimFrom {
		return line, err
	}
	text := bytes.TrimRight(data, "\r\n")
	return append(append([]byte("data:"), withoutStructured(text)...), data[len(text):]...), err
}

// withoutStructured returns a message with an empty structured content if it has any, and all else as it is.
func withoutStructured(text []byte) []byte {
	const result, structured = "result", "structuredContent"
	var message, of map[string]json.RawMessage
	if len(text) < slimFrom || json.Unmarshal(text, &message) != nil || json.Unmarshal(message[result], &of) != nil ||
		of[structured] == nil {
		return text
	}
	of[structured] = json.RawMessage(`{}`)
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
