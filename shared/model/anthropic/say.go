package anthropic

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/tool/schema"
)

// Say makes one call, and streams its answer unless the request has Once. An answer that pauses, because the vendor
// searched for long, goes back as it came, with its encrypted results, so that the vendor goes on with it.
func (c *Client) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := model.Response{Usage: model.Usage{Provider: aggregate.Anthropic, Model: c.config.Model, Calls: 1}}
	p, err := c.params(r)
	if err != nil {
		return out, err
	}
	sample(&p, r.Sampling)
	out.Tokens, out.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	p.MaxTokens = int64(out.Tokens)
	h := &hearing{Hearing: model.Hear(&out, r, c.from(r, len(r.Messages)), onText), out: &out,
		others: map[int64]bool{}}
	h.Vendor = schema.Anthropic
	asked, blocks := p.Messages, []sdk.ContentBlockParamUnion(nil)
	for pauses := 0; ; pauses++ {
		res, err := c.open(ctx, &p, r, &out)
		if err == nil {
			err = h.read(res)
		}
		if err != nil {
			err = h.End(c.problem(err, out.Usage.RequestID))
			return out, err
		}
		m := h.whole
		if m == nil || m.StopReason != sdk.StopReasonPauseTurn || r.Searches == 0 || pauses == mostPauses {
			err = h.End(nil)
			return out, err
		}
		out.Stop, h.whole = "", nil
		for _, b := range m.Content {
			blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](json.RawMessage(b.RawJSON())))
		}
		p.Messages = append(asked[:len(asked):len(asked)], sdk.NewAssistantMessage(blocks...))
		p.Tools[len(p.Tools)-1] = searching(max(1, r.Searches-int(out.Usage.Searches)))
	}
}

// open sends a request, and again without what the model refuses. Its answer is read whatever its form is.
func (c *Client) open(ctx context.Context, p *sdk.MessageNewParams, r model.Request, out *model.Response) (
	res *http.Response, err error) {
	for {
		options := []option.RequestOption{option.WithRequestTimeout(left(ctx)), option.WithResponseBodyInto(&res)}
		if !r.Once {
			options = append(options, option.WithJSONSet("stream", true))
		}
		_, err = c.messages.New(ctx, *p, options...)
		if res != nil {
			out.Usage.RequestID = model.RequestID(res.Header.Get("Request-Id"))
		}
		if !c.simpler(p, r, out, err) {
			return res, err
		}
	}
}

// failed is an error that came in an answer of status 200.
type failed struct{ code, said string }

func (*failed) Error() string { return "the answer is an error" }

// hearing is an answer as it arrives: in events, or as a whole.
type hearing struct {
	*model.Hearing
	out   *model.Response
	whole *sdk.Message
	// others are the indices of calls of the vendor's own tools, whose arguments nobody needs.
	others map[int64]bool
	ended  bool
}

func (h *hearing) read(res *http.Response) error {
	defer res.Body.Close()
	err := model.Values(res, func(event string, value json.RawMessage) (last bool, err error) {
		var x struct {
			Type    string
			Content json.RawMessage
			Error   struct{ Type, Message string }
		}
		_ = json.Unmarshal(value, &x) // what has no type is none of these
		switch {
		case x.Type == "error" || event == "error" || x.Error.Type != "":
			return true, &failed{x.Error.Type, x.Error.Message}
		case x.Type == "message", x.Type == "" && x.Content != nil:
			h.whole = &sdk.Message{}
			if err := json.Unmarshal(value, h.whole); err != nil {
				return true, err
			}
			h.message(h.whole)
			return true, nil
		case x.Type == "":
			return true, &model.UnreadableError{What: model.Members(value)}
		}
		var e sdk.MessageStreamEventUnion
		if err := json.Unmarshal(value, &e); err != nil {
			return true, err
		}
		h.hear(e)
		return h.ended, h.Bounded()
	})
	if err == nil && h.whole == nil && !h.ended {
		h.Break("message_stop is missing")
	}
	return err
}

