package compatible

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"net/http"
	"reflect"
	"strconv"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
)

// chunk is a part of a streamed answer, or a whole answer. Servers differ in the types of its members, and in where they
// count tokens.
type chunk struct {
	Object  string `json:"object"`
	Model   scalar `json:"model"`
	Choices []struct {
		Index        scalar          `json:"index"`
		FinishReason scalar          `json:"finish_reason"`
		Native       scalar          `json:"native_finish_reason"` // OpenRouter's, of the vendor behind it
		Delta        *said           `json:"delta"`
		Message      *said           `json:"message"`
		Text         *words          `json:"text"`  // where a gateway takes the request for a text's
		Usage        json.RawMessage `json:"usage"` // Moonshot's
	} `json:"choices"`
	Base base `json:"base_resp"`
}

type said struct {
	Extra     json.RawMessage `json:"extra_content"`
	Content   words           `json:"content"`
	Refusal   words           `json:"refusal"`
	Reasoning words           `json:"reasoning_content"`
	Thinking  words           `json:"reasoning"` // OpenRouter's, vLLM's and Ollama's name
	Details   opaque          `json:"reasoning_details"`
	ToolCalls []toolCallPiece `json:"tool_calls"`
	Function  *functionPiece  `json:"function_call"` // the form before tool_calls
}

type toolCallPiece struct {
	Index         scalar          `json:"index"`
	ID            scalar          `json:"id"`
	Function      functionPiece   `json:"function"`
	functionPiece                 // where a server writes it flat, or the arguments beside the function
	Extra         json.RawMessage `json:"extra_content"`
}

type functionPiece struct {
	Name       scalar    `json:"name"`
	Arguments  arguments `json:"arguments"`
	Parameters arguments `json:"parameters"` // Llama's word for them
	Input      arguments `json:"input"`      // Anthropic's
}

// said returns the arguments, wherever they are.
func (t toolCallPiece) said() string {
	f, beside := t.Function, t.functionPiece
	said := ""
	for _, a := range []arguments{f.Arguments, f.Parameters, f.Input, beside.Arguments, beside.Parameters, beside.Input} {
		if said == "" || said == "{}" && a != "" {
			said = string(a)
		}
	}
	return said
}

// scalar is a text or a number.
type scalar string

func (s *scalar) UnmarshalJSON(b []byte) error {
	var text string
	var number json.Number
	switch {
	case string(b) == "null":
	case json.Unmarshal(b, &text) == nil:
		*s = scalar(text)
	case b[0] != '{' && json.Unmarshal(b, &number) == nil:
		*s = scalar(strings.TrimSuffix(number.String(), ".0"))
	default:
		return wrong(b, *s)
	}
	return nil
}

// arguments are JSON, as a text or as it is.
type arguments string

func (a *arguments) UnmarshalJSON(b []byte) error {
	switch {
	case string(b) == "null":
	case b[0] == '"':
		return json.Unmarshal(b, (*string)(a))
	case b[0] == '{' || b[0] == '[':
		*a = arguments(b)
	default:
		return wrong(b, *a)
	}
	return nil
}

// words are a text, or a list of parts, some of which are thoughts.
type words struct{ said, thought string }

func (w *words) UnmarshalJSON(b []byte) error {
	switch b[0] {
	case 'n':
		return nil
	case '"':
		return json.Unmarshal(b, &w.said)
	case '[':
		var parts []words
		err := json.Unmarshal(b, &parts)
		for _, p := range parts {
			w.said, w.thought = w.said+p.said, w.thought+p.thought
		}
		return err
	case '{':
		return w.part(b)
	}
	return wrong(b, *w)
}

// part reads one part. One of an unknown kind without a text is an error, because the answer would lack it.
func (w *words) part(b []byte) error {
	var p struct {
		Type      scalar
		Thought   any // true: Gemini's
		Text      *words
		Value     *words // of a text in the form of Assistants
		Refusal   words
		Thinking  words
		Reasoning words
		Summary   words
	}
	if err := json.Unmarshal(b, &p); err != nil {
		return err
	}
	kind := string(p.Type)
	switch {
	case strings.Contains(kind, "think") || strings.Contains(kind, "reason") || p.Thought == true:
		w.thought = p.Thinking.said + p.Reasoning.said + p.Summary.said
		if p.Text != nil {
			w.thought += p.Text.said
		}
	case p.Text != nil || p.Value != nil:
		*w = *cmp.Or(p.Text, p.Value)
	case kind == "refusal":
		w.said = p.Refusal.said
	case kind != "reference" && !strings.Contains(kind, "text"): // Mistral's, of sources; a text that is null
		return &model.UnreadableError{What: "content that has " + model.Members(b)}
	}
	return nil
}

