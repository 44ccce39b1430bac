// Package compatible calls models behind an endpoint with OpenAI's Chat Completions: Ollama, vLLM, Azure, Gemini. It
// makes the HTTP calls itself: the protocol is small, and the SDK would double a function's size.
package compatible

import (
	"cmp"
	"encoding/json"
	"net/http"
	"time"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
)

// Config describes one model behind an endpoint.
type Config struct {
	Endpoint string // its name in the model secret
	BaseURL  string // /chat/completions is appended; no slash at its end
	Model    string
	Key      string // may be empty
	Provider string // the provider's name in usages; empty: compatible.<Endpoint>
	HTTP     *http.Client
}

// Client is a model.Wire.
type Client struct{ config Config }

// New makes a client without calling anything.
func New(c Config) *Client { return &Client{c} }

func (c *Client) provider() string {
	return cmp.Or(c.config.Provider, modelname.Name{Provider: modelname.Compatible, Endpoint: c.config.Endpoint}.Vendor())
}

func (c *Client) problem(e *model.Error, request string) *model.Error {
	e.Provider, e.Model, e.RequestID = c.provider(), c.config.Model, request
	return e
}

// filtered is the error code and the finish reason of a content filter.
const filtered = "content_filter"

// details is the body of an error. The code may be a number (Gemini), and so may the status (Azure).
type details struct {
	Error struct {
		Code   any    `json:"code"`
		Type   string `json:"type"`
		Status any    `json:"status"`
		Param  string `json:"param"`
		Said   any    `json:"message"`
		// Details are Google's. One of them is a google.rpc.RetryInfo.
		Details json.RawMessage `json:"details"`
	} `json:"error"`
}

// refusal is what an error says. Its text is only looked through for numbers and known words.
type refusal struct {
	code      string // which may be in any of three members
	parameter string // the one that the error names, or filtered
	wait      time.Duration
	said      string
}

func refusalIn(text []byte) refusal {
	var d details
	if json.Unmarshal(text, &d) != nil {
		var list []details // Gemini's
		if json.Unmarshal(text, &list) != nil || len(list) == 0 {
			return refusal{said: string(text), wait: model.WaitIn(string(text), nil)}
		}
		d = list[0]
	}
	code, _ := d.Error.Code.(string)
	status, _ := d.Error.Status.(string)
	said, _ := d.Error.Said.(string)
	said = cmp.Or(said, string(text))
	return refusal{cmp.Or(code, status, d.Error.Type), d.Error.Param, model.WaitIn(said, d.Error.Details), said}
}

// broken is the error of an answer that failed after its status 200.
func (c *Client) broken(why refusal, request string) *model.Error {
	status := http.StatusInternalServerError
	if why.code == resourceExhausted || why.code == "rate_limit_exceeded" {
		status = http.StatusTooManyRequests
	}
	e := model.FromStatus(c.provider(), status, nil, why.code)
	if e.Retryable {
		e.RetryAfter = why.wait
	}
	return c.problem(e, request)
}

// resourceExhausted is Google's code for a rate limit.
const resourceExhausted = "RESOURCE_EXHAUSTED"
