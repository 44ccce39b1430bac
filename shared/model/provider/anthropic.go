package provider

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
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/bedrock"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
)

// AnthropicConfig describes one model of Anthropic's.
type AnthropicConfig struct {
	BaseURL string // without /v1; empty with Bedrock: the region's
	Model   string // with Bedrock, a model's or an inference profile's id
	Key     string // with Bedrock, empty inside AWS, where the function's role is authorized
	HTTP    *http.Client
	Bedrock *aws.Config // nil: Anthropic's own API
}

// Anthropic is a model.Wire.
type Anthropic struct {
	config   AnthropicConfig
	messages sdk.MessageService
}

// NewAnthropic makes a client without calling anything. It reads nothing from the environment and sends no traces. It
// leaves retries to the state machine, which has the time for them.
func NewAnthropic(c AnthropicConfig) *Anthropic {
	options := []option.RequestOption{option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(),
		option.WithMaxRetries(0), option.WithHTTPClient(c.HTTP)}
	if c.Bedrock != nil {
		options = append(options, c.onBedrock())
	} else {
		options = append(options, option.WithAPIKey(c.Key))
	}
	if c.BaseURL != "" {
		options = append(options, option.WithBaseURL(c.BaseURL))
	}
	return &Anthropic{c, sdk.NewMessageService(options...)}
}

// onBedrock signs requests with the role's credentials, or sends the key. A key in the environment
// (AWS_BEARER_TOKEN_BEDROCK), which functions don't have, would come first.
func (c AnthropicConfig) onBedrock() option.RequestOption {
	on := *c.Bedrock
	on.BearerAuthTokenProvider, on.AuthSchemePreference = nil, nil
	if c.Key != "" {
		on.BearerAuthTokenProvider = bedrock.NewStaticBearerTokenProvider(c.Key)
		on.AuthSchemePreference = []string{"httpBearerAuth"}
	}
	return bedrock.WithConfig(on)
}

func (c *Anthropic) provider() string {
	if c.config.Bedrock != nil {
		return aggregate.Bedrock
	}
	return aggregate.Anthropic
}

func (c *Anthropic) problem(err error, request string) *model.Error {
	var answer *sdk.Error
	e := model.FromTransport(c.provider(), err)
	if errors.As(err, &answer) {
		status, code := answer.StatusCode, string(answer.Type())
		if c.config.Bedrock != nil {
			status, code = ofBedrock(answer)
		}
		e = model.FromStatus(c.provider(), status, answer.Response.Header, saidBy(answer), code)
	}
	e.Model, e.RequestID = c.config.Model, request
	return e
}

// saidBy is the sentence of an error. AWS has it at the top.
func saidBy(e *sdk.Error) string {
	var body struct {
		Message string
		Error   struct{ Message string }
	}
	_ = json.Unmarshal([]byte(e.RawJSON()), &body) // unreadable: then it says nothing
	return cmp.Or(body.Error.Message, body.Message)
}

// ofBedrock is the code of AWS's error, and the status that fits it: AWS refuses credentials with 403 or 400 (the
// common errors of its API references), and Bedrock reports an unknown model and a used-up quota with 400, and a
// model's failure with 424.
func ofBedrock(e *sdk.Error) (status int, code string) {
	code, _, _ = strings.Cut(e.Response.Header.Get("X-Amzn-ErrorType"), ":")
	switch code {
	case "UnrecognizedClientException", "InvalidClientTokenId", "ExpiredTokenException", "MissingAuthenticationToken",
		"IncompleteSignature", "InvalidSignatureException":
		return http.StatusUnauthorized, code
	case "ServiceQuotaExceededException", "ThrottlingException":
		return http.StatusTooManyRequests, code
	case "ModelErrorException":
		return http.StatusInternalServerError, code
	case "ValidationException":
		if strings.Contains(strings.ToLower(saidBy(e)), "model identifier") {
			return http.StatusNotFound, code
		}
	}
	return e.StatusCode, code
}

// Say makes one call. An answer that pauses, because the vendor searched for long, is not whole.
func (c *Anthropic) Say(ctx context.Context, r model.Request) (model.Response, error) {
	return model.Simpler(r, func(r model.Request) (model.Response, error) { return c.say(ctx, r) })
}

func (c *Anthropic) say(ctx context.Context, r model.Request) (model.Response, error) {
	out := model.Response{Usage: model.Usage{Provider: c.provider(), Model: c.config.Model, Calls: 1}}
	p, err := c.params(r)
	if err != nil {
		return out, err
	}
	out.Tokens, out.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	p.MaxTokens = int64(out.Tokens)
	m, err := c.call(ctx, p, &out.Usage)
	if err != nil {
		return out, c.problem(err, out.Usage.RequestID)
	}
	c.read(m, r, &out)
	out.Complete(string(m.StopReason), false)
	return out, nil
}

