package model

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/outbound"
	"ringi/shared/words/language"
)

// FromStatus makes the *Error of a vendor's HTTP answer. The codes are the vendor's, the most exact first, such as
// rate_limit_error. said is its sentence, of which nothing is kept because it may quote the request.
func FromStatus(provider string, status int, header http.Header, said string, codes ...string) *Error {
	e, said := &Error{Provider: provider, Status: status}, sentence(said)
	if code := named(codes); code != "" {
		e.Err = errors.New(code)
	}
	switch {
	case status == http.StatusPaymentRequired || has(codes, unpaid) || status < 500 && unpaidSaid.Get().MatchString(said):
		e.Kind = NoCredit // some vendors use 429 for this, but waiting does not help
	case status == http.StatusRequestEntityTooLarge || has(codes, tooLongCodes) || lengthy.Get().MatchString(said) &&
		slices.Contains(aboutRequest, status):
		e.Kind = TooLong
	case status == http.StatusUnauthorized:
		e.Kind = Unauthorized
	case status == http.StatusForbidden:
		e.Kind = Forbidden
	case status == http.StatusNotFound:
		e.Kind = UnknownModel
	case status == http.StatusTooManyRequests:
		e.Kind, e.Retryable = RateLimited, true
	case status == http.StatusRequestTimeout || status == http.StatusGatewayTimeout:
		e.Kind, e.Retryable = Timeout, true
	case status == http.StatusConflict || status >= 500:
		e.Kind, e.Retryable = Overloaded, true
	default:
		e.Kind = BadRequest
	}
	switch {
	case e.Retryable:
		e.RetryAfter = cmp.Or(outbound.RetryAfter(header, time.Now()), WaitIn(said))
	case e.Kind == BadRequest || e.Kind == TooLong:
		e.form = formNamed.Get().MatchString(said)
		e.tokens, e.most = tokensRefused(said)
	}
	return e
}

// named returns the first code that is a word, or a number if none is.
func named(codes []string) (code string) {
	for _, c := range codes {
		if c = word(c); c != "" && strings.Trim(code, "0123456789") == "" {
			code = c
		}
	}
	return code
}

func has(codes, some []string) bool {
	return slices.ContainsFunc(codes, func(c string) bool {
		return slices.ContainsFunc(some, func(s string) bool { return strings.EqualFold(s, c) })
	})
}

// aboutRequest may be the status of a request that is refused for what it is: gateways report such a refusal as a fault
// of the server behind them.
var aboutRequest = []int{http.StatusBadRequest, http.StatusUnprocessableEntity, http.StatusInternalServerError}

// unpaid are the error codes for an account without money or quota.
var unpaid = []string{"insufficient_quota", "billing_error", "billing_hard_limit_reached", "billing_not_active"}

// unpaidSaid finds the same in a sentence, for Anthropic has no code for it.
var unpaidSaid = language.Regexp{Text: `(?i)credit balance is too low|` +
	`insufficient (?:account )?(?:balance|credits?|funds)`}

// tooLongCodes are the codes for a request that is longer than the model takes at once.
var tooLongCodes = []string{"context_length_exceeded", "request_too_large"}

// lengthy finds a sentence about it: one that names the context, or the request with a word of excess.
var lengthy = language.Regexp{Text: `(?i)context (?:length|window|size|limit)|` +
	`\b(?:prompt|inputs?)\b[^.]{0,80}(?:too l(?:ong|arge)|exceed)|too many (?:input )?tokens|token limit: \d`}

// formNamed finds the form of an answer in a refusal, however the vendor calls it.
var formNamed = language.Regexp{Text: `(?i)(?:response|output)[_ .]?(?:format|config)|text\.format|` +
	`json[_ -]?(?:schema|mode|object)|structured[_ -]?output`}

// sentence is as much of an error as is looked through, which may be a body of any size.
func sentence(said string) string { return said[:min(len(said), 16<<10)] }

