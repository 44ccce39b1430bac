// Command read-file returns the text of a file that somebody attached to a conversation. It reads what strangers wrote,
// so it has no rights but to write its log: whoever calls it hands over the address of one object. Workbooks are
// bounded before excelize opens them: of a file of 91 KiB with 60 MiB of styles it would make 5.0 GB.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

func main() {
	boot.Run(newHandler, func(h *Handler) any { return h.Handle })
}

type environment struct{}

func newHandler(context.Context, aws.Config, environment) (*Handler, error) {
	return &Handler{Client: &http.Client{
		Timeout:       8 * time.Second,
		CheckRedirect: func(*http.Request, []*http.Request) error { return errors.New("an address redirects") },
	}, Within: readWithin}, nil
}

// readWithin bounds the reading of a file, so that a file that takes longer gets an answer and no timeout.
const readWithin = 10 * time.Second

type Handler struct {
	Client *http.Client
	Within time.Duration
}

// Handle fetches the order's file and returns its text, or why it has none. Its errors are those of fetching: a file
// that can't be read is no error.
func (h *Handler) Handle(ctx context.Context, o isolated.FileOrder) (isolated.FileText, error) {
	file, err := h.fetch(ctx, o)
	if err != nil {
		return isolated.FileText{}, err
	}
	began := time.Now()
	text := read(file, o.Name, began.Add(h.Within))
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
	if err != nil {
		return nil, errors.New("fetch the file: the answer was cut off")
	}
	if len(file) > isolated.MaxFile {
		return nil, fmt.Errorf("the file has more than %d bytes", isolated.MaxFile)
	}
	if sum := sha256.Sum256(file); hex.EncodeToString(sum[:]) != o.SHA256 {
		return nil, errors.New("the object is not the order's file")
	}
	return file, nil
}

// unreadable is an error of reading.
type unreadable isolated.Unreadable

func (u unreadable) Error() string { return string(u) }

const (
	errBroken     = unreadable(isolated.Broken)
	errTooComplex = unreadable(isolated.TooComplex)
	errEncrypted  = unreadable(isolated.Encrypted)
	errOther      = unreadable(isolated.OtherType)
)

var errFull = errors.New("the text has as many bytes as it may") // no failure

// read returns a file's text. One on which a reader panics is broken in a way that nobody thought of.
func read(file []byte, name string, until time.Time) isolated.FileText {
	return unlessPanics(func() isolated.FileText { return textOf(file, name, until) })
}

func unlessPanics(read func() isolated.FileText) (text isolated.FileText) {
	var err error
	defer func() {
		if err != nil {
			text = isolated.FileText{Why: isolated.Broken}
		}
	}()
	defer boot.Recover(context.Background(), &err)
	return read()
}

