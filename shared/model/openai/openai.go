// Package openai calls OpenAI's models through the Responses API. It imports only that part of the SDK: the rest would
// double a function's size.
package openai

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	"github.com/openai/openai-go/v3/option"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"ringi/shared/domain/aggregate"
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
	schema, err := model.Split(text)
	if err != nil {
		return form, fmt.Errorf("read the schema of the answer: %w", err)
	}
	form.OfJSONSchema = &responses.ResponseFormatTextJSONSchemaConfigParam{Name: "answer", Schema: schema,
		Strict: param.NewOpt(true)}
	return form, nil
}

func (c *Client) problem(err error, request string) *model.Error {
	var answer *responses.Error
	var inside *failed
	e := model.FromTransport(aggregate.OpenAI, err)
	switch {
	case errors.As(err, &inside):
		e = model.FromCode(aggregate.OpenAI, inside.said, inside.codes...)
	case errors.As(err, &answer):
		e = model.FromStatus(aggregate.OpenAI, answer.StatusCode, answer.Response.Header, answer.Message, answer.Code,
			answer.Type)
	}
	e.Model, e.RequestID = c.config.Model, request
	return e
}

// part is an item of a stream, as far as it came.
type part struct {
	item      responses.ResponseOutputItemUnion
	arguments string // from events of their own
	ended     bool
}

func (h *hearing) part(id string, index int64) *part {
	id = cmp.Or(id, strconv.FormatInt(index, 10))
	if h.parts[id] == nil {
		h.parts[id] = &part{}
		h.order = append(h.order, h.parts[id])
	}
	return h.parts[id]
}

// hear adds an event to the items. A call has ended where its arguments have.
func (h *hearing) hear(e responses.ResponseStreamEventUnion) {
	switch e.Type {
	case "response.output_item.added":
		h.part(e.Item.ID, e.OutputIndex).item = e.Item
	case "response.output_item.done":
		p := h.part(e.Item.ID, e.OutputIndex)
		p.item, p.ended, h.done[e.Item.ID] = e.Item, true, e.Item.EncryptedContent
	case "response.function_call_arguments.delta":
		h.part(e.ItemID, e.OutputIndex).arguments += e.Delta
	case "response.function_call_arguments.done":
		p := h.part(e.ItemID, e.OutputIndex)
		p.arguments, p.ended = cmp.Or(e.Arguments, p.arguments), p.item.Type == "function_call"
	}
}

// ended are the items of a stream. One without an end is no part of a whole answer.
func (h *hearing) ended() (items []responses.ResponseOutputItemUnion) {
	for _, p := range h.order {
		if items = append(items, p.item); !p.ended {
			h.Lose("an item without an end")
		} else if p.item.Status == "in_progress" { // as it began
			items[len(items)-1].Status = ""
		}
	}
	return items
}

// searching lets the vendor search the web so many times.
func searching(p *responses.ResponseNewParams, times int) {
	search := responses.ToolParamOfWebSearch(responses.WebSearchToolTypeWebSearch)
	search.OfWebSearch.UserLocation.Type = "approximate" // without it the vendor searches as from the United States
	p.Tools, p.MaxToolCalls = append(p.Tools, search), param.NewOpt(int64(times))
	p.Include = append(p.Include, responses.ResponseIncludableWebSearchCallActionSources)
}

// found adds a call of the vendor's search. Each of its queries is charged; pages that are opened and looked through
// are not.
func found(out *model.Response, item responses.ResponseOutputItemUnion) {
	if item.Status == "failed" {
		out.SearchFailed = "failed"
		return
	}
	if item.Action.Type == "search" {
		out.Usage.Searches += int64(max(1, len(item.Action.Queries)))
	}
	for _, s := range item.Action.Sources {
		if s.URL != "" { // others are services of the vendor's
			out.Found = append(out.Found, model.Source{URL: s.URL})
		}
	}
}

// cited adds the pages that the answer names, with their titles.
func cited(out *model.Response, item responses.ResponseOutputItemUnion) {
	for _, c := range item.Content {
		for _, a := range c.Annotations {
			if a.Type == "url_citation" && a.URL != "" {
				out.Found = append(out.Found, model.Source{Title: a.Title, URL: a.URL})
			}
		}
	}
}
