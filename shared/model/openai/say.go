package openai

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

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/packages/ssestream"
	"github.com/openai/openai-go/v3/responses"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
)

// Say makes one call and streams its answer. The vendor is asked not to store it.
func (c *Client) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := model.Response{Usage: model.Usage{Provider: modelname.OpenAI, Model: c.config.Model, Calls: 1}}
	p, err := c.params(r)
	if err != nil {
		return out, err
	}
	sample(&p, r.Sampling)
	out.Tokens, out.Full = r.Output(c.config.Model, true)
	p.MaxOutputTokens = param.NewOpt(int64(out.Tokens))
	if r.Once {
		err := c.whole(ctx, p, &out)
		return out, err
	}
	var raw *http.Response
	stream := c.responses.NewStreaming(ctx, p, option.WithResponseInto(&raw))
	for fewer(&p, &out, stream.Err()) || simpler(&p, stream.Err()) {
		stream.Close()
		stream = c.responses.NewStreaming(ctx, p, option.WithResponseInto(&raw))
	}
	defer stream.Close()
	if raw != nil {
		out.Usage.RequestID = model.RequestID(raw.Header.Get("X-Request-Id"))
	}
	var text strings.Builder
	var last *responses.Response
	done := map[string]string{} // encrypted thoughts by the ids of their items, complete only here
	for last == nil && stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta":
			text.WriteString(e.Delta)
			onText(text.String())
		case "response.output_item.done":
			if e.Item.Type == "reasoning" {
				done[e.Item.ID] = e.Item.EncryptedContent
			}
		case "response.completed", "response.incomplete", "response.failed":
			last = &e.Response
		case "error":
			return out, c.broken(e.Code, out.Usage.RequestID)
		}
	}
	out.Text = text.String()
	if last == nil {
		if err := stream.Err(); err != nil {
			return out, c.streamProblem(err, out.Usage.RequestID)
		}
		return out, c.problem(io.ErrUnexpectedEOF, out.Usage.RequestID)
	}
	err = c.heard(&out, last, done)
	return out, err
}

// whole makes a call whose answer is not streamed.
func (c *Client) whole(ctx context.Context, p responses.ResponseNewParams, out *model.Response) error {
	var raw *http.Response
	last, err := c.responses.New(ctx, p, option.WithResponseInto(&raw))
	if fewer(&p, out, err) {
		last, err = c.responses.New(ctx, p, option.WithResponseInto(&raw))
	}
	if raw != nil {
		out.Usage.RequestID = model.RequestID(raw.Header.Get("X-Request-Id"))
	}
	if err != nil {
		return c.problem(err, out.Usage.RequestID)
	}
	return c.heard(out, last, nil)
}

// thought is an item of encrypted thoughts.
type thought struct {
	ID        string `json:"id"`
	Encrypted string `json:"encrypted"`
}

// from names where thoughts come from.
func (c *Client) from() string { return modelname.OpenAI + " " + c.config.Model }

// heard reads the complete answer, which a stream repeats in its last event. Thoughts are hung on the call after them.
func (c *Client) heard(out *model.Response, last *responses.Response, done map[string]string) error {
	u := &out.Usage
	u.Cached = last.Usage.InputTokensDetails.CachedTokens
	u.Input, u.Output = max(0, last.Usage.InputTokens-u.Cached), last.Usage.OutputTokens
	u.Written = min(last.Usage.InputTokensDetails.CacheWriteTokens, u.Input)
	out.Text, out.Stop, out.Answered = cmp.Or(last.OutputText(), out.Text), stop(last), last.Model
	var thoughts []thought
	for _, item := range last.Output {
		switch item.Type {
		case "reasoning":
			if encrypted := cmp.Or(done[item.ID], item.EncryptedContent); encrypted != "" {
				thoughts = append(thoughts, thought{item.ID, encrypted})
			}
		case "web_search_call":
			found(out, item)
		case "message":
			cited(out, item)
		case "function_call":
			call := model.Call{ID: item.CallID, Name: item.Name, Input: json.RawMessage(item.Arguments.OfString)}
			if thoughts != nil {
				call.Opaque, thoughts = model.Hang(c.from(), thoughts), nil
			}
			out.Calls = append(out.Calls, call)
		}
	}
	if last.Status == responses.ResponseStatusFailed && out.Stop != model.StopRefused {
		return c.broken(string(last.Error.Code), out.Usage.RequestID)
	}
	return nil
}

// broken is the error of an answer that failed after its status 200.
func (c *Client) broken(code, request string) *model.Error {
	e := model.FromStatus(modelname.OpenAI, failed(responses.ResponseErrorCode(code)), nil, code)
	e.Model, e.RequestID = c.config.Model, request
	return e
}

// streamProblem is the error of a stream. If the vendor sent an error, only its code is kept.
func (c *Client) streamProblem(err error, request string) *model.Error {
	var sent *ssestream.StreamError
	if !errors.As(err, &sent) {
		return c.problem(err, request)
	}
	var body struct {
		Error struct{ Code, Type string }
	}
	_ = json.Unmarshal(sent.Event.Data, &body) // unreadable: then there is no code
	return c.broken(cmp.Or(body.Error.Code, body.Error.Type), request)
}

func sample(p *responses.ResponseNewParams, s model.Sampling) {
	p.Temperature, p.TopP = param.Opt[float64]{}, param.Opt[float64]{}
	if s.Temperature != nil {
		p.Temperature = param.NewOpt(*s.Temperature)
	}
	if s.TopP != nil {
		p.TopP = param.NewOpt(*s.TopP)
	}
}

