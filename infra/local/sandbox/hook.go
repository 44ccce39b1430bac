package sandbox

import (
	"encoding/json"
	"io"
	"net/http"
	"ringi/infra/local/sandbox/webapi"
)

// hookBody is the body of an app's request to a response URL.
type hookBody struct {
	Text            string `json:"text"`
	Blocks          []any  `json:"blocks"`
	Attachments     []any  `json:"attachments"`
	ResponseType    string `json:"response_type"`
	ReplaceOriginal bool   `json:"replace_original"`
	DeleteOriginal  bool   `json:"delete_original"`
	ThreadTS        string `json:"thread_ts"`
}

// serveHook serves response URLs. Each works five times within half an hour.
func (s *Sandbox) serveHook(w http.ResponseWriter, r *http.Request) {
	target, err := s.ws.UseHook(r.PathValue("id"))
	if err != nil {
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	var b hookBody
	if err := json.Unmarshal(raw, &b); err != nil {
		http.Error(w, "invalid_payload", http.StatusBadRequest)
		return
	}
	if err := s.respond(target, b); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	// A failure means that the app has disconnected.
	_, _ = io.WriteString(w, `{"ok":true}`)
}

func (s *Sandbox) respond(t webapi.HookTarget, b hookBody) error {
	d := webapi.Draft{
		Channel: t.Channel, User: webapi.Bot, Text: b.Text, Blocks: b.Blocks, Attachments: b.Attachments,
		ThreadTS: b.ThreadTS,
	}
	switch {
	case b.DeleteOriginal && t.Ephemeral:
		s.ws.Dismiss(t.User, t.TS)
		return nil
	case b.DeleteOriginal:
		return s.ws.Delete(t.Channel, t.TS, webapi.Bot)
	case b.ReplaceOriginal && t.Ephemeral:
		_, err := s.ws.ReplaceEphemeral(t.User, t.TS, d)
		return err
	case b.ReplaceOriginal:
		p := webapi.Patch{Text: &b.Text, Blocks: b.Blocks, Attachments: b.Attachments}
		if p.Attachments == nil {
			p.Attachments = []any{}
		}
		_, err := s.ws.Update(t.Channel, t.TS, webapi.Bot, p)
		return err
	case b.Text == "" && len(b.Blocks) == 0 && len(b.Attachments) == 0:
		return webapi.Code("no_text")
	case b.ResponseType == "in_channel":
		_, err := s.ws.Post(d)
		return err
	}
	_, err := s.ws.PostEphemeral(t.User, d)
	return err
}