// FromTransport makes the *Error of a call whose answer did not arrive completely.
func FromTransport(provider string, err error) *Error {
	var op *net.OpError
	var timeout net.Error
	unreadable := new(UnreadableError)
	switch {
	case errors.As(err, &unreadable):
		return &Error{Provider: provider, Kind: Unreadable, Err: unreadable}
	case errors.Is(err, outbound.ErrRefused):
		return &Error{Provider: provider, Kind: Misplaced, Err: outbound.ErrRefused}
	case errors.Is(err, outbound.ErrTooLarge), errors.As(err, new(*http.MaxBytesError)): // as it would be again
		return &Error{Provider: provider, Kind: Unreadable,
			Err: &UnreadableError{fmt.Sprintf("more than %d MiB", outbound.MaxBody>>20)}}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled), errors.As(err, &timeout) &&
		timeout.Timeout():
		return &Error{Provider: provider, Kind: Timeout, Retryable: true, Err: context.DeadlineExceeded}
	case errors.As(err, &op):
		return &Error{Provider: provider, Kind: Overloaded, Retryable: true, Err: op}
	}
	for inner := errors.Unwrap(err); inner != nil; inner = errors.Unwrap(inner) {
		err = inner
	}
	// The error's text may quote the answer.
	return &Error{Provider: provider, Kind: Overloaded, Retryable: true, Err: fmt.Errorf("no whole answer: %T", err)}
}

// waitSaid finds a wait in a vendor's error: OpenAI's and Groq's "try again in 7.66s", Gemini's "retry in 18.2s" and
// "retryDelay": "18s" of its google.rpc.RetryInfo.
var waitSaid = language.Regexp{Text: `(?i)(?:try again in |retry in |"retryDelay":\s*")` +
	`((?:\d+(?:\.\d+)?(?:ms|h|m|s))+)`}

// WaitIn returns how long an error asks to wait, 0 if it does not say.
func WaitIn(said string) time.Duration {
	if found := waitSaid.Get().FindStringSubmatch(sentence(said)); found != nil {
		if wait, err := time.ParseDuration(found[1]); err == nil {
			return outbound.Wait(wait.Seconds())
		}
	}
	return 0
}

// word returns a vendor's error code. A code that is not a single word is dropped, because it may quote the request.
func word(code string) string {
	if len(code) > 60 || strings.ContainsFunc(code, func(r rune) bool {
		return r != '_' && r != '.' && r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}) {
		return ""
	}
	return code
}

// Keep stores the body of a request that was sent to a model, and returns where.
type Keep = func(ctx context.Context, body []byte) (aggregate.Blob, error)

// keepWithin limits the time to store one body, counted from when it is sent. Most models take longer to answer.
// keepGrace is how much of it may be after the caller's deadline, because the call may have cost something.
const keepWithin, keepGrace = 2 * time.Second, 200 * time.Millisecond

// sending is the context's key for the function that Sent calls.
type sending struct{}

// Sent passes the body of a request to the context's keeper of prompts, if there is one. Each provider calls Sent just
// before it sends. Headers are left out, since they hold keys.
func Sent(ctx context.Context, body []byte) {
	if sent, ok := ctx.Value(sending{}).(func([]byte)); ok {
		sent(body)
	}
}

// Keeping wraps a wire so that each request is stored as it is sent. An answer's usage names the last one.
func Keeping(w Wire, keep Keep) Wire { return keeping{w, keep} }

type keeping struct {
	Wire
	keep Keep
}

// Say makes a call, keeps what it sends while the model answers, and waits until it is kept. If the request was sent
// again in another form, such as without a schema, the usage names the last one.
func (k keeping) Say(ctx context.Context, r Request) (out Response, err error) {
	var last chan *aggregate.Blob
	out, err = k.Wire.Say(context.WithValue(ctx, sending{}, func(body []byte) {
		sent := make(chan *aggregate.Blob, 1)
		last = sent
		go func() { sent <- store(ctx, k.keep, body) }()
	}), r)
	if last != nil {
		out.Usage.Sent = <-last
	}
	return out, err
}

