package webapi

import (
	"net/http"
	"strings"
)

// FilesPath begins the paths of files' contents.
const FilesPath = "/files-pri/"

func fileInfo(a *API, p params) (reply, error) {
	f, err := a.ws.File(p.str("file"))
	if err != nil {
		return nil, err
	}
	address := a.opts.Self() + FilesPath + f.ID
	return reply{"file": map[string]any{"id": f.ID, "name": f.Name, "mimetype": f.MIMEType, "size": f.Size, "mode": f.Mode,
		"url_private": address, "url_private_download": address}}, nil
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
