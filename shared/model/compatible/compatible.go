// Package compatible calls models behind an endpoint with OpenAI's Chat Completions:
// Ollama, vLLM, Azure, Gemini. It makes the HTTP calls itself: the protocol is small,
// and the SDK would double a function's size.
package compatible

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"ringi/shared/domain/modelname"
	"ringi/shared/model"
)

// Config is one model behind an endpoint.
type Config struct {
	Endpoint string // its name in the model secret
	BaseURL  string // what chat/completions is put behind, without a slash at its end
	Model    string
	Key      string // may be empty
	Provider string // whose server it is, as usages name it; empty: the endpoint's
	HTTP     *http.Client
}

// Client is a model.Generator.
type Client struct{ config Config }

// New makes a client; nothing is called yet.
func New(c Config) *Client { return &Client{c} }

// request is what all of these servers take. A server may know only one of the two
// names of the limit, and may not know response formats.
type request struct {
	Model               string    `json:"model"`
	Messages            []message `json:"messages"`
	MaxTokens           int       `json:"max_tokens,omitempty"`
	MaxCompletionTokens int       `json:"max_completion_tokens,omitempty"`
	ResponseFormat      *format   `json:"response_format,omitempty"`
}

type message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

type format struct {
	Type       string `json:"type"`
	JSONSchema struct {
		Name   string          `json:"name"`
		Strict bool            `json:"strict"`
		Schema json.RawMessage `json:"schema"`
	} `json:"json_schema"`
}

// formOf is the form of an answer that keeps to a schema.
func formOf(schema json.RawMessage) *format {
	f := &format{Type: "json_schema"}
	f.JSONSchema.Name, f.JSONSchema.Strict, f.JSONSchema.Schema = "answer", true, schema
	return f
}

type answer struct {
	Model   string `json:"model"`
	Choices []struct {
		FinishReason string `json:"finish_reason"`
		Message      struct {
			Content string `json:"content"`
			Refusal string `json:"refusal"`
		} `json:"message"`
	} `json:"choices"`
	Usage struct {
		PromptTokens        int64 `json:"prompt_tokens"`
		CompletionTokens    int64 `json:"completion_tokens"`
		PromptTokensDetails struct {
			CachedTokens     int64 `json:"cached_tokens"`
			CacheWriteTokens int64 `json:"cache_write_tokens"`
		} `json:"prompt_tokens_details"`
	} `json:"usage"`
}

// Generate makes one call, and another for each thing that the server says it does not know.
func (c *Client) Generate(ctx context.Context, r model.Request) (model.Response, error) {
	usage := model.Usage{Provider: c.provider(), Model: c.config.Model, Calls: 1}
	q := c.request(r)
	var a answer
	for {
		id, unknown, err := c.post(ctx, q, &a)
		usage.RequestID = id
		switch {
		case err != nil && unknown == "max_tokens" && q.MaxTokens > 0:
			q.MaxTokens, q.MaxCompletionTokens = 0, r.MaxTokens
			continue
		case err != nil && unknown == "response_format" && q.ResponseFormat != nil:
			q.ResponseFormat = nil
			continue
		case err != nil && unknown == filtered:
			return model.Response{Stop: model.StopRefused, Usage: usage}, nil
		case err != nil:
			return model.Response{Usage: usage}, err
		}
		break
	}
	if len(a.Choices) == 0 {
		return model.Response{Usage: usage}, c.problem(model.FromTransport(c.provider(), errors.New("no choices")), usage.RequestID)
	}
	usage.Cached = a.Usage.PromptTokensDetails.CachedTokens
	usage.Input, usage.Output = max(0, a.Usage.PromptTokens-usage.Cached), a.Usage.CompletionTokens
	usage.Written = min(a.Usage.PromptTokensDetails.CacheWriteTokens, usage.Input)
	said := a.Choices[0]
	out := model.Response{Text: said.Message.Content, Stop: model.StopEnd, Usage: usage, Answered: a.Model}
	switch {
	case said.FinishReason == filtered, said.Message.Refusal != "":
		out.Stop = model.StopRefused
	case said.FinishReason == "length":
		out.Stop = model.StopLength
	}
	return out, nil
}

func (c *Client) provider() string {
	return cmp.Or(c.config.Provider, modelname.Compatible+"."+c.config.Endpoint)
}

// request puts the schema in words too: a server may take a response format and not keep to it.
func (c *Client) request(r model.Request) request {
	q := request{Model: c.config.Model, MaxTokens: r.MaxTokens, ResponseFormat: formOf(r.Schema)}
	q.Messages = append(q.Messages, message{"system", r.System + "\n\n" + model.SchemaPrompt(r.Schema)})
	for i, m := range r.Messages {
		text := m.Text
		if i == 0 && r.Standing != "" {
			text = r.Standing + "\n" + text // not all take two turns of one role
		}
		q.Messages = append(q.Messages, message{string(m.Role), text})
	}
	return q
}

// post sends a request. unknown is the parameter that a refusal names, or filtered.
func (c *Client) post(ctx context.Context, q request, into *answer) (id, unknown string, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return "", "", fmt.Errorf("write the request: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, c.config.BaseURL+"/chat/completions", bytes.NewReader(body))
	if err != nil { // the address is the deployment's; it may hold a password
		return "", "", c.problem(&model.Error{Kind: model.Misplaced}, "")
	}
	req.Header.Set("Content-Type", "application/json")
	if c.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	model.Sent(ctx, body)
	res, err := c.config.HTTP.Do(req)
	if err != nil {
		return "", "", c.problem(model.FromTransport(c.provider(), err), "")
	}
	defer res.Body.Close()
	id = model.RequestID(res.Header.Get("X-Request-Id"))
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return id, "", c.problem(model.FromTransport(c.provider(), err), id)
	}
	if res.StatusCode != http.StatusOK {
		code, unknown := refusal(text)
		if res.StatusCode == http.StatusBadRequest && code == filtered {
			unknown = filtered
		}
		return id, unknown, c.problem(model.FromStatus(c.provider(), res.StatusCode, res.Header, code), id)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return id, "", c.problem(model.FromTransport(c.provider(), err), id)
	}
	return id, "", nil
}

func (c *Client) problem(e *model.Error, request string) *model.Error {
	e.Provider, e.Model, e.RequestID = c.provider(), c.config.Model, request
	return e
}

// filtered is the code, and the reason to stop, of what a server's filter does not let through.
const filtered = "content_filter"

// details are what servers say in their errors. A code may be a number, as Gemini's; so may
// a status, as Azure's.
type details struct {
	Error struct {
		Code   any    `json:"code"`
		Type   string `json:"type"`
		Status any    `json:"status"`
		Param  string `json:"param"`
	} `json:"error"`
}

// refusal reads an error: a code, in one of three places, and the parameter that is meant.
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
