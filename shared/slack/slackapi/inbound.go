package slackapi

import (
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aws/aws-lambda-go/events"
	"github.com/aws/smithy-go"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/boot"
	"ringi/shared/runtime/secret"
	"ringi/shared/words/language"
)

// MaxBody is the largest body that is read, in bytes. Slack's own requests are far smaller.
const MaxBody = 1 << 20

type (
	// Request is a request of the HTTP API, payload version 2.
	Request = events.APIGatewayV2HTTPRequest
	// Response answers a Request.
	Response = events.APIGatewayV2HTTPResponse
)

// Refusal is an error that tells the caller what is wrong with a request.
type Refusal struct {
	Status  int
	Message string // names the wrong field and never quotes its content
}

func (r Refusal) Error() string { return r.Message }

// Bad refuses an invalid request with 400.
func Bad(format string, args ...any) Refusal {
	return Refusal{http.StatusBadRequest, fmt.Sprintf(format, args...)}
}

// Unavailable asks Slack to send the request again.
func Unavailable(message string) Refusal { return Refusal{http.StatusServiceUnavailable, message} }

// SigningKeys give the signing secret and the app's id.
type SigningKeys interface {
	SigningSecret(ctx context.Context) (string, error)
	// AppID returns the app that may call, once the signing secret was read. It is empty if any app that signs with the
	// secret may.
	AppID() string
	// Refused is called when a signature did not match. It reports whether the secret has changed.
	Refused(ctx context.Context) bool
}

// Edge verifies requests before they are handled.
type Edge struct {
	Keys   SigningKeys
	Now    func() time.Time
	Within time.Duration // the time limit of an answer; 0: answerWithin
}

// answerWithin is the used part of the 3 s that Slack waits for an answer.
const answerWithin = 2700 * time.Millisecond

// FromOurs refuses, with 403, a request from another app. It accepts a body that names no app.
func (e Edge) FromOurs(app string) error {
	if ours := e.Keys.AppID(); ours == "" || app == "" || app == ours {
		return nil
	}
	return Refusal{http.StatusForbidden, "api_app_id is another app's"}
}

// Serve answers a request: 413 if it is too large, 400 if it can't be decoded, 401 if Slack did not sign it, 503 if the
// signing secret is unknown, else with the result of answer. An error that is not a Refusal, or a panic, becomes a 500
// without details. Each 5xx counts for the alarm that rolls back a new version, because to Lambda such an invocation
// succeeded. A 503 for a missing signing secret doesn't count. The context of answer ends in time for Slack.
func (e Edge) Serve(
	ctx context.Context, r Request, answer func(ctx context.Context, body []byte) (Response, error),
) Response {
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(e.Within, answerWithin))
	defer cancel()
	missing := false
	out, err := func() (out Response, err error) {
		defer boot.Recover(ctx, &err)
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
		out = JSON(refusal.Status, map[string]string{"error": refusal.Message})
	}
	if out.StatusCode >= http.StatusInternalServerError && !missing {
		boot.Count(boot.NotAnswered, 1)
	}
	return out
}

// read returns the body as Slack sent it. API Gateway encodes form bodies in base64.
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

// verify checks the signature. If it doesn't match, verify reads the secret again, which may have been replaced.
// Without a secret it refuses every request with 503, and Slack repeats its events.
func (e Edge) verify(ctx context.Context, header http.Header, body []byte) error {
	key, err := e.Keys.SigningSecret(ctx)
	if err != nil {
		if errors.Is(err, secret.ErrMissing) {
			boot.Count(boot.SecretMissing, 1)
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
		return Refusal{http.StatusUnauthorized, err.Error()}
	}
	return nil
}

func tooLarge() Refusal {
	return Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("body must have at most %d bytes", MaxBody)}
}

// OK answers with an empty 200, which shows nothing in Slack.
func OK() Response { return Response{StatusCode: http.StatusOK} }

// JSON answers with a JSON body.
func JSON(status int, v any) Response {
	b, err := json.Marshal(v)
	if err != nil { // impossible for this project's answers: strings and maps of strings
		return Response{StatusCode: http.StatusInternalServerError}
	}
	return Response{StatusCode: status, Headers: map[string]string{"content-type": "application/json"}, Body: string(b)}
}

const (
	HeaderTimestamp = "X-Slack-Request-Timestamp"
	HeaderSignature = "X-Slack-Signature"
)

// Tolerance is how far a request's timestamp may differ from now. Slack recommends this value against replays.
const Tolerance = 5 * time.Minute

// The reasons for which a request is refused.
var (
	ErrUnsigned  = errors.New("a signature header is missing or no signature")
	ErrStale     = errors.New("the timestamp is not within five minutes")
	ErrSignature = errors.New("the signature does not match")
	ErrNoSecret  = errors.New("no signing secret is configured")
)

