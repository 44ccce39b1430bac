package anthropic

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
)

// Say makes one call and streams its answer.
func (c *Client) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := model.Response{Usage: model.Usage{Provider: modelname.Anthropic, Model: c.config.Model, Calls: 1}}
	p, err := c.params(r)
	if err != nil {
		return out, err
	}
	sample(&p, r.Sampling)
	out.Tokens, out.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	p.MaxTokens = int64(out.Tokens)
	if r.Once {
		err := c.once(ctx, p, r, &out)
		return out, err
	}
	var raw *http.Response
	stream := c.messages.NewStreaming(ctx, p, option.WithRequestTimeout(left(ctx)), option.WithResponseInto(&raw))
	for fewer(&p, &out, stream.Err()) || simpler(&p, stream.Err()) {
		stream.Close()
		stream = c.messages.NewStreaming(ctx, p, option.WithRequestTimeout(left(ctx)), option.WithResponseInto(&raw))
	}
	defer stream.Close()
	if raw != nil {
		out.Usage.RequestID = model.RequestID(raw.Header.Get("Request-Id"))
	}
	h := hearing{out: &out, onText: onText, stop: model.StopEnd, from: c.from(r, len(r.Messages))}
	for !h.ended && stream.Next() {
		h.hear(stream.Current())
	}
	out.Text, out.Stop = h.text.String(), h.stop
	if err := stream.Err(); err != nil {
		return out, c.streamProblem(err, out.Usage.RequestID)
	}
	if !h.ended {
		return out, c.problem(io.ErrUnexpectedEOF, out.Usage.RequestID)
	}
	return out, nil
}

// statuses maps an error that a stream reports after its status 200 to the HTTP status that it stands for.
var statuses = map[string]int{
	"invalid_request_error": http.StatusBadRequest, "authentication_error": http.StatusUnauthorized,
	"billing_error":    http.StatusPaymentRequired,
	"permission_error": http.StatusForbidden, "not_found_error": http.StatusNotFound,
	"request_too_large": http.StatusRequestEntityTooLarge,
	"rate_limit_error":  http.StatusTooManyRequests, "timeout_error": http.StatusGatewayTimeout,
}

func (c *Client) streamProblem(err error, request string) *model.Error {
	var sent *sdk.Error
	if !errors.As(err, &sent) || sent.StatusCode >= 400 {
		return c.problem(err, request)
	}
	code := string(sent.Type())
	if model.LengthRefused(sent.RawJSON()) {
		code = model.CodeTooLong
	}
	status, known := statuses[code]
	if !known {
		status = http.StatusInternalServerError // overloaded_error, api_error and unknown codes
	}
	e := model.FromStatus(modelname.Anthropic, status, nil, code)
	e.Model, e.RequestID = c.config.Model, request
	return e
}

type hearing struct {
	out    *model.Response
	from   string // of what the vendor hangs on calls
	onText func(string)
	text   strings.Builder
	calls  map[int64]int // index of a block -> index of its call
	stop   model.Stop
	ended  bool
	// thoughts are those since the last call, and after those the index of the block of the newest one.
	thoughts []thought
	newest   int64
}

// hear adds an event to the answer. Events of other kinds are ignored.
func (h *hearing) hear(e sdk.MessageStreamEventUnion) {
	switch e.Type {
	case "message_start":
		h.out.Answered = string(e.Message.Model)
		use(&h.out.Usage, e.Message.Usage.InputTokens, e.Message.Usage.OutputTokens, e.Message.Usage.CacheReadInputTokens,
			e.Message.Usage.CacheCreationInputTokens)
	case "content_block_start":
		h.begin(e.Index, e.ContentBlock)
	case "content_block_delta":
		h.say(e.Delta.Text)
		if n := len(h.thoughts); n > 0 && h.newest == e.Index {
			h.thoughts[n-1].Thinking += e.Delta.Thinking
			h.thoughts[n-1].Signature += e.Delta.Signature
		}
		if i, ok := h.calls[e.Index]; ok && e.Delta.Type == "input_json_delta" {
			h.out.Calls[i].Input = append(h.out.Calls[i].Input, e.Delta.PartialJSON...)
		}
	case "message_delta":
		if e.Delta.StopReason != "" {
			h.stop = stop(e.Delta.StopReason)
		}
		u := &h.out.Usage
		u.Output = max(u.Output, e.Usage.OutputTokens) // the sum so far
		if e.Usage.JSON.InputTokens.Valid() {
			use(u, e.Usage.InputTokens, u.Output, e.Usage.CacheReadInputTokens, e.Usage.CacheCreationInputTokens)
		}
	case "message_stop":
		for i, c := range h.out.Calls {
			if len(c.Input) == 0 { // a tool without arguments
				h.out.Calls[i].Input = json.RawMessage("{}")
			}
		}
		h.ended = true
	}
}

