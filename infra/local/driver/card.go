package driver

import (
	"encoding/json"
	"maps"
	"ringi/infra/local/sandbox/webapi"
	"slices"
	"strings"
)

// The keys of the cards for a task's first versions.
const (
	TaskCard      = "CARD#task"
	PromptCard    = "CARD#prompt#0001"
	ProcessCard   = "CARD#process#0001"
	ExecutionCard = "CARD#execution"
)

func (r *Request) Card(key, shows string) webapi.Message {
	r.T.Helper()
	var found webapi.Message
	var seen string
	if r.wait(func() bool {
		cards := r.Cards(key)
		if len(cards) > 1 {
			r.T.Fatalf("%s is %d messages", key, len(cards))
		}
		if len(cards) == 1 {
			found, seen = cards[0], Face(cards[0])
		}
		return len(cards) == 1 && strings.Contains(seen, shows)
	}) {
		return found
	}
	r.T.Fatalf("%s does not show %q but %s\nrows: %s", key, shows, seen, r.Summary())
	return found
}

func (r *Request) Shows(key string, texts ...string) bool {
	return slices.ContainsFunc(r.Cards(key), func(m webapi.Message) bool {
		return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(Face(m), t) })
	})
}

// Cards returns the messages whose metadata has this card key.
func (r *Request) Cards(key string) []webapi.Message { return r.AllCards()[key] }

// AllCards returns the thread's messages that have a card key, grouped by that key.
func (r *Request) AllCards() map[string][]webapi.Message {
	out := map[string][]webapi.Message{}
	for _, m := range r.S.Sandbox.Messages(r.Channel, r.Root) {
		payload, _ := m.Metadata["event_payload"].(map[string]any)
		if name, _ := payload["card"].(string); name != "" && payload["task"] == r.Ref.ID {
			out[name] = append(out[name], m)
		}
	}
	return out
}

// Face returns all texts and values of a card, one per line.
func Face(m webapi.Message) string {
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
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if s, ok := v[name].(string); ok {
				*out = append(*out, s)
				continue
			}
			collect(v[name], out)
		}
	}
}

// Color returns the color of the bar next to a card as six hexadecimal digits, or "" if it has none.
func Color(m webapi.Message) string {
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
