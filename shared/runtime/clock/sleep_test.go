package clock_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ringi/shared/runtime/clock"
	"ringi/shared/runtime/expect"
)

func TestSleepEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := clock.Sleep(t.Context(), time.Minute); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		if clock.LastsFor(ctx, time.Second) || time.Since(begun) != 0 {
			t.Errorf("waited %s for what the deadline does not allow", time.Since(begun))
		}
		expect.That(t, clock.LastsFor(ctx, time.Second/2), "there was time")
		if err := clock.Sleep(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) ||
			time.Since(begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}
