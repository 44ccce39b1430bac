// Package inbound handles the HTTP requests that Slack makes: it decodes a request,
// verifies Slack's signature, and answers.
package inbound

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/runtime/metric"
	"ringi/shared/runtime/panics"
	"ringi/shared/runtime/secret"
)

// MaxBody is the largest body that is read, in bytes. Slack's own are far smaller.
const MaxBody = 1 << 20

type (
	// Request is a request of the HTTP API, payload version 2.
	Request = events.APIGatewayV2HTTPRequest
	// Response is its answer.
	Response = events.APIGatewayV2HTTPResponse
)

// Refusal is an answer that tells the caller what was wrong with a request.
type Refusal struct {
	Status  int
	Message string // for the caller: names the field, never quotes the content
}

func (r Refusal) Error() string { return r.Message }

// Bad is the refusal of a request that makes no sense.
func Bad(format string, args ...any) Refusal {
	return Refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// Unavailable asks Slack to send the request again.
func Unavailable(message string) Refusal { return Refusal{http.StatusServiceUnavailable, message} }

// Keys hold what Slack signs with.
type Keys interface {
	SigningSecret(ctx context.Context) (string, error)
	// AppID is the app that may call, once the signing secret was read; empty for any that signs with it.
	AppID() string
	// Refused is called when a signature did not match; it reports whether there is another secret now.
	Refused(ctx context.Context) bool
}

// Edge verifies requests before anything looks at them.
type Edge struct {
	Keys   Keys
	Now    func() time.Time
	Within time.Duration // bounds an answer; 0: answerWithin
}

// answerWithin is how much of the 3 s that Slack waits for an answer is used.
const answerWithin = 2700 * time.Millisecond

// FromOurs refuses, with 403, what another app sent. A body that names no app is not refused.
func (e Edge) FromOurs(app string) error {
	if ours := e.Keys.AppID(); ours == "" || app == "" || app == ours {
		return nil
	}
	metric.Count(metric.SignatureRefused, 1)
	return Refusal{http.StatusForbidden, "api_app_id is another app's"}
}

// Serve answers a request: 413 when it is too large, 400 when it can't be decoded, 401 when Slack did not sign it, 503
// when the signing secret is not known, else what answer returns. Every error that is not a Refusal, and every panic,
// is a 500 without details. Each 5xx is counted for the alarm that rolls a new version back, because for Lambda such an
// invocation succeeded. 503s for want of a signing secret are not counted. The context of answer ends in time for
// Slack.
func (e Edge) Serve(
	ctx context.Context, r Request, answer func(ctx context.Context, body []byte) (Response, error),
) Response {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(e.Within, answerWithin))
	defer cancel()
	missing := false
	out, err := func() (out Response, err error) {
		defer panics.Recover(ctx, &err)
		body, err := e.read(ctx, r)
		missing = errors.Is(err, secret.ErrMissing)
		if err != nil {
			return Response{}, err
		}
		return answer(ctx, body)
	}()
	if err != nil {
		refusal := Refusal{http.StatusInternalServerError, "internal error"}
		errors.As(err, &refusal)
		slog.WarnContext(ctx, "refused", "status", refusal.Status, "err", err.Error())
		out = refuse(refusal)
	}
	if out.StatusCode >= http.StatusInternalServerError && !missing {
		metric.Count(metric.NotAnswered, 1)
	}
	return out
}

// read returns the body as Slack sent it. API Gateway passes form bodies on in base64.
func (e Edge) read(ctx context.Context, r Request) ([]byte, error) {
	limit := MaxBody
	if r.IsBase64Encoded {
		limit = base64.StdEncoding.EncodedLen(MaxBody)
	}
	if len(r.Body) > limit {
		return nil, tooLarge()
	}
	body := []byte(r.Body)
	if r.IsBase64Encoded {
		var err error
		if body, err = base64.StdEncoding.DecodeString(r.Body); err != nil {
			return nil, Bad("body is not base64")
		}
	}
	if len(body) > MaxBody {
		return nil, tooLarge()
	}
	header := http.Header{}
	for name, value := range r.Headers {
		header.Set(name, value)
	}
	return body, e.verify(ctx, header, body)
}

// verify checks the signature. When it does not match, the secret is read again, since it may have been
// replaced. Without a secret every request is refused with 503, and Slack repeats its events.
func (e Edge) verify(ctx context.Context, header http.Header, body []byte) error {
	key, err := e.Keys.SigningSecret(ctx)
	if err != nil {
		if errors.Is(err, secret.ErrMissing) {
			metric.Count(metric.SecretMissing, 1)
		}
		slog.ErrorContext(ctx, "nothing can be verified", "err", err)
		return fmt.Errorf("%w: %w", Unavailable("the signing secret is not known"), err)
	}
	err = Verify(header, body, key, e.Now())
	if errors.Is(err, ErrSignature) && e.Keys.Refused(ctx) {
		if key, again := e.Keys.SigningSecret(ctx); again == nil {
			err = Verify(header, body, key, e.Now())
		}
	}
	if err != nil {
		metric.Count(metric.SignatureRefused, 1)
		return Refusal{http.StatusUnauthorized, err.Error()}
	}
	return nil
}

func tooLarge() Refusal {
	return Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("body must have at most %d bytes", MaxBody)}
}

// OK is an empty 200: Slack accepts it and shows nothing.
func OK() Response { return Response{StatusCode: http.StatusOK} }

// JSON is an answer with a body.
func JSON(status int, v any) Response {
	b, err := json.Marshal(v)
	if err != nil { // impossible for what this project writes: strings and maps of them
		return Response{StatusCode: http.StatusInternalServerError}
	}
	return Response{StatusCode: status, Headers: map[string]string{"content-type": "application/json"}, Body: string(b)}
}

func refuse(r Refusal) Response { return JSON(r.Status, map[string]string{"error": r.Message}) }
