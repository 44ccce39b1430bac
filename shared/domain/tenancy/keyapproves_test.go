package tenancy_test

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// Nobody makes a key that may approve in another system.
func TestNoKeyForAToolThatApproves(t *testing.T) {
	now := time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	by := aggregate.Actor{Type: aggregate.ActorUser, ID: "U0ADMIN"}
	k := tenancy.Key{TenantID: "01T", Name: "a", Answers: "U0SATO", Channel: "C0KEIRI", QuotaDay: 1,
		ExpiresAt: now.AddDate(0, 1, 0)}
	for tool, fits := range map[string]bool{
		"Bash": true, "mcp__github__create_issue": true, "mcp__github__merge_pull_request": false, "freee.approve": false,
	} {
		k.Tools = []string{"Write", tool}
		_, _, _, err := tenancy.NewKey(k, by, now)
		if fits {
			expect.NoError(t, err)
			continue
		}
		field, is := errors.AsType[aggregate.Problem](err)
		expect.That(t, is && field.Field == "tools[1]", "%s: %v", tool, err)
		expect.Has(t, field.Code, "only people do")
	}
}
