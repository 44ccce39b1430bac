package calls_test

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/decide/calls"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// What approves in another system is refused before any row is read, also to a key that was made before.
func TestNoKeyAsksForAnApproval(t *testing.T) {
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	x := calls.Calls{Now: func() time.Time { return now }}
	key := tenancy.Key{Tools: []string{"mcp__github__merge_pull_request", "freee_api_post"},
		ExpiresAt: now.AddDate(1, 0, 0)}
	for _, w := range []calls.Request{
		{Tool: "mcp__github__merge_pull_request", Arguments: []byte(`{}`), Elsewhere: true},
		{Tool: "freee_api_post", Arguments: []byte(
			`{"path":"/approval_requests/1/actions","body":{"approval_action":"approve"}}`)},
	} {
		_, err := x.Ask(t.Context(), key, w)
		field, is := errors.AsType[aggregate.Problem](err)
		expect.That(t, is && (field.Field == "tool" || field.Field == "arguments"), "%s: %v", w.Tool, err)
		expect.Has(t, field.Code, "only people do")
	}
}
