// Package anthropic asks Claude through Anthropic's own API.
//
// It also calls Claude Managed Agents. A session's agent goes through approved steps by requesting tool calls, which
// Ringi makes itself, so that no credential of a tool reaches the agent. A caller starts a session, polls it, answers
// and interrupts it; nothing here waits or loops.
package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"

	"ringi/shared/domain/aggregate"
	"ringi/shared/model"
)

// Config describes one model of Anthropic's.
type Config struct {
	BaseURL string // without /v1
	Model   string
	Key     string
	HTTP    *http.Client
}

// Client is a model.Wire.
type Client struct {
	config   Config
	messages sdk.MessageService
}

// New makes a client without calling anything. The client reads nothing from the environment and sends no traces. It
// leaves retries to the state machine, which has the time for them.
func New(c Config) *Client {
	return &Client{c, sdk.NewMessageService(
		option.WithoutEnvironmentDefaults(), option.WithoutOpenTelemetry(), option.WithMaxRetries(0),
		option.WithBaseURL(c.BaseURL), option.WithAPIKey(c.Key), option.WithHTTPClient(c.HTTP),
	)}
}

func (c *Client) problem(err error, request string) *model.Error {
	var answer *sdk.Error
	var inside *failed
	e := model.FromTransport(aggregate.Anthropic, err)
	switch {
	case errors.As(err, &inside):
		e = model.FromCode(aggregate.Anthropic, inside.said, inside.code)
	case errors.As(err, &answer):
		e = model.FromStatus(aggregate.Anthropic, answer.StatusCode, answer.Response.Header, said(answer),
			string(answer.Type()))
	}
	e.Model, e.RequestID = c.config.Model, request
	return e
}

// said is the sentence of an error.
func said(e *sdk.Error) string {
	var body struct{ Error struct{ Message string } }
	_ = json.Unmarshal([]byte(e.RawJSON()), &body) // unreadable: then it says nothing
	return body.Error.Message
}

// left returns the time until the caller's deadline. Without a timeout the SDK refuses to ask for long answers.
func left(ctx context.Context) time.Duration {
	if deadline, ok := ctx.Deadline(); ok {
		return time.Until(deadline)
	}
	return 2 * time.Minute
}
