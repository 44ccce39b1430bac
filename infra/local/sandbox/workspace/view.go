package workspace

import (
	"fmt"
	"maps"
	"slices"
)

// MaxViews is how many modals can lie on top of each other.
const MaxViews = 3

// View is a modal as Slack's Web API shows it.
type View struct {
	ID                 string    `json:"id"`
	TeamID             string    `json:"team_id"`
	Type               string    `json:"type"`
	Blocks             []any     `json:"blocks"`
	PrivateMetadata    string    `json:"private_metadata"`
	CallbackID         string    `json:"callback_id"`
	State              ViewState `json:"state"`
	Hash               string    `json:"hash"`
	Title              any       `json:"title"`
	ClearOnClose       bool      `json:"clear_on_close"`
	NotifyOnClose      bool      `json:"notify_on_close"`
	Close              any       `json:"close"`
	Submit             any       `json:"submit"`
	PreviousViewID     *string   `json:"previous_view_id"`
	RootViewID         string    `json:"root_view_id"`
	AppID              string    `json:"app_id"`
	ExternalID         string    `json:"external_id"`
	AppInstalledTeamID string    `json:"app_installed_team_id"`
	BotID              string    `json:"bot_id"`
}

// ViewState is what the person has filled in, by block_id and action_id.
type ViewState struct {
	Values map[string]map[string]any `json:"values"`
}

// OpenView shows a modal to a person in place of what was open.
func (w *Workspace) OpenView(user string, spec map[string]any) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.views[user] = nil
	return w.stack(user, spec)
}

// PushView lays a modal on the person's open ones. It returns PushLimit at the
// fourth.
func (w *Workspace) PushView(user string, spec map[string]any) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.views[user]) >= MaxViews {
		return View{}, PushLimit
	}
	return w.stack(user, spec)
}

func (w *Workspace) stack(user string, spec map[string]any) (View, error) {
	if id, _ := spec["external_id"].(string); id != "" {
		if _, found := w.findView(id); found != nil {
			return View{}, DuplicateID
		}
	}
	v := w.shape(spec)
	v.ID = fmt.Sprintf("V0SAND%04X", w.next())
	v.RootViewID = v.ID
	if open := w.views[user]; len(open) > 0 {
		v.RootViewID = open[0].ID
		v.PreviousViewID = new(open[len(open)-1].ID)
	}
	w.views[user] = append(w.views[user], &v)
	w.tellViews(user)
	return v, nil
}

func (w *Workspace) shape(spec map[string]any) View {
	str := func(k string) string { s, _ := spec[k].(string); return s }
	flag := func(k string) bool { b, _ := spec[k].(bool); return b }
	blocks, _ := spec["blocks"].([]any)
	v := View{
		TeamID: w.cfg.TeamID, Type: str("type"), Blocks: w.fill(blocks), PrivateMetadata: str("private_metadata"), CallbackID: str("callback_id"),
		Title: spec["title"], Close: spec["close"], Submit: spec["submit"], ClearOnClose: flag("clear_on_close"), NotifyOnClose: flag("notify_on_close"),
		AppID: w.cfg.AppID, ExternalID: str("external_id"), AppInstalledTeamID: w.cfg.TeamID, BotID: BotID,
		Hash:  fmt.Sprintf("%d.%08x", w.cfg.Now().Unix(), w.next()),
		State: ViewState{Values: map[string]map[string]any{}},
	}
	if v.Blocks == nil {
		v.Blocks = []any{}
	}
	return v
}

// UpdateView changes an open modal, found by id or external id. hash is checked
// when it is not empty. It returns ViewNotFound or HashConflict.
func (w *Workspace) UpdateView(id, hash string, spec map[string]any) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	user, old := w.findView(id)
	if old == nil {
		return View{}, ViewNotFound
	}
	if hash != "" && hash != old.Hash {
		return View{}, HashConflict
	}
	v := w.shape(spec)
	v.ID, v.RootViewID, v.PreviousViewID, v.State = old.ID, old.RootViewID, old.PreviousViewID, old.State
	*old = v
	w.tellViews(user)
	return v, nil
}

// FillView keeps what the person has entered.
func (w *Workspace) FillView(id string, values map[string]map[string]any) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, v := w.findView(id)
	if v == nil {
		return View{}, ViewNotFound
	}
	v.State = ViewState{Values: maps.Clone(values)}
	return *v, nil
}

// CloseView takes the person's topmost modal away, or all of them, and returns
// those that went, the topmost first.
func (w *Workspace) CloseView(user string, all bool) []View {
	w.mu.Lock()
	defer w.mu.Unlock()
	var gone []View
	for n := len(w.views[user]); n > 0; n-- {
		gone = append(gone, *w.views[user][n-1])
		w.views[user] = w.views[user][:n-1]
		if !all {
			break
		}
	}
	w.tellViews(user)
	return gone
}

// Views lists a person's open modals, the topmost last.
func (w *Workspace) Views(user string) []View {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshot(user)
}

func (w *Workspace) snapshot(user string) []View {
	out := []View{}
	for _, v := range w.views[user] {
		out = append(out, *v)
	}
	return out
}

func (w *Workspace) tellViews(user string) {
	w.tell(Change{Kind: "views", To: user, Data: w.snapshot(user)})
}

func (w *Workspace) findView(id string) (string, *View) {
	for _, user := range slices.Sorted(maps.Keys(w.views)) {
		for _, v := range w.views[user] {
			if v.ID == id || v.ExternalID != "" && v.ExternalID == id {
				return user, v
			}
		}
	}
	return "", nil
}
