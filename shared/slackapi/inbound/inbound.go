// Package inbound is the edge that Slack calls: it reads a request of the HTTP API
// as Slack sent it, believes it only when it is signed, and answers.
package inbound

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/metric"
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

// Edge verifies requests before anything looks at them.
type Edge struct {
	Secret string
	AppID  string // of the app that may call, empty for any that signs with the secret
	Now    func() time.Time
}

// FromOurs refuses, with 403, what another app sent. A body that names no app is not refused.
func (e Edge) FromOurs(app string) error {
	if e.AppID == "" || app == "" || app == e.AppID {
		return nil
	}
	return Refusal{http.StatusForbidden, "api_app_id is another app's"}
}

// Serve answers a request: 413 when it is too large, 400 when it can't be decoded,
// 401 when Slack did not sign it, else what answer says. Every error that is no
// Refusal, and every panic, is a 500 that tells nothing.
func (e Edge) Serve(ctx context.Context, r Request, answer func(ctx context.Context, body []byte) (Response, error)) (out Response) {
	defer func() {
		if p := recover(); p != nil {
			slog.ErrorContext(ctx, "panic", "panic", fmt.Sprintf("%T", p), "stack", string(debug.Stack()))
			out = refuse(Refusal{http.StatusInternalServerError, "internal error"})
		}
	}()
	body, err := e.read(r)
	if err == nil {
		out, err = answer(ctx, body)
	}
	if err == nil {
		return out
	}
	refusal := Refusal{http.StatusInternalServerError, "internal error"}
	errors.As(err, &refusal)
	slog.WarnContext(ctx, "refused", "status", refusal.Status, "err", err.Error())
	return refuse(refusal)
}

// read returns the body as Slack sent it. API Gateway passes form bodies on in base64.
func (e Edge) read(r Request) ([]byte, error) {
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
	if err := Verify(header, body, e.Secret, e.Now()); err != nil {
		metric.Count(metric.SignatureRefused, 1)
		return nil, Refusal{http.StatusUnauthorized, err.Error()}
	}
	return body, nil
}

func tooLarge() Refusal {
	return Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("body must have at most %d bytes", MaxBody)}
}

// OK is an empty answer: Slack is content, and shows nothing.
func OK() Response { return Response{StatusCode: http.StatusOK} }

// JSON is an answer with a body.
func JSON(status int, v any) Response {
	b, err := json.Marshal(v)
	if err != nil { // only of what this project writes: strings and maps of them
		return Response{StatusCode: http.StatusInternalServerError}
	}
	return Response{StatusCode: status, Headers: map[string]string{"content-type": "application/json"}, Body: string(b)}
}

func refuse(r Refusal) Response { return JSON(r.Status, map[string]string{"error": r.Message}) }
