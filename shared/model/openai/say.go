package openai

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

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/tool/schema"
)

// Say makes one call and streams its answer. The vendor is asked not to store it.
func (c *Client) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := model.Response{Usage: model.Usage{Provider: aggregate.OpenAI, Model: c.config.Model, Calls: 1}}
	p, err := c.params(r)
	if err != nil {
		return out, err
	}
	sample(&p, r.Sampling)
	out.Tokens, out.Full = r.Output(c.config.Model, true)
	p.MaxOutputTokens = param.NewOpt(int64(out.Tokens))
	h := &hearing{Hearing: model.Hear(&out, r, c.from(), onText), out: &out, done: map[string]string{},
		parts: map[string]*part{}, form: r.Schema != nil}
	h.Vendor = schema.OpenAI
	res, err := c.open(ctx, &p, r, &out)
	if err == nil {
		err = h.read(res)
	}
	if refused := new(responses.Error); errors.As(err, &refused) && refused.Code == filtered {
		h.Stops("refusal")
		err = nil
	}
	if err != nil {
		err = c.problem(err, out.Usage.RequestID)
	}
	err = h.End(err)
	return out, err
}

// open sends a request, and again without what the model refuses. Its answer is read whatever its form is.
func (c *Client) open(ctx context.Context, p *responses.ResponseNewParams, r model.Request, out *model.Response) (
	res *http.Response, err error) {
	for {
		options := []option.RequestOption{option.WithResponseBodyInto(&res)}
		if !r.Once {
			options = append(options, option.WithJSONSet("stream", true))
		}
		_, err = c.responses.New(ctx, *p, options...)
		if res != nil {
			out.Usage.RequestID = model.RequestID(res.Header.Get("X-Request-Id"))
		}
		if !c.simpler(p, r, out, err) {
			return res, err
		}
	}
}

// filtered is the error code of the vendor's filter for requests.
const filtered = "invalid_prompt"

// failed is an error that came in an answer of status 200.
type failed struct {
	said  string
	codes []string
}

func (*failed) Error() string { return "the answer is an error" }

// hearing is an answer as it arrives: in events, of which the last repeats all of it, or as a whole.
type hearing struct {
	*model.Hearing
	out    *model.Response
	done   map[string]string // encrypted thoughts by the ids of their items, complete only here
	parts  map[string]*part  // the stream's items by their ids
	order  []*part
	form   bool   // the answer is to be JSON
	newest string // the item of the newest piece of the text
}

func (h *hearing) read(res *http.Response) error {
	defer res.Body.Close()
	ended := false
	err := model.Values(res, func(event string, value json.RawMessage) (last bool, err error) {
		var x struct {
			Type, Object string
			Output       json.RawMessage
			Code         string
			Message      string
			Error        struct{ Code, Type, Message string }
		}
		_ = json.Unmarshal(value, &x) // what has none of these members is none of what follows
		given := x.Error.Code + x.Error.Type + x.Error.Message
		if x.Object == "response" || x.Type == "" && x.Output != nil {
			ended = true
			var whole responses.Response
			if err := json.Unmarshal(value, &whole); err != nil {
				return true, err
			}
			return true, h.whole(&whole)
		}
		switch {
		case x.Type == "error" || event == "error" || x.Type == "" && given != "":
			if filtered == cmp.Or(x.Code, x.Error.Code) {
				ended = true
				h.Stops("refusal")
				return true, nil
			}
			return true, &failed{x.Message + x.Error.Message, []string{x.Code, x.Error.Code, x.Error.Type}}
		case x.Type == "":
			return true, &model.UnreadableError{What: model.Members(value)}
		}
		var e responses.ResponseStreamEventUnion
		if err := json.Unmarshal(value, &e); err != nil {
			return true, err
		}
		switch e.Type {
		case "response.output_text.delta":
			if h.newest != "" && h.newest != e.ItemID {
				h.Say(between)
			}
			h.newest = e.ItemID
			h.Say(e.Delta)
		case "response.completed", "response.incomplete", "response.failed":
			ended = true
			return true, h.whole(&e.Response)
		default:
			h.hear(e)
		}
		return false, h.Bounded()
	})
	if err == nil && !ended {
		h.Break("response.completed is missing")
	}
	return err
}

// from names where thoughts come from.
func (c *Client) from() string { return aggregate.OpenAI + " " + c.config.Model }

