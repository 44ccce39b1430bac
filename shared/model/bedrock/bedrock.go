// Package bedrock calls models through Amazon Bedrock's Converse and ConverseStream. Inside AWS it needs
// no key: the function's role is authorized.
package bedrock

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/auth/bearer"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
)

// Config describes one model of Bedrock's.
type Config struct {
	AWS     aws.Config
	BaseURL string // empty: the region's
	Model   string // a model's or an inference profile's id
	Key     string // a Bedrock API key instead of AWS credentials; empty inside AWS
	HTTP    *http.Client
}

// Client is a model.Wire.
type Client struct{ config Config }

// New makes a client without calling anything. It leaves retries to the state machine.
func New(c Config) *Client { return &Client{c} }

// runtime makes the SDK's client for one call: its streams share a buffer, which smithy-go 1.28.8 doesn't guard
// (internal/eventstream/codec.go), so that two at once would read each other's events.
func (c Config) runtime() *bedrockruntime.Client {
	return bedrockruntime.NewFromConfig(c.AWS, func(o *bedrockruntime.Options) {
		o.RetryMaxAttempts = 1
		if c.HTTP != nil {
			o.HTTPClient = c.HTTP
		}
		if c.BaseURL != "" {
			o.BaseEndpoint = &c.BaseURL
		}
		// The environment's AWS_BEARER_TOKEN_BEDROCK would take precedence over the role.
		o.BearerAuthTokenProvider, o.AuthSchemePreference = nil, []string{"sigv4"}
		if c.Key != "" {
			o.BearerAuthTokenProvider = bearer.StaticTokenProvider{Token: bearer.Token{Value: c.Key}}
			o.AuthSchemePreference = []string{"httpBearerAuth"}
		}
	})
}

// Say makes one call. When the model may have refused the form of the request, Say calls again with a simpler one.
func (c *Client) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	f := form{marked: true, formed: r.Schema != nil, sampled: r.Sampling.Set()}
	first := model.Response{Stop: model.StopEnd, Usage: model.Usage{Provider: modelname.Bedrock, Model: c.config.Model, Calls: 1}}
	first.Tokens, first.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	for {
		out := first
		in, err := c.input(r, f, out.Tokens)
		if err != nil {
			return out, err
		}
		if r.Once {
			err = c.whole(ctx, in, &out)
		} else {
			err = c.stream(ctx, in, &out, c.from(r, len(r.Messages)), onText)
		}
		if err == nil {
			return out, nil
		}
		var invalid *types.ValidationException
		if errors.As(err, &invalid) && first.Lower(invalid.ErrorMessage(), 0) {
			continue
		}
		if errors.As(err, &invalid) && !noSuchModel(invalid) && !model.LengthRefused(invalid.ErrorMessage()) {
			if plainer, ok := f.simpler(invalid); ok {
				f = plainer
				continue
			}
		}
		e := c.problem(err)
		e.RequestID = cmp.Or(e.RequestID, out.Usage.RequestID)
		out.Usage.RequestID = e.RequestID
		return out, e
	}
}

// whole makes a call whose answer is not streamed.
func (c *Client) whole(ctx context.Context, in *bedrockruntime.ConverseInput, out *model.Response) error {
	got, err := c.config.runtime().Converse(ctx, in)
	if err != nil {
		return err
	}
	out.Usage.RequestID, out.Stop = requestID(got.ResultMetadata), stop(got.StopReason)
	use(&out.Usage, got.Usage)
	if m, ok := got.Output.(*types.ConverseOutputMemberMessage); ok {
		for _, block := range m.Value.Content {
			if text, ok := block.(*types.ContentBlockMemberText); ok {
				out.Text += text.Value
			}
		}
	}
	return nil
}

// stream makes a call and reads its answer as it arrives. An answer without a stop reason is an error.
func (c *Client) stream(ctx context.Context, in *bedrockruntime.ConverseInput, out *model.Response, from string,
	onText func(string)) error {
	got, err := c.config.runtime().ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
		ModelId: in.ModelId, System: in.System, Messages: in.Messages, InferenceConfig: in.InferenceConfig,
		OutputConfig: in.OutputConfig, ToolConfig: in.ToolConfig,
	})
	if err != nil {
		return err
	}
	out.Usage.RequestID = requestID(got.ResultMetadata)
	events := got.GetStream()
	defer events.Close()
	h := hearing{out: out, onText: onText, from: from, at: map[int32]int{}}
	for event := range events.Events() {
		h.hear(event)
	}
	if err := events.Err(); err != nil || h.ended {
		return err
	}
	return io.ErrUnexpectedEOF
}

type hearing struct {
	out    *model.Response
	onText func(string)
	at     map[int32]int // index of a block -> index of its call
	ended  bool
	from   string // of what the vendor hangs on calls
	// thoughts are those since the last call, and newest is the index of the last one's block.
	thoughts []thought
	newest   int32
}

