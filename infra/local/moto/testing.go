package moto

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"

	"ringi/infra/local/process"
	"ringi/shared/runtime/expect"
)

// shared is one server per test binary, because a start takes longer than most tests.
var shared = sync.OnceValues(func() (*process.Server, error) { return Start(context.Background(), Options{}) })

// ForTests returns the endpoint of the server that all tests of a package share, so each test makes its own tables,
// queues and buckets. The server ends with the test binary. Without a suitable Python the test is skipped on a laptop
// and fails if CI is set.
func ForTests(t testing.TB) string {
	t.Helper()
	expect.Patience(t)
	s, err := shared()
	ready(t, err)
	return s.URL
}

// StartForTest starts an empty server for one test and returns its endpoint. The server ends with the test. Without a
// suitable Python the test is skipped on a laptop and fails if CI is set.
func StartForTest(t testing.TB) string {
	t.Helper()
	expect.Patience(t)
	s, err := Start(context.Background(), Options{})
	ready(t, err)
	t.Cleanup(s.Stop)
	return s.URL
}

func ready(t testing.TB, err error) {
	t.Helper()
	if errors.Is(err, ErrPython) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	expect.NoError(t, err)
}
