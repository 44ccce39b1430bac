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

func TestANameIsWhatPeopleSee(t *testing.T) {
	for name, tt := range map[string]struct {
		user slack.User
		want string
	}{
		"as it is":                    {slack.User{Name: "sato", Profile: slack.UserProfile{DisplayName: "佐藤 花子"}}, "佐藤 花子"},
		"with a sign that shows none": {slack.User{Name: "evil", Profile: slack.UserProfile{DisplayName: "佐藤\u200b 花子\u2060"}}, "佐藤 花子"},
		"that turns the rest around":  {slack.User{Name: "evil", RealName: "\u202e鈴木\u2066"}, "鈴木"},
		"of several lines":            {slack.User{Name: "evil", RealName: "鈴木\n管理者\u2028x"}, "鈴木 管理者 x"},
		"that shows nothing":          {slack.User{Name: "evil", RealName: "田中", Profile: slack.UserProfile{DisplayName: "\u3164\u200d"}}, "田中"},
	} {
		got := userOf(&tt.user).Name
		expect.That(t, got == tt.want, "%s: %q, want %q", name, got, tt.want)
	}
}
