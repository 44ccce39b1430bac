// Package bedrock calls models through Amazon Bedrock's Converse and ConverseStream. Inside AWS it needs
// no key: the function's role is authorized.
package bedrock

import (
	"cmp"
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/auth/bearer"
	"github.com/aws/smithy-go/middleware"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
	"ringi/shared/tool/schema"
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
func (c Config) runtime() (*bedrockruntime.Client, *noting) {
	n := &noting{of: cmp.Or(c.HTTP, http.DefaultClient)}
	return bedrockruntime.NewFromConfig(c.AWS, func(o *bedrockruntime.Options) {
		o.RetryMaxAttempts, o.HTTPClient = 1, n
		if c.BaseURL != "" {
			o.BaseEndpoint = &c.BaseURL
		}
		// The environment's AWS_BEARER_TOKEN_BEDROCK would take precedence over the role.
		o.BearerAuthTokenProvider, o.AuthSchemePreference = nil, []string{"sigv4"}
		if c.Key != "" {
			o.BearerAuthTokenProvider = bearer.StaticTokenProvider{Token: bearer.Token{Value: c.Key}}
			o.AuthSchemePreference = []string{"httpBearerAuth"}
		}
	}), n
}

// noting notes how a body broke off, because the SDK ends its stream the same way then as at its end.
type noting struct {
	of *http.Client
	io.ReadCloser
	err error
}

func (n *noting) Do(r *http.Request) (*http.Response, error) {
	res, err := n.of.Do(r)
	if err == nil {
		n.ReadCloser, res.Body = res.Body, n
	}
	return res, err
}

func (n *noting) Read(p []byte) (int, error) {
	read, err := n.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		n.err = err
	}
	return read, err
}

// Say makes one call. When the model may have refused the form of the request, Say calls again with a simpler one.
func (c *Client) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	f := form{marked: true, formed: r.Schema != nil, sampled: r.Sampling.Set()}
	first := model.Response{Usage: model.Usage{Provider: aggregate.Bedrock, Model: c.config.Model, Calls: 1}}
	first.Tokens, first.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	for {
		out := first
		in, err := c.input(r, f, out.Tokens)
		if err != nil {
			return out, err
		}
		h := &hearing{model.Hear(&out, r, c.from(r, len(r.Messages)), onText), &out, false, false}
		if c.claude() {
			h.Vendor = schema.Anthropic
		} else { // Nova writes them into the text
			h.Thoughts, h.Vendor = model.Opened, schema.Nova
		}
		if r.Once {
			err = c.whole(ctx, in, h)
		} else {
			err = c.stream(ctx, in, h)
		}
		if err == nil {
			err = h.End(nil)
			return out, err
		}
		e := c.problem(err)
		var invalid *types.ValidationException
		if errors.As(err, &invalid) {
			if first.Lower(r, invalid.ErrorMessage(), true) {
				continue
			}
			if plainer, ok := f.simpler(invalid); ok && e.Kind == model.BadRequest {
				f = plainer
				continue
			}
		}
		e.RequestID = cmp.Or(e.RequestID, out.Usage.RequestID)
		out.Usage.RequestID = e.RequestID
		err = h.End(e)
		return out, err
	}
}

func (c *Client) claude() bool { return strings.Contains(c.config.Model, "anthropic.") }

// whole makes a call whose answer is not streamed.
func (c *Client) whole(ctx context.Context, in *bedrockruntime.ConverseInput, h *hearing) error {
	runtime, _ := c.config.runtime()
	got, err := runtime.Converse(ctx, in)
	if err != nil {
		return err
	}
	h.out.Usage.RequestID = requestID(got.ResultMetadata)
	use(&h.out.Usage, got.Usage)
	m, ok := got.Output.(*types.ConverseOutputMemberMessage)
	if !ok {
		h.Break("no message")
		return nil
	}
	for _, block := range m.Value.Content {
		switch b := block.(type) {
		case *types.ContentBlockMemberText:
			h.Say(b.Value)
		case *types.ContentBlockMemberReasoningContent:
			if text, ok := b.Value.(*types.ReasoningContentBlockMemberReasoningText); ok {
				h.Thinks(aws.ToString(text.Value.Text))
			}
		case *types.ContentBlockMemberToolUse:
			var input []byte
			if b.Value.Input != nil {
				if input, err = b.Value.Input.MarshalSmithyDocument(); err != nil {
					return &model.UnreadableError{What: "the input of a call"}
				}
			}
			h.WholeCall(aws.ToString(b.Value.ToolUseId), aws.ToString(b.Value.Name), string(input))
		}
	}
	h.Stops(string(got.StopReason))
	return nil
}

