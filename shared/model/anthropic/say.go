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
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"ringi/shared/model"
)

// Say makes one call. An answer that pauses, because the vendor searched for long, goes back as it came, with its
// encrypted results, so that the vendor goes on with it.
func (c *Client) Say(ctx context.Context, r model.Request) (model.Response, error) {
	out := model.Response{Usage: model.Usage{Provider: c.provider(), Model: c.config.Model, Calls: 1}}
	p, err := c.params(r)
	if err != nil {
		return out, err
	}
	sample(&p, r.Sampling)
	out.Tokens, out.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	p.MaxTokens = int64(out.Tokens)
	h := &hearing{model.Hear(&out, r, c.from(r, len(r.Messages))), &out}
	asked, blocks := p.Messages, []sdk.ContentBlockParamUnion(nil)
	for pauses := 0; ; pauses++ {
		var m sdk.Message
		res, err := c.open(ctx, &p, r, &out)
		if err == nil {
			err = h.read(res, &m)
		}
		if err != nil {
			h.End()
			out.Stop, out.Why = "", ""
			return out, c.problem(err, out.Usage.RequestID)
		}
		if m.StopReason != sdk.StopReasonPauseTurn || r.Searches == 0 || pauses == mostPauses {
			h.End()
			return out, nil
		}
		out.Stop = ""
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
		_, err = c.messages.New(ctx, *p, option.WithRequestTimeout(left(ctx)), option.WithResponseBodyInto(&res))
		if res != nil {
			out.Usage.RequestID = model.RequestID(cmp.Or(res.Header.Get("Request-Id"), res.Header.Get("X-Amzn-Requestid")))
		}
		if !c.simpler(p, r, out, err) {
			return res, err
		}
	}
}

// hearing is an answer, of one or several messages.
type hearing struct {
	*model.Hearing
	out *model.Response
}

// read adds a message.
func (h *hearing) read(res *http.Response, m *sdk.Message) error {
	defer res.Body.Close()
	body, err := model.Read(res)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, m); err != nil || m.Content == nil {
		return &model.UnreadableError{What: model.Members(body)}
	}
	h.out.Answered = m.Model
	u := model.Usage{Input: m.Usage.InputTokens + m.Usage.CacheCreationInputTokens, Output: m.Usage.OutputTokens,
		Cached: m.Usage.CacheReadInputTokens, Written: m.Usage.CacheCreationInputTokens,
		Searches: m.Usage.ServerToolUse.WebSearchRequests}
	h.out.Usage = u.Plus(h.out.Usage)
	for _, block := range m.Content {
		switch block.Type {
		case "tool_use":
			h.Call(block.ID, block.Name, string(block.Input))
		case "thinking", "redacted_thinking":
			h.Think(model.Thought{Text: block.Thinking, Signature: block.Signature, Sealed: []byte(block.Data)})
		case "web_search_tool_result":
			h.found(block.AsWebSearchToolResult().Content)
		default:
			h.Say(block.Text)
		}
	}
	h.Stops(string(m.StopReason))
	return nil
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
	for _, t := range model.Takeable(r.Tools) {
		tool := sdk.ToolParam{Name: t.Name, Description: sdk.String(t.Description)}
		in, err := &tool.InputSchema, error(nil)
		if in.Properties, in.Required, in.ExtraFields, err = model.Shape(t.Schema); err != nil {
			return p, fmt.Errorf("read the schema of %s: %w", t.Name, err)
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: &tool})
	}
	if len(p.Tools) > 0 {
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfAuto: &sdk.ToolChoiceAutoParam{DisableParallelToolUse: sdk.Bool(
			!r.Parallel)}}
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
	return c.provider() + " " + c.config.Model + " " + r.Before(index)
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
