package models

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"ringi/shared/model"
)

// Rules make the stand-in as strict as the vendors' models that think:
//   - https://ai.google.dev/gemini-api/docs/thought-signatures
//   - https://platform.claude.com/docs/en/build-with-claude/thinking-tool-workflows and …/preserved-thinking
//   - https://developers.openai.com/api/docs/guides/reasoning (encrypted reasoning items)
//   - https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ReasoningTextBlock.html
type Rules struct {
	// Signed says that thoughts come with calls, and that a request is refused without them.
	Signed bool
	// Mistral says that Chat Completions are Mistral's, which takes fewer ids and orders of messages.
	Mistral bool
	// Most is the limit of an answer. A request for more is refused with the vendor's sentence. 0: none.
	Most int
	// Window is how many tokens a compatible server takes with the answer, of which vLLM counts no more than fit. 0: any.
	Window int
	// Thinks is how many tokens thoughts take. An answer with fewer ends within them.
	Thinks int
	// Limited is how many requests are refused first with 429, without Retry-After. Gemini says the Wait in the body.
	Limited int
	Wait    string
	// Answer makes the answers in streams. It is called by several requests at once.
	Answer func(said []model.Message, tools []string) Script
}

// Strictly sets the rules of all later requests.
func (m *Models) Strictly(r Rules) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.rules = r
}

// thoughts are what the stand-in hung on an answer with calls.
type thoughts struct{ vendor, text, signature string }

// think returns the thoughts of an answer with calls to this request.
func (m *Models) think(of wire, body []byte) *thoughts {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.rules.Signed {
		return nil
	}
	t := &thoughts{of.vendor, fmt.Sprintf("I think <%d> & \"so\"", len(m.signed)), fmt.Sprintf("sig+%d/==", len(m.signed))}
	m.signed[t.signature] = t.text + before(of.vendor, body, -1)
	return t
}

// limited reports whether a request is refused for the vendor's rate limit.
func (m *Models) limited() (wait string, refused bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.rules.Limited == 0 {
		return "", false
	}
	m.rules.Limited--
	return m.rules.Wait, true
}

// asked is what the rules look at in a request, in the forms of all vendors.
type asked struct {
	MaxTokens           int `json:"max_tokens"`
	MaxCompletionTokens int `json:"max_completion_tokens"`
	MaxOutputTokens     int `json:"max_output_tokens"`
	InferenceConfig     struct{ MaxTokens int }
	System, Tools       any
	ToolConfig          any
	Messages            []spokenMessage
	Input               []struct {
		Type, Role       string
		EncryptedContent string `json:"encrypted_content"`
	}
}

type spokenMessage struct {
	Role      string          `json:"role"`
	Content   json.RawMessage `json:"content"`
	CallID    string          `json:"tool_call_id"`
	Details   []detail        `json:"reasoning_details"`
	ToolCalls []struct {
		ID    string
		Extra struct {
			Google struct {
				Signature string `json:"thought_signature"`
			} `json:"google"`
		} `json:"extra_content"`
	} `json:"tool_calls"`
}

// detail is a block of OpenRouter's thoughts.
type detail struct{ Type, Text, Data, ID string }

func askedIn(body []byte) (q asked) {
	_ = json.Unmarshal(body, &q) // other forms were refused before
	return q
}

func (q asked) tokens() int {
	return max(q.MaxTokens, q.MaxCompletionTokens, q.MaxOutputTokens, q.InferenceConfig.MaxTokens)
}

// tooMuch is the sentence with which a vendor refuses as many tokens, and the parameter; empty: it doesn't.
func (r Rules) tooMuch(vendor string, tokens, input int) (said, parameter string) {
	switch left := r.Window - tokens; {
	case r.Most > 0 && tokens > r.Most:
		return tooMany(vendor, tokens, r.Most)
	case r.Window == 0 || vendor != "compatible" || input <= left:
	case left < 0:
		return fmt.Sprintf("max_tokens=%d cannot be greater than max_model_len=max_total_tokens=%d. Please request fewer "+
			"output tokens.", tokens, r.Window), "max_tokens"
	default:
		return fmt.Sprintf("You passed %d input tokens and requested %d output tokens. However, the model's context length "+
			"is only %d tokens, resulting in a maximum input length of %d tokens. Please reduce the length of the input "+
			"prompt. (parameter=input_tokens, value=%d)", left+1, tokens, r.Window, left, left+1), "input_tokens"
	}
	return "", ""
}

