package slackapi

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"slices"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/runtime/clock"
)

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
