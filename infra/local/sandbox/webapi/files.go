package webapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"mime"
	"net/http"
	"path"
	"strings"
	"sync"
	"unicode/utf8"
)

// scopes are what the app may do, as Slack says in a header of each answer.
const scopes = "app_mentions:read,assistant:write,channels:history,channels:read,chat:write,commands,files:read," +
	"files:write,groups:history,groups:read,im:history,im:write,team:read,usergroups:read,users:read,users:read.email"

// uploads are the files that the app gave.
type uploads struct {
	mu  sync.Mutex
	all map[string]*upload // by id
}

type upload struct {
	name, title         string
	length              int
	body                []byte
	channel, thread, ts string // where it is shared; empty: nowhere
}

// uploadPath begins the addresses to which files are posted.
const uploadPath = "upload/"

func getUploadURL(a *API, p params) (reply, error) {
	length := 0
	if _, err := fmt.Sscan(p.str("length"), &length); err != nil || length <= 0 {
		return nil, missing("length")
	}
	a.files.mu.Lock()
	defer a.files.mu.Unlock()
	if a.files.all == nil {
		a.files.all = map[string]*upload{}
	}
	id := fmt.Sprintf("F0SAND%04d", len(a.files.all)+1)
	a.files.all[id] = &upload{name: p.str("filename"), length: length}
	return reply{"upload_url": "http://" + p.host + "/api/" + uploadPath + id, "file_id": id}, nil
}

// takeUpload takes a file's bytes at the address that Slack gave for it.
func (a *API) takeUpload(w http.ResponseWriter, r *http.Request, id string) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	a.files.mu.Lock()
	defer a.files.mu.Unlock()
	f := a.files.all[id]
	if err != nil || f == nil || r.Method != http.MethodPost || len(body) != f.length || f.ts != "" {
		http.Error(w, "no such upload, or another length", http.StatusBadRequest)
		return
	}
	f.body = body
	fmt.Fprintf(w, "OK - %d", len(body))
}

// completeUpload shares uploaded files in one message. Each is shared once.
func completeUpload(a *API, p params) (reply, error) {
	var list []struct{ ID, Title string }
	if err := json.Unmarshal([]byte(p.str("files")), &list); err != nil || len(list) == 0 {
		return nil, missing("files")
	}
	a.files.mu.Lock()
	defer a.files.mu.Unlock()
	d := Draft{Channel: p.str("channel_id"), ThreadTS: p.str("thread_ts"), Text: p.str("initial_comment"),
		User: Bot}
	var done []map[string]any
	for _, x := range list {
		f := a.files.all[x.ID]
		switch {
		case f == nil || f.body == nil:
			return nil, refuse("file_not_found")
		case f.ts != "":
			return nil, refuse("file_already_completed")
		}
		f.title = x.Title
		done = append(done, map[string]any{"id": x.ID, "title": x.Title})
		d.Files = append(d.Files, File{ID: x.ID, Name: f.name, Title: x.Title, Body: f.body})
	}
	m, err := a.ws.Post(d)
	if err != nil {
		return nil, err
	}
	for _, x := range list {
		f := a.files.all[x.ID]
		f.channel, f.thread, f.ts = d.Channel, d.ThreadTS, m.TS
	}
	return reply{"files": done}, nil
}

// FilesPath begins the paths of files' contents.
const FilesPath = "/files-pri/"

// fileInfo describes a file. One that the app gave says where it is shared.
func fileInfo(a *API, p params) (reply, error) {
	a.files.mu.Lock()
	defer a.files.mu.Unlock()
	id, shares := p.str("file"), map[string]any{}
	given := a.files.all[id]
	if given != nil && given.ts == "" {
		return reply{"file": map[string]any{"id": id, "name": given.name, "title": given.title, "size": len(given.body),
			"shares": shares}}, nil
	}
	f, err := a.ws.File(id)
	if err != nil {
		return nil, err
	}
	if given != nil {
		kind := "public"
		if strings.HasPrefix(given.channel, "D") || strings.HasPrefix(given.channel, "G") {
			kind = "private"
		}
		shares[kind] = map[string]any{given.channel: []any{map[string]any{"ts": given.ts, "thread_ts": given.thread}}}
	}
	address := a.opts.Self() + FilesPath + f.ID
	return reply{"file": map[string]any{"id": f.ID, "name": f.Name, "title": f.Title, "mimetype": f.MIMEType,
		"size": f.Size,
		"mode": f.Mode, "shares": shares, "url_private": address, "url_private_download": address}}, nil
}

// ServeFile serves a file's content to whoever has the bot's token.
func (a *API) ServeFile(w http.ResponseWriter, r *http.Request) {
	token, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	f, err := a.ws.File(r.PathValue("id"))
	refused := token != a.opts.BotToken
	if a.opts.Check != nil {
		refused = a.opts.Check(token) != ""
	}
	switch {
	case refused:
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