// wrong is the error of a value of a type that can't be read.
func wrong(b []byte, want any) error {
	kinds := map[byte]string{'{': "object", '[': "array", '"': "string", 't': "bool", 'f': "bool"}
	return &json.UnmarshalTypeError{Value: cmp.Or(kinds[b[0]], "number"), Type: reflect.TypeOf(want)}
}

// count is a number of tokens, in whichever form. One that can't be read is 0, because the answer is worth more.
type count int64

func (c *count) UnmarshalJSON(b []byte) error {
	n, err := strconv.ParseFloat(strings.Trim(string(b), `"`), 64)
	if err == nil && n > 0 && n < 1<<50 {
		*c = count(n)
	}
	return nil
}

type usage struct {
	PromptTokens        count `json:"prompt_tokens"`
	CompletionTokens    count `json:"completion_tokens"`
	TotalTokens         count `json:"total_tokens"`
	InputTokens         count `json:"input_tokens"` // names of Responses, which gateways pass on
	OutputTokens        count `json:"output_tokens"`
	CacheHits           count `json:"prompt_cache_hit_tokens"` // DeepSeek's
	CachedTokens        count `json:"cached_tokens"`           // Moonshot's
	PromptTokensDetails struct {
		CachedTokens     count `json:"cached_tokens"`
		CacheWriteTokens count `json:"cache_write_tokens"`
	} `json:"prompt_tokens_details"`
}

// use reads the token counts of a body, which most servers send once, after the last choice: Groq and Ollama beside, and
// Moonshot in the choice. Gemini and xAI count thoughts, which are charged as output, in the total but not in the
// completion (https://docs.x.ai/docs/key-information/consumption-and-rate-limits: "counted separately from
// completion_tokens").
func use(u *model.Usage, body json.RawMessage) {
	var x struct {
		Usage   *usage
		Choices []struct{ Usage *usage }
		Groq    struct{ Usage *usage } `json:"x_groq"`
		Prompt  count                  `json:"prompt_eval_count"`
		Eval    count                  `json:"eval_count"`
	}
	_ = json.Unmarshal(body, &x) // what can't be read is not counted
	a := cmp.Or(x.Usage, x.Groq.Usage)
	if a == nil && len(x.Choices) > 0 {
		a = x.Choices[0].Usage
	}
	if a == nil && x.Prompt+x.Eval > 0 {
		a = &usage{PromptTokens: x.Prompt, CompletionTokens: x.Eval}
	}
	if a == nil {
		return
	}
	prompt, completion := cmp.Or(a.PromptTokens, a.InputTokens), cmp.Or(a.CompletionTokens, a.OutputTokens)
	if prompt+completion+a.TotalTokens == 0 {
		return
	}
	u.Cached = int64(min(cmp.Or(a.PromptTokensDetails.CachedTokens, a.CacheHits, a.CachedTokens), prompt))
	u.Input, u.Output = max(0, int64(prompt)-u.Cached), int64(max(completion, a.TotalTokens-prompt))
	u.Written = min(int64(a.PromptTokensDetails.CacheWriteTokens), u.Input)
}

// hearing is an answer as it arrives.
type hearing struct {
	*model.Hearing
	out       *model.Response
	hung      map[int]hung
	reasoning strings.Builder // the answer's
	details   []detail
	deltas    bool            // one of them said something
	beside    *said           // the newest message beside a delta, which repeats them (Perplexity's)
	last      string          // the text of the newest delta
	pieces    int             // how many there were
	once      bool            // one did not begin with the one before it
	began     bool            // there was a choice
	stopped   bool            // the newest says that the model stopped, and nothing else
	odd       json.RawMessage // the last value before that
}

// read reads an answer, streamed or not. A finish reason makes a stream complete, because some servers close without
// [DONE].
func (c *Client) read(res *http.Response, r model.Request, out *model.Response, onText func(string)) error {
	h := &hearing{Hearing: model.Hear(out, r, c.from(), onText), out: out, hung: map[int]hung{}}
	h.Vendor = c.vendor()
	if !c.separates() {
		h.Thoughts = model.Begun
	}
	err := model.Values(res, func(event string, value json.RawMessage) (bool, error) {
		return false, h.take(event, value)
	})
	h.settle()
	h.hang(c.from())
	if err == nil && !h.began {
		err = h.none()
	}
	id := out.Usage.RequestID
	refused := new(failed)
	switch {
	case errors.As(err, &refused) && refused.why.filters():
		h.Stops(filtered)
	case errors.As(err, &refused) && refused.why.judged() != "":
		h.Break(refused.why.judged())
	case errors.As(err, &refused):
		return h.End(c.problem(model.FromCode(c.provider(), refused.why.said, refused.why.codes...), id))
	case err != nil && (!h.stopped || errors.As(err, new(*model.UnreadableError))):
		return h.End(c.problem(model.FromTransport(c.provider(), err), id))
	}
	return h.End(nil)
}

