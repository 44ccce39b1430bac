package organisation

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"io"
	"net/http"
	"strings"
	"unicode/utf8"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/explain/auditlog"
	"ringi/shared/words/charset"
)

// textOf returns the uploaded file as UTF-8 with the name of its encoding, or the text that the page kept of it. A file
// that is in no encoding is returned as it is, and refused for that when it is read. So are damaged
// characters, by their rows.
func textOf(r *http.Request) (text []byte, encoding string, err error) {
	unreadable := aggregate.ErrField{Field: "file", Limit: "can't be read"}
	if r.MultipartForm != nil && len(r.MultipartForm.File["file"]) > 0 {
		f, err := r.MultipartForm.File["file"][0].Open()
		if err != nil {
			return nil, "", unreadable
		}
		defer f.Close()
		file, err := io.ReadAll(f)
		if err != nil {
			return nil, "", unreadable
		}
		decoded, encoding, torn := charset.Decode(file)
		switch {
		case encoding == "" || torn && encoding == charset.UTF8: // its rows are told from the bytes
			return file, "", nil
		case torn && !strings.ContainsRune(decoded, utf8.RuneError):
			decoded += string(utf8.RuneError) // it ends within a character
		}
		return []byte(decoded), encoding, nil
	}
	if text, err = unpacked(r.PostFormValue("packed")); err != nil {
		return nil, "", unreadable
	}
	return text, charset.UTF8, nil
}

// packed makes a form's value of a text, so that saving sends what was shown: 1 MB becomes some 100 KB.
func packed(text []byte) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = w.Write(text) // to memory: it can't fail
	_ = w.Close()
	return base64.RawURLEncoding.EncodeToString(b.Bytes())
}

// unpacked reads what packed returned. Of a longer text than a file may have it returns a part that is refused.
func unpacked(value string) ([]byte, error) {
	if value == "" {
		return nil, nil
	}
	b, err := base64.RawURLEncoding.DecodeString(value)
	if err != nil {
		return nil, err
	}
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, organisation.MaxBytes+1))
}

// byteOrderMark tells Excel that a file is UTF-8.
const byteOrderMark = "\ufeff"

// send sends rows as a file for spreadsheets. Reading it again makes the same of it.
func send(w http.ResponseWriter, name string, rows [][]string) error {
	var b bytes.Buffer
	b.WriteString(byteOrderMark)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, s := range row {
			cells[i] = auditlog.Cell(s)
		}
		_ = auditlog.WriteCells(&b, cells) // to memory: it can't fail
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8")
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	_, err := w.Write(b.Bytes())
	return err
}

// download sends what stands.
func (c *Pages) download(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	is, err := c.Organisations.Standing(r.Context(), v.Tenant)
	if err != nil {
		return err
	}
	if is.Organisation == nil {
		return web.ErrNoPage
	}
	return send(w, "organisation.csv", is.Organisation.Rows(v.Locale))
}

// template sends a file with two rows as an example: a manager, and somebody in a department below.
func (c *Pages) template(w http.ResponseWriter, _ *http.Request, v *web.Viewer) error {
	t := v.Texts("organisation")
	rows := [][]string{organisation.Header(v.Locale)}
	return send(w, "organisation-template.csv", append(rows, t.List("example", "manager"), t.List("example", "member")))
}
