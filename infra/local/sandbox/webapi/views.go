package webapi

import (
	"cmp"
	"encoding/json"
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

func openView(a *API, p params) (reply, error) { return a.stackView(p, a.ws.OpenView) }
func pushView(a *API, p params) (reply, error) { return a.stackView(p, a.ws.PushView) }

func (a *API) stackView(p params, show func(Hand, map[string]any) (View, error)) (reply, error) {
	id := cmp.Or(p.str("trigger_id"), p.str("interactivity_pointer"))
	if id == "" {
		return nil, missing("trigger_id")
	}
	view, err := readView(p)
	if err != nil {
		return nil, err
	}
	hand, err := a.ws.TakeTrigger(id)
	if err != nil {
		return nil, err
	}
	v, err := show(hand, view)
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
