// Package expect says in one line what a test needs.
package expect

import (
	"fmt"
	"time"

	"github.com/google/go-cmp/cmp"
)

// T is a test: testing's own or rapid's.
type T interface {
	Helper()
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

// Within fails the test if what it does never takes less than most: a busy machine may stand still meanwhile, but not each time.
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
