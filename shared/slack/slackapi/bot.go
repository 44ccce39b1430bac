package slackapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/slack-go/slack"
)

// Keys gives the bot token for a context's tenant (see For) and the Web API's address, which ends with a slash.
type Keys interface {
	Bot(ctx context.Context) (token, address string, err error)
	// Refused is called when Slack rejected the token; it reports whether there is another one now.
	Refused(ctx context.Context) bool
}

// CodeNoToken is Ringi's own code: no token could be read, so nothing was sent.
const CodeNoToken = "no_token"

// noToken is the refusal of every call until an administrator stores the bot's token in the secret.
func noToken() Refused { return Refused{Code: CodeNoToken, App: true} }

// untold is the error of a call that was not sent because its token could not be found. If looking for the token took a
// call to Slack, that call's error decides whether to retry.
func untold(err error) error {
	var limited RateLimited
	var refused Refused
	switch {
	case errors.As(err, &limited):
		return &slack.RateLimitedError{RetryAfter: limited.RetryAfter}
	case errors.As(err, &refused):
		return refused
	case errors.As(err, new(Unknown)):
		return Refused{Code: codeUnreached}
	}
	return noToken()
}

// maxRefusal is how many bytes of an answer are searched for a refused token.
const maxRefusal = 4 << 10

// With returns a client that reads the token for each call. When Slack rejects the token, it reads the token again and,
// if that has changed, repeats the call, which had no effect. Each call ends after timeout.
func With(keys Keys, timeout time.Duration) *Client {
	b := &bearer{keys: keys, http: httpClient(timeout)}
	return &Client{
		api: slack.New("", slack.OptionHTTPClient(Heeding(b))), keys: keys, files: httpClient(timeout), moved: &b.moved}
}

// bearer adds the token and the address to slack-go's requests.
type bearer struct {
	keys  Keys
	http  *http.Client
	moved moved
}

// Do implements slack-go's HTTP client.
func (b *bearer) Do(r *http.Request) (*http.Response, error) {
	var body []byte
	if r.Body != nil {
		var err error
		if body, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r.Body.Close()
		body = b.moved.named(r.Context(), body)
	}
	response, code, err := b.send(r, body)
	if slices.Contains(staleToken, code) && b.keys.Refused(r.Context()) {
		response, code, err = b.send(r, body)
	}
	if slices.Contains(noChannel, code) {
		if now, with := b.moved.follow(r, body); now != nil {
			response.Body.Close()
			response, _, err = b.send(now, with)
		}
	}
	if see, ok := r.Context().Value(asSent{}).(func(answer []byte)); ok && err == nil {
		answer, failed := io.ReadAll(response.Body)
		response.Body.Close()
		if failed != nil {
			return nil, failed
		}
		see(answer)
		response.Body = io.NopCloser(bytes.NewReader(answer))
	}
	return response, err
}

// asSent is the key under which a context has a function that sees a call's answer as Slack sent it: slack-go's types
// leave members out.
type asSent struct{}

// send makes the call with the present token. code is Slack's error code, "" if it refused nothing.
func (b *bearer) send(r *http.Request, body []byte) (_ *http.Response, code string, err error) {
	token, address, err := b.keys.Bot(r.Context())
	if err != nil {
		return nil, "", untold(err)
	}
	base, err := url.Parse(address)
	if err != nil || base.Host == "" || !strings.HasSuffix(base.Path, "/") {
		return nil, "", noToken()
	}
	out := r.Clone(r.Context())
	out.Host = ""
	base.Path, base.RawQuery = base.Path+path.Base(r.URL.Path), r.URL.RawQuery
	out.URL = base
	if strings.HasPrefix(r.Header.Get("Content-Type"), "application/x-www-form-urlencoded") {
		form, err := url.ParseQuery(string(body))
		if err != nil {
			return nil, "", err
		}
		form.Set("token", token)
		body = []byte(form.Encode())
	}
	if r.Header.Get("Authorization") != "" {
		out.Header.Set("Authorization", "Bearer "+token)
	}
	out.Body, out.ContentLength, out.GetBody = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	response, err := b.http.Do(out)
	if err != nil {
		return nil, "", err
	}
	return response, refusal(response), nil
}

// staleToken are the codes of an invalid token.
var staleToken = []string{"invalid_auth", "not_authed", "token_revoked", "token_expired", "account_inactive"}

// refusal returns the error code of an answer, or "". The answer's body stays readable.
func refusal(r *http.Response) string {
	head, err := io.ReadAll(io.LimitReader(r.Body, maxRefusal))
	rest := r.Body
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(head), rest), rest}
	var answer struct {
		Error string `json:"error"`
	}
	if err != nil || json.Unmarshal(head, &answer) != nil {
		return ""
	}
	return answer.Error
}
