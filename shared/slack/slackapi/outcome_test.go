package slackapi

import (
	"errors"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/runtime/expect"
)

func TestWhatCountsAsAFailure(t *testing.T) {
	said := func(code string) error { return slack.SlackErrorResponse{Err: code} }
	tests := []struct {
		name string
		err  error
		want bool
	}{
		{"done", nil, false},
		{"a message that somebody deleted", said("message_not_found"), false},
		{"an archived channel", said("is_archived"), false},
		{"a person who was too slow", said("expired_trigger_id"), false},
		{"a revoked token", said("token_revoked"), true},
		{"a missing scope", said("missing_scope"), true},
		{"a card that Slack finds wrong", said("invalid_blocks"), true},
		{"a code that nobody knows yet", said("something_new"), true},
		{"a rate limit", &slack.RateLimitedError{RetryAfter: time.Second}, true},
		{"an outage", slack.StatusCodeError{Code: 503}, true},
		{"an answer that got lost", errors.New("EOF"), true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			expect.Same(t, tt.want, counts(normal(tt.err)))
		})
	}
}
