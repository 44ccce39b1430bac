// Command read-file returns the text of a file that somebody attached to a conversation. It reads what strangers wrote,
// so it has no rights but to write its log: whoever calls it hands over the address of one object. Workbooks are
// bounded before excelize opens them: of a file of 91 KiB with 60 MiB of styles it would make 5.0 GB.
package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct{}

func newHandler(context.Context, aws.Config, environment) (*Handler, error) {
	return &Handler{Client: &http.Client{
		Timeout:       8 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("an address redirects") },
	}}, nil
}

// readWithin bounds the reading of a file, so that a file that takes longer gets an answer and no timeout.
const readWithin = 10 * time.Second

type Handler struct{ Client *http.Client }

// Handle fetches the order's file and returns its text, or why it has none. Its errors are those of fetching: a file
// that can't be read is no error.
func (h *Handler) Handle(ctx context.Context, o isolated.FileOrder) (isolated.FileText, error) {
	file, err := h.fetch(ctx, o)
	if err != nil {
		return isolated.FileText{}, err
	}
	began := time.Now()
	text := unlessPanics(func() isolated.FileText { return textOf(file, began.Add(readWithin)) })
	slog.InfoContext(ctx, "a file is read", "sha256", o.SHA256, "bytes", len(file), "form", text.Form, "encoding",
		text.Encoding, "why", text.Why, "remarks", text.Remarks, "text_bytes", len(text.Text), "took",
		time.Since(began).Milliseconds())
	return text, nil
}

// fetch returns the object at the order's address. No error shows the address, which is a key for a minute.
func (h *Handler) fetch(ctx context.Context, o isolated.FileOrder) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, o.Address, nil)
	if err != nil {
		return nil, errors.New("the order's address can't be read")
	}
	res, err := h.Client.Do(r)
	if err != nil {
		return nil, fmt.Errorf("fetch the file: %w", errors.Unwrap(err))
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("fetch the file: status %d", res.StatusCode)
	}
	file, err := io.ReadAll(io.LimitReader(res.Body, isolated.MaxFile+1))
	switch sum := sha256.Sum256(file); {
	case err != nil:
		return nil, errors.New("fetch the file: the answer was cut off")
	case len(file) > isolated.MaxFile:
		return nil, fmt.Errorf("the file has more than %d bytes", isolated.MaxFile)
	case hex.EncodeToString(sum[:]) != o.SHA256:
		return nil, errors.New("the object is not the order's file")
	}
	return file, nil
}

// unlessPanics returns what a reader returns. A file on which it panics is broken in a way that nobody thought of.
func unlessPanics(read func() isolated.FileText) (text isolated.FileText) {
	text.Why = isolated.Broken // which stays in a panic
	defer boot.Recover(context.Background(), new(error))
	return read()
}

// textOf returns a file's text. What a file is follows from its bytes alone.
func textOf(file []byte, until time.Time) isolated.FileText {
	switch {
	case bytes.HasPrefix(file, []byte("PK\x03\x04")), bytes.HasPrefix(file, []byte("PK\x05\x06")):
		return office(file, until)
	case bytes.HasPrefix(file, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return isolated.FileText{Why: ofCompound(file)}
	case bytes.HasPrefix(bytes.TrimLeft(file, "\r\n"), []byte("%PDF-")):
		return isolated.FileText{Why: isolated.PDF}
	case bytes.HasPrefix(file, []byte(`{\rtf`)), bytes.ContainsFunc(file, ofBinary):
		return isolated.FileText{Why: isolated.OtherType}
	}
	text, as := language.Decode(file)
	if as == "" {
		return isolated.FileText{Why: isolated.Encoding}
	}
	w := &writer{}
	if markup.Get().MatchString(text) && hiding.Get().MatchString(ofExcel.Get().ReplaceAllString(text, "")) {
		w.remark(isolated.HasHidden)
	}
	w.write(text)
	return isolated.FileText{Text: w.done(), Form: isolated.PlainText, Encoding: as, Remarks: w.remarks}
}

// ofBinary reports whether a character is one of those that only binary files have.
func ofBinary(r rune) bool { return r < ' ' && !strings.ContainsRune("\t\n\r\f\v\x1a", r) }

// writer collects a text up to its limit.
type writer struct {
	text    strings.Builder
	remarks []isolated.FileRemark
	full    bool
}

func (w *writer) remark(r isolated.FileRemark) {
	if !slices.Contains(w.remarks, r) {
		w.remarks = append(w.remarks, r)
	}
}

// write adds to the text. Once it has as many bytes as it may, nothing more is added.
func (w *writer) write(s string) {
	if w.full {
		return
	}
	fits := language.FirstBytes(s, isolated.MaxText-w.text.Len())
	w.text.WriteString(fits)
	if w.full = fits != s; w.full {
		w.remark(isolated.FileCut)
	}
}

// ours matches the beginning of a line that read-file itself writes into a text.
var ours = language.Regexp{Text: `^\s*(?:---|\[(?:hidden|rows)\b)`}

// line writes a line of a file, without control characters but tabs, so that nobody takes it for one of ours.
func (w *writer) line(s string) {
	s = strings.Map(func(r rune) rune {
		if r < ' ' && r != '\t' {
			return -1
		}
		return r
	}, s)
	if ours.Get().MatchString(s) {
		s = `\` + s
	}
	w.write(s + "\n")
}

// heading writes the line above a sheet or a slide, and remarks that people don't see it.
func (w *writer) heading(of string, hidden bool, name string) {
	if w.text.Len() > 0 {
		w.write("\n")
	}
	if hidden {
		of += ", hidden"
		w.remark(isolated.HasHidden)
	}
	w.write("--- " + of + name + " ---\n")
}

// done returns the text. A text that was cut ends with its last whole line, if it has lines.
func (w *writer) done() string {
	s := w.text.String()
	if end := strings.LastIndexByte(s, '\n'); w.full && end > 0 {
		return s[:end+1]
	}
	return s
}

// What hides a part of a page or a sheet that is kept as HTML or XML, and what Excel itself hides there: rows without a
// text, and how names are read aloud (rt).
var (
	markup = language.Regexp{Text: `(?i)\A\s*(?:<\?[^>]*>\s*|<!--[^>]*-->\s*)*<(?:!doctype html|html|head|body|meta|` +
		`style|div|table|(?:\w+:)?workbook)\b`}
	ofExcel = language.Regexp{Text: `(?i)[>}]\s*rt\s*\{[^{}]*\}|<tr\b[^<>]*>` +
		`(?:\s|&nbsp;|</?(?:td|th|p|div|span|font|b|br|a)\b[^<>]*>)*</tr>`}
	hiding = language.Regexp{Text: `(?i)display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all|` +
		`:Hidden="1"|<[^<>]*(?:\shidden[\s=/>]|type=["']?hidden)|visible(?:>|=")sheet(?:very)?hidden`}
)

// ofCompound tells what a compound file is by the names in it ([MS-CFB]): an encrypted file of Office, one in an old
// form of Office, or one of another program.
func ofCompound(file []byte) isolated.Unreadable {
	has := func(name string) bool {
		return bytes.Contains(file, []byte(strings.Join(strings.Split(name, ""), "\x00")+"\x00\x00"))
	}
	switch {
	case has("EncryptedPackage"):
		return isolated.Encrypted
	case has("WordDocument"), has("Workbook"), has("Book"), has("PowerPoint Document"):
		return isolated.OldOffice
	}
	return isolated.OtherType
}
