package sandbox

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"ringi/infra/local/sandbox/webapi"
)

// Command runs /ringi with a text. The app's answer is shown to the person only, or to the channel if the app asks for
// that.
func (s *Sandbox) Command(user, channel, typed string) error {
	return s.command(webapi.Hand{User: user}, channel, typed)
}

func (s *Sandbox) command(by webapi.Hand, channel, typed string) error {
	u, err := s.ws.User(by.User)
	if err != nil {
		return fmt.Errorf("command of %s: %w", by.User, err)
	}
	c, err := s.ws.Channel(channel)
	if err != nil {
		return fmt.Errorf("command in %s: %w", channel, err)
	}
	name, text, _ := strings.Cut(strings.TrimSpace(typed), " ")
	place := s.ws.Named(c.Name, c.NameEN)
	if c.IM != "" {
		place = "directmessage"
	}
	hook := s.ws.NewHook(webapi.HookTarget{User: u.ID, Channel: c.ID, Ephemeral: true})
	form := url.Values{ // fields as in docs.slack.dev, interactivity/implementing-slash-commands
		"token": {"sandbox-verification-token"}, "team_id": {s.ws.TeamID()}, "team_domain": {"ringi-sandbox"},
		"channel_id": {c.ID}, "channel_name": {place},
		"user_id": {u.ID}, "user_name": {u.Handle}, "command": {name}, "text": {s.typed(strings.TrimSpace(text))},
		"api_app_id":            {s.ws.AppID()},
		"is_enterprise_install": {"false"}, "trigger_id": {s.ws.NewTrigger(by)},
		"response_url": {fmt.Sprintf("%s/sandbox/actions/%s/%s/%s", s.endpoints().Self, s.ws.TeamID(), s.ws.AppID(), hook)},
	}
	answer := s.sender.Interact(context.Background(),
		Interaction{Kind: "command", User: u.ID, Channel: c.ID, Form: form})
	if answer.Reason != "" {
		return InteractionError{Reason: answer.Reason, Status: answer.Status}
	}
	if len(answer.Body) == 0 {
		return nil
	}
	var said hookBody
	if err := json.Unmarshal(answer.Body, &said); err != nil {
		said = hookBody{Text: string(answer.Body)} // Slack shows plain text unchanged
	}
	if err := s.respond(webapi.HookTarget{User: u.ID, Channel: c.ID}, said); err != nil {
		return InteractionError{Reason: err.Error(), Status: answer.Status}
	}
	return nil
}

// Global chooses one of the app's global shortcuts, which need no message.
func (s *Sandbox) Global(user, callbackID string) error {
	return s.global(webapi.Hand{User: user}, callbackID)
}

func (s *Sandbox) global(by webapi.Hand, callbackID string) error {
	_, err := s.interact("shortcut", by, "", "", map[string]any{"callback_id": callbackID, "action_ts": s.now()})
	return err
}

func (s *Sandbox) Home(user string) (webapi.View, bool) { return s.ws.Home(user) }

// clickHome presses the button of the Home tab with this action and value. An empty value matches any.
func (s *Sandbox) clickHome(by webapi.Hand, actionID, value string) error {
	v, ok := s.ws.Home(by.User)
	if !ok {
		return fmt.Errorf("click %s: %w", actionID, webapi.ViewNotFound)
	}
	for _, b := range v.Blocks {
		if found, ok := inBlocks([]any{b}, actionID); ok && (value == "" || found.element["value"] == value) {
			return s.actIn(by, v, found, nil)
		}
	}
	return fmt.Errorf("click %s on the Home tab: %w", actionID, ErrNoButton)
}