// Verify returns nil if Slack signed body with secret at about now. It compares in constant time. An empty secret
// verifies nothing.
func Verify(header http.Header, body []byte, secret string, now time.Time) error {
	if secret == "" {
		return ErrNoSecret
	}
	stamp, signature := header.Get(HeaderTimestamp), header.Get(HeaderSignature)
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || signature == "" {
		return ErrUnsigned
	}
	// Compared in seconds, since a Duration would overflow on a hostile timestamp.
	if limit := int64(Tolerance / time.Second); seconds < now.Unix()-limit || seconds > now.Unix()+limit {
		return ErrStale
	}
	if !hmac.Equal([]byte(signature), []byte(Sign(stamp, body, secret))) {
		return ErrSignature
	}
	return nil
}

// Sign computes Slack's signature of a body sent at stamp, in Unix seconds.
func Sign(stamp string, body []byte, secret string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte("v0:" + stamp + ":"))
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// Decode reads JSON into a struct. Its Refusal names the wrong field, prefixed with name.
func Decode(b []byte, into any, name string) error {
	err := json.Unmarshal(b, into)
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &wrong) && wrong.Field != "":
		// The path also names the structs of Go that are embedded on the way, which begin with a capital letter.
		path := slices.DeleteFunc(strings.Split(wrong.Field, "."), func(s string) bool { return s != "" && s[0] <= 'Z' })
		return Bad("%s.%s must not be a JSON %s", name, strings.Join(path, "."), wrong.Value)
	case err != nil:
		return Bad("%s is not a JSON object", name)
	}
	return nil
}

var idForm = language.Regexp{Text: `^[A-Za-z0-9._:-]{1,64}$`}

// CheckIDs is CheckID for several fields, given as pairs of name and value.
func CheckIDs(fields ...string) error {
	for pair := range slices.Chunk(fields, 2) {
		if err := CheckID(pair[0], pair[1]); err != nil {
			return err
		}
	}
	return nil
}

// CheckTS refuses a value that is no timestamp of Slack's.
func CheckTS(field, ts string) error {
	if _, err := aggregate.ParseTS(ts); err != nil {
		return Bad("%s must be a Slack timestamp like 1713450000.000100", field)
	}
	return nil
}

// CheckID refuses a value that can't be an id of Slack's. Ids become parts of mentions and keys, so they must have no
// character with a meaning there.
func CheckID(field, id string) error {
	if !idForm.Get().MatchString(id) {
		return Bad("%s must have 1 to 64 letters, digits or ._:-", field)
	}
	return nil
}

// Store creates a task with one call.
type Store interface {
	Create(ctx context.Context, c aggregate.Change) error
}

// Keep writes the first rows of a message's task. If they exist already, repeated is true. It returns an error if the
// message's timestamp is not Slack's or the write fails.
func Keep(ctx context.Context, s Store, r task.Request, now time.Time) (ref aggregate.Ref, repeated bool, err error) {
	change, ref, err := task.Receive(aggregate.TenantID(r.TeamID), r, now)
	if err != nil {
		return aggregate.Ref{}, false, ErrTimestamp{err}
	}
	repeated, err = Create(ctx, s, change)
	return ref, repeated, err
}

// ErrTimestamp means that a message's timestamp is not in Slack's format.
type ErrTimestamp struct{ Cause error }

func (e ErrTimestamp) Error() string { return e.Cause.Error() }

// Create makes the write. repeated reports that the rows existed.
func Create(ctx context.Context, s Store, c aggregate.Change) (repeated bool, err error) {
	if err := s.Create(ctx, c); !errors.Is(err, aggregate.ErrExists) {
		return false, err
	}
	return true, nil
}

// Unanswered reports whether a failed write may still have been made, because no answer said that it was refused.
func Unanswered(err error) bool {
	return !errors.As(err, new(smithy.APIError)) && !errors.As(err, new(ErrTimestamp)) &&
		!errors.Is(err, aggregate.ErrConflict)
}

// SavedText returns a person's text as it is saved: without Slack's escapes, and cut to Slack's own limit.
func SavedText(text string) string { return SavedPlain(Unescaped(text)) }

// SavedPlain is SavedText for a text without escapes.
func SavedPlain(text string) string { return language.Clip(strings.TrimSpace(text), task.MaxText) }

// ChannelType derives Slack's channel type from an id. New private channels have the same ids as public ones and are
// treated alike.
func ChannelType(channel string) string {
	switch {
	case strings.HasPrefix(channel, "D"):
		return "im"
	case strings.HasPrefix(channel, "G"):
		return "group"
	}
	return "channel"
}

// SourceOf returns a request's source for the type of channel that it was written in.
func SourceOf(channelType string) task.Source {
	if channelType == "im" {
		return task.SourceAgentContainer
	}
	return task.SourceChannel
}
