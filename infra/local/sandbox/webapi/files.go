package webapi

import (
	"cmp"
	"fmt"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"
)

// scopes are what the app may do, as Slack says in a header of each answer.
const scopes = "app_mentions:read,assistant:write,channels:history,channels:read,chat:write,commands,files:read," +
	"groups:history,groups:read,im:history,im:write,usergroups:read,users:read,users:read.email"

// FilesPath begins the paths of files' contents.
const FilesPath = "/files-pri/"

func fileInfo(a *API, p params) (reply, error) {
	f, err := a.File(p.str("file"))
	if err != nil {
		return nil, err
	}
	address := a.Self + FilesPath + f.ID
	return reply{"file": map[string]any{"id": f.ID, "name": f.Name, "title": f.Title, "mimetype": f.MIMEType,
		"size": f.Size, "mode": f.Mode, "url_private": address, "url_private_download": address}}, nil
}

// ServeFile serves a file's content to whoever has the bot's token.
func (a *API) ServeFile(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	f, err := a.File(r.PathValue("id"))
	switch {
	case a.Check(token) != "":
		w.Header().Set("Content-Type", "text/html") // Slack shows a page to sign in
		w.Write([]byte("<html>"))
	case err != nil:
		http.Error(w, err.Error(), http.StatusNotFound)
	default:
		w.Header().Set("Content-Type", f.MIMEType)
		w.Write(f.Body)
	}
}

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

// keep stores the files of a draft, and returns them with their ids. A file that is kept already has one.
func (w *Workspace) keep(files []File) (kept []File) {
	for _, f := range files {
		f.MIMEType, f.Title = cmp.Or(f.MIMEType, typeOf(f)), cmp.Or(f.Title, f.Name)
		if f.Size, f.Mode = len(f.Body), "hosted"; f.ID == "" {
			f.ID = fmt.Sprintf("F%08d", w.next())
		}
		w.files[f.ID] = f
		kept = append(kept, f)
	}
	return kept
}

// Keep stores files that a person gave to a form, and returns them with their ids.
func (w *Workspace) Keep(files []File) []File {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.keep(files)
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
