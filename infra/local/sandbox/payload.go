package sandbox

import (
	"fmt"

	"ringi/infra/local/sandbox/webapi"
)

// payload returns the fields that all interactions share.
func (s *Sandbox) payload(kind string, by string, channel string) (map[string]any, error) {
	u, err := s.ws.User(by)
	if err != nil {
		return nil, err
	}
	p := map[string]any{
		"type": kind, "api_app_id": s.ws.AppID(), "token": "sandbox-verification-token",
		"user":       map[string]any{"id": u.ID, "username": u.Handle, "name": u.Handle, "team_id": u.TeamID},
		"team":       map[string]any{"id": s.ws.TeamID(), "domain": "ringi-sandbox"},
		"enterprise": nil, "is_enterprise_install": false, "trigger_id": s.ws.NewTrigger(by),
	}
	if channel != "" {
		c, err := s.ws.Channel(channel)
		if err != nil {
			return nil, err
		}
		p["channel"] = map[string]any{"id": c.ID, "name": s.placeName(c)}
	}
	return p, nil
}

func (s *Sandbox) placeName(c webapi.Channel) string {
	if c.IM != "" {
		return "directmessage"
	}
	return s.ws.Named(c.Name, c.NameEN)
}

func (s *Sandbox) now() string {
	t := s.opts.Now()
	return fmt.Sprintf("%d.%06d", t.Unix(), t.Nanosecond()/1000)
}

// placed is an element with its block and attachment. Attachments are counted from 1; 0 means the message itself.
type placed struct {
	element    map[string]any
	blockID    string
	attachment int
}

// findElement searches a message's blocks, then the blocks of its attachments.
func findElement(m webapi.Message, actionID string) (placed, bool) {
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

func inBlocks(blocks []any, actionID string) (placed, bool) {
	for _, b := range blocks {
		bm, _ := b.(map[string]any)
		elements, _ := bm["elements"].([]any)
		for _, e := range append([]any{bm["accessory"], bm["element"]}, elements...) {
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

// action returns the entry for an element in the payload's "actions".
func (s *Sandbox) action(p placed, value any) map[string]any {
	out := map[string]any{}
	if p.element["type"] != "button" {
		out = answer(p.element, value)
	}
	for _, key := range []string{"type", "action_id", "text", "value", "style", "confirm", "placeholder"} {
		if v, ok := p.element[key]; ok {
			out[key] = v
		}
	}
	out["block_id"], out["action_ts"] = p.blockID, s.now()
	return out
}