// fewer asks for as many tokens as a refusal names, once.
func fewer(p *responses.ResponseNewParams, out *model.Response, err error) bool {
	refused := new(responses.Error)
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
		return false
	}
	lower := out.Lower(refused.Message, 0)
	p.MaxOutputTokens = param.NewOpt(int64(out.Tokens))
	return lower
}

// simpler removes from a refused request something that some models don't support: reasoning models have no sampling,
// and old models no encrypted thoughts and no schema for the answer. It also removes thoughts that the vendor can't
// decrypt, such as those of another account. It reports false when nothing of these is left.
func simpler(p *responses.ResponseNewParams, err error) bool {
	refused := new(responses.Error)
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
		return false
	}
	if p.Include != nil && strings.Contains(strings.ToLower(refused.Message), "encrypted content") {
		p.Include = nil
		p.Input.OfInputItemList = slices.DeleteFunc(p.Input.OfInputItemList,
			func(item responses.ResponseInputItemUnionParam) bool { return item.OfReasoning != nil })
		return true
	}
	formed, sampled := p.Text.Format.OfJSONSchema != nil, p.Temperature.Valid() || p.TopP.Valid()
	switch {
	case formed && (strings.HasPrefix(refused.Param, "text") || !sampled):
		p.Text = responses.ResponseTextConfigParam{}
	case sampled:
		sample(p, model.Sampling{})
	default:
		return false
	}
	return true
}

// params translates a request. The vendor caches common prefixes of requests by itself.
func (c *Client) params(r model.Request) (responses.ResponseNewParams, error) {
	p := responses.ResponseNewParams{
		Model: c.config.Model, Instructions: param.NewOpt(r.System),
		Store: param.NewOpt(false),
	}
	if len(r.Tools) > 0 && !model.Quiet(c.config.Model) { // the vendor stores nothing, so thoughts go to and fro
		p.Include = []responses.ResponseIncludable{responses.ResponseIncludableReasoningEncryptedContent}
	}
	if !r.Once {
		p.ParallelToolCalls = param.NewOpt(r.Parallel)
	}
	if r.Schema != nil {
		format, err := formOf(r.Schema)
		if err != nil {
			return p, err
		}
		p.Text.Format = format
	}
	if r.Searches > 0 {
		searching(&p, r.Searches)
	}
	for _, t := range r.Tools {
		var shape map[string]any
		if err := json.Unmarshal(t.Schema, &shape); err != nil {
			return p, fmt.Errorf("read the schema of %s: %w", t.Name, err)
		}
		tool := responses.ToolParamOfFunction(t.Name, shape, !t.Foreign)
		tool.OfFunction.Description = param.NewOpt(t.Description)
		p.Tools = append(p.Tools, tool)
	}
	var items responses.ResponseInputParam
	if r.Standing != "" {
		items = append(items, responses.ResponseInputItemParamOfMessage(r.Standing, responses.EasyInputMessageRoleUser))
	}
	for _, m := range r.Messages {
		items = append(items, itemsOf(m, r.Once, c.from())...)
	}
	p.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: items}
	return p, nil
}

// thoughtsOn returns the thoughts before a call.
func thoughtsOn(call *model.Call, from string) (items []responses.ResponseInputItemUnionParam) {
	var thoughts []thought
	if !call.Opaque.Read(from, &thoughts) {
		return nil
	}
	for _, t := range thoughts {
		item := responses.ResponseInputItemParamOfReasoning(t.ID, []responses.ResponseReasoningItemSummaryParam{})
		item.OfReasoning.EncryptedContent = param.NewOpt(t.Encrypted)
		items = append(items, item)
	}
	return items
}

// itemsOf translates a message to items: one for each call, each result, and each text of a single question. The
// thoughts before the first call come first, as the vendor has them.
func itemsOf(m model.Message, once bool, from string) (items []responses.ResponseInputItemUnionParam) {
	var content responses.ResponseInputMessageContentListParam
	called := false
	for _, part := range m.Parts {
		switch {
		case part.Call != nil:
			called, items = true, model.Ahead(items, thoughtsOn(part.Call, from), called)
			items = append(items, responses.ResponseInputItemParamOfFunctionCall(string(part.Call.Object()), part.Call.ID,
				part.Call.Name))
		case part.Result != nil:
			item := responses.ResponseInputItemParamOfFunctionCallOutput(part.Result.Text)
			item.OfFunctionCallOutput.CallID = param.NewOpt(part.Result.CallID)
			items = append(items, item)
		case m.Role == model.Assistant || once && part.Image == nil:
			items = append(items, responses.ResponseInputItemParamOfMessage(part.Text, responses.EasyInputMessageRole(m.Role)))
		case part.Image != nil:
			content = append(content, responses.ResponseInputContentUnionParam{OfInputImage: &responses.ResponseInputImageParam{
				Detail:   responses.ResponseInputImageDetailAuto,
				ImageURL: param.NewOpt("data:" + part.Image.Type + ";base64," + base64.StdEncoding.EncodeToString(part.Image.Data)),
			}})
		default:
			content = append(content, responses.ResponseInputContentParamOfInputText(part.Text))
		}
	}
	if content != nil {
		items = append(items, responses.ResponseInputItemParamOfMessage(content, responses.EasyInputMessageRoleUser))
	}
	return items
}
