package main

import (
	"errors"
	"regexp"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"ringi/shared/runtime/isolated"
)

// How much output waits, and how much is sent at once. Slow reading never delays the command: if output comes too fast,
// the oldest lines are dropped.
const (
	maxWaiting      = 500       // lines; an action's log keeps no more
	maxWaitingBytes = 512 << 10 // of these lines
	maxAtOnce       = 50        // lines, four times a second
	maxAtOnceBytes  = 16 << 10  // of these lines, unless a single line is longer
)

// output collects in lines what a command writes to its standard output and its standard error, which are one pipe: in
// the order in which it came, as a terminal shows it. Its memory is limited.
type output struct {
	text     []byte // of the line that has begun
	more     int    // its bytes beyond the limit
	returned bool   // to the line's start, by a carriage return

	mu      sync.Mutex
	waiting []isolated.Line
	bytes   int
	count   int // of all lines
	dropped int
}

func (o *output) Write(p []byte) (int, error) {
	for _, b := range p {
		if o.returned && b != '\n' && b != '\r' { // the line is drawn anew, as a progress bar is
			o.text, o.more = o.text[:0], 0
		}
		switch {
		case b == '\n':
			o.finish(false)
		case b == '\r':
		case len(o.text) < isolated.MaxLine:
			o.text = append(o.text, b)
		default:
			o.more++
		}
		o.returned = b == '\r'
	}
	return len(p), nil
}

func (o *output) finish(unfinished bool) {
	o.add(isolated.Line{Text: isolated.CutMore(legibly(o.text), o.more), Unfinished: unfinished})
	o.text, o.more = o.text[:0], 0
}

// end adds a line that never ended. Nothing may be written any more.
func (o *output) end() {
	if len(o.text) > 0 {
		o.finish(true)
	}
}

// escapes are terminals' escape sequences for colours and cursor movement.
var escapes = regexp.MustCompile("\x1b(?:\\[[0-?]*[ -/]*[@-~]|\\][^\x07\x1b]*(?:\x07|\x1b\\\\)|[@-Z\\\\-_])")

// legibly removes escape sequences, and replaces other control characters and invalid UTF-8.
func legibly(text []byte) string {
	s := strings.ToValidUTF8(string(text), string(utf8.RuneError))
	if strings.ContainsRune(s, '\x1b') {
		s = escapes.ReplaceAllString(s, "")
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\t' {
			return utf8.RuneError
		}
		return r
	}, s)
}

func (o *output) add(l isolated.Line) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count++
	l.Number = o.count
	o.waiting = append(o.waiting, l)
	o.bytes += len(l.Text)
	for len(o.waiting) > maxWaiting || o.bytes > maxWaitingBytes {
		o.bytes -= len(o.waiting[0].Text)
		o.waiting = o.waiting[1:]
		o.dropped++
	}
}

// send passes waiting lines to a function: all of them, or as many as are sent at once.
func (o *output) send(all bool, to func(isolated.Line) error) error {
	o.mu.Lock()
	count, bytes := 0, 0
	for count < len(o.waiting) && (all || count < maxAtOnce) {
		if bytes += len(o.waiting[count].Text); !all && count > 0 && bytes > maxAtOnceBytes {
			break
		}
		count++
	}
	lines := o.waiting[:count:count]
	for _, l := range lines {
		o.bytes -= len(l.Text)
	}
	o.waiting = o.waiting[count:]
	o.mu.Unlock()
	var err error
	for _, l := range lines {
		err = errors.Join(err, to(l))
	}
	return err
}
