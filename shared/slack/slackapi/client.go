// Package slackapi calls Slack and takes its calls. It wraps slack-go with deadlines, with errors that say what is
// known about a call's outcome, and with metadata by which a card's message is found again. It verifies, decodes and
// answers Slack's HTTP requests, and saves what people ask for, each request by one write that a repeated delivery does
// not repeat.
package slackapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/outbound"
)

// Client calls the Web API with a bot's token.
type Client struct {
	api   *slack.Client
	keys  Keys
	files *http.Client

	mu   sync.Mutex
	self map[string]*slack.AuthTestResponse // the bot of each token, once known
}

// mostSelves bounds the tokens whose bots are cached.
const mostSelves = 100

type forTenant struct{}

// For selects the tenant whose bot makes the calls under a context. Without it the deployment's own bot does.
func For(ctx context.Context, tenant string) context.Context {
	return context.WithValue(ctx, forTenant{}, tenant)
}

// Tenant returns the tenant whose bot makes the calls; it is empty for the deployment's own.
func Tenant(ctx context.Context) string {
	tenant, _ := ctx.Value(forTenant{}).(string)
	return tenant
}

func httpClient(timeout time.Duration) *http.Client {
	return &http.Client{
		Timeout:   timeout,
		Transport: http.DefaultTransport.(*http.Transport).Clone(),
		// The body contains the token, so a redirect must not be followed.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// whoami returns the bot that the token belongs to. Slack is asked once for each token, or more often by concurrent
// calls.
func (c *Client) whoami(ctx context.Context) (*slack.AuthTestResponse, error) {
	token, _, _ := c.keys.Bot(ctx) // without a token the call below is refused
	c.mu.Lock()
	self := c.self[token]
	c.mu.Unlock()
	if self != nil {
		return self, nil
	}
	self, err := c.api.AuthTestContext(ctx)
	if err := outcome("auth.test", err); err != nil {
		return nil, err
	}
	token, _, _ = c.keys.Bot(ctx) // the token may have changed during the call
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.self == nil || len(c.self) >= mostSelves {
		c.self = map[string]*slack.AuthTestResponse{}
	}
	c.self[token] = self
	return self, nil
}

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
		api: slack.New("", slack.OptionHTTPClient(Heeding{b})), keys: keys, files: httpClient(timeout)}
}

