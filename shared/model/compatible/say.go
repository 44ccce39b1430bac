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
	"strings"

	"ringi/shared/model"
	"ringi/shared/runtime/outbound"
)

// Say makes one call. When the server refuses a parameter that it does not know, Say calls again without it.
func (c *Client) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := model.Response{Usage: model.Usage{Provider: c.provider(), Model: c.config.Model, Calls: 1}}
	q := c.request(r)
	out.Tokens, out.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	q.ask(out.Tokens)
	for {
		res, why, err := c.open(ctx, q, &out.Usage)
		if res != nil {
			out.Usage.RequestID = model.RequestID(res.Header.Get("X-Request-Id"))
		}
		e, failed := errors.AsType[*model.Error](err)
		switch {
		case err == nil:
			defer res.Body.Close()
			err = c.read(res, r, &out, onText)
			return out, err
		case refused(res) && why.judged() != "":
			out.Stop, out.Why = model.StopBroken, why.judged()
			return out, nil
		case res != nil && why.filters() && res.StatusCode >= 400 && res.StatusCode < 500 &&
			res.StatusCode != http.StatusTooManyRequests:
			out.Stop = model.StopRefused
			return out, nil
		case !failed || !refused(res) || !q.simpler(why, e.Kind, r, &out):
			return out, err
		}
	}
}

// tokenLimit is the name of the limit of answers that most servers know.
const tokenLimit = "max_tokens"

// simpler asks for less after a refusal: for fewer tokens, under the other name of their limit, or without something
// that the server does not know. If it names none of these, that is sampling first, and then the answer's form if the
// request is no single question. It reports false when nothing of this is left, or something else is the cause.
func (q *request) simpler(why refusal, kind model.Kind, r model.Request, out *model.Response) bool {
	says := func(name string) bool {
		return strings.HasPrefix(why.parameter, name) || strings.Contains(why.said, name)
	}
	switch {
	case out.Lower(r, why.said, !says(tokenLimit) || q.MaxTokens == 0):
		q.ask(out.Tokens)
	case kind != model.BadRequest:
		return false
	case says(tokenLimit) && q.MaxTokens > 0:
		q.MaxTokens, q.MaxCompletionTokens = 0, out.Tokens
	case says("stream_options") && q.StreamOptions != nil:
		q.StreamOptions = nil
	case q.ResponseFormat != nil && (model.FormRefused(why.parameter+" "+why.said) ||
		!r.Once && !q.set() && !says(tokenLimit)):
		q.ResponseFormat = nil
	case q.set():
		q.sampling = q.without(why.parameter)
	default:
		return false
	}
	return true
}

// refused reports whether the server rejected the request itself.
func refused(res *http.Response) bool {
	return res != nil && (res.StatusCode == http.StatusBadRequest || res.StatusCode == http.StatusUnprocessableEntity)
}

// open sends a request. With an error, the response has no body, and why says what the server refused.
func (c *Client) open(ctx context.Context, q request, spent *model.Usage) (res *http.Response, why refusal, err error) {
	body, err := json.Marshal(q)
	if err != nil {
		return nil, why, fmt.Errorf("write the request: %w", err)
	}
	within := ctx
	if q.Stream {
		within = outbound.Streaming(ctx)
	}
	req, err := http.NewRequestWithContext(within, http.MethodPost, c.config.BaseURL+"/chat/completions",
		bytes.NewReader(body))
	if err != nil { // the administrator's address may be malformed
		return nil, why, c.problem(&model.Error{Kind: model.Misplaced}, "")
	}
	req.Header.Set("Content-Type", "application/json")
	if q.Stream {
		req.Header.Set("Accept", "text/event-stream")
	}
	if c.config.Key != "" {
		req.Header.Set("Authorization", "Bearer "+c.config.Key)
	}
	model.Sent(ctx, body)
	if res, err = c.config.HTTP.Do(req); err != nil {
		return nil, why, c.problem(model.FromTransport(c.provider(), err), "")
	}
	if res.StatusCode == http.StatusOK {
		return res, why, nil
	}
	defer res.Body.Close()
	id := model.RequestID(res.Header.Get("X-Request-Id"))
	text, err := io.ReadAll(res.Body)
	if err != nil {
		return res, why, c.problem(model.FromTransport(c.provider(), err), id)
	}
	if bytes.Contains(text, []byte(keyInvalid)) {
		res.StatusCode = http.StatusUnauthorized
	}
	why = refusalIn(text)
	use(spent, text)
	e := model.FromStatus(c.provider(), res.StatusCode, res.Header, why.said, why.codes...)
	if e.Retryable {
		e.RetryAfter = cmp.Or(e.RetryAfter, why.wait)
	}
	return res, why, c.problem(e, id)
}

// keyInvalid is Google's reason for refusing a key. Its status is 400.
const keyInvalid = "API_KEY_INVALID"