// store saves a body, even if the call was given up. On failure it logs a warning and returns nil, and the usage row
// names no prompt: an unavailable bucket must not make an answer fail that people wait for. An object whose usage is
// never committed expires like the others.
func store(ctx context.Context, keep Keep, body []byte) *aggregate.Blob {
	within := keepWithin
	if deadline, has := ctx.Deadline(); has {
		within = min(within, time.Until(deadline)+keepGrace)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), within)
	defer cancel()
	b, err := keep(ctx, body)
	if err != nil {
		slog.WarnContext(ctx, "a prompt is not kept", "bytes", len(body), "err", err)
		return nil
	}
	return &b
}

// MaxOpaque bounds what a vendor may hang on one call, in bytes of JSON. Signatures and encrypted thoughts have some
// hundred bytes to some ten thousand; a row or an object that keeps a call has room for more.
const MaxOpaque = 128 << 10

// Opaque is what a vendor hung on a call and wants back with the call's result: a signature, or encrypted thoughts.
// Only the wire that it came from reads it.
type Opaque struct {
	From string          `json:"from"` // the wire's name for where it came from; nothing else is sent it
	Data json.RawMessage `json:"data"`
}

// Hang makes the Opaque of a call. It returns nil for data that can't be encoded or has more than MaxOpaque bytes:
// then the vendor may refuse the call's result, which the log explains.
func Hang(from string, data any) *Opaque {
	b, err := json.Marshal(data)
	if err != nil || len(b) > MaxOpaque {
		slog.Warn("what a vendor hung on a call is not kept", "from", from, "bytes", len(b), "most", MaxOpaque, "err", err)
		return nil
	}
	return &Opaque{from, b}
}

// Read reads into data what came from there. It reports false for nothing, and for what came from elsewhere.
func (o *Opaque) Read(from string, data any) bool {
	return o != nil && o.From == from && json.Unmarshal(o.Data, data) == nil
}

// Before identifies all that precedes the message with this index: rules, tools and earlier messages. Anthropic's
// newer models refuse thoughts before which anything has changed.
func (r Request) Before(index int) string {
	b, err := json.Marshal(struct {
		System, Standing string
		Tools            []Tool
		Messages         []Message
	}{r.System, r.Standing, r.Tools, r.Messages[:index]})
	if err != nil { // a schema or an input that is no JSON
		return ""
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:16])
}

// UnreadableError reports an answer that came and can't be read. It describes the answer and quotes nothing of it.
type UnreadableError struct{ What string }

func (e *UnreadableError) Error() string { return "what came can't be read: " + e.What }

// Read reads a whole answer, one JSON object. The error is the connection's or an *UnreadableError.
func Read(res *http.Response) (json.RawMessage, error) {
	body, err := io.ReadAll(res.Body)
	switch {
	case err != nil:
		return nil, err
	case !json.Valid(body):
		media, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
		if kind, name, ok := strings.Cut(media, "/"); !ok || word(kind) == "" || word(name) == "" {
			media = "no known type"
		}
		return nil, &UnreadableError{fmt.Sprintf("%s of %d bytes: no JSON", media, len(body))}
	case !isObject(body):
		return nil, &UnreadableError{"JSON that is no object"}
	}
	return body, nil
}

// Decode reads an answer into a value. The error is an *UnreadableError.
func Decode(body json.RawMessage, into any) error {
	wrong := new(json.UnmarshalTypeError)
	switch err := json.Unmarshal(body, into); {
	case errors.As(err, &wrong):
		return &UnreadableError{fmt.Sprintf("%s is %s", wrong.Field, wrong.Value)}
	case err != nil:
		return &UnreadableError{Members(body)}
	}
	return nil
}

// Members describes a JSON value by its members, and quotes none of their values.
func Members(value json.RawMessage) string {
	var members map[string]json.RawMessage
	if json.Unmarshal(value, &members) != nil {
		return "no object"
	}
	var names []string
	for name := range members {
		if word(name) != "" {
			names = append(names, name)
		}
	}
	if names == nil {
		return "an object without members"
	}
	slices.Sort(names)
	return "an object with " + strings.Join(names[:min(len(names), 8)], ", ")
}