// begin adds the beginning of a block: of a text, a call, or a thought.
func (h *hearing) begin(index int64, block sdk.ContentBlockStartEventContentBlockUnion) {
	switch block.Type {
	case "tool_use":
		if h.calls == nil {
			h.calls = map[int64]int{}
		}
		h.calls[index] = len(h.out.Calls)
		call := model.Call{ID: block.ID, Name: block.Name}
		if h.thoughts != nil {
			call.Opaque, h.thoughts = model.Hang(h.from, h.thoughts), nil
		}
		h.out.Calls = append(h.out.Calls, call)
	case "thinking", "redacted_thinking":
		h.thoughts = append(h.thoughts, thought{block.Thinking, block.Signature, block.Data})
		h.newest = index
	}
	h.say(block.Text)
}

func (h *hearing) say(text string) {
	if text != "" {
		h.text.WriteString(text)
		h.onText(h.text.String())
	}
}

func use(u *model.Usage, input, output, cached, written int64) {
	u.Input, u.Output, u.Cached, u.Written = input+written, output, cached, written
}

func sample(p *sdk.MessageNewParams, s model.Sampling) {
	p.Temperature, p.TopP, p.StopSequences = param.Opt[float64]{}, param.Opt[float64]{}, s.StopSequences
	if s.Temperature != nil {
		p.Temperature = sdk.Float(min(*s.Temperature, 1)) // the vendor's maximum
	}
	if s.TopP != nil {
		p.TopP = sdk.Float(*s.TopP)
	}
}

// fewer asks for as many tokens as a refusal names, once.
func fewer(p *sdk.MessageNewParams, out *model.Response, err error) bool {
	refused := new(sdk.Error)
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
		return false
	}
	var body struct{ Error struct{ Message string } }
	_ = json.Unmarshal([]byte(refused.RawJSON()), &body) // unreadable: then it names no number
	lower := out.Lower(body.Error.Message, 0)
	p.MaxTokens = int64(out.Tokens)
	return lower
}

// simpler removes from a refused request something that some models don't support: sampling, or the answer's schema. It
// reports false when neither is left.
func simpler(p *sdk.MessageNewParams, err error) bool {
	refused := new(sdk.Error)
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
		return false
	}
	formed := p.OutputConfig.Format.Schema != nil
	switch {
	case p.Temperature.Valid() && p.TopP.Valid() && strings.Contains(refused.RawJSON(), "top_p"): // one of them is taken
		p.TopP = param.Opt[float64]{}
	case formed && (strings.Contains(refused.RawJSON(), "output_config") || !sampled(*p)):
		p.OutputConfig = sdk.OutputConfigParam{}
	case sampled(*p):
		sample(p, model.Sampling{})
	default:
		return false
	}
	return true
}

func sampled(p sdk.MessageNewParams) bool {
	return p.Temperature.Valid() || p.TopP.Valid() || len(p.StopSequences) > 0
}

