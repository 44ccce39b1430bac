// Package openai calls OpenAI's models through the Responses API. It imports only that part of the SDK: the rest would
// double a function's size.
package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
)

// Config describes one model of OpenAI's.
type Config struct {
	BaseURL string // with /v1
	Model   string
	Key     string
	HTTP    *http.Client
}

// Client is a model.Wire.
type Client struct {
	config    Config
	responses responses.ResponseService
}

// New makes a client without calling anything. The client reads nothing from the environment and leaves retries to the
// state machine.
func New(c Config) *Client {
	return &Client{c, responses.NewResponseService(
		option.WithMaxRetries(0), option.WithBaseURL(c.BaseURL), option.WithAPIKey(c.Key), option.WithHTTPClient(c.HTTP),
	)}
}

// formOf is the format of an answer that follows a schema.
func formOf(text json.RawMessage) (form responses.ResponseFormatTextConfigUnionParam, err error) {
	var schema map[string]any
	if err := json.Unmarshal(text, &schema); err != nil {
		return form, fmt.Errorf("read the schema of the answer: %w", err)
	}
	form.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "answer", Schema: schema,
		Strict: param.NewOpt(true)}
	return form, nil
}

func (c *Client) problem(err error, request string) *model.Error {
	var answer *responses.Error
	var inside *failed
	e := model.FromTransport(modelname.OpenAI, err)
	switch {
	case errors.As(err, &inside):
		e = model.FromCode(modelname.OpenAI, inside.said, inside.codes...)
	case errors.As(err, &answer):
		code := cmp.Or(answer.Code, answer.Type)
		if answer.StatusCode == http.StatusBadRequest && model.LengthRefused(answer.Message) {
			code = model.CodeTooLong
		}
		e = model.FromStatus(modelname.OpenAI, answer.StatusCode, answer.Response.Header, code)
		if e.Retryable {
			e.RetryAfter = cmp.Or(e.RetryAfter, model.WaitIn(answer.Message, nil))
		}
	}
	e.Model, e.RequestID = c.config.Model, request
	return e
}
