package desk

import (
	"encoding/json"
	"slices"
	"strings"

	"ringi/infra/local/sandbox/workspace"
)

// Card waits until the task's card with this key shows the text, and returns the message.
func (d *Desk) Card(key, shows string) workspace.Message {
	d.T.Helper()
	var found workspace.Message
	var seen string
	if d.wait(func() bool {
		cards := d.Cards(key)
		if len(cards) > 1 {
			d.T.Fatalf("%s is %d messages", key, len(cards))
		}
		if len(cards) == 1 {
			found, seen = cards[0], Face(cards[0])
		}
		return len(cards) == 1 && strings.Contains(seen, shows)
	}) {
		return found
	}
	d.T.Fatalf("%s does not show %q but %s\nrows: %s", key, shows, seen, d.Summary())
	return found
}

// Cards are the messages that carry this card's name.
func (d *Desk) Cards(key string) []workspace.Message {
	var out []workspace.Message
	for _, m := range d.S.Sandbox.Messages(d.Channel, d.Root) {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if payload["task"] == d.Ref.Task && payload["card"] == key {
			out = append(out, m)
		}
	}
	return out
}

// Face is everything a person could read or press on a card.
func Face(m workspace.Message) string {
	b, err := json.Marshal(m.Attachments)
	if err != nil {
		return err.Error()
	}
	var v any
	_ = json.Unmarshal(b, &v)
	var out []string
	collect(v, &out)
	return strings.Join(out, "\n")
}

func collect(v any, out *[]string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			collect(e, out)
		}
	case map[string]any:
		names := make([]string, 0, len(v))
		for name := range v {
			names = append(names, name)
		}
		slices.Sort(names)
		for _, name := range names {
			if s, ok := v[name].(string); ok {
				*out = append(*out, s)
				continue
			}
			collect(v[name], out)
		}
	}
}

// Color is the bar beside a card, six hexadecimal digits; "" if it has none.
func Color(m workspace.Message) string {
	b, _ := json.Marshal(m.Attachments)
	var a []struct {
		Color string `json:"color"`
	}
	_ = json.Unmarshal(b, &a)
	if len(a) == 0 {
		return ""
	}
	return strings.TrimPrefix(a[0].Color, "#")
}