// separates reports whether an endpoint's server is known to tell thoughts from text.
func (c *Client) separates() bool {
	return c.config.Provider == aggregate.OpenAI || c.config.Endpoint == aggregate.Gemini ||
		c.config.Endpoint == aggregate.Grok
}

// failed is an error that came in an answer.
type failed struct{ why refusal }

func (*failed) Error() string { return "the answer is an error" }

// take adds a part of the answer, or a whole one.
func (h *hearing) take(event string, value json.RawMessage) error {
	var x chunk
	if err := json.Unmarshal(value, &x); err != nil {
		return err
	}
	use(&h.out.Usage, value)
	if errorIn(value) != nil || x.Base.failed() || event == "error" || x.Object == "error" {
		return &failed{refusalIn(value)}
	}
	if x.Model != "" {
		h.out.Answered = string(x.Model)
	}
	for _, choice := range x.Choices {
		if choice.Index != "" && choice.Index != "0" {
			continue
		}
		if choice.Message != nil && (choice.Delta != nil || h.deltas) {
			h.beside = choice.Message
		}
		switch d, m := choice.Delta, choice.Message; {
		case d != nil && (m == nil || d.says()):
			h.delta(d)
		case m != nil && (d != nil || h.deltas):
		case m != nil:
			h.say(m, true)
		case m == nil && choice.Text != nil:
			h.delta(&said{Content: *choice.Text})
		}
		h.Stops(choice.FinishReason.reason())
		h.Native(string(choice.Native))
		h.stopped, h.began = !choice.Delta.says() && (h.stopped || choice.FinishReason != ""), true
	}
	if !h.began {
		h.odd = value
	}
	return h.Bounded()
}

// says reports whether a delta has any of an answer.
func (x *said) says() bool {
	return x != nil && (x.Content != words{} || x.Reasoning != words{} || x.Thinking != words{} || x.Refusal != words{} ||
		len(x.ToolCalls) > 0 || x.Function != nil)
}

// delta adds a piece of the answer. Some servers repeat in each all that they said (QwenLM/qwen-code#3896), which shows
// at the end.
func (h *hearing) delta(x *said) {
	h.deltas = h.deltas || x.says()
	if piece := x.Content.said; piece != "" {
		h.once = h.once || h.pieces > 0 && (len(piece) == len(h.last) || !strings.HasPrefix(piece, h.last))
		h.last, h.pieces = piece, h.pieces+1
	}
	h.say(x, false)
}

// repeats are how many pieces show that each begins with all before it, and how many bytes.
const repeats, repeated = 3, 20

// settle completes the text: of what came beside deltas that lack it, and of what each of them repeated.
func (h *hearing) settle() {
	switch m := h.beside; {
	case m == nil:
	case !h.deltas:
		h.say(m, true)
	case len(h.out.Calls) == 0: // which may be there alone
		h.say(&said{ToolCalls: m.ToolCalls, Function: m.Function}, true)
	}
	if !h.once && h.pieces >= repeats && len(h.last) >= repeated {
		h.Instead(h.last)
	}
}

// none is the error of an answer without a choice.
func (h *hearing) none() error {
	if why := refusalIn(h.odd); len(why.codes) > 0 || !bytes.Equal([]byte(why.said), h.odd) {
		return &failed{why}
	}
	return &model.UnreadableError{What: "no choices, but " + model.Members(h.odd)}
}

// say adds what a choice says: a piece of it, or all.
func (h *hearing) say(x *said, whole bool) {
	var extra struct{ Google struct{ Thought bool } } // Gemini's
	if json.Unmarshal(x.Extra, &extra) == nil && extra.Google.Thought {
		x.Content = words{thought: x.Content.said + x.Content.thought}
	}
	h.Thinks(x.Content.thought + cmp.Or(x.Reasoning.said, x.Thinking.said))
	h.Say(x.Content.said)
	h.reasoning.WriteString(x.Reasoning.said)
	h.detail(x.Details)
	if x.Refusal.said != "" {
		h.Stops("refusal")
	}
	calls := x.ToolCalls
	if x.Function != nil && len(calls) == 0 {
		calls = []toolCallPiece{{Index: "function", Function: *x.Function}}
	}
	for _, t := range calls {
		id, name, input := string(t.ID), string(cmp.Or(t.Function.Name, t.Name)), t.said()
		i := 0
		if whole {
			i = h.WholeCall(id, name, input)
		} else {
			i = h.Call(string(t.Index), id, name, input)
		}
		if len(t.Extra) > 0 && string(t.Extra) != "null" {
			h.hung[i] = hung{Extra: t.Extra}
		}
	}
}
