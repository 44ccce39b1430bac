package webapi

import (
	"cmp"
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
	id := cmp.Or(p.str("trigger_id"), p.str("interactivity_pointer"))
	if id == "" {
		return nil, missing("trigger_id")
	}
	view, err := readView(p)
	if err != nil {
		return nil, err
	}
	user, err := a.ws.TakeTrigger(id)
	if err != nil {
		return nil, err
	}
	v, err := a.ws.OpenView(user, view)
	return reply{"view": v}, err
}

func updateView(a *API, p params) (reply, error) {
	id := cmp.Or(p.str("view_id"), p.str("external_id"))
	if id == "" {
		return nil, missing("view_id")
	}
	view, err := readView(p)
	if err != nil {
		return nil, err
	}
	v, err := a.ws.UpdateView(id, p.str("hash"), view)
	return reply{"view": v}, err
}

// publishView shows a Home tab. It checks hash if the call has one.
func publishView(a *API, p params) (reply, error) {
	view, err := readView(p)
	if err != nil {
		return nil, err
	}
	if view["type"] != "home" {
		return nil, refuse("invalid_arguments")
	}
	v, err := a.ws.PublishHome(p.str("user_id"), p.str("hash"), view)
	return reply{"view": v}, err
}

// ViewProblems checks a modal or Home tab of a views.* call. Its pointers begin with /view.
func ViewProblems(view map[string]any) []Problem {
	c := &checker{}
	switch view["type"] {
	case "modal":
		c.object("/view", view, shape{fields: map[string]rule{
			"!title": plain(24), "submit": plain(24), "close": plain(24), "!blocks": viewBlocks,
			"private_metadata": str(0, 3000), "callback_id": str(0, 255), "external_id": str(0, 255),
			"clear_on_close": boolean, "notify_on_close": boolean, "submit_disabled": boolean,
		}, also: needsSubmit})
	case "home":
		c.object("/view", view, shape{fields: map[string]rule{
			"!blocks": viewBlocks, "private_metadata": str(0, 3000), "callback_id": str(0, 255), "external_id": str(0, 255),
		}})
	default:
		c.add("/view/type", "must be a valid enum value: modal, home")
	}
	return c.problems
}

func viewBlocks(c *checker, at string, v any) {
	blocks, ok := v.([]any)
	if !ok {
		c.add(at, "must be an array")
		return
	}
	if len(blocks) > MaxViewBlocks {
		c.add(at, "no more than %d items allowed", MaxViewBlocks)
		return
	}
	c.blocks(at, blocks)
}

// needsSubmit checks Slack's rule that a modal with an input needs a submit button.
func needsSubmit(c *checker, at string, m map[string]any) {
	blocks, _ := m["blocks"].([]any)
	for _, b := range blocks {
		if bm, ok := b.(map[string]any); ok && bm["type"] == "input" && m["submit"] == nil {
			c.add(at, "missing required field: submit")
			return
		}
	}
}

// PublishHome replaces a person's Home tab of the app. It returns UserNotFound, or HashConflict if hash is set and is
// not the current view's hash.
func (w *Workspace) PublishHome(user, hash string, spec map[string]any) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, err := w.user(user); err != nil {
		return View{}, err
	}
	old, there := w.homes[user]
	if hash != "" && there && hash != old.Hash {
		return View{}, HashConflict
	}
	v := w.shape(spec)
	v.ID = old.ID
	if !there {
		v.ID = fmt.Sprintf("V0SAND%04X", w.next())
	}
	v.RootViewID = v.ID
	if w.homes == nil {
		w.homes = map[string]View{}
	}
	w.homes[user] = v
	w.tell(Change{Kind: "home", To: user, Data: v})
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

// ViewState has the person's input by block_id and action_id.
type ViewState struct {
	Values map[string]map[string]any `json:"values"`
}

// OpenView opens a modal, which replaces the one that the person has open.
func (w *Workspace) OpenView(user string, spec map[string]any) (View, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.views, user)
	if id, _ := spec["external_id"].(string); id != "" {
		if _, found := w.findView(id); found != nil {
			return View{}, DuplicateID
		}
	}
	v := w.shape(spec)
	v.ID = fmt.Sprintf("V0SAND%04X", w.next())
	v.RootViewID = v.ID
	w.views[user] = &v
	w.tellViews(user)
	return v, nil
}

func (w *Workspace) shape(spec map[string]any) View {
	str := func(k string) string { s, _ := spec[k].(string); return s }
	flag := func(k string) bool { b, _ := spec[k].(bool); return b }
	blocks, _ := spec["blocks"].([]any)
	v := View{
		TeamID: w.cfg.TeamID, Type: str("type"), Blocks: w.fill(blocks), PrivateMetadata: str("private_metadata"),
		CallbackID: str("callback_id"),
		Title:      spec["title"], Close: spec["close"], Submit: spec["submit"], ClearOnClose: flag("clear_on_close"),
		NotifyOnClose: flag("notify_on_close"),
		AppID:         w.cfg.AppID, ExternalID: str("external_id"), AppInstalledTeamID: w.cfg.TeamID, BotID: BotID,
		Hash:  fmt.Sprintf("%d.%08x", w.cfg.Now().Unix(), w.next()),
		State: ViewState{Values: map[string]map[string]any{}},
	}
	if v.Blocks == nil {
		v.Blocks = []any{}
	}
	return v
}

// UpdateView changes an open modal, found by its id or external id. It checks hash unless it is empty. It returns
// ViewNotFound or HashConflict.
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
	v.ID, v.RootViewID, v.State = old.ID, old.RootViewID, old.State
	*old = v
	w.tellViews(user)
	return v, nil
}

// FillView saves the person's input.
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

// CloseView closes a person's modal.
func (w *Workspace) CloseView(user string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.views, user)
	w.tellViews(user)
}

// Views returns the modal that a person has open, if any.
func (w *Workspace) Views(user string) []View {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.snapshot(user)
}

func (w *Workspace) snapshot(user string) []View {
	if v := w.views[user]; v != nil {
		return []View{*v}
	}
	return []View{}
}

func (w *Workspace) tellViews(user string) {
	w.tell(Change{Kind: "views", To: user, Data: w.snapshot(user)})
}

func (w *Workspace) findView(id string) (user string, v *View) {
	for user, v := range w.views {
		if v.ID == id || v.ExternalID != "" && v.ExternalID == id {
			return user, v
		}
	}
	return "", nil
}
