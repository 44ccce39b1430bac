package webapi

import (
	"cmp"
	"fmt"
	"mime"
	"path"
	"strings"
	"unicode/utf8"
)

// File is a file that a person or the app posted. Name and size are as Slack shows them.
type File struct {
	ID       string `json:"id"`
	Name     string `json:"name"`
	Title    string `json:"title,omitempty"`
	MIMEType string `json:"mimetype"`
	Size     int    `json:"size"`
	Mode     string `json:"mode"`

	Body []byte `json:"-"`
}

// keep stores the files of a draft, and returns them with their ids. An uploaded file has one already.
func (w *Workspace) keep(files []File) (kept []File) {
	for _, f := range files {
		f.MIMEType, f.Title = cmp.Or(f.MIMEType, typeOf(f)), cmp.Or(f.Title, f.Name)
		if f.Size, f.Mode = len(f.Body), "hosted"; f.ID == "" {
			f.ID = fmt.Sprintf("F%08d", w.next())
		}
		if w.files == nil {
			w.files = map[string]File{}
		}
		w.files[f.ID] = f
		kept = append(kept, f)
	}
	return kept
}

// typeOf guesses a file's MIME type by its name. A text without a known type is plain.
func typeOf(f File) string {
	known, _, _ := strings.Cut(mime.TypeByExtension(path.Ext(f.Name)), ";")
	if known == "" && utf8.Valid(f.Body) {
		return "text/plain"
	}
	return cmp.Or(known, "application/octet-stream")
}

// FileNotFound is Slack's code for a file that is not there.
const FileNotFound Code = "file_not_found"

// File returns a file that was posted.
func (w *Workspace) File(id string) (File, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f, there := w.files[id]
	if !there {
		return f, FileNotFound
	}
	return f, nil
}
