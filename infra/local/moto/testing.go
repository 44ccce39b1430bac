package moto

import (
	"context"
	"errors"
	"os"
	"testing"
)

// StartForTest starts a server for one test, or for all of one if it is called
// by the outermost, and returns its endpoint. The server is empty, and ends
// with the test. Without a suitable Python the test is skipped on a laptop and
// fails when CI is set.
func StartForTest(t testing.TB) string {
	t.Helper()
	s, err := Start(context.Background(), Options{})
	if errors.Is(err, ErrPython) && os.Getenv("CI") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s.URL
}