// hear adds an event to the answer. Events of other kinds are ignored.
func (h *hearing) hear(e sdk.MessageStreamEventUnion) {
	index := strconv.FormatInt(e.Index, 10)
	switch e.Type {
	case "message_start":
		h.out.Answered = string(e.Message.Model)
		// The output is counted at the end. Of an answer without an end it is estimated.
		use(&h.out.Usage, e.Message.Usage.InputTokens, 0, e.Message.Usage.CacheReadInputTokens,
			e.Message.Usage.CacheCreationInputTokens)
	case "content_block_start":
		switch block := e.ContentBlock; block.Type {
		case "tool_use":
			h.Begins(index, block.ID, block.Name, strings.TrimPrefix(block.JSON.Input.Raw(), "null"))
		case "server_tool_use", "mcp_tool_use":
			h.others[e.Index] = true
		case "thinking", "redacted_thinking":
			h.Think(index, model.Thought{Text: block.Thinking, Signature: block.Signature, Sealed: []byte(block.Data)})
		default:
			h.Say(block.Text)
		}
	case "content_block_delta":
		h.Say(e.Delta.Text)
		if e.Delta.Thinking != "" || e.Delta.Signature != "" {
			h.Think(index, model.Thought{Text: e.Delta.Thinking, Signature: e.Delta.Signature})
		}
		if !h.others[e.Index] {
			h.Piece(index, e.Delta.PartialJSON)
		}
	case "content_block_stop":
		h.Ends(index)
	case "message_delta":
		h.Stops(string(e.Delta.StopReason))
		u := &h.out.Usage
		u.Output = max(u.Output, e.Usage.OutputTokens) // the sum so far
		if e.Usage.JSON.InputTokens.Valid() {
			cached, written := u.Cached, u.Written // which some events leave out
			if e.Usage.JSON.CacheReadInputTokens.Valid() {
				cached = e.Usage.CacheReadInputTokens
			}
			if e.Usage.JSON.CacheCreationInputTokens.Valid() {
				written = e.Usage.CacheCreationInputTokens
			}
			use(u, e.Usage.InputTokens, u.Output, cached, written)
		}
	case "message_stop":
		h.ended = true
	}
}

// message adds an answer that was not streamed.
func (h *hearing) message(m *sdk.Message) {
	h.out.Answered = m.Model
	var u model.Usage
	use(&u, m.Usage.InputTokens, m.Usage.OutputTokens, m.Usage.CacheReadInputTokens, m.Usage.CacheCreationInputTokens)
	u.Searches = m.Usage.ServerToolUse.WebSearchRequests
	h.out.Usage = u.Plus(h.out.Usage)
	var text string
	if json.Unmarshal([]byte(m.JSON.Content.Raw()), &text) == nil {
		h.Say(text)
	}
	for _, block := range m.Content {
		switch block.Type {
		case "tool_use":
			h.WholeCall(block.ID, block.Name, string(block.Input))
		case "thinking", "redacted_thinking":
			h.Think("", model.Thought{Text: block.Thinking, Signature: block.Signature, Sealed: []byte(block.Data)})
		case "web_search_tool_result":
			h.found(block.AsWebSearchToolResult().Content)
		default:
			h.Say(block.Text)
		}
	}
	h.Stops(string(m.StopReason))
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

// simpler asks for less after a refusal: for fewer tokens, or without something that some models don't support, which
// is sampling, or the answer's schema. A single question then has it in words. simpler reports false when nothing of
// these is left, or something else is the cause.
func (c *Client) simpler(p *sdk.MessageNewParams, r model.Request, out *model.Response, err error) bool {
	refused := new(sdk.Error)
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
		return false
	}
	why, formed := said(refused), p.OutputConfig.Format.Schema != nil
	switch {
	case out.Lower(r, why, true):
		p.MaxTokens = int64(out.Tokens)
	case c.problem(err, "").Kind != model.BadRequest:
		return false
	case p.Temperature.Valid() && p.TopP.Valid() && strings.Contains(why, "top_p"): // one of them is taken
		p.TopP = param.Opt[float64]{}
	case formed && (model.FormRefused(why) || !sampled(*p) && !r.Once):
		p.OutputConfig = sdk.OutputConfigParam{}
		if r.Once {
			p.System[0].Text = r.System + "\n\n" + model.SchemaPrompt(r.Schema)
		}
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
		var err error
		if p.OutputConfig.Format.Schema, err = model.Split(r.Schema); err != nil {
			return p, fmt.Errorf("read the schema of the answer: %w", err)
		}
	}
	for _, t := range model.Takeable(r.Tools, schema.Anthropic) {
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

// from names where thoughts come from: the model, and all that it was asked before.
func (c *Client) from(r model.Request, index int) string {
	return aggregate.Anthropic + " " + c.config.Model + " " + r.Before(index)
}

// thoughtsOn returns the thoughts before a call.
func thoughtsOn(call *model.Call, from string) (blocks []sdk.ContentBlockParamUnion) {
	var thoughts []model.Thought
	if !call.Opaque.Read(from, &thoughts) {
		return nil
	}
	for _, t := range thoughts {
		if len(t.Sealed) > 0 {
			blocks = append(blocks, sdk.NewRedactedThinkingBlock(string(t.Sealed)))
		} else {
			blocks = append(blocks, sdk.NewThinkingBlock(t.Signature, t.Text))
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

// mostPauses is how often an answer that the vendor paused while it searched is gone on with.
const mostPauses = 3

// searching lets the vendor search the web so many times.
func searching(times int) sdk.ToolUnionParam {
	return sdk.ToolUnionParam{OfWebSearchTool20250305: &sdk.WebSearchTool20250305Param{MaxUses: sdk.Int(int64(times))}}
}

// found adds what a search found, or its failure.
func (h *hearing) found(result sdk.WebSearchToolResultBlockContentUnion) {
	for _, r := range result.AsWebSearchResultBlockArray() {
		h.out.Found = append(h.out.Found, model.Source{Title: r.Title, URL: r.URL})
	}
	if result.ErrorCode != "" {
		h.out.SearchFailed = string(result.ErrorCode)
	}
}