// tooMany is the sentence with which a vendor refuses more tokens than its model gives, and the parameter.
func tooMany(vendor string, tokens, most int) (said, parameter string) {
	switch vendor {
	case "anthropic":
		return fmt.Sprintf("max_tokens: %d > %d, which is the maximum allowed number of output tokens for claude-opus-4-1-20250805", tokens, most), ""
	case "openai":
		return fmt.Sprintf("Invalid 'max_output_tokens': integer above maximum value. Expected a value <= %d, but got %d instead.", most, tokens), "max_output_tokens"
	case "gemini":
		return fmt.Sprintf("Unable to submit request because it has a maxOutputTokens value of %d but the supported range is from 1 (inclusive) to %d (exclusive). Update the value and try again.", tokens, most+1), ""
	case "bedrock":
		return fmt.Sprintf("The maximum tokens you requested exceeds the model limit of %d. Try again with a maximum tokens value that is lower than %d.", most, most), ""
	}
	return fmt.Sprintf("max_tokens is too large: %d. This model supports at most %d completion tokens, whereas you provided %d.", tokens, most, tokens), "max_tokens"
}

// nine is the form of ids that Mistral's API takes, and vLLM with Mistral's own tokenizer.
var nine = regexp.MustCompile(`^[a-zA-Z0-9]{9}$`)

// notMistral is why Mistral refuses a request (mistralai/mistral-common,
// src/mistral_common/protocol/instruct/validator.py).
func (q asked) notMistral() (kind, code, said string) {
	for i, x := range q.Messages {
		ids := []string{x.CallID}
		if x.Role != "tool" {
			ids = nil
		}
		for _, c := range x.ToolCalls {
			ids = append(ids, c.ID)
		}
		for _, id := range ids {
			if !nine.MatchString(id) {
				return "invalid_function_call", "3280", "Tool call id was " + id + " but must be a-z, A-Z, 0-9, with a length of 9."
			}
		}
		if i > 0 && x.Role == "user" && q.Messages[i-1].Role == "tool" {
			return "invalid_request_message_order", "3230", "Unexpected role 'user' after role 'tool'"
		}
	}
	return "", "", ""
}

// obeys refuses a request that breaks the rules, and reports whether it doesn't.
func (m *Models) obeys(w http.ResponseWriter, of wire, body []byte) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	q := askedIn(body)
	if said, parameter := m.rules.tooMuch(of.vendor, q.tokens(), len(body)/4); said != "" {
		of.fail(w, http.StatusBadRequest, said, parameter)
		return false
	}
	if kind, code, said := q.notMistral(); m.rules.Mistral && of.vendor == "compatible" && said != "" {
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(object{"object": "error", "message": said, "type": kind, "param": nil,
			"code": code}) // else the client has disconnected
		return false
	}
	if !m.rules.Signed {
		return true
	}
	check := map[string]func(asked, []byte) error{"anthropic": m.thoughtful, "bedrock": m.thoughtful,
		"gemini": m.signedCalls, "openai": m.reasoned, "compatible": m.routed}[of.vendor]
	if check == nil {
		return true
	}
	if err := check(q, body); err != nil {
		of.fail(w, http.StatusBadRequest, err.Error())
		return false
	}
	return true
}

// asks returns the index of the user's last message in Chat Completions.
func (q asked) asks() (from int) {
	for i, x := range q.Messages {
		if x.Role == "user" {
			from = i
		}
	}
	return from
}

// signedCalls checks the current turn, which begins after the last message of the user: the first call of each answer
// has a signature, or Google's substitute.
func (m *Models) signedCalls(q asked, _ []byte) error {
	from := q.asks()
	for i, x := range q.Messages[from:] {
		if len(x.ToolCalls) == 0 {
			continue
		}
		sent := x.ToolCalls[0].Extra.Google.Signature
		if _, known := m.signed[sent]; !known && sent != "skip_thought_signature_validator" {
			return fmt.Errorf("Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call position %d.", from+i)
		}
	}
	return nil
}

// routed checks the current turn of a Gemini behind OpenRouter: the first call of each answer has its sealed thoughts,
// behind those that can be read.
func (m *Models) routed(q asked, _ []byte) error {
	for _, x := range q.Messages[q.asks():] {
		if len(x.ToolCalls) == 0 {
			continue
		}
		n := len(x.Details)
		if n < 2 || m.signed[x.Details[n-1].Data] != x.Details[n-2].Text || x.Details[n-1].ID != x.ToolCalls[0].ID {
			return errors.New("Gemini models require OpenRouter reasoning details to be preserved in each request. Upstream error: Function call is missing a thought_signature in functionCall parts.")
		}
	}
	return nil
}

// reasoned checks that the calls of each answer follow the reasoning that they came with.
func (m *Models) reasoned(q asked, _ []byte) error {
	reasoned := false
	for _, item := range q.Input {
		switch {
		case item.Type == "reasoning":
			if _, known := m.signed[item.EncryptedContent]; !known {
				return errors.New("The encrypted content could not be verified. Reason: Encrypted content could not be decrypted or parsed.")
			}
			reasoned = true
		case item.Type == "function_call" && !reasoned:
			return errors.New("Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item.")
		case item.Type == "function_call_output" || item.Role == "user":
			reasoned = false
		}
	}
	return nil
}

