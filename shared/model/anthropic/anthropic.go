// Package anthropic asks Claude through Anthropic's own API, or through Amazon Bedrock's InvokeModel, which takes the
// same messages.
//
// It also calls Claude Managed Agents. A session's agent goes through approved steps by requesting tool calls, which
// Ringi makes itself, so that no credential of a tool reaches the agent. A caller starts a session, polls it, answers
// and interrupts it; nothing here waits or loops.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/bedrock"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/aws/aws-sdk-go-v2/aws"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
)

// Config describes one model of Anthropic's.
type Config struct {
	BaseURL string // without /v1; empty with Bedrock: the region's
	Model   string // with Bedrock, a model's or an inference profile's id
	Key     string // with Bedrock, empty inside AWS, where the function's role is authorized
	HTTP    *http.Client
	Bedrock *aws.Config // nil: Anthropic's own API
}

// Client is a model.Wire.
type Client struct {
	config   Config
	messages sdk.MessageService
}

// New makes a client without calling anything. The client reads nothing from the environment and sends no traces. It
// leaves retries to the state machine, which has the time for them.
func New(c Config) *Client {
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
	return &Client{c, sdk.NewMessageService(options...)}
}

// onBedrock signs requests with the role's credentials, or sends the key. A key in the environment
// (AWS_BEARER_TOKEN_BEDROCK), which functions don't have, would come first.
func (c Config) onBedrock() option.RequestOption {
	on := *c.Bedrock
	on.BearerAuthTokenProvider, on.AuthSchemePreference = nil, nil
	if c.Key != "" {
		on.BearerAuthTokenProvider = bedrock.NewStaticBearerTokenProvider(c.Key)
		on.AuthSchemePreference = []string{"httpBearerAuth"}
	}
	return bedrock.WithConfig(on)
}

func (c *Client) provider() string {
	if c.config.Bedrock != nil {
		return aggregate.Bedrock
	}
	return aggregate.Anthropic
}

func (c *Client) problem(err error, request string) *model.Error {
	var answer *sdk.Error
	e := model.FromTransport(c.provider(), err)
	if errors.As(err, &answer) {
		status, code := answer.StatusCode, string(answer.Type())
		if c.config.Bedrock != nil {
			status, code = ofBedrock(answer)
		}
		e = model.FromStatus(c.provider(), status, answer.Response.Header, said(answer), code)
	}
	e.Model, e.RequestID = c.config.Model, request
	return e
}

// said is the sentence of an error. AWS has it at the top.
func said(e *sdk.Error) string {
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
		if strings.Contains(strings.ToLower(said(e)), "model identifier") {
			return http.StatusNotFound, code
		}
	}
	return e.StatusCode, code
}

// left returns the time until the caller's deadline. Without a timeout the SDK refuses to ask for long answers.
func left(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return time.Until(deadline)
	}
	return 2 * time.Minute
}
