package webapi

import (
	"slices"

	"ringi/shared/words/legible"
)

// maxPrompts is the maximum number of suggested prompts.
const maxPrompts = 4

// setPrompts sets the suggested prompts of a direct message. As in Slack, a call with thread_ts is answered ok but
// shows nothing.
func setPrompts(a *API, p params) (reply, error) {
	items, err := p.list("prompts", "invalid_arguments")
	if err != nil {
		return nil, err
	}
	if len(items) == 0 || len(items) > maxPrompts {
		return nil, refusal{code: "invalid_arguments", problems: []string{"no more than 4 items allowed [json-pointer:/prompts]"}}
	}
	prompts := make([]Prompt, 0, len(items))
	for _, item := range items {
		m, _ := item.(map[string]any)
		title, _ := m["title"].(string)
		message, _ := m["message"].(string)
		if title == "" || message == "" {
			return nil, refusal{code: "invalid_arguments", problems: []string{"missing required field: title, message [json-pointer:/prompts]"}}
		}
		prompts = append(prompts, Prompt{Title: title, Message: message})
	}
	if p.str("thread_ts") != "" {
		return reply{}, nil
	}
	return reply{}, a.ws.SetPrompts(p.str("channel_id"), prompts)
}

func setSession(a *API, p params) (reply, error) {
	status := p.str("status")
	if !slices.Contains([]string{"active", "processing", "suspended", "closed"}, status) {
		return nil, refusal{code: "invalid_arguments", problems: []string{"must be a valid enum value: active, processing, suspended, closed [json-pointer:/status]"}}
	}
	s, err := a.ws.SetSession(Session{
		Channel: p.str("channel_id"), ThreadTS: p.str("thread_ts"), Status: status, Title: legible.First(p.str("title"), 200),
	})
	if err != nil {
		return nil, err
	}
	return reply{"status": s.Status, "agent_status": s.Status, "title": s.Title}, nil
}
