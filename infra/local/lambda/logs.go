package lambda

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"sync"
)

// keptLines is how many lines of each function Logs can return.
const keptLines = 2000

// sink collects the output of functions.
type sink struct {
	mu   sync.Mutex
	out  io.Writer
	kept map[string][]string
}

func newSink(out io.Writer) *sink {
	return &sink{out: cmp.Or(out, io.Discard), kept: map[string][]string{}}
}

func (s *sink) lines(function string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.kept[function])
}

func (s *sink) add(function string, line []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	kept := append(s.kept[function], string(line))
	if extra := len(kept) - keptLines; extra > 0 {
		kept = kept[extra:]
	}
	s.kept[function] = kept
	s.out.Write(marked(function, line))
}

// writer returns a writer for one output stream of a process. It passes on complete lines only.
func (s *sink) writer(function string) io.Writer { return &lineWriter{sink: s, function: function} }

type lineWriter struct {
	sink     *sink
	function string
	rest     []byte
}

func (w *lineWriter) Write(b []byte) (int, error) {
	w.rest = append(w.rest, b...)
	for {
		line, rest, ok := bytes.Cut(w.rest, []byte{'\n'})
		if !ok {
			return len(b), nil
		}
		if line = bytes.TrimRight(line, "\r"); len(line) > 0 {
			w.sink.add(w.function, line)
		}
		w.rest = rest
	}
}

// marked formats a line for the stack's log. A JSON object gets the function's name as its first field; any other line
// is wrapped in an object.
func marked(function string, line []byte) []byte {
	name, _ := json.Marshal(function) // marshaling a string can't fail
	out := append([]byte(`{"function":`), name...)
	trimmed := bytes.TrimSpace(line)
	if len(trimmed) > 2 && trimmed[0] == '{' && json.Valid(trimmed) {
		out = append(append(out, ','), trimmed[1:]...)
		return append(out, '\n')
	}
	text, _ := json.Marshal(string(line))
	out = append(append(out, `,"line":`...), text...)
	return append(out, "}\n"...)
}