// thoughtful checks that each message with calls of the current turn begins with its thoughts, and that no thoughts,
// nor anything before them, have changed.
func (m *Models) thoughtful(q asked, body []byte) error {
	vendor := "anthropic"
	if q.ToolConfig != nil {
		vendor = "bedrock"
	}
	for i, x := range q.Messages {
		var blocks []struct {
			Type, Thinking, Signature string
			ToolUse                   any
			ReasoningContent          struct {
				ReasoningText   struct{ Text, Signature string }
				RedactedContent []byte
			}
		}
		if x.Role != "assistant" || json.Unmarshal(x.Content, &blocks) != nil {
			continue
		}
		called := false
		for _, b := range blocks {
			called = called || b.Type == "tool_use" || b.ToolUse != nil
		}
		text, signature := blocks[0].Thinking, blocks[0].Signature
		if vendor == "bedrock" {
			text, signature = blocks[0].ReasoningContent.ReasoningText.Text, blocks[0].ReasoningContent.ReasoningText.Signature
			if called && signature != "" && (len(blocks) < 2 || string(blocks[1].ReasoningContent.RedactedContent) != signature) {
				return fmt.Errorf("messages.%d.content.1: redacted reasoning is missing or was changed", i)
			}
		}
		switch was, known := m.signed[signature]; {
		case !called, signature == "" && i < q.turn(): // earlier turns may leave them out
		case !known:
			return fmt.Errorf("messages.%d.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block (preceding the last set of `tool_use` and `tool_result` blocks).", i)
		case was != text+before(vendor, body, i):
			return fmt.Errorf("messages.%d.content.0: `thinking` blocks cannot be modified. These blocks must remain as they were in the original response.", i)
		}
	}
	return nil
}

// turn returns the index of the message that begins the current turn: the last one of the user that has a text.
func (q asked) turn() (index int) {
	for i, x := range q.Messages {
		var blocks []struct{ Text string }
		_ = json.Unmarshal(x.Content, &blocks) // a text alone has no results
		for _, b := range blocks {
			if x.Role == "user" && b.Text != "" {
				index = i
			}
		}
	}
	return index
}

// before returns all that precedes a message in a request without marks for the cache, all of it for -1.
func before(vendor string, body []byte, index int) string {
	if vendor != "anthropic" && vendor != "bedrock" {
		return ""
	}
	var q struct {
		System, Tools, ToolConfig any
		Messages                  []any
	}
	_ = json.Unmarshal(body, &q) // it was read before
	if index >= 0 {
		q.Messages = q.Messages[:index]
	}
	b, _ := json.Marshal(unmarked([]any{q.System, q.Tools, q.ToolConfig, q.Messages})) // decoded JSON can be encoded
	return string(b)
}

func unmarked(v any) any {
	switch x := v.(type) {
	case []any:
		x = slices.DeleteFunc(x, func(e any) bool {
			block, ok := e.(map[string]any)
			return ok && block["cachePoint"] != nil
		})
		for i := range x {
			x[i] = unmarked(x[i])
		}
		return x
	case map[string]any:
		delete(x, "cache_control")
		for name := range x {
			x[name] = unmarked(x[name])
		}
	}
	return v
}

// gemini is Google's endpoint for Chat Completions. An error is a list of one.
var gemini = wire{
	vendor: "gemini", id: "X-Request-Id", key: bearer, whole: completionOf,
	read: func(body []byte) (spokenTo, error) { return readCompletions("gemini", body) }, events: streamCompletions,
	listed: true,
	refuse: func(status int) object {
		name := map[int]string{400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 404: "NOT_FOUND", 429: "RESOURCE_EXHAUSTED", 503: "UNAVAILABLE"}[status]
		return object{"error": object{"code": status, "message": http.StatusText(status), "status": name}}
	},
}

// limit refuses a request for the rate limit. Only Gemini says how long it lasts, and only in the body.
func (of wire) limit(w http.ResponseWriter, wait string) {
	if !of.listed || wait == "" {
		of.fail(w, http.StatusTooManyRequests)
		return
	}
	body := of.refuse(http.StatusTooManyRequests)
	body["error"].(object)["details"] = []object{
		{"@type": "type.googleapis.com/google.rpc.Help", "links": []object{{"description": "Learn more about Gemini API quotas", "url": "https://ai.google.dev/gemini-api/docs/rate-limits"}}},
		{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": wait},
	}
	w.WriteHeader(http.StatusTooManyRequests)
	_ = json.NewEncoder(w).Encode([]object{body}) // a failure means that the client has disconnected
}

// halves splits a text in two pieces.
func halves(s string) []string {
	half := strings.ToValidUTF8(s[:len(s)/2], "")
	return []string{half, s[len(half):]}
}
