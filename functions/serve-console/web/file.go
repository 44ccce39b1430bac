package web

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode"

	"ringi/shared/domain/aggregate"
	"ringi/shared/store/large"
	"ringi/shared/words/language"
)

// byteOrderMark tells Excel that a file is UTF-8.
const byteOrderMark = "\ufeff"

// CSV formats rows for spreadsheets. Every cell is quoted, because some programs also end a cell at a semicolon or a
// tab.
func CSV(rows [][]string) []byte {
	b := bytes.NewBufferString(byteOrderMark)
	for _, row := range rows {
		b.WriteString(Joined(row, func(cell string) string {
			return `"` + strings.ReplaceAll(harmless(cell), `"`, `""`) + `"`
		}, ",") + "\r\n")
	}
	return b.Bytes()
}

// harmless returns a cell's text as a spreadsheet shows it literally. A signed number is no formula.
func harmless(s string) string {
	if digits, negative := strings.CutPrefix(s, "-"); negative && digits != "" &&
		strings.Trim(digits, "0123456789.") == "" {
		return s
	}
	return literal(s)
}

// literal puts a ' before a text that would be a formula, also if its sign is a full-width one or follows invisible
// characters. NUL becomes a blank because some programs stop reading there.
func literal(s string) string {
	s = strings.ReplaceAll(s, "\x00", " ")
	first := strings.TrimLeftFunc(s, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.In(r, unicode.Cc, unicode.Cf)
	})
	if first != "" && strings.ContainsRune("=+-@＝＋－＠|%", []rune(first)[0]) || strings.HasPrefix(s, "\t") ||
		strings.HasPrefix(s, "\r") || strings.HasPrefix(s, "\n") {
		return "'" + s
	}
	return s
}

// Uploaded returns the file of a form; empty without one.
func Uploaded(r *http.Request) ([]byte, error) {
	if r.MultipartForm == nil || len(r.MultipartForm.File["file"]) == 0 {
		return nil, nil
	}
	f, err := r.MultipartForm.File["file"][0].Open()
	var file []byte
	if err == nil {
		file, err = io.ReadAll(f)
		_ = f.Close() // it was read
	}
	if err != nil {
		return nil, aggregate.Problem{Field: "file", Code: "can't be read"}
	}
	return file, nil
}

// YAML returns the YAML of a form: the uploaded file, or the pasted text. It leaves out what editors of Windows and
// browsers add: the byte order mark and carriage returns.
func YAML(r *http.Request) ([]byte, error) {
	text, err := Uploaded(r)
	if len(text) == 0 {
		text = []byte(r.PostFormValue("text"))
	}
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte(byteOrderMark)), []byte("\r\n"), []byte("\n"))
	return bytes.Trim(text, "\n"), err
}

// Zipped compresses a text.
func Zipped(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // to memory: it can't fail
	_ = w.Close()
	return b.Bytes()
}

// Packed makes the value of a hidden field of a text, so that a form sends what was shown: 1 MB becomes some 100 KB.
func Packed(text []byte) string { return base64.RawURLEncoding.EncodeToString(Zipped(text)) }

// Unpacked reads what Packed returned. Of a longer text than most it returns most and one byte.
func Unpacked(value string, most int64) ([]byte, error) {
	b, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, most+1))
}

// AttachCSV sends rows as a file for spreadsheets.
func AttachCSV(w http.ResponseWriter, r *http.Request, name string, rows [][]string) error {
	return Attach(w, r, "text/csv", name, CSV(rows))
}

// maxPlain is the largest answer that isn't compressed: Lambda limits answers to 6 MB.
const maxPlain = 1 << 20

// Attach sends a file to be saved under a name, compressed if it is long.
func Attach(w http.ResponseWriter, r *http.Request, kind, name string, file []byte) error {
	if len(file) > maxPlain && strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
		file = Zipped(file)
		w.Header().Set("Content-Encoding", "gzip")
	}
	return Serve(w, kind+"; charset=utf-8", `attachment; filename="`+name+`"`, file)
}

// Serve sends a file of this media type, to be saved or looked at as a disposition says.
func Serve(w http.ResponseWriter, kind, disposition string, file []byte) error {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Disposition", disposition)
	_, err := w.Write(file)
	return err
}

// maxSent bounds what a file has of prompts, in bytes before it is compressed.
const maxSent = 8 << 20

// sentCall is a line of the file that SendSent makes; Sent is absent if it was not kept, or its retention time is over.
type sentCall struct {
	At     time.Time `json:"at"`
	Made   string    `json:"made"`
	Model  string    `json:"model"`
	Prompt string    `json:"prompt"`
	Sent   any       `json:"sent,omitempty"`
}

// SendSent sends what models were sent for an aggregate as a file of JSON lines, the newest first, with personal data
// masked as on cards.
func (c *Site) SendSent(w http.ResponseWriter, r *http.Request, of aggregate.Ref, uses []*aggregate.Use) error {
	uses = slices.SortedStableFunc(slices.Values(uses), func(x, y *aggregate.Use) int {
		return y.CreatedAt.Compare(x.CreatedAt)
	})
	var file []byte
	for _, u := range uses {
		call := sentCall{At: u.CreatedAt, Made: u.Made, Model: u.Model, Prompt: u.Prompt}
		if u.Kept() {
			text, err := c.Results.Open(r.Context(), of, *u.Sent)
			if err != nil && !errors.Is(err, large.ErrExpired) {
				return err
			}
			call.Sent = masked(text)
		}
		line, err := json.Marshal(call)
		if err != nil {
			return err
		}
		if len(file)+len(line) > maxSent {
			break
		}
		file = append(append(file, line...), '\n')
	}
	return Attach(w, r, "application/x-ndjson", "ringi-"+of.ID+"-sent.jsonl", file)
}

// masked returns a request to a model with personal data masked: a JSON value, or a text if it is none.
func masked(text []byte) any {
	if text == nil {
		return nil
	}
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return language.Mask(string(text))
	}
	return language.MaskAll(v)
}

// Exactly is Indented with what nobody sees in JSON spelled out, whatever blanks stand between its members.
func Exactly(text string) string {
	if b := new(bytes.Buffer); json.Compact(b, []byte(text)) == nil {
		text = b.String()
	}
	return Indented(language.Spelled(text))
}

// Indented spreads a text that is JSON over lines; any other text stays as it is.
func Indented(text string) string {
	var b bytes.Buffer
	if begin := strings.TrimSpace(text); begin == "" || !strings.Contains("{[", begin[:1]) ||
		json.Indent(&b, []byte(begin), "", "  ") != nil {
		return text
	}
	return b.String()
}
