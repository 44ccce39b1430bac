package webapi

import (
	"encoding/json"
	"fmt"
	"maps"
)

// CheckView returns the error with which Slack refuses an invalid view, or nil. Answers to submitted forms are checked
// too.
func CheckView(view map[string]any) error {
	if view == nil {
		return missing("view")
	}
	if raw, err := json.Marshal(view); err != nil || len(raw) > MaxViewBytes {
		return refuse("view_too_large")
	}
	if found := ViewProblems(view); len(found) > 0 {
		return invalid("invalid_arguments", found)
	}
	return nil
}

func readView(p params) (map[string]any, error) {
	view, err := p.object("view", "invalid_arguments")
	if err != nil {
		return nil, err
	}
	return view, CheckView(view)
}

func openView(a *API, p params) (reply, error) {
	view, err := readView(p)
	if err != nil {
		return nil, err
	}
	user, err := a.TakeTrigger(p.str("trigger_id"))
	if err != nil {
		return nil, err
	}
	return reply{"view": a.OpenView(user, view)}, nil
}

func publishView(a *API, p params) (reply, error) {
	view, err := readView(p)
	if err != nil {
		return nil, err
	}
	if view["type"] != "home" {
		return nil, refuse("invalid_arguments")
	}
	v, err := a.PublishHome(p.str("user_id"), view)
	return reply{"view": v}, err
}

// PublishHome replaces a person's Home tab of the app. It returns UserNotFound if there is no such person.
func (w *Workspace) PublishHome(user string, spec map[string]any) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.user(user); err != nil {
		return View{}, err
	}
	v := w.shape(spec, w.homes[user].ID)
	w.homes[user] = v
	w.tell(Change{})
	return v, nil
}

// Home returns a person's Home tab, and false if the app has not published one.
func (w *Workspace) Home(user string) (View, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v, ok := w.homes[user]
	return v, ok
}

// View is a modal or Home tab as Slack's Web API shows it.
type View struct {
	ID              string    `json:"id"`
	TeamID          string    `json:"team_id"`
	Type            string    `json:"type"`
	Blocks          []any     `json:"blocks"`
	PrivateMetadata string    `json:"private_metadata"`
	CallbackID      string    `json:"callback_id"`
	State           ViewState `json:"state"`
	Hash            string    `json:"hash"`
	Title           any       `json:"title"`
	Close           any       `json:"close"`
	Submit          any       `json:"submit"`
	RootViewID      string    `json:"root_view_id"`
	AppID           string    `json:"app_id"`
	BotID           string    `json:"bot_id"`
}

// ViewState has the person's input by block_id and action_id.
type ViewState struct {
	Values map[string]map[string]any `json:"values"`
}

// OpenView opens a modal, which replaces the one that the person has open.
func (w *Workspace) OpenView(user string, spec map[string]any) View {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.shape(spec, "")
	w.views[user] = &v
	w.tell(Change{})
	return v
}

// shape makes a view of what the app sent, with a new id if it has none.
func (w *Workspace) shape(spec map[string]any, id string) View {
	str := func(k string) string { s, _ := spec[k].(string); return s }
	if id == "" {
		id = fmt.Sprintf("V0SAND%04X", w.next())
	}
	blocks, _ := spec["blocks"].([]any)
	return View{
		ID: id, RootViewID: id, TeamID: w.cfg.TeamID, AppID: w.cfg.AppID, BotID: BotID, Type: str("type"),
		Blocks: append([]any{}, w.fill(blocks)...), PrivateMetadata: str("private_metadata"), CallbackID: str("callback_id"),
		Title: spec["title"], Close: spec["close"], Submit: spec["submit"],
		Hash:  fmt.Sprintf("%d.%08x", w.cfg.Now().Unix(), w.next()),
		State: ViewState{Values: map[string]map[string]any{}},
	}
}

// UpdateView changes an open modal. It returns ViewNotFound if there is none of this id.
func (w *Workspace) UpdateView(id string, spec map[string]any) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	old := w.findView(id)
	if old == nil {
		return ViewNotFound
	}
	v := w.shape(spec, id)
	v.State = old.State
	*old = v
	w.tell(Change{})
	return nil
}

// FillView saves the person's input.
func (w *Workspace) FillView(id string, values map[string]map[string]any) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	v := w.findView(id)
	if v == nil {
		return View{}, ViewNotFound
	}
	v.State = ViewState{Values: maps.Clone(values)}
	return *v, nil
}

// CloseView closes a person's modal.
func (w *Workspace) CloseView(user string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.views, user)
	w.tell(Change{})
}

// Views returns the modal that a person has open, if any.
func (w *Workspace) Views(user string) []View {
	w.mu.Lock()
	defer w.mu.Unlock()
	if v := w.views[user]; v != nil {
		return []View{*v}
	}
	return []View{}
}

func (w *Workspace) findView(id string) *View {
	for _, v := range w.views {
		if v.ID == id {
			return v
		}
	}
	return nil
}
