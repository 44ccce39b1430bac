// Package expect says in one line what a test needs.
package expect

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/runtime/sleep"
)

// T is a test: testing's own or rapid's.
type T interface {
	Helper()
	Context() context.Context
	Fatal(...any)
	Errorf(string, ...any)
}

// NoError ends the test when there is an error.
func NoError(t T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Value is what a call returned. The test ends if the call failed: x := expect.Value(call())(t).
func Value[V any](v V, err error) func(T) V {
	return func(t T) V {
		t.Helper()
		NoError(t, err)
		return v
	}
}

// Same fails the test with the difference between two values, and lets it go on.
func Same(t T, a, b any, options ...cmp.Option) {
	t.Helper()
	if diff := cmp.Diff(a, b, options...); diff != "" {
		t.Errorf("%s", diff)
	}
}

// That fails the test unless a claim holds, and lets it go on. format and args say what was found instead.
func That(t T, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Errorf(format, args...)
	}
}

// Must is That for a claim without which the rest of the test makes no sense: it ends the test.
func Must(t T, holds bool, format string, args ...any) {
	t.Helper()
	if !holds {
		t.Fatal(fmt.Sprintf(format, args...))
	}
}

// Is fails the test where it got something other than it wants, and lets it go on, as do Has and Fails. about says what
// was looked at, as fmt.Sprintf does: expect.Is(t, len(rows), 3, "rows of %s", name).
func Is[V comparable](t T, got, want V, about ...any) {
	t.Helper()
	if got != want {
		t.Errorf("%s%s, want %s", said(about), shown(got), shown(want))
	}
}

// Has wants a part of a text.
func Has(t T, text, part string, about ...any) {
	t.Helper()
	if !strings.Contains(text, part) {
		t.Errorf("%s%s does not have %q", said(about), shown(text), part)
	}
}

// Fails wants an error that is another, or wraps it.
func Fails(t T, err, want error, about ...any) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%sthe error is %v, want %v", said(about), err, want)
	}
}

func said(about []any) string {
	if len(about) == 0 {
		return ""
	}
	return fmt.Sprintf(fmt.Sprint(about[0]), about[1:]...) + ": "
}

func shown(v any) string {
	if text, ok := v.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%+v", v)
}

// Eventually ends the test unless a claim holds within a minute: a busy machine may take that long.
func Eventually(t T, what string, holds func() bool) {
	t.Helper()
	Must(t, Holds(t.Context(), time.Minute, 40*time.Millisecond, holds), "not within a minute: %s", what)
}

// Holds looks until a claim holds: at first often, then once in each pause, and when it has waited long only four times a
// second, as a look may be many calls to the emulator. It reports false when that takes longer than most, or when ctx ends.
func Holds(ctx context.Context, most, pause time.Duration, holds func() bool) bool {
	wait := min(2*time.Millisecond, pause)
	for begun := time.Now(); !holds(); {
		waited := time.Since(begun)
		if waited > most || sleep.For(ctx, wait) != nil {
			return false
		}
		wait = min(2*wait, max(pause, min(waited/10, 250*time.Millisecond)))
	}
	return true
}

// Within fails the test if what it does never takes less than most: a busy machine may stand still meanwhile, but not
// each time.
func Within(t T, most time.Duration, do func()) {
	t.Helper()
	for range 5 {
		began := time.Now()
		if do(); time.Since(began) < most {
			return
		}
	}
	t.Errorf("it takes longer than %s", most)
}

// Patience leaves a test out where only short ones are asked for: it waits, or starts programs, for seconds.
func Patience(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("left out by -short: it takes seconds")
	}
}
