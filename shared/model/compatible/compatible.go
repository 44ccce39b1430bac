// Package compatible calls models behind an endpoint with OpenAI's Chat Completions: Ollama, vLLM, Azure, Gemini. It
// makes the HTTP calls itself: the protocol is small, and the SDK would double a function's size.
package compatible

import (
	"cmp"
	"encoding/json"
	"net/http"

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
	return cmp.Or(c.config.Provider, modelname.Compatible+"."+c.config.Endpoint)
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
	} `json:"error"`
}

// refusal reads an error's code, which may be in any of three members, and the parameter that the error names.
func refusal(text []byte) (code, parameter string) {
	var d details
	if json.Unmarshal(text, &d) != nil {
		var list []details // Gemini's
		if json.Unmarshal(text, &list) != nil || len(list) == 0 {
			return "", ""
		}
		d = list[0]
	}
	code, _ = d.Error.Code.(string)
	status, _ := d.Error.Status.(string)
	return cmp.Or(code, status, d.Error.Type), d.Error.Param
}