// textOf returns a file's text. What a file is follows from its bytes; its name only tells whether its ending is
// another's.
func textOf(file []byte, name string, until time.Time) (out isolated.FileText) {
	w := &writer{}
	var err error
	switch {
	case bytes.HasPrefix(file, []byte("PK\x03\x04")), bytes.HasPrefix(file, []byte("PK\x05\x06")):
		var p *pack
		if p, err = openPack(file, until); err == nil {
			out.Form, err = p.read(file, w)
			p.remarks(w)
		}
	case bytes.HasPrefix(file, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return isolated.FileText{Why: ofCompound(file)}
	case isPDF(file):
		return isolated.FileText{Why: isolated.PDF}
	default:
		return plain(file, name)
	}
	if err != nil && !errors.Is(err, errFull) {
		why, _ := errors.AsType[unreadable](err)
		return isolated.FileText{Why: isolated.Unreadable(cmp.Or(why, errBroken))}
	}
	if ending := strings.ToLower(path.Ext(name)); !strings.HasPrefix(ending, "."+string(out.Form[:3])) {
		w.remark(isolated.HasEnding)
	}
	out.Text, out.Remarks = w.done(), w.remarks
	return out
}

// isPDF reports whether a file is a PDF: its first line need only begin within the first 1024 bytes for programs that
// show it. A text about such files has no end of one.
func isPDF(file []byte) bool {
	return bytes.HasPrefix(file, []byte("%PDF-")) ||
		beginsPDF.Get().Match(file[:min(len(file), 1024)]) && bytes.Contains(file, []byte("startxref"))
}

var beginsPDF = language.Regexp{Text: `[\r\n]%PDF-\d`}

// writer collects a text up to its limit.
type writer struct {
	text    strings.Builder
	remarks []isolated.FileRemark
	full    bool
}

func (w *writer) remark(r isolated.FileRemark) {
	if slices.Contains(w.remarks, r) {
		return
	}
	w.remarks = append(w.remarks, r)
}

// write adds to the text. It returns errFull once nothing more fits.
func (w *writer) write(s string) error {
	if room := isolated.MaxText - w.text.Len(); len(s) > room {
		for room > 0 && !utf8.RuneStart(s[room]) {
			room--
		}
		w.text.WriteString(s[:room])
		w.full = true
		w.remark(isolated.FileCut)
		return errFull
	}
	w.text.WriteString(s)
	return nil
}

// ours matches the beginning of a line that read-file itself writes into a text.
var ours = language.Regexp{
	Text: `^\s*(?:---|\[(?:hidden|rows)\b)`,
}

// foreign returns a line of a file so that nobody takes it for one of ours.
func foreign(line string) string {
	if ours.Get().MatchString(line) {
		return `\` + line
	}
	return line
}

// done returns the text. A text that was cut ends with its last whole line, if it has lines.
func (w *writer) done() string {
	s := w.text.String()
	if end := strings.LastIndexByte(s, '\n'); w.full && end > 0 {
		return s[:end+1]
	}
	return s
}

// plain returns a text without a form.
func plain(file []byte, name string) isolated.FileText {
	text, as := legible.Decode(file)
	switch {
	case bytes.HasPrefix(file, []byte(`{\rtf`)):
		return isolated.FileText{Why: isolated.OtherType}
	case as == "" && bytes.IndexByte(file, 0) >= 0:
		return isolated.FileText{Why: isolated.OtherType}
	case as == "":
		return isolated.FileText{Why: isolated.Encoding}
	case !asLegible(text):
		return isolated.FileText{Why: isolated.OtherType}
	}
	w := &writer{}
	if ofOffice.Get().MatchString(name) { // such as a table in HTML, called .xls
		w.remark(isolated.HasEnding)
	}
	if hides(text) {
		w.remark(isolated.HasHidden)
	}
	w.write(text) // only the limit can stop it, which it remarks
	return isolated.FileText{Text: w.done(), Form: isolated.PlainText, Encoding: as, Remarks: w.remarks}
}

// What hides a part of a page or a sheet that is kept as HTML or XML: a style or an attribute of its element, or a rule
// for some of them. Excel itself writes an empty row without a height, and a rule for how names are read aloud (rt).
const hiding = `display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|mso-hide\s*:\s*all`

var (
	markup = language.Regexp{Text: `(?i)\A\s*(?:<\?[^>]*>\s*|<!--[^>]*-->\s*)*<(?:!doctype html|html|head|body|meta|` +
		`style|div|table|(?:\w+:)?workbook)\b`}
	hiddenPart = language.Regexp{Text: `(?i)<[^<>]*(?:(?:` + hiding + `|:Hidden="1"|type=["']?hidden)[^<>]*` +
		`|\shidden(?:[\s=][^<>]*)?)>` +
		`(?:\s|&nbsp;|</?(?:td|th|p|div|span|font|b|br|a|cell|data|ss:cell|ss:data)\b[^<>]*>)*[^\s<&]`}
	hiddenRule  = language.Regexp{Text: `(?i)([^{}\s,;>]*)\s*\{[^{}]*(?:` + hiding + `)[^{}]*\}`}
	hiddenSheet = language.Regexp{Text: `(?i)visible(?:>|=")sheet(?:very)?hidden`}
)

// hides reports whether a text is HTML or XML, a part of which people don't see.
func hides(text string) bool {
	if !markup.Get().MatchString(text) {
		return false
	}
	for _, rule := range hiddenRule.Get().FindAllStringSubmatch(text, -1) {
		if rule[1] != "rt" {
			return true
		}
	}
	return hiddenPart.Get().MatchString(text) || hiddenSheet.Get().MatchString(text)
}

var ofOffice = language.Regexp{Text: `(?i)\.(?:xls[xmb]?|doc[xm]?|ppt[xm]?|pdf)$`}

// asLegible reports whether a text has none of the control characters that only binary files have.
func asLegible(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return r < ' ' && !strings.ContainsRune("\t\n\r\f\v\x1a", r)
	})
}

// ofCompound tells what a compound file is by the names in it ([MS-CFB]): an encrypted file of Office, one in an old
// form of Office, or one of another program. Mails of Outlook are compound files, too, and may hold any other.
func ofCompound(file []byte) isolated.Unreadable {
	has := func(name string) bool {
		return bytes.Contains(file, []byte(strings.Join(strings.Split(name, ""), "\x00")+"\x00\x00"))
	}
	switch {
	case has("__properties_version1.0"):
		return isolated.OtherType
	case has("EncryptedPackage"):
		return isolated.Encrypted
	case has("WordDocument"), has("Workbook"), has("Book"), has("PowerPoint Document"):
		return isolated.OldOffice
	}
	return isolated.OtherType
}
