package compatible

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
)

// hung is what a server hangs on a call: Gemini a signature, which Gemini 3 wants back on the first call of each
// answer (https://ai.google.dev/gemini-api/docs/thought-signatures); DeepSeek, on an answer with calls, its thoughts
// (https://api-docs.deepseek.com/guides/thinking_mode).
type hung struct {
	ID        string          `json:"id,omitempty"` // as the server named the call
	Extra     json.RawMessage `json:"extra_content,omitempty"`
	Reasoning string          `json:"reasoning_content,omitempty"`
	Details   []detail        `json:"reasoning_details,omitempty"`
}

// detail is a block of an answer's thoughts, signed or sealed, which OpenRouter wants back with the answer's calls,
// whole and in their order (https://openrouter.ai/docs/guides/best-practices/reasoning-tokens).
type detail map[string]any

// opaque are the details in a piece of an answer. Anything else than objects is not theirs.
type opaque []detail

func (o *opaque) UnmarshalJSON(b []byte) error {
	var list []detail
	if json.Unmarshal(b, &list) == nil {
		*o = slices.DeleteFunc(list, func(d detail) bool { return d == nil })
	}
	return nil
}

// detail adds details. Pieces of one have one index, and one type.
func (h *hearing) detail(pieces []detail) {
	for _, d := range pieces {
		n := len(h.details) - 1
		if d["index"] == nil || n < 0 || h.details[n]["index"] != d["index"] || h.details[n]["type"] != d["type"] {
			h.details = append(h.details, d)
			continue
		}
		for name, value := range d {
			was, begun := h.details[n][name].(string)
			more, text := value.(string)
			switch {
			case slices.Contains([]string{"text", "summary", "data", "signature"}, name) && begun && text:
				h.details[n][name] = was + more
			case value != nil:
				h.details[n][name] = value
			}
		}
	}
}

// unsigned is Google's substitute for the signature of a call that Gemini did not make, such as one that another model
// made before.
var unsigned = map[string]any{"google": map[string]string{"thought_signature": "skip_thought_signature_validator"}}

// from names where what hangs on a call comes from.
func (c *Client) from() string { return "completions " + c.provider() + " " + c.config.Model }

// signs reports whether the model wants signatures back.
func (c *Client) signs() bool {
	return c.config.Endpoint == aggregate.Gemini && !strings.HasPrefix(c.config.Model, "gemini-1") &&
		!strings.HasPrefix(c.config.Model, "gemini-2")
}

// calls adds calls to a message, each with what the server hung on it.
func (c *Client) calls(m *message, call *model.Call) {
	made := toolCall{ID: idOf(call.ID), Type: "function", Function: function{call.Name, string(call.Object())}}
	var h hung
	switch {
	case call.Opaque.Read(c.from(), &h):
		m.Reasoning += h.Reasoning
		for _, d := range h.Details {
			if d["id"] == h.ID && h.ID != "" { // Gemini's signature of this call
				d["id"] = made.ID
			}
			m.Details = append(m.Details, d)
		}
		if h.Extra != nil {
			made.Extra = h.Extra
		}
	case c.signs() && m.ToolCalls == nil:
		made.Extra = unsigned
	}
	m.ToolCalls = append(m.ToolCalls, made)
}

// idOf returns the id that is sent for a call: Mistral takes none but those of nine letters and digits
// (https://github.com/mistralai/mistral-common: InstructRequestValidator).
func idOf(id string) string {
	sum := sha256.Sum256([]byte(id))
	return base32.HexEncoding.EncodeToString(sum[:])[:9]
}

// hang hangs on the calls what the server sent with them.
func (h *hearing) hang(from string) {
	for i := range h.out.Calls {
		x := h.hung[i]
		x.ID = h.out.Calls[i].ID
		for _, d := range h.details {
			// one that names another call goes with that
			of := slices.IndexFunc(h.out.Calls, func(c model.Call) bool { return c.ID != "" && c.ID == d["id"] })
			if max(0, of) == i {
				x.Details = append(x.Details, d)
			}
		}
		if i == 0 {
			x.Reasoning = h.reasoning.String()
		}
		if x.Extra != nil || x.Reasoning != "" || x.Details != nil {
			h.out.Calls[i].Opaque = model.Hang(from, x)
		}
	}
}