// call sends a request and reads its answer, whatever its form is.
func (c *Anthropic) call(ctx context.Context, p sdk.MessageNewParams, used *model.Usage) (m sdk.Message, err error) {
	var res *http.Response
	left := 2 * time.Minute // without a timeout the SDK refuses to ask for long answers
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	_, err = c.messages.New(ctx, p, option.WithRequestTimeout(left), option.WithResponseBodyInto(&res))
	if res != nil {
		used.RequestID = model.RequestID(cmp.Or(res.Header.Get("Request-Id"), res.Header.Get("X-Amzn-Requestid")))
	}
	if err != nil {
		return m, err
	}
	defer res.Body.Close()
	body, err := model.Read(res)
	if err != nil {
		return m, err
	}
	if err := json.Unmarshal(body, &m); err != nil || m.Content == nil {
		return m, &model.UnreadableError{What: model.Members(body)}
	}
	return m, nil
}

// read adds a message to the answer.
func (c *Anthropic) read(m sdk.Message, r model.Request, out *model.Response) {
	out.Answered = m.Model
	u := model.Usage{Input: m.Usage.InputTokens + m.Usage.CacheCreationInputTokens, Output: m.Usage.OutputTokens,
		Cached: m.Usage.CacheReadInputTokens, Written: m.Usage.CacheCreationInputTokens,
		Searches: m.Usage.ServerToolUse.WebSearchRequests}
	out.Usage = u.Plus(out.Usage)
	var thoughts []model.Thought // since the last call
	for _, block := range m.Content {
		switch block.Type {
		case "tool_use":
			call := model.Call{ID: block.ID, Name: block.Name, Input: block.Input}
			if thoughts != nil {
				call.Opaque, thoughts = model.Hang(c.from(r, len(r.Messages)), thoughts), nil
			}
			out.Calls = append(out.Calls, call)
		case "thinking", "redacted_thinking":
			out.Thought += model.Tokens(block.Thinking)
			thoughts = append(thoughts, model.Thought{Text: block.Thinking, Signature: block.Signature,
				Sealed: []byte(block.Data)})
		case "web_search_tool_result":
			found(block.AsWebSearchToolResult().Content, out)
		default:
			out.Text += block.Text
		}
	}
}

// params translates a request. Cache breakpoints follow the rules and Standing, and in a conversation also the last
// message without its passing parts, since the next call begins with the same messages.
func (c *Anthropic) params(r model.Request) (sdk.MessageNewParams, error) {
	cached := sdk.NewCacheControlEphemeralParam()
	p := sdk.MessageNewParams{Model: c.config.Model, StopSequences: r.Sampling.StopSequences,
		System: []sdk.TextBlockParam{{Text: r.System, CacheControl: cached}}}
	if t := r.Sampling.Temperature; t != nil {
		p.Temperature = sdk.Float(min(*t, 1)) // the vendor's maximum
	} else if top := r.Sampling.TopP; top != nil { // since Opus 4.1 models take one of the two
		p.TopP = sdk.Float(*top)
	}
	if r.Schema != nil {
		var err error
		if p.OutputConfig.Format.Schema, err = model.Split(r.Schema); err != nil {
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
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfAuto: &sdk.ToolChoiceAutoParam{DisableParallelToolUse: sdk.Bool(
			!r.Parallel)}}
	}
	if r.Searches > 0 {
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfWebSearchTool20250305: &sdk.WebSearchTool20250305Param{
			MaxUses: sdk.Int(int64(r.Searches))}})
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
func (c *Anthropic) from(r model.Request, index int) string {
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
func (c *Anthropic) blocksOf(r model.Request, index int) (blocks []sdk.ContentBlockParamUnion) {
	called, from := false, ""
	for _, part := range r.Messages[index].Parts {
		switch {
		case part.Call != nil:
			if part.Call.Opaque != nil {
				from = cmp.Or(from, c.from(r, index))
			}
			at := len(blocks)
			if !called {
				at, called = 0, true
			}
			blocks = slices.Insert(blocks, at, thoughtsOn(part.Call, from)...)
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

// found adds what a search found, or its failure.
func found(result sdk.WebSearchToolResultBlockContentUnion, out *model.Response) {
	for _, r := range result.AsWebSearchResultBlockArray() {
		out.Found = append(out.Found, model.Source{Title: r.Title, URL: r.URL})
	}
	if result.ErrorCode != "" {
		out.SearchFailed = string(result.ErrorCode)
	}
}