// params translates a request. Cache breakpoints follow the rules and Standing, and in a conversation also the last
// message without its passing parts, since the next call begins with the same messages.
func (c *Client) params(r model.Request) (sdk.MessageNewParams, error) {
	cached := sdk.NewCacheControlEphemeralParam()
	p := sdk.MessageNewParams{Model: c.config.Model,
		System: []sdk.TextBlockParam{{Text: r.System, CacheControl: cached}}}
	if r.Schema != nil {
		if err := json.Unmarshal(r.Schema, &p.OutputConfig.Format.Schema); err != nil {
			return p, fmt.Errorf("read the schema of the answer: %w", err)
		}
	}
	for _, t := range r.Tools {
		tool := sdk.ToolParam{Name: t.Name, Description: sdk.String(t.Description)}
		in, err := &tool.InputSchema, error(nil)
		if in.Properties, in.Required, in.ExtraFields, err = model.Shape(t.Schema); err != nil {
			return p, fmt.Errorf("read the schema of %s: %w", t.Name, err)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &tool})
	}
	if len(p.Tools) > 0 {
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfAuto: &sdk.ToolChoiceAutoParam{DisableParallelToolUse: sdk.Bool(!r.Parallel)}}
	}
	if r.Searches > 0 {
		p.Tools = append(p.Tools, searching(r.Searches))
	}
	for i, m := range r.Messages {
		blocks := c.blocksOf(r, i)
		if i == 0 && r.Standing != "" {
			blocks = slices.Insert(blocks, 0, sdk.ContentBlockParamUnion{OfText: &sdk.TextBlockParam{Text: r.Standing,
				CacheControl: cached}})
		}
		last := len(blocks) - 1 - (len(m.Parts) - m.Lasting())
		if i == len(r.Messages)-1 && !r.Once && last >= 0 {
			if mark := blocks[last].GetCacheControl(); mark != nil {
				*mark = cached
			}
		}
		if m.Role == model.Assistant {
			p.Messages = append(p.Messages, sdk.NewAssistantMessage(blocks...))
		} else {
			p.Messages = append(p.Messages, sdk.NewUserMessage(blocks...))
		}
	}
	return p, nil
}

// thought is a block of thoughts, which has a signature or, encrypted, only data.
type thought struct {
	Thinking  string `json:"thinking,omitempty"`
	Signature string `json:"signature,omitempty"`
	Data      string `json:"data,omitempty"`
}

// from names where thoughts come from: the model, and all that it was asked before.
func (c *Client) from(r model.Request, index int) string {
	return modelname.Anthropic + " " + c.config.Model + " " + r.Before(index)
}

// thoughtsOn returns the thoughts before a call.
func thoughtsOn(call *model.Call, from string) (blocks []sdk.ContentBlockParamUnion) {
	var thoughts []thought
	if !call.Opaque.Read(from, &thoughts) {
		return nil
	}
	for _, t := range thoughts {
		if t.Data != "" {
			blocks = append(blocks, sdk.NewRedactedThinkingBlock(t.Data))
		} else {
			blocks = append(blocks, sdk.NewThinkingBlock(t.Signature, t.Thinking))
		}
	}
	return blocks
}

// blocksOf translates the message with this index. The thoughts before the first call begin the message, as the
// vendor has them.
func (c *Client) blocksOf(r model.Request, index int) (blocks []sdk.ContentBlockParamUnion) {
	called, from := false, ""
	for _, part := range r.Messages[index].Parts {
		switch {
		case part.Call != nil:
			if part.Call.Opaque != nil {
				from = cmp.Or(from, c.from(r, index))
			}
			called, blocks = true, model.Ahead(blocks, thoughtsOn(part.Call, from), called)
			blocks = append(blocks, sdk.NewToolUseBlock(part.Call.ID, part.Call.Object(), part.Call.Name))
		case part.Result != nil:
			blocks = append(blocks, sdk.NewToolResultBlock(part.Result.CallID, part.Result.Text, part.Result.Failed))
		case part.Image != nil:
			blocks = append(blocks, sdk.NewImageBlockBase64(part.Image.Type, base64.StdEncoding.EncodeToString(part.Image.Data)))
		default:
			blocks = append(blocks, sdk.NewTextBlock(part.Text))
		}
	}
	return blocks
}
