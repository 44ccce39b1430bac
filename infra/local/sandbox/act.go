package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"ringi/infra/local/sandbox/webapi"
)

// InteractionError means that the app did not answer an interaction properly, and that the person sees a warning.
// Reason is Slack's code, for example http_timeout.
type InteractionError struct {
	Reason string
	Status int
}

func (t InteractionError) Error() string {
	return fmt.Sprintf("the app did not answer well: %s (status %d)", t.Reason, t.Status)
}

// ErrNoButton means that a message or modal does not have the button, perhaps not any more.
var ErrNoButton = errors.New("it has no such button")

// Click presses a button of a message and confirms its dialog. It returns an InteractionError if the app does not
// answer properly, MessageNotFound, or ErrNoButton.
func (s *Sandbox) Click(user, channel, ts, actionID string) error {
	m, err := s.Workspace.Message(channel, ts, user)
	if err != nil {
		return fmt.Errorf("click %s on %s: %w", actionID, ts, err)
	}
	found, ok := findButton(m, actionID)
	if !ok {
		return fmt.Errorf("click %s on %s: %w", actionID, ts, ErrNoButton)
	}
	p := map[string]any{
		"container": container(m, found.attachment), "state": map[string]any{"values": map[string]any{}},
		"actions": []any{s.action(found)},
	}
	if !m.IsEphemeral {
		p["message"] = m
	}
	_, err = s.interact("block_actions", user, m.Channel, ts, p)
	return err
}

// clickView presses the button of a modal or of the Home tab with this action and value. An empty value matches any.
func (s *Sandbox) clickView(user, viewID, actionID string, value any) error {
	v, err := s.shownView(user, viewID)
	if err != nil {
		return err
	}
	for _, b := range v.Blocks {
		found, ok := inBlocks([]any{b}, actionID)
		if !ok || value != "" && value != found.element["value"] {
			continue
		}
		_, err = s.interact("block_actions", user, "", "", map[string]any{
			"container": map[string]any{"type": "view", "view_id": v.ID}, "view": v, "actions": []any{s.action(found)},
		})
		return err
	}
	return fmt.Errorf("click %s in %s: %w", actionID, viewID, ErrNoButton)
}

// Shortcut chooses an entry of a message's ⋯ menu.
func (s *Sandbox) Shortcut(user, channel, ts, callbackID string) error {
	m, err := s.Workspace.Message(channel, ts, user)
	if err != nil {
		return fmt.Errorf("shortcut %s on %s: %w", callbackID, ts, err)
	}
	_, err = s.interact("message_action", user, m.Channel, ts, map[string]any{
		"callback_id": callbackID, "message_ts": m.TS, "message": m, "action_ts": s.now(),
	})
	return err
}

// Submit sends a modal's form. values maps each block_id to a string or a list of strings. If the app refuses the form,
// Submit returns the error message for each block_id, and the modal stays open.
func (s *Sandbox) Submit(user, viewID string, values map[string]any) (map[string]string, error) {
	v, err := s.shownView(user, viewID)
	if err != nil {
		return nil, err
	}
	if values, err = s.withFiles(values); err != nil {
		return nil, err
	}
	if v, err = s.Workspace.FillView(v.ID, formState(v.Blocks, values)); err != nil {
		return nil, fmt.Errorf("submit %s: %w", viewID, err)
	}
	body, err := s.interact("view_submission", user, "", "", map[string]any{"view": v, "response_urls": []any{}})
	if err != nil {
		return nil, err
	}
	return s.answered(user, v, body)
}

// answered carries out the app's answer to a form.
func (s *Sandbox) answered(by string, v webapi.View, body []byte) (map[string]string, error) {
	var answer struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   map[string]any    `json:"view"`
	}
	if len(body) > 0 {
		if err := json.Unmarshal(body, &answer); err != nil {
			return nil, InteractionError{Reason: "answer is no JSON", Status: 200}
		}
	}
	switch answer.Action {
	case "":
		s.Workspace.CloseView(by)
		return nil, nil
	case "errors":
		inputs := formState(v.Blocks, nil)
		for block := range answer.Errors {
			if inputs[block] == nil {
				return nil, InteractionError{Reason: "errors for a block that is no input: " + block, Status: 200}
			}
		}
		if len(answer.Errors) == 0 {
			return nil, InteractionError{Reason: "response_action errors without errors", Status: 200}
		}
		return answer.Errors, nil
	case "update":
		err := webapi.CheckView(answer.View)
		if err == nil {
			err = s.Workspace.UpdateView(v.ID, answer.View)
		}
		if err != nil {
			return nil, InteractionError{Reason: answer.Action + ": " + err.Error(), Status: 200}
		}
		return nil, nil
	}
	return nil, InteractionError{Reason: "unknown response_action " + answer.Action, Status: 200}
}