// think adds a piece of a thought.
func (h *hearing) think(index int32, piece types.ReasoningContentBlockDelta) {
	if h.thoughts == nil || h.newest != index {
		h.thoughts, h.newest = append(h.thoughts, thought{}), index
	}
	t := &h.thoughts[len(h.thoughts)-1]
	switch p := piece.(type) {
	case *types.ReasoningContentBlockDeltaMemberText:
		t.Text += p.Value
	case *types.ReasoningContentBlockDeltaMemberSignature:
		t.Signature += p.Value
	case *types.ReasoningContentBlockDeltaMemberRedactedContent:
		t.Redacted = append(t.Redacted, p.Value...)
	}
}

func (h *hearing) hear(event types.ConverseStreamOutput) {
	switch e := event.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		if start, ok := e.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
			h.at[aws.ToInt32(e.Value.ContentBlockIndex)] = len(h.out.Calls)
			call := model.Call{ID: aws.ToString(start.Value.ToolUseId), Name: aws.ToString(start.Value.Name)}
			if h.thoughts != nil {
				call.Opaque, h.thoughts = model.Hang(h.from, h.thoughts), nil
			}
			h.out.Calls = append(h.out.Calls, call)
		}
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		switch d := e.Value.Delta.(type) {
		case *types.ContentBlockDeltaMemberText:
			h.out.Text += d.Value
			h.onText(h.out.Text)
		case *types.ContentBlockDeltaMemberReasoningContent:
			h.think(aws.ToInt32(e.Value.ContentBlockIndex), d.Value)
		case *types.ContentBlockDeltaMemberToolUse:
			if i, ok := h.at[aws.ToInt32(e.Value.ContentBlockIndex)]; ok {
				h.out.Calls[i].Input = append(h.out.Calls[i].Input, aws.ToString(d.Value.Input)...)
			}
		}
	case *types.ConverseStreamOutputMemberMessageStop:
		h.out.Stop, h.ended = stop(e.Value.StopReason), true
		for i, call := range h.out.Calls {
			if len(call.Input) == 0 { // a tool without arguments
				h.out.Calls[i].Input = json.RawMessage("{}")
			}
		}
	case *types.ConverseStreamOutputMemberMetadata:
		use(&h.out.Usage, e.Value.Usage)
	}
}

func requestID(of middleware.Metadata) string {
	id, _ := awsmiddleware.GetRequestIDMetadata(of)
	return model.RequestID(id)
}

func use(u *model.Usage, of *types.TokenUsage) {
	if of != nil {
		u.Input, u.Output = number(of.InputTokens)+number(of.CacheWriteInputTokens), number(of.OutputTokens)
		u.Cached, u.Written = number(of.CacheReadInputTokens), number(of.CacheWriteInputTokens)
	}
}

func stop(why types.StopReason) model.Stop {
	switch why {
	case types.StopReasonMaxTokens, types.StopReasonModelContextWindowExceeded:
		return model.StopLength
	case types.StopReasonGuardrailIntervened, types.StopReasonContentFiltered, "refusal":
		return model.StopRefused
	}
	return model.StopEnd
}

func (c *Client) problem(err error) *model.Error {
	var api smithy.APIError
	var answer *smithyhttp.ResponseError
	e := model.FromTransport(modelname.Bedrock, err)
	if errors.As(err, &api) {
		said, header, code := http.StatusInternalServerError, http.Header(nil), api.ErrorCode()
		if errors.As(err, &answer) { // else it was reported in a stream after its status 200
			said, header = answer.HTTPStatusCode(), answer.Response.Header
		}
		said = status(err, code, said)
		if said == http.StatusBadRequest && model.LengthRefused(api.ErrorMessage()) {
			code = model.CodeTooLong
		}
		e = model.FromStatus(modelname.Bedrock, said, header, code)
	}
	var id interface{ ServiceRequestID() string }
	if errors.As(err, &id) {
		e.RequestID = model.RequestID(id.ServiceRequestID())
	}
	e.Model = c.config.Model
	return e
}

// status corrects misleading statuses: AWS refuses credentials with 403 or 400 (the common errors of its API
// references), and Bedrock reports a model's failure with 424 and a used-up quota with 400.
func status(err error, code string, said int) int {
	var invalid *types.ValidationException
	var failed *types.ModelErrorException
	switch {
	case errors.As(err, &invalid) && noSuchModel(invalid):
		return http.StatusNotFound
	case errors.As(err, &failed):
		return int(cmp.Or(aws.ToInt32(failed.OriginalStatusCode), http.StatusInternalServerError))
	}
	switch code {
	case "UnrecognizedClientException", "InvalidClientTokenId", "ExpiredTokenException", "MissingAuthenticationToken",
		"IncompleteSignature", "InvalidSignatureException":
		return http.StatusUnauthorized
	case "ValidationException":
		return http.StatusBadRequest
	case "ServiceQuotaExceededException", "ThrottlingException":
		return http.StatusTooManyRequests
	}
	return said
}

// noSuchModel recognizes a wrong model id by its message: the error has no code of its own.
func noSuchModel(e *types.ValidationException) bool {
	return strings.Contains(strings.ToLower(e.ErrorMessage()), "model identifier")
}

func number(n *int32) int64 { return int64(aws.ToInt32(n)) }
