package sandbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"ringi/infra/local/sandbox/delivery"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
)

// InteractionError is an interaction that the app did not answer well; the person sees
// a warning. Reason is Slack's word for it, for example http_timeout.
type InteractionError struct {
	Reason string
	Status int
}

// Error says what the person is told.
func (t InteractionError) Error() string {
	return fmt.Sprintf("the app did not answer well: %s (status %d)", t.Reason, t.Status)
}

// ErrNoButton is a message that no longer has the button, or never had.
var ErrNoButton = errors.New("the message has no such button")

// Click presses a button of a message, a confirm dialog answered with yes. It
// returns Trouble when the app fails to answer in time, MessageNotFound, or
// ErrNoButton.
func (s *Sandbox) Click(user, channel, ts, actionID string) error {
	return s.Choose(user, channel, ts, actionID, nil)
}

// Choose uses any interactive element of a message; value is what a select or
// picker is set to.
func (s *Sandbox) Choose(user, channel, ts, actionID string, value any) error {
	return s.choose(workspace.Hand{User: user}, channel, ts, actionID, value)
}

func (s *Sandbox) choose(by workspace.Hand, channel, ts, actionID string, value any) error {
	user := by.User
	m, err := s.ws.Message(channel, ts, user)
	if err != nil {
		return fmt.Errorf("click %s on %s: %w", actionID, ts, err)
	}
	found, ok := findElement(m, actionID)
	if !ok {
		return fmt.Errorf("click %s on %s: %w", actionID, ts, ErrNoButton)
	}
	p, err := s.payload("block_actions", by, m.Channel)
	if err != nil {
		return fmt.Errorf("click %s on %s: %w", actionID, ts, err)
	}
	p["container"] = container(m, found.attachment)
	p["state"] = map[string]any{"values": map[string]any{}}
	p["response_url"] = s.responseURL(m, user)
	p["actions"] = []any{s.action(found, value)}
	if !m.IsEphemeral {
		p["message"] = m
	}
	_, err = s.interact("block_actions", user, m.Channel, ts, p)
	return err
}

// ClickView presses a button inside of a modal.
func (s *Sandbox) ClickView(user, viewID, actionID string, value any) error {
	by, v, err := s.openView(user, viewID)
	if err != nil {
		return err
	}
	found, ok := inBlocks(v.Blocks, actionID)
	if !ok {
		return fmt.Errorf("click %s in %s: the modal has no such button", actionID, viewID)
	}
	p, err := s.payload("block_actions", by, "")
	if err != nil {
		return fmt.Errorf("click %s in %s: %w", actionID, viewID, err)
	}
	p["container"] = map[string]any{"type": "view", "view_id": v.ID}
	p["view"] = v
	p["actions"] = []any{s.action(found, value)}
	_, err = s.interact("block_actions", user, "", "", p)
	return err
}

// Shortcut chooses an entry of a message's ⋯ menu.
func (s *Sandbox) Shortcut(user, channel, ts, callbackID string) error {
	return s.shortcut(workspace.Hand{User: user}, channel, ts, callbackID)
}

func (s *Sandbox) shortcut(by workspace.Hand, channel, ts, callbackID string) error {
	user := by.User
	m, err := s.ws.Message(channel, ts, user)
	if err != nil {
		return fmt.Errorf("shortcut %s on %s: %w", callbackID, ts, err)
	}
	p, err := s.payload("message_action", by, m.Channel)
	if err != nil {
		return fmt.Errorf("shortcut %s on %s: %w", callbackID, ts, err)
	}
	p["callback_id"], p["message_ts"], p["message"] = callbackID, m.TS, m
	p["action_ts"] = s.now()
	p["response_url"] = s.responseURL(m, user)
	_, err = s.interact("message_action", user, m.Channel, ts, p)
	return err
}

// Submit sends a modal's form; values are by block_id: a string, a list of
// strings, or nothing for an empty field. It returns the app's messages by
// block_id when the app refuses the form; then the modal stays open.
func (s *Sandbox) Submit(user, viewID string, values map[string]any) (map[string]string, error) {
	by, v, err := s.openView(user, viewID)
	if err != nil {
		return nil, err
	}
	if v, err = s.ws.FillView(v.ID, formState(v.Blocks, values)); err != nil {
		return nil, fmt.Errorf("submit %s: %w", viewID, err)
	}
	p, err := s.payload("view_submission", by, "")
	if err != nil {
		return nil, fmt.Errorf("submit %s: %w", viewID, err)
	}
	p["view"], p["response_urls"] = v, []any{}
	body, err := s.interact("view_submission", user, "", "", p)
	if err != nil {
		return nil, err
	}
	return s.answered(by, v, body)
}

// answered does what the app's answer to a form asks for.
func (s *Sandbox) answered(by workspace.Hand, v workspace.View, body []byte) (map[string]string, error) {
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
		s.ws.CloseView(by.User, v.ID, false)
		return nil, nil
	case "clear":
		s.ws.CloseView(by.User, v.ID, true)
		return nil, nil
	case "errors":
		for block := range answer.Errors {
			if !hasInput(v.Blocks, block) {
				return nil, InteractionError{Reason: "errors for a block that is no input: " + block, Status: 200}
			}
		}
		if len(answer.Errors) == 0 {
			return nil, InteractionError{Reason: "response_action errors without errors", Status: 200}
		}
		return answer.Errors, nil
	case "update", "push":
		err := webapi.CheckView(answer.View)
		if err == nil && answer.Action == "update" {
			_, err = s.ws.UpdateView(v.ID, "", answer.View)
		} else if err == nil {
			_, err = s.ws.PushView(by, answer.View)
		}
		if err != nil {
			return nil, InteractionError{Reason: answer.Action + ": " + err.Error(), Status: 200}
		}
		return nil, nil
	}
	return nil, InteractionError{Reason: "unknown response_action " + answer.Action, Status: 200}
}

// CloseView is the person closing the topmost modal. The app hears of it if the
// modal asked for that.
func (s *Sandbox) CloseView(user, viewID string) error {
	by, v, err := s.openView(user, viewID)
	if err != nil {
		return err
	}
	for _, gone := range s.ws.CloseView(user, v.ID, v.ClearOnClose) {
		if !gone.NotifyOnClose {
			continue
		}
		p, err := s.payload("view_closed", by, "")
		if err != nil {
			return fmt.Errorf("close %s: %w", viewID, err)
		}
		delete(p, "trigger_id")
		p["view"], p["is_cleared"] = gone, v.ClearOnClose
		if _, err := s.interact("view_closed", user, "", "", p); err != nil {
			return err
		}
	}
	return nil
}

// openView finds a person's modal, the topmost of its window, and the window.
func (s *Sandbox) openView(user, viewID string) (workspace.Hand, workspace.View, error) {
	by, v, err := s.ws.HandOf(viewID)
	if err != nil || by.User != user {
		return by, v, fmt.Errorf("modal %s of %s: %w", viewID, user, workspace.ViewNotFound)
	}
	return by, v, nil
}

// interact sends a payload and returns the app's answer, or Trouble.
func (s *Sandbox) interact(kind, user, channel, ts string, payload map[string]any) ([]byte, error) {
	raw, err := json.Marshal(payload)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", kind, err)
	}
	// No deadline is needed here: Interact has its own limit.
	answer := s.sender.Interact(context.Background(), delivery.Interaction{Kind: kind, User: user, Channel: channel, TS: ts, Payload: raw})
	if answer.Reason != "" {
		return nil, InteractionError{Reason: answer.Reason, Status: answer.Status}
	}
	return answer.Body, nil
}
