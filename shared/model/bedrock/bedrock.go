// Package bedrock calls models through Amazon Bedrock's Converse. Inside AWS it needs
// no key: the function's role is authorized.
package bedrock

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsmiddleware "github.com/aws/aws-sdk-go-v2/aws/middleware"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime"
	"github.com/aws/aws-sdk-go-v2/service/bedrockruntime/types"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/auth/bearer"
	smithyhttp "github.com/aws/smithy-go/transport/http"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
)

// Config is one model of Bedrock's.
type Config struct {
	AWS     aws.Config
	BaseURL string // empty: the region's
	Model   string // a model's or an inference profile's id
	Key     string // a Bedrock API key instead of AWS credentials; empty inside AWS
	HTTP    *http.Client
}

// Client is a model.Generator.
type Client struct {
	config  Config
	runtime *bedrockruntime.Client
}

// New makes a client; nothing is called yet. It leaves trying again to the state machine.
func New(c Config) *Client {
	return &Client{c, bedrockruntime.NewFromConfig(c.AWS, func(o *bedrockruntime.Options) {
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
	})}
}

// Generate makes one call, and another in the plainest form when the model does not
// take marks for the cache or a schema.
func (c *Client) Generate(ctx context.Context, r model.Request) (model.Response, error) {
	usage := model.Usage{Provider: modelname.Bedrock, Model: c.config.Model, Calls: 1}
	out, err := c.runtime.Converse(ctx, c.input(r))
	var invalid *types.ValidationException
	if errors.As(err, &invalid) && !noSuchModel(invalid) {
		out, err = c.runtime.Converse(ctx, c.plain(r))
	}
	if err != nil {
		e := c.problem(err)
		usage.RequestID = e.RequestID
		return model.Response{Usage: usage}, e
	}
	id, _ := awsmiddleware.GetRequestIDMetadata(out.ResultMetadata)
	usage.RequestID = model.RequestID(id)
	if u := out.Usage; u != nil {
		usage.Input, usage.Output = number(u.InputTokens)+number(u.CacheWriteInputTokens), number(u.OutputTokens)
		usage.Cached, usage.Written = number(u.CacheReadInputTokens), number(u.CacheWriteInputTokens)
	}
	answer := model.Response{Stop: stop(out.StopReason), Usage: usage}
	if m, ok := out.Output.(*types.ConverseOutputMemberMessage); ok {
		for _, block := range m.Value.Content {
			if text, ok := block.(*types.ContentBlockMemberText); ok {
				answer.Text += text.Value
			}
		}
	}
	return answer, nil
}

// input puts the parts that stay the same first, each with a cache breakpoint.
func (c *Client) input(r model.Request) *bedrockruntime.ConverseInput {
	in := c.plain(r)
	mark := types.CachePointBlock{Type: types.CachePointTypeDefault}
	in.System = []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: r.System}, &types.SystemContentBlockMemberCachePoint{Value: mark}}
	if r.Standing != "" {
		first := &in.Messages[0]
		first.Content = []types.ContentBlock{first.Content[0], &types.ContentBlockMemberCachePoint{Value: mark}, first.Content[1]}
	}
	in.OutputConfig = &types.OutputConfig{TextFormat: &types.OutputFormat{
		Type: types.OutputFormatTypeJsonSchema,
		Structure: &types.OutputFormatStructureMemberJsonSchema{Value: types.JsonSchemaDefinition{
			Name: aws.String("answer"), Schema: aws.String(string(r.Schema)),
		}},
	}}
	return in
}

// plain is a request that every model takes; the schema stands in it in words.
func (c *Client) plain(r model.Request) *bedrockruntime.ConverseInput {
	in := &bedrockruntime.ConverseInput{
		ModelId:         &c.config.Model,
		System:          []types.SystemContentBlock{&types.SystemContentBlockMemberText{Value: r.System + "\n\n" + model.SchemaPrompt(r.Schema)}},
		InferenceConfig: &types.InferenceConfiguration{MaxTokens: aws.Int32(int32(r.MaxTokens))},
	}
	for i, m := range r.Messages {
		turn := types.Message{Role: types.ConversationRole(m.Role)}
		if i == 0 && r.Standing != "" {
			turn.Content = append(turn.Content, &types.ContentBlockMemberText{Value: r.Standing})
		}
		turn.Content = append(turn.Content, &types.ContentBlockMemberText{Value: m.Text})
		in.Messages = append(in.Messages, turn)
	}
	return in
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
	if errors.As(err, &api) && errors.As(err, &answer) {
		e = model.FromStatus(modelname.Bedrock, status(err, api.ErrorCode(), answer.HTTPStatusCode()), answer.Response.Header, api.ErrorCode())
	}
	var id interface{ ServiceRequestID() string }
	if errors.As(err, &id) {
		e.RequestID = model.RequestID(id.ServiceRequestID())
	}
	e.Model = c.config.Model
	return e
}

// status is what an error means where its own status says something else: AWS refuses
// credentials with 403 or 400 (the common errors of its API references), Bedrock gives a
// model's failure with 424 and a quota that is used up with 400.
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
	case "UnrecognizedClientException", "InvalidClientTokenId", "ExpiredTokenException", "MissingAuthenticationToken", "IncompleteSignature", "InvalidSignatureException":
		return http.StatusUnauthorized
	case "ServiceQuotaExceededException":
		return http.StatusTooManyRequests
	}
	return said
}

// noSuchModel recognizes a wrong model id by its message: the error has no code of its own.
func noSuchModel(e *types.ValidationException) bool {
	return strings.Contains(strings.ToLower(e.ErrorMessage()), "model identifier")
}

func number(n *int32) int64 { return int64(aws.ToInt32(n)) }