// stream makes a call and reads its answer as it arrives.
func (c *Client) stream(ctx context.Context, in *bedrockruntime.ConverseInput, h *hearing) error {
	runtime, body := c.config.runtime()
	got, err := runtime.ConverseStream(ctx, &bedrockruntime.ConverseStreamInput{
		ModelId: in.ModelId, System: in.System, Messages: in.Messages, InferenceConfig: in.InferenceConfig,
		OutputConfig: in.OutputConfig, ToolConfig: in.ToolConfig,
	})
	if err != nil {
		return err
	}
	h.out.Usage.RequestID = requestID(got.ResultMetadata)
	events := got.GetStream()
	defer events.Close()
	for event := range events.Events() {
		h.hear(event)
		h.heard = true
		if err := h.Bounded(); err != nil {
			return err
		}
	}
	switch err := events.Err(); {
	case err != nil || h.ended:
		return err
	case body.err != nil:
		return body.err
	case h.heard:
		h.Break("messageStop is missing")
		return nil
	}
	return io.ErrUnexpectedEOF
}

// hearing is an answer as it arrives.
type hearing struct {
	*model.Hearing
	out   *model.Response
	heard bool // anything
	ended bool
}

// think adds a piece of a thought.
func (h *hearing) think(index string, piece types.ReasoningContentBlockDelta) {
	switch p := piece.(type) {
	case *types.ReasoningContentBlockDeltaMemberText:
		h.Think(index, model.Thought{Text: p.Value})
	case *types.ReasoningContentBlockDeltaMemberSignature:
		h.Think(index, model.Thought{Signature: p.Value})
	case *types.ReasoningContentBlockDeltaMemberRedactedContent:
		h.Think(index, model.Thought{Sealed: p.Value})
	}
}

func (h *hearing) hear(event types.ConverseStreamOutput) {
	switch e := event.(type) {
	case *types.ConverseStreamOutputMemberContentBlockStart:
		if start, ok := e.Value.Start.(*types.ContentBlockStartMemberToolUse); ok {
			h.Begins(indexOf(e.Value.ContentBlockIndex), aws.ToString(start.Value.ToolUseId), aws.ToString(start.Value.Name), "")
		}
	case *types.ConverseStreamOutputMemberContentBlockDelta:
		index := indexOf(e.Value.ContentBlockIndex)
		switch d := e.Value.Delta.(type) {
		case *types.ContentBlockDeltaMemberText:
			h.Say(d.Value)
		case *types.ContentBlockDeltaMemberReasoningContent:
			h.think(index, d.Value)
		case *types.ContentBlockDeltaMemberToolUse:
			h.Piece(index, aws.ToString(d.Value.Input))
		}
	case *types.ConverseStreamOutputMemberContentBlockStop:
		h.Ends(indexOf(e.Value.ContentBlockIndex))
	case *types.ConverseStreamOutputMemberMessageStop:
		h.Stops(string(e.Value.StopReason))
		h.ended = true
	case *types.ConverseStreamOutputMemberMetadata:
		use(&h.out.Usage, e.Value.Usage)
	}
}

func indexOf(n *int32) string { return strconv.Itoa(int(aws.ToInt32(n))) }

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

func (c *Client) problem(err error) *model.Error {
	var api smithy.APIError
	var answer *smithyhttp.ResponseError
	var decoded *smithy.DeserializationError
	accepted := errors.As(err, &answer) && answer.HTTPStatusCode() == http.StatusOK
	if accepted && errors.As(err, &decoded) && !errors.Is(err, io.ErrUnexpectedEOF) {
		err = &model.UnreadableError{What: "no answer of Converse"}
	}
	e := model.FromTransport(aggregate.Bedrock, err)
	if errors.As(err, &api) {
		said, header, code := http.StatusInternalServerError, http.Header(nil), api.ErrorCode()
		if errors.As(err, &answer) { // else it was reported in a stream after its status 200
			said, header = answer.HTTPStatusCode(), answer.Response.Header
		}
		said = status(err, code, said)
		e = model.FromStatus(aggregate.Bedrock, said, header, api.ErrorMessage(), code)
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