// CloseView closes a modal as its person.
func (s *Sandbox) CloseView(user, viewID string) error {
	if _, err := s.shownView(user, viewID); err != nil {
		return err
	}
	s.Workspace.CloseView(user)
	return nil
}

// shownView returns a modal that a person has open, or their Home tab.
func (s *Sandbox) shownView(user, viewID string) (webapi.View, error) {
	all := s.Workspace.Views(user)
	if home, ok := s.Workspace.Home(user); ok {
		all = append(all, home)
	}
	if i := slices.IndexFunc(all, func(v webapi.View) bool { return v.ID == viewID }); i >= 0 {
		return all[i], nil
	}
	return webapi.View{}, fmt.Errorf("view %s of %s: %w", viewID, user, webapi.ViewNotFound)
}

// interact sends an interaction with the fields of its kind, and returns the app's answer or an InteractionError.
// channel is empty for modals.
func (s *Sandbox) interact(kind, by, channel, ts string, says map[string]any) ([]byte, error) {
	u, err := s.Workspace.User(by)
	if err != nil {
		return nil, fmt.Errorf("%s on %s: %w", kind, ts, err)
	}
	payload := map[string]any{
		"type": kind, "api_app_id": s.Workspace.AppID(), "token": "sandbox-verification-token",
		"user":       map[string]any{"id": u.ID, "username": u.Handle, "name": u.Handle, "team_id": u.TeamID},
		"team":       map[string]any{"id": s.Workspace.TeamID(), "domain": "ringi-sandbox"},
		"enterprise": nil, "is_enterprise_install": false, "trigger_id": s.Workspace.NewTrigger(by),
	}
	if channel != "" {
		c, err := s.Workspace.Channel(channel)
		if err != nil {
			return nil, fmt.Errorf("%s on %s: %w", kind, ts, err)
		}
		payload["channel"] = map[string]any{"id": c.ID, "name": s.placeName(c)}
	}
	maps.Copy(payload, says)
	raw, _ := json.Marshal(payload) // what came as JSON can be encoded
	return s.deliver(s.opts.Interactions, url.Values{"payload": {string(raw)}},
		Attempt{Kind: kind, Channel: channel, TS: ts})
}

// formState returns the "state.values" of a modal. Inputs without a value keep their initial one.
func formState(blocks []any, values map[string]any) map[string]map[string]any {
	state := map[string]map[string]any{}
	for _, b := range blocks {
		bm, _ := b.(map[string]any)
		if bm["type"] != "input" {
			continue
		}
		element, _ := bm["element"].(map[string]any)
		block, _ := bm["block_id"].(string)
		action, _ := element["action_id"].(string)
		value, given := values[block]
		state[block] = map[string]any{action: answer(element, value, given)}
	}
	return state
}

// answer returns an element's state after the person set it to value, or left what the app gave it. As in Slack, an
// empty string becomes null.
func answer(element map[string]any, value any, given bool) map[string]any {
	kind, _ := element["type"].(string)
	text := func(initial string) any {
		if !given {
			value = element[initial]
		}
		if value == "" {
			return nil
		}
		return value
	}
	out := map[string]any{"type": kind}
	switch kind {
	case "plain_text_input":
		out["value"] = text("initial_value")
	case "conversations_select":
		out["selected_conversation"] = text("initial_conversation")
	case "static_select", "radio_buttons":
		out["selected_option"] = element["initial_option"]
		if found := options(element, value); given {
			out["selected_option"] = nil
			if len(found) > 0 {
				out["selected_option"] = found[0]
			}
		}
	case "checkboxes":
		first, _ := element["initial_options"].([]any)
		if out["selected_options"] = append([]any{}, first...); given {
			out["selected_options"] = options(element, value)
		}
	case "file_input":
		out["files"] = []webapi.File{}
		if files, is := value.([]webapi.File); is {
			out["files"] = files
		}
	}
	return out
}

// options returns the option objects with the chosen values.
func options(element map[string]any, value any) []any {
	all, _ := element["options"].([]any)
	found := []any{}
	for _, want := range chosen(value) {
		for _, o := range all {
			if om, _ := o.(map[string]any); om["value"] == want {
				found = append(found, o)
			}
		}
	}
	return found
}

