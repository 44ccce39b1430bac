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
	var raw *http.Response
	if r.Once {
		last, err := c.responses.New(ctx, p, option.WithResponseInto(&raw))
		if raw != nil {
			out.Usage.RequestID = model.RequestID(raw.Header.Get("X-Request-Id"))
		}
		if err != nil {
			return out, c.problem(err, out.Usage.RequestID)
		}
		err = c.heard(&out, last)
		return out, err
	}
	stream := c.responses.NewStreaming(ctx, p, option.WithResponseInto(&raw))
	for simpler(&p, stream.Err()) {
		stream.Close()
		stream = c.responses.NewStreaming(ctx, p, option.WithResponseInto(&raw))
	}
	defer stream.Close()
	if raw != nil {
		out.Usage.RequestID = model.RequestID(raw.Header.Get("X-Request-Id"))
	}
	var text strings.Builder
	var last *responses.Response
	for last == nil && stream.Next() {
		switch e := stream.Current(); e.Type {
		case "response.output_text.delta":
			text.WriteString(e.Delta)
			onText(text.String())
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
	err = c.heard(&out, last)
	return out, err
}

// heard reads the complete answer, which a stream repeats in its last event.
func (c *Client) heard(out *model.Response, last *responses.Response) error {
	u := &out.Usage
	u.Cached = last.Usage.InputTokensDetails.CachedTokens
	u.Input, u.Output = max(0, last.Usage.InputTokens-u.Cached), last.Usage.OutputTokens
	u.Written = min(last.Usage.InputTokensDetails.CacheWriteTokens, u.Input)
	out.Text, out.Stop, out.Answered = cmp.Or(last.OutputText(), out.Text), stop(last), last.Model
	for _, item := range last.Output {
		if item.Type == "function_call" {
			out.Calls = append(out.Calls, model.Call{ID: item.CallID, Name: item.Name,
				Input: json.RawMessage(item.Arguments.OfString)})
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

// simpler removes from a refused request something that some models don't support: reasoning models have no sampling,
// and old models no schema for the answer. It reports false when neither is left.
func simpler(p *responses.ResponseNewParams, err error) bool {
	refused := new(responses.Error)
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
		return false
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
		MaxOutputTokens: param.NewOpt(int64(r.MaxTokens + thinking)), Store: param.NewOpt(false),
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
		items = append(items, itemsOf(m, r.Once)...)
	}
	p.Input = responses.ResponseNewParamsInputUnion{OfInputItemList: items}
	return p, nil
}

// itemsOf translates a message to items: one for each call, each result, and each text of a single question.
func itemsOf(m model.Message, once bool) (items []responses.ResponseInputItemUnionParam) {
	var content responses.ResponseInputMessageContentListParam
	for _, part := range m.Parts {
		switch {
		case part.Call != nil:
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
