// Package anthropic asks Claude through Anthropic's own API.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
)

// Config is one model of Anthropic's.
type Config struct {
	BaseURL string // without /v1
	Model   string
	Key     string
	HTTP    *http.Client
}

// Client is a model.Generator.
type Client struct {
	config   Config
	messages sdk.MessageService
}

// New makes a client; nothing is called yet. It takes nothing from the environment,
// sends no traces, and leaves trying again to the state machine, which has the time for it.
func New(c Config) *Client {
	return &Client{c, sdk.NewMessageService(
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithMaxRetries(0),
		option.WithBaseURL(c.BaseURL), option.WithAPIKey(c.Key), option.WithHTTPClient(c.HTTP),
	)}
}

// Generate makes one call.
func (c *Client) Generate(ctx context.Context, r model.Request) (model.Response, error) {
	usage := model.Usage{Provider: modelname.Anthropic, Model: c.config.Model, Calls: 1}
	p, err := c.params(r)
	if err != nil {
		return model.Response{Usage: usage}, err
	}
	var raw *http.Response
	m, err := c.messages.New(ctx, p, option.WithRequestTimeout(left(ctx)), option.WithResponseInto(&raw))
	if raw != nil {
		usage.RequestID = model.RequestID(raw.Header.Get("Request-Id"))
	}
	if err != nil {
		return model.Response{Usage: usage}, c.problem(err, usage.RequestID)
	}
	var text strings.Builder
	for _, block := range m.Content {
		if b, ok := block.AsAny().(sdk.TextBlock); ok {
			text.WriteString(b.Text)
		}
	}
	usage.Input, usage.Output = m.Usage.InputTokens+m.Usage.CacheCreationInputTokens, m.Usage.OutputTokens
	usage.Cached, usage.Written = m.Usage.CacheReadInputTokens, m.Usage.CacheCreationInputTokens
	return model.Response{Text: text.String(), Stop: stop(m.StopReason), Usage: usage, Answered: m.Model}, nil
}

// params puts the parts that stay the same first, each with a cache breakpoint.
func (c *Client) params(r model.Request) (sdk.MessageNewParams, error) {
	var schema map[string]any
	if err := json.Unmarshal(r.Schema, &schema); err != nil {
		return sdk.MessageNewParams{}, fmt.Errorf("read the schema: %w", err)
	}
	cached := sdk.NewCacheControlEphemeralParam()
	p := sdk.MessageNewParams{
		Model: c.config.Model, MaxTokens: int64(r.MaxTokens),
		System:       []sdk.TextBlockParam{{Text: r.System, CacheControl: cached}},
		OutputConfig: sdk.OutputConfigParam{Format: sdk.JSONOutputFormatParam{Schema: schema}},
	}
	for i, m := range r.Messages {
		blocks := []sdk.ContentBlockParamUnion{sdk.NewTextBlock(m.Text)}
		if i == 0 && r.Standing != "" {
			standing := sdk.TextBlockParam{Text: r.Standing, CacheControl: cached}
			blocks = append([]sdk.ContentBlockParamUnion{{OfText: &standing}}, blocks...)
		}
		if m.Role == model.Assistant {
			p.Messages = append(p.Messages, sdk.NewAssistantMessage(blocks...))
		} else {
			p.Messages = append(p.Messages, sdk.NewUserMessage(blocks...))
		}
	}
	return p, nil
}

func stop(why sdk.StopReason) model.Stop {
	switch why {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		return model.StopLength
	case sdk.StopReasonRefusal:
		return model.StopRefused
	}
	return model.StopEnd
}

func (c *Client) problem(err error, request string) *model.Error {
	var answer *sdk.Error
	e := model.FromTransport(modelname.Anthropic, err)
	if errors.As(err, &answer) {
		code := string(answer.Type())
		// There is no code for this one.
		if answer.StatusCode == http.StatusBadRequest && strings.Contains(answer.RawJSON(), "credit balance is too low") {
			code = "credit_balance_too_low"
		}
		e = model.FromStatus(modelname.Anthropic, answer.StatusCode, answer.Response.Header, code)
	}
	e.Model, e.RequestID = c.config.Model, request
	return e
}

// left is what the caller's deadline leaves. The SDK refuses long answers without a limit of their own.
func left(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return time.Until(deadline)
	}
	return 2 * time.Minute
}