// chosen converts a single value or a list to a list of strings.
func chosen(value any) []string {
	out := []string{}
	switch v := value.(type) {
	case string:
		out = append(out, v)
	case []string:
		out = append(out, v...)
	case []any:
		for _, e := range v {
			if s, ok := e.(string); ok {
				out = append(out, s)
			}
		}
	}
	return out
}

// Command runs /ringi with a text. The app's answer is shown to the person only.
func (s *Sandbox) Command(user, channel, typed string) error {
	u, err := s.Workspace.User(user)
	if err != nil {
		return fmt.Errorf("command of %s: %w", user, err)
	}
	c, err := s.Workspace.Channel(channel)
	if err != nil {
		return fmt.Errorf("command in %s: %w", channel, err)
	}
	name, text, _ := strings.Cut(strings.TrimSpace(typed), " ")
	form := url.Values{ // fields as in docs.slack.dev, interactivity/implementing-slash-commands
		"token": {"sandbox-verification-token"}, "team_id": {s.Workspace.TeamID()}, "team_domain": {"ringi-sandbox"},
		"channel_id": {c.ID}, "channel_name": {s.placeName(c)}, "user_id": {u.ID}, "user_name": {u.Handle},
		"command": {name}, "text": {s.typed(strings.TrimSpace(text))}, "api_app_id": {s.Workspace.AppID()},
		"is_enterprise_install": {"false"}, "trigger_id": {s.Workspace.NewTrigger(user)},
	}
	answer, err := s.deliver(s.opts.Commands, form, Attempt{Kind: "command", Channel: c.ID})
	if err != nil || len(answer) == 0 {
		return err
	}
	var said struct{ Text string }
	if err := json.Unmarshal(answer, &said); err != nil {
		return InteractionError{Reason: "answer is no JSON", Status: http.StatusOK}
	}
	_, err = s.Workspace.PostEphemeral(u.ID, webapi.Message{Channel: c.ID, User: webapi.Bot, Text: said.Text})
	return err
}

// Global chooses one of the app's global shortcuts, which need no message.
func (s *Sandbox) Global(user, callbackID string) error {
	_, err := s.interact("shortcut", user, "", "", map[string]any{"callback_id": callbackID, "action_ts": s.now()})
	return err
}

func (s *Sandbox) placeName(c webapi.Channel) string {
	if c.IM != "" {
		return "directmessage"
	}
	return s.Workspace.Named(c.Name, c.NameEN)
}

func (s *Sandbox) now() string {
	t := s.opts.Now()
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
}

// placed is a button with its block and attachment. Attachments are counted from 1; 0 means the message itself.
type placed struct {
	element    map[string]any
	blockID    string
	attachment int
}

// findButton searches a message's blocks, then the blocks of its attachments.
func findButton(m webapi.Message, actionID string) (placed, bool) {
	if p, ok := inBlocks(m.Blocks, actionID); ok {
		return p, true
	}
	for i, a := range m.Attachments {
		am, _ := a.(map[string]any)
		blocks, _ := am["blocks"].([]any)
		if p, ok := inBlocks(blocks, actionID); ok {
			p.attachment = i + 1
			return p, true
		}
	}
	return placed{}, false
}

// inBlocks finds a button in a block of actions or beside a section.
func inBlocks(blocks []any, actionID string) (placed, bool) {
	for _, b := range blocks {
		bm, _ := b.(map[string]any)
		elements, _ := bm["elements"].([]any)
		for _, e := range append([]any{bm["accessory"]}, elements...) {
			em, _ := e.(map[string]any)
			if id, _ := em["action_id"].(string); em != nil && id == actionID {
				block, _ := bm["block_id"].(string)
				return placed{element: em, blockID: block}, true
			}
		}
	}
	return placed{}, false
}

// container describes the message or attachment that has the element.
func container(m webapi.Message, attachment int) map[string]any {
	c := map[string]any{"type": "message", "message_ts": m.TS, "channel_id": m.Channel, "is_ephemeral": m.IsEphemeral}
	if attachment > 0 {
		c["type"], c["attachment_id"], c["is_app_unfurl"] = "message_attachment", attachment, false
	}
	if m.ThreadTS != "" {
		c["thread_ts"] = m.ThreadTS
	}
	return c
}

// action returns the entry for a button in the payload's "actions".
func (s *Sandbox) action(p placed) map[string]any {
	out := map[string]any{"block_id": p.blockID, "action_ts": s.now()}
	for _, key := range []string{"type", "action_id", "text", "value", "style", "confirm"} {
		if v, ok := p.element[key]; ok {
			out[key] = v
		}
	}
	return out
}
