package compatible

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"ringi/shared/model"
	"ringi/shared/runtime/outbound"
	"ringi/shared/words/lazy"
)

// Say makes one call. When the server refuses a parameter that it does not know, Say calls again without it.
func (c *Client) Say(ctx context.Context, r model.Request, onText func(string)) (model.Response, error) {
	out := model.Response{Usage: model.Usage{Provider: c.provider(), Model: c.config.Model, Calls: 1}}
	q := c.request(r)
	out.Tokens, out.Full = r.Output(c.config.Model, !model.Quiet(c.config.Model))
	q.ask(out.Tokens)
	for {
		res, refusal, err := c.open(ctx, q, &out.Usage)
		unknown := refusal.parameter
		if res != nil {
			out.Usage.RequestID = model.RequestID(res.Header.Get("X-Request-Id"))
		}
		switch {
		case err != nil && refused(res) && refusal.judged():
			out.Stop, out.Why = model.StopBroken, refusal.code
			return out, nil
		case err != nil && refused(res) && fewer(refusal, r, &out):
			q.ask(out.Tokens)
			continue
		case err != nil && unknown == "max_tokens" && q.MaxTokens > 0:
			q.MaxTokens, q.MaxCompletionTokens = 0, out.Tokens
			continue
		case err != nil && strings.HasPrefix(unknown, "stream_options") && q.StreamOptions != nil:
			q.StreamOptions = nil
			continue
		case err != nil && q.ResponseFormat != nil &&
			(strings.HasPrefix(unknown, "response_format") || !r.Once && !q.set() && unknown != filtered && refused(res)):
			q.ResponseFormat = nil
			continue
		case err != nil && unknown == filtered:
			out.Stop = model.StopRefused
			return out, nil
		case err != nil && q.set() && refused(res):
			q.sampling = q.without(unknown)
			continue
		case err != nil:
			return out, err
		}
		defer res.Body.Close()
		err = c.read(res, r, &out, onText)
		return out, err
	}
}

// fewer lowers the tokens to the limit that a refusal names, or takes the room for thoughts away where a server refuses
// the length of the request and its answer without such a number.
func fewer(why refusal, r model.Request, out *model.Response) bool {
	otherwise := 0
	if model.LengthRefused(why.said) && withAnswer.Get().MatchString(why.said) {
		otherwise = r.MaxTokens
	}
	return out.Lower(why.said, otherwise)
}

// withAnswer finds a refusal of the length of a request together with its answer, such as vLLM's.
var withAnswer = lazy.Regexp{Text: `(?i)you requested|completion|max_tokens`}

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
	if res.StatusCode >= 400 && res.StatusCode < 500 && res.StatusCode != http.StatusTooManyRequests && why.filters() {
		why.parameter = filtered
	}
	if refused(res) && model.LengthRefused(why.said) {
		why.code, why.parameter = model.CodeTooLong, ""
	}
	e := model.FromStatus(c.provider(), res.StatusCode, res.Header, why.code)
	if e.Retryable {
		e.RetryAfter = cmp.Or(e.RetryAfter, why.wait)
	}
	return res, why, c.problem(e, id)
}

// keyInvalid is Google's reason for refusing a key. Its status is 400.
const keyInvalid = "API_KEY_INVALID"
