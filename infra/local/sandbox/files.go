package sandbox

import (
	"fmt"
	"mime"
	"net/http"
	"ringi/infra/local/sandbox/webapi"
	"unicode/utf8"
)

// Limits of the files of a message. Their number is Slack's. Slack takes 1 GB of each, which this machine keeps in
// memory.
const (
	maxFiles     = 10
	maxFileBytes = 32 << 20 // of all together
	maxFileName  = 255      // characters
)

// maxSay is the maximum body of the page's acts, among them a message with its files in base64.
const maxSay = 64 << 20

// attachment is a file that a person attaches to a message.
type attachment struct {
	Name string `json:"name"`
	Body []byte `json:"body"`
}

// checked returns files as a message has them, or FieldErrors.
func checked(list []attachment) (files []webapi.File, err error) {
	bytes := 0
	if len(list) > maxFiles {
		return nil, FieldErrors{"files": fmt.Sprintf("a message has at most %d files, not %d", maxFiles, len(list))}
	}
	for i, f := range list {
		field := fmt.Sprintf("files[%d]", i)
		bytes += len(f.Body)
		switch n := utf8.RuneCountInString(f.Name); {
		case n == 0 || n > maxFileName:
			return nil, FieldErrors{field: fmt.Sprintf("its name has 1 to %d characters, not %d", maxFileName, n)}
		case len(f.Body) == 0:
			return nil, FieldErrors{field: f.Name + " is empty"}
		case bytes > maxFileBytes:
			return nil, FieldErrors{field: fmt.Sprintf("with %s the files have over %d MB together", f.Name, maxFileBytes>>20)}
		}
		files = append(files, webapi.File{Name: f.Name, Body: f.Body})
	}
	return files, nil
}

// getFile gives a person a file that was shared, to be saved and not shown: a file's page could act as this one.
func (s *Sandbox) getFile(w http.ResponseWriter, r *http.Request) {
	f, err := s.ws.File(r.PathValue("id"))
	if err != nil {
		http.Error(w, "no such file was shared", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": f.Name}))
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(f.Body) // a failure means that the browser has disconnected
}
