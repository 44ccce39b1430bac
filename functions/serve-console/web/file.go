package web

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/http"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/explain/auditlog"
)

// byteOrderMark tells Excel that a file is UTF-8.
const byteOrderMark = "\ufeff"

// CSV formats a table for spreadsheets. A cell that a spreadsheet would take for a formula gets a leading apostrophe.
func CSV(t Sheet) []byte {
	return CSVOf(append([][]string{t.Columns}, t.Rows...), harmless)
}

// CSVOf formats rows for spreadsheets; cell makes a text harmless to them.
func CSVOf(rows [][]string, cell func(string) string) []byte {
	var b bytes.Buffer
	b.WriteString(byteOrderMark)
	for _, row := range rows {
		_ = auditlog.WriteCells(&b, Each(row, cell)) // writes to memory: it can't fail
	}
	return b.Bytes()
}

// harmless puts an apostrophe before a text that a spreadsheet would take for a formula. A signed number is not one.
func harmless(s string) string {
	if digits, negative := strings.CutPrefix(s, "-"); negative && digits != "" &&
		strings.Trim(digits, "0123456789.") == "" {
		return s
	}
	return auditlog.Cell(s)
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

// Attach sends a file to be saved under a name.
func Attach(w http.ResponseWriter, kind, name string, file []byte) error {
	w.Header().Set("Content-Type", kind+"; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_, err := w.Write(file)
	return err
}

// Kinds of files that Attach sends.
const (
	KindCSV  = "text/csv"
	KindYAML = "application/yaml"
)
