package isolated

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"unicode/utf8"
)

// frame is one line of an answer, with one field set.
type frame struct {
	Begun    *begun    `json:"begun,omitempty"`
	NotBegun *notBegun `json:"not_begun,omitempty"`
	Line     *Line     `json:"line,omitempty"`
	End      *End      `json:"end,omitempty"`
}

type begun struct {
	Held []string `json:"held"`
}

type notBegun struct {
	Why     string `json:"why"`
	Lasting bool   `json:"lasting,omitempty"`
}

// Writer writes an answer. Its methods may be called concurrently.
type Writer struct {
	mu  sync.Mutex
	out *json.Encoder
}

// NewWriter returns a Writer that writes each frame to w at once.
func NewWriter(w io.Writer) *Writer { return &Writer{out: json.NewEncoder(w)} }

// Begun reports that the command is about to start. From then on nothing can claim that the command was not run.
func (w *Writer) Begun(held []string) error { return w.write(frame{Begun: &begun{held}}) }

// NotBegun ends the answer to an order that was not run. lasting means that retrying is useless.
func (w *Writer) NotBegun(why string, lasting bool) error {
	return w.write(frame{NotBegun: &notBegun{why, lasting}})
}

// Line writes one line of output.
func (w *Writer) Line(l Line) error { return w.write(frame{Line: &l}) }

// End writes how the command ended, as the last frame.
func (w *Writer) End(e End) error { return w.write(frame{End: &e}) }

func (w *Writer) write(f frame) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.out.Encode(f)
}

// maxLines is the largest number of a line that Read believes.
const maxLines = 1e9

// Read reads an answer to its end and calls onLine for each line. It treats the answer as untrusted: it cuts lines,
// bounds the total, and accepts only in the first frame that nothing has begun.
func Read(r io.Reader, onLine func(Line) error) (End, error) {
	in := bufio.NewReaderSize(r, maxFrame)
	read, number := 0, 0
	for first := true; ; first = false {
		text, err := in.ReadSlice('\n')
		if read += len(text); read > maxStream {
			return End{}, fmt.Errorf("sandbox: the answer has more than %d bytes", maxStream)
		}
		switch {
		case errors.Is(err, io.EOF):
			return End{}, fmt.Errorf("sandbox: the answer ended without an end: %w", io.ErrUnexpectedEOF)
		case err != nil:
			return End{}, fmt.Errorf("sandbox: read the answer: %w", err)
		}
		var f frame
		if err := json.Unmarshal(text, &f); err != nil {
			return End{}, fmt.Errorf("sandbox: the answer can't be read: %w", err)
		}
		switch {
		case f.NotBegun != nil && !first:
			return End{}, errors.New("sandbox: the answer takes back that the command began")
		case f.NotBegun != nil && f.NotBegun.Lasting:
			return End{}, fmt.Errorf("sandbox: %s: %w: %w", Cut(f.NotBegun.Why), ErrCannot, ErrNotBegun)
		case f.NotBegun != nil:
			return End{}, fmt.Errorf("sandbox: %s: %w", Cut(f.NotBegun.Why), ErrNotBegun)
		case f.Line != nil:
			if f.Line.Number <= number || f.Line.Number > maxLines {
				f.Line.Number = number + 1
			}
			number, f.Line.Text = f.Line.Number, Cut(f.Line.Text)
			if err := onLine(*f.Line); err != nil {
				return End{}, fmt.Errorf("sandbox: hand over a line: %w", err)
			}
		case f.End != nil:
			return *f.End, nil
		}
	}
}

// Cut shortens a text to at most MaxLine bytes of whole characters, and adds how much is missing.
func Cut(s string) string { return CutMore(s, 0) }

// CutMore is Cut for a text of which more bytes are already missing.
func CutMore(s string, more int) string {
	if len(s) <= MaxLine && more == 0 {
		return s
	}
	end := min(len(s), MaxLine-64)
	for end > 0 && end < len(s) && !utf8.RuneStart(s[end]) {
		end--
	}
	return fmt.Sprintf("%s … (+%d bytes)", s[:end], len(s)-end+more)
}