// bearer adds the token and the address to slack-go's requests.
type bearer struct {
	keys Keys
	http *http.Client
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
	}
	response, code, err := b.send(r, body)
	if slices.Contains(staleToken, code) && b.keys.Refused(r.Context()) {
		response, _, err = b.send(r, body)
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

// Doer makes a client's calls.
type Doer interface {
	Do(r *http.Request) (*http.Response, error)
}

// Heeding wraps the HTTP client of a slack-go client, which reads only whole seconds: a 429 with another wait would
// be an error of unknown outcome. It also refuses all messages of an answer for one of a form that it doesn't know, so
// it is given only what says whose message it is.
type Heeding struct{ Doer }

func (h Heeding) Do(r *http.Request) (*http.Response, error) {
	answer, err := h.Doer.Do(r)
	switch {
	case err != nil:
		return nil, err
	case slices.Contains(listing, path.Base(r.URL.Path)):
		whole, err := io.ReadAll(answer.Body)
		answer.Body.Close()
		if err != nil {
			return nil, err
		}
		answer.Body = io.NopCloser(bytes.NewReader(bare(whole)))
	}
	if answer.StatusCode != http.StatusTooManyRequests {
		return answer, nil
	}
	answer.Body.Close()
	return nil, &slack.RateLimitedError{RetryAfter: cmp.Or(outbound.RetryAfter(answer.Header, time.Now()), defaultRetry)}
}

// listing are the methods that answer with the messages of people and of other apps.
var listing = []string{"conversations.history", "conversations.replies"}

// bare returns an answer whose messages have only what slack-go is to read of them. A member of another form is left
// out, as is what isn't a message.
func bare(answer []byte) []byte {
	var whole map[string]json.RawMessage
	var messages []json.RawMessage
	if json.Unmarshal(answer, &whole) != nil || json.Unmarshal(whole["messages"], &messages) != nil {
		return answer // slack-go says what is wrong
	}
	type message struct {
		Type     string `json:"type"`
		Subtype  string `json:"subtype,omitempty"`
		User     string `json:"user,omitempty"`
		BotID    string `json:"bot_id,omitempty"`
		TS       string `json:"ts"`
		ThreadTS string `json:"thread_ts,omitempty"`
		Metadata struct {
			Type    string         `json:"event_type"`
			Payload map[string]any `json:"event_payload"`
		} `json:"metadata"`
	}
	all := []message{}
	for _, text := range messages {
		var m message
		_ = json.Unmarshal(text, &m) // it goes on after a member of another form
		if m.TS != "" {
			all = append(all, m)
		}
	}
	whole["messages"], _ = json.Marshal(all) // they were read from JSON
	answer, _ = json.Marshal(whole)
	return answer
}

// RateLimited says that Slack did nothing, and when to try again.
type RateLimited struct{ RetryAfter time.Duration }

func (e RateLimited) Error() string { return fmt.Sprintf("slack: rate limited for %s", e.RetryAfter) }

// Refused says that Slack did nothing, and why. A Permanent refusal lasts until a person changes the channel or the
// message. An App refusal concerns the token, its permissions or its workspace, so Slack refuses every other call too.
type Refused struct {
	Code      string // Slack's code, or Ringi's own for a call that was not sent
	Permanent bool
	App       bool
}

func (e Refused) Error() string { return "slack: refused: " + e.Code }

// Tries is how often Slack is asked for what it doesn't show, and longestRest the longest rest between.
const (
	Tries       = 3
	longestRest = 3 * time.Second
)

// Again waits after a try, of which the first is 1, that failed with err. It reports false if another one is of no use,
// or comes too late. Rests get longer by rest.
func Again(ctx context.Context, try int, rest time.Duration, err error) bool {
	var refused Refused
	var limited RateLimited
	if try >= Tries || errors.As(err, &refused) && (refused.App || refused.Permanent) {
		return false
	}
	errors.As(err, &limited)
	return limited.RetryAfter <= longestRest && clock.Sleep(ctx, max(limited.RetryAfter, time.Duration(try)*rest)) == nil
}

// Unknown says that the call may or may not have had its effect: its answer was lost, or Slack answered with an error
// that leaves it open.
type Unknown struct {
	Cause string
	// Over means that Slack itself answered, so the request has ended. Otherwise it may still be in progress, as behind
	// a gateway that gave up waiting.
	Over bool
}

func (e Unknown) Error() string { return "slack: unknown outcome: " + e.Cause }

const (
	CodeMessageNotFound = "message_not_found"
	CodeCantUpdate      = "cant_update_message"
	CodeEditWindow      = "edit_window_closed"
	CodeNoSuchGroup     = "no_such_subteam"
	CodeThreadNotFound  = "thread_not_found"
	CodeMissingScope    = "missing_scope"
	codeTokenType       = "not_allowed_token_type"
	CodeBlockMismatch   = "block_mismatch" // the new content can't replace the message's present content
	CodeUserNotFound    = "user_not_found"
	CodeUserNotVisible  = "user_not_visible"
	CodeNobody          = "users_not_found" // has the address
	codeUnreached       = "unreached"       // our own: no connection was made
)

// Code returns a refusal's code, or "" if err is no refusal.
func Code(err error) string {
	var refused Refused
	errors.As(err, &refused)
	return refused.Code
}

// defaultRetry is how long to wait when Slack gives no time.
const defaultRetry = 5 * time.Second

// Silent reports whether Slack did not answer: then the call may have used all of its time.
func Silent(err error) bool {
	var unknown Unknown
	return errors.As(err, &unknown) && !unknown.Over || Code(err) == codeUnreached
}

// normal converts slack-go's errors to RateLimited, Refused or Unknown.
func normal(err error) error {
	var limited *slack.RateLimitedError
	var status slack.StatusCodeError
	var answer slack.SlackErrorResponse
	var op *net.OpError
	var ours Refused
	switch {
	case err == nil:
		return nil
	case errors.As(err, &ours):
		return ours
	case errors.As(err, &limited):
		return RateLimited{limited.RetryAfter}
	case errors.As(err, &answer):
		return ofCode(answer.Err)
	case errors.As(err, &status):
		return ofStatus(status.Code)
	case errors.As(err, &op) && op.Op == "dial":
		return Refused{Code: codeUnreached}
	case errors.Is(err, context.DeadlineExceeded):
		return Unknown{Cause: "timeout"}
	}
	if inner := errors.Unwrap(err); inner != nil {
		err = inner
	}
	return Unknown{Cause: fmt.Sprintf("%T", err)} // its text may contain an address
}

func ofStatus(code int) error {
	switch {
	case code == http.StatusTooManyRequests:
		return RateLimited{defaultRetry}
	case code >= 500:
		return Unknown{Cause: fmt.Sprintf("http %d", code), Over: code == http.StatusInternalServerError}
	}
	return Refused{Code: fmt.Sprintf("http_%d", code)}
}

func ofCode(code string) error {
	switch code {
	case "ratelimited", "rate_limited", "message_limit_exceeded":
		return RateLimited{defaultRetry}
	case "internal_error", "fatal_error": // "some aspect of the operation may have succeeded"
		return Unknown{Cause: code, Over: true}
	}
	passing := []string{"service_unavailable", "request_timeout", "team_added_to_org", "temporarily_unavailable"}
	app := slices.Contains(ofTheApp(), code)
	return Refused{Code: code, Permanent: !app && !slices.Contains(passing, code), App: app}
}

// ofTheApp lists the codes, of those that every method may return, which concern the token, the app's permissions or
// its workspace. access_denied and no_permission concern only one resource or conversation.
func ofTheApp() []string {
	return []string{
		"not_authed", "invalid_auth", "account_inactive", "token_revoked", "token_expired",
		CodeMissingScope, codeTokenType, "two_factor_setup_required",
		"org_login_required", "enterprise_is_restricted", "method_deprecated", "deprecated_endpoint", "ekm_access_denied",
		"team_access_not_granted", "accesslimited",
	}
}

// outcome converts a call's error, adding the method's name.
func outcome(method string, err error) error {
	if err = normal(err); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}
