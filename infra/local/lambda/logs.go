package lambda

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"slices"
	"sync"
)

// keptLines is how many lines of a function can be read back.
const keptLines = 2000

// sink gathers what functions print.
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

// writer returns one stream of a process; lines are handed on when complete.
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

// marked is a line as the stack logs it: an object keeps its fields and gets
// the function's name first; anything else becomes an object.
func marked(function string, line []byte) []byte {
	name, _ := json.Marshal(function) // of a text it can't fail
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
