package yamlfile

import (
	"bytes"
	"io"
	"net/http"

	"ringi/shared/domain/aggregate"
)

// Sent returns the file of a form: the uploaded one, or the pasted text.
func Sent(r *http.Request) ([]byte, error) {
	if r.MultipartForm != nil && len(r.MultipartForm.File["file"]) > 0 && r.MultipartForm.File["file"][0].Size > 0 {
		f, err := r.MultipartForm.File["file"][0].Open()
		if err != nil {
			return nil, aggregate.ErrField{Field: "file", Limit: "can't be read"}
		}
		defer f.Close()
		text, err := io.ReadAll(f)
		if err != nil {
			return nil, aggregate.ErrField{Field: "file", Limit: "can't be read"}
		}
		return plain(text), nil
	}
	return plain([]byte(r.PostFormValue("text"))), nil
}

// plain removes the byte order mark and carriage returns that Windows editors and browsers add.
func plain(text []byte) []byte {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	return bytes.Trim(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")), "\n")
}