// whole reads the complete answer. Thoughts are hung on the call after them.
func (h *hearing) whole(last *responses.Response) error {
	u := &h.out.Usage
	u.Cached = last.Usage.InputTokensDetails.CachedTokens
	u.Input, u.Output = max(0, last.Usage.InputTokens-u.Cached), last.Usage.OutputTokens
	u.Written = min(last.Usage.InputTokensDetails.CacheWriteTokens, u.Input)
	h.out.Answered = last.Model
	items := last.Output
	if len(items) == 0 { // gateways leave them out
		items = h.ended()
	}
	h.Instead(h.text(items))
	reason := string(last.Status)
	if last.Status == responses.ResponseStatusIncomplete {
		reason = cmp.Or(last.IncompleteDetails.Reason, reason)
	}
	h.Stops(reason)
	for _, item := range items {
		h.item(item)
	}
	switch code := last.Error.Code; {
	case code == filtered, code == responses.ResponseErrorCodeBioPolicy,
		code == responses.ResponseErrorCodeMisalignmentPolicyViolation:
		h.Stops("refusal")
	case (last.Status == responses.ResponseStatusFailed || code != "") && h.out.Stop != model.StopRefused:
		return &failed{last.Error.Message, []string{string(code)}}
	}
	return nil
}

// between stands between the texts of several messages of one answer.
const between = "\n\n"

// text is what the messages of an answer say. An answer that is to be JSON is the last of them: those before it are
// commentary (phase of a message in the API's reference).
func (h *hearing) text(items []responses.ResponseOutputItemUnion) string {
	var all []string
	for _, item := range items {
		text := ""
		for _, part := range item.Content {
			if part.Type == "output_text" {
				text += part.Text
			}
		}
		if text != "" {
			all = append(all, text)
		}
	}
	if h.form && len(all) > 1 {
		all = all[len(all)-1:]
	}
	return strings.Join(all, between)
}

func (h *hearing) item(item responses.ResponseOutputItemUnion) {
	if item.Type != "web_search_call" && (item.Status == "incomplete" || item.Status == "in_progress") &&
		h.out.Stop == model.StopEnd {
		h.Break("an item that is " + string(item.Status))
	}
	switch item.Type {
	case "reasoning":
		if encrypted := cmp.Or(h.done[item.ID], item.EncryptedContent); encrypted != "" {
			h.Think("", model.Thought{ID: item.ID, Sealed: []byte(encrypted)})
		}
	case "web_search_call":
		found(h.out, item)
	case "message":
		cited(h.out, item)
		for _, part := range item.Content {
			if part.Type == "refusal" {
				h.Stops("refusal")
			}
		}
	case "function_call":
		input := cmp.Or(item.Arguments.OfString, strings.Trim(item.JSON.Arguments.Raw(), `"`))
		if p := h.parts[item.ID]; p != nil {
			input = cmp.Or(input, p.arguments)
		}
		h.WholeCall(item.CallID, item.Name, input)
	}
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

// simpler asks for less after a refusal: for fewer tokens, or without something that some models don't support.
// Reasoning models have no sampling, and old models no encrypted thoughts and no schema for the answer, which a single
// question then has in words. It also removes thoughts that the vendor can't decrypt, such as those of another account.
// It reports false when nothing of these is left, or something else is the cause.
func (c *Client) simpler(p *responses.ResponseNewParams, r model.Request, out *model.Response, err error) bool {
	refused := new(responses.Error)
	if !errors.As(err, &refused) || refused.StatusCode != http.StatusBadRequest {
		return false
	}
	formed, sampled := p.Text.Format.OfJSONSchema != nil, p.Temperature.Valid() || p.TopP.Valid()
	switch {
	case out.Lower(r, refused.Message, true):
		p.MaxOutputTokens = param.NewOpt(int64(out.Tokens))
	case c.problem(err, "").Kind != model.BadRequest || refused.Code == filtered:
		return false
	case p.Include != nil && strings.Contains(strings.ToLower(refused.Message), "encrypted content"):
		p.Include = nil
		p.Input.OfInputItemList = slices.DeleteFunc(p.Input.OfInputItemList,
			func(item responses.ResponseInputItemUnionParam) bool { return item.OfReasoning != nil })
	case formed && (strings.HasPrefix(refused.Param, "text") || model.FormRefused(refused.Message) || !sampled && !r.Once):
		p.Text = responses.ResponseTextConfigParam{}
		if r.Once {
			p.Instructions = param.NewOpt(r.System + "\n\n" + model.SchemaPrompt(r.Schema))
		}
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
	for _, t := range model.Takeable(r.Tools, schema.OpenAI) {
		shape, err := model.Split(t.Schema)
		if err != nil {
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
	var thoughts []model.Thought
	if !call.Opaque.Read(from, &thoughts) {
		return nil
	}
	for _, t := range thoughts {
		item := responses.ResponseInputItemParamOfReasoning(t.ID, []responses.ResponseReasoningItemSummaryParam{})
		item.OfReasoning.EncryptedContent = param.NewOpt(string(t.Sealed))
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
