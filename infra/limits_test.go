package infra_test

import (
	"errors"
	"fmt"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store/large"
)

// The page's table of limits has the values of the constants.
func TestTheTableOfLimits(t *testing.T) {
	s := tenancy.DefaultSettings()
	set := func(change func(*tenancy.Settings, int)) int { return highest(t, change) }
	open, hour := s.MaxOpenTasks, s.MaxTasksPerHour
	says(t, "bench/README.md",
		fmt.Sprintf("| a policy's text | %s characters,", grouped(model.MaxPolicy)),
		fmt.Sprintf("| steps of a process | %d |", task.MaxSteps),
		fmt.Sprintf("| a reason for rejecting | %s characters |", grouped(aggregate.MaxReason)),
		fmt.Sprintf("| tries again of one generation that fails | %d |", task.MaxRetries),
		fmt.Sprintf("| `max_versions`, %d unless set, at most %d |", s.MaxVersions, set(func(s *tenancy.Settings, n int) { s.MaxVersions = n })),
		fmt.Sprintf("| `approval_timeout_hours`, %d unless set, at most %s |", s.ApprovalTimeoutHours,
			grouped(set(func(s *tenancy.Settings, n int) { s.ApprovalTimeoutHours = n }))),
		fmt.Sprintf("| `l4_timeout_seconds`, %d unless set, at most %s;", s.L4TimeoutSeconds,
			grouped(set(func(s *tenancy.Settings, n int) { s.L4TimeoutSeconds = n }))),
		fmt.Sprintf("| `max_open_tasks`: `person` %d, `tenant` %s unless set;", open.Person, grouped(open.Tenant)),
		fmt.Sprintf("| `max_tasks_per_hour`: `person` %d, `tenant` %s unless set;", hour.Person, grouped(hour.Tenant)),
		fmt.Sprintf("| a tool's result | %d MiB; over %d KiB it is kept in S3 |", large.MaxBytes>>20, large.MaxInline>>10),
		fmt.Sprintf("| `retain_results_days`, %d unless set,", s.RetainResultsDays),
		fmt.Sprintf("| an incoming request | %d MiB |", inbound.MaxBody>>20))
}

// highest finds a setting's highest valid value.
func highest(t *testing.T, change func(*tenancy.Settings, int)) int {
	t.Helper()
	valid := func(n int) bool {
		s := tenancy.DefaultSettings()
		change(&s, n)
		err := s.Validate()
		_, bounds := errors.AsType[aggregate.ErrField](err)
		expect.Must(t, err == nil || bounds, "%v", err)
		return err == nil
	}
	low, high := 30, 1<<20 // 30 is allowed for each, 2^20 for none
	expect.Must(t, valid(low) && !valid(high), "the highest value is not looked for in the right place")
	for high-low > 1 {
		if middle := (low + high) / 2; valid(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// grouped formats a number as in texts: 8,736.
func grouped(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return fmt.Sprintf("%s,%03d", grouped(n/1000), n%1000)
}
