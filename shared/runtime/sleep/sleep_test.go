package sleep_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/sleep"
)

func TestSleepEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		if err := sleep.For(t.Context(), time.Minute); err != nil || time.Since(begun) != time.Minute {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		if sleep.Within(ctx, time.Second) || time.Since(begun) != 0 {
			t.Errorf("waited %s for what the deadline does not allow", time.Since(begun))
		}
		expect.That(t, sleep.Within(ctx, time.Second/2), "there was time")
		if err := sleep.For(ctx, time.Minute); !errors.Is(err, context.DeadlineExceeded) || time.Since(begun) != time.Second {
			t.Errorf("%v after %s", err, time.Since(begun))
		}
	})
}
