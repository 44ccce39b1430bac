package main

import (
	"bufio"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
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

// output collects a command's output in lines, with a limit on memory.
type output struct {
	streams []*os.File
	readers sync.WaitGroup // of the streams

	mu      sync.Mutex
	waiting []isolated.Line
	bytes   int
	count   int // of all lines
	dropped int
}

// read reads one of the command's streams to its end.
func (o *output) read(r io.Reader, isErr bool) {
	in := bufio.NewReaderSize(r, isolated.MaxLine)
	var text []byte
	more, returned := 0, false // more: bytes beyond the limit; returned: the last line ended in a carriage return
	finish := func(unfinished bool) {
		o.add(isolated.Line{Text: isolated.CutMore(legibly(text), more), Err: isErr, Unfinished: unfinished})
		text, more = text[:0], 0
	}
	for {
		b, err := in.ReadByte()
		if err != nil { // the stream's end, or drain closed the pipe
			if len(text) > 0 {
				finish(true)
			}
			return
		}
		switch {
		case b == '\n' && returned:
			returned = false
			continue
		case b == '\n' || b == '\r': // progress bars go back to the line's start
			finish(false)
		case len(text) < isolated.MaxLine:
			text = append(text, b)
		default:
			more++
		}
		returned = b == '\r'
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

// lost returns the number of dropped lines.
func (o *output) lost() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.dropped
}

// drain waits until all output of a command is read, or two seconds: a process that survives its box would keep the
// pipes open.
func (o *output) drain() {
	read := make(chan struct{})
	go func() {
		o.readers.Wait()
		close(read)
	}()
	select {
	case <-read:
	case <-time.After(2 * time.Second):
		o.close()
		<-read
	}
}

func (o *output) close() {
	for _, f := range o.streams {
		f.Close()
	}
}
