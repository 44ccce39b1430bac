package vault_test

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
		err := clock.Sleep(t.Context(), time.Minute)
		expect.That(t, err == nil && time.Since(begun) == time.Minute, "%v after %s", err, time.Since(begun))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		begun = time.Now()
		expect.That(t, !clock.LastsFor(ctx, time.Second) && time.Since(begun) == 0,
			"waited %s for what the deadline does not allow", time.Since(begun))
		expect.That(t, clock.LastsFor(ctx, time.Second/2), "there was time")
		err = clock.Sleep(ctx, time.Minute)
		expect.That(t, errors.Is(err, context.DeadlineExceeded) && time.Since(begun) == time.Second, "%v after %s", err,
			time.Since(begun))
	})
}

func TestAnAnswerIsKeptForItsTime(t *testing.T) {
	var a clock.Answers[string, int]
	now, asked := time.Unix(1776675600, 0), 0
	ask := func() (int, error) { asked++; return asked, nil }
	for after, want := range []int{1, 1, 2} { // seconds
		expect.Same(t, want, expect.Value(a.Ask("x", now.Add(time.Duration(after)*time.Second), 2*time.Second, ask))(t))
	}
	_, err := a.Ask("y", now, time.Second, func() (int, error) { return 7, errors.New("silent") })
	_, known := a.Known("y", now)
	expect.That(t, err != nil && !known, "an error is kept: %v", err)
}

func TestNoMoreIsKeptThanMay(t *testing.T) {
	a := clock.Answers[int, int]{Most: 2}
	now := time.Unix(1776675600, 0)
	keeps := func(want ...int) {
		t.Helper()
		for key := range 5 {
			_, known := a.Known(key, now)
			expect.That(t, known == (want[key] == 1), "%d is known: %t, want %v", key, known, want)
		}
	}
	a.Keep(0, 0, now, time.Second)
	a.Keep(1, 1, now, time.Hour)
	keeps(1, 1, 0, 0, 0)
	now = now.Add(time.Minute)
	a.Keep(2, 2, now, time.Hour) // replaces an expired answer
	keeps(0, 1, 1, 0, 0)
	a.Keep(3, 3, now, time.Hour)
	keeps(0, 0, 0, 1, 0)
}
